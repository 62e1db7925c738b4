#include "services/api/websocket_watch.h"

#include <string>

#include <gtest/gtest.h>

#include "tests/support/scripted_stream.h"

namespace shiplog::api {
namespace {

/// A connection that becomes the stream when upgraded() is called.
class HandshakeWriter final : public ResponseWriter {
 public:
  void send(HttpResponse response) override { status = response.status; }
  void start(int, HttpHeaders) override {}
  void write(std::string, Done) override {}
  void end() override {}
  void upgrade(HttpHeaders answered, Upgraded then) override {
    headers = std::move(answered);
    upgraded = std::move(then);
  }
  void on_close(std::function<void()>) override {}
  bool closed() const override { return false; }

  int status = 0;
  HttpHeaders headers;
  Upgraded upgraded;
};

class WebSocketWatchTest : public ::testing::Test {
 protected:
  WebSocketWatchTest() {
    request_.method = "GET";
    for (const auto& [name, value] : {std::pair{"Connection", "Upgrade"},
                                      {"Upgrade", "websocket"},
                                      {"Sec-WebSocket-Version", "13"},
                                      {"Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="}}) {
      request_.headers.set(name, value);
    }
  }

  std::shared_ptr<ResponseWriter> begin() {
    auto watch = websocket_watch(request_, connection_).value();
    watch->start(200, {});
    watch->on_close([this] { ++closed_; });
    return watch;
  }
  static ResponseWriter::Done counted(int& count) {
    return [&count](const Result<void>& done) { count += done ? 1 : 100; };
  }

  HttpRequest request_;
  std::shared_ptr<HandshakeWriter> connection_ = std::make_shared<HandshakeWriter>();
  std::shared_ptr<testing::ScriptedStream> stream_ = std::make_shared<testing::ScriptedStream>();
  int closed_ = 0;
};

constexpr std::string_view kMaskedClose{"\x88\x80\0\0\0\0", 6};

TEST_F(WebSocketWatchTest, EachLineIsAMessage) {  // W-18
  const auto watch = begin();
  EXPECT_EQ(connection_->headers.get("Sec-WebSocket-Accept"), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
  int written = 0;
  watch->write("{\"a\":1}\n{}\n", counted(written));
  EXPECT_EQ(written, 0) << "the handshake is not complete";
  connection_->upgraded(std::shared_ptr<ByteStream>{stream_});
  EXPECT_EQ(written, 1);
  watch->write("[]\n", counted(written));
  EXPECT_EQ(written, 2);
  EXPECT_EQ(stream_->take(), "\x81\x07{\"a\":1}\x81\x02{}\x81\x02[]");
  watch->end();
  EXPECT_EQ(stream_->take(), "\x88\x02\x03\xe8") << "closed as 1000";
  EXPECT_TRUE(stream_->closed());
}

TEST_F(WebSocketWatchTest, AClientEndsItByClosing) {
  const auto watch = begin();
  connection_->upgraded(std::shared_ptr<ByteStream>{stream_});
  stream_->send(std::string{"\x89\x82\0\0\0\0hi", 8});
  EXPECT_EQ(stream_->take(), "\x8a\x02hi") << "a pong";
  stream_->send(std::string{kMaskedClose});
  EXPECT_EQ(closed_, 1);
  EXPECT_TRUE(watch->closed());
  EXPECT_TRUE(stream_->closed());
  int written = 0;
  watch->write("{}\n", counted(written));
  EXPECT_EQ(written, 100) << "an error";
}

TEST_F(WebSocketWatchTest, EndsWithTheConnection) {
  for (const bool orderly : {true, false}) {
    stream_ = std::make_shared<testing::ScriptedStream>();
    closed_ = 0;
    const auto watch = begin();
    connection_->upgraded(std::shared_ptr<ByteStream>{stream_});
    if (orderly) {
      stream_->end();
    } else {
      stream_->send("no frame of a client");
    }
    EXPECT_EQ(closed_, 1) << orderly;
    EXPECT_TRUE(stream_->closed()) << orderly;
  }
}

TEST_F(WebSocketWatchTest, WhatWaitsForAHandshakeThatFailsIsNotSent) {
  const auto watch = begin();
  int written = 0;
  watch->write("{}\n", counted(written));
  connection_->upgraded(Error{ErrorCode::kUnavailable, "disconnected"});
  EXPECT_EQ(written, 100);
  EXPECT_EQ(closed_, 1);
}

TEST_F(WebSocketWatchTest, TheOnlySubprotocolIsEchoed) {
  request_.headers.set("Sec-WebSocket-Protocol", "base64.binary.k8s.io");
  begin();
  EXPECT_EQ(connection_->headers.get("Sec-WebSocket-Protocol"), "base64.binary.k8s.io");
  request_.headers.set("Sec-WebSocket-Protocol", "a, b");
  begin();
  EXPECT_EQ(connection_->headers.get("Sec-WebSocket-Protocol"), "");
}

TEST_F(WebSocketWatchTest, AHandshakeIsChecked) {
  request_.headers.set("Sec-WebSocket-Version", "8");
  EXPECT_EQ(websocket_watch(request_, connection_).error().code, ErrorCode::kBadRequest);
}

}  // namespace
}  // namespace shiplog::api
