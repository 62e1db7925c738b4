#include <gmock/gmock.h>

#include "services/http/websocket/frames.h"
#include "services/http/websocket/handshake.h"
#include "services/http/websocket/message_stream.h"
#include "tests/support/scripted_stream.h"

namespace shiplog::websocket {
namespace {

using ::testing::HasSubstr;
using testing::ScriptedStream;

/// A masked frame, as clients send it.
std::string masked(unsigned first, std::string_view payload) {
  const std::string mask = "abcd";
  std::string frame(1, static_cast<char>(first));
  if (payload.size() < 126) {
    frame += static_cast<char>(0x80U | payload.size());
  } else {
    frame += static_cast<char>(0x80U | 126U);
    frame += static_cast<char>(payload.size() >> 8U);
    frame += static_cast<char>(payload.size() & 0xffU);
  }
  frame += mask;
  for (size_t index = 0; index < payload.size(); ++index) frame += static_cast<char>(payload[index] ^ mask[index % 4]);
  return frame;
}

HttpRequest handshake() {
  HttpRequest request;
  request.headers = {{"Connection", "keep-alive, Upgrade"},
                     {"Upgrade", "websocket"},
                     {"Sec-WebSocket-Version", "13"},
                     {"Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="},
                     {"Sec-WebSocket-Protocol", "v5.channel.k8s.io, v4.channel.k8s.io"}};
  return request;
}

TEST(WebSocketHandshake, AnswersTheKeyOfRfc6455) {
  const HttpRequest request = handshake();
  EXPECT_TRUE(is_upgrade(request));
  EXPECT_EQ(offered_protocols(request), (std::vector<std::string>{"v5.channel.k8s.io", "v4.channel.k8s.io"}));
  const auto headers = accept_upgrade(request, "v4.channel.k8s.io");
  ASSERT_TRUE(headers);
  EXPECT_EQ(headers.value().get("Sec-WebSocket-Accept"), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
  EXPECT_EQ(headers.value().get("Sec-WebSocket-Protocol"), "v4.channel.k8s.io");
}

TEST(WebSocketHandshake, RefusesWhatIsNoHandshake) {
  HttpRequest request = handshake();
  request.headers.set("Sec-WebSocket-Version", "8");
  EXPECT_THAT(accept_upgrade(request, "").error().message, HasSubstr("Sec-WebSocket-Version"));
  request = handshake();
  request.headers.set("Sec-WebSocket-Key", "short");
  EXPECT_THAT(accept_upgrade(request, "").error().message, HasSubstr("Sec-WebSocket-Key"));
  request = handshake();
  request.method = "POST";
  EXPECT_EQ(accept_upgrade(request, "").error().code, ErrorCode::kMethodNotAllowed);
  request = handshake();
  request.headers.set("Connection", "keep-alive");
  EXPECT_FALSE(is_upgrade(request));
}

TEST(WebSocketFrames, AMessageArrivesByteForByteAndInFragments) {
  MessageReader reader{1000};
  const std::string bytes = masked(0x02, "hel") + masked(0x89, "ping") + masked(0x80, std::string(200, 'x'));
  std::vector<WebSocketMessage> found;
  for (const char byte : bytes) {
    reader.feed({&byte, 1});
    const auto next = reader.next();
    ASSERT_TRUE(next);
    if (next.value()) found.push_back(*next.value());
  }
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].opcode, Opcode::kPing);
  EXPECT_EQ(found[0].payload, "ping");
  EXPECT_EQ(found[1].opcode, Opcode::kBinary);
  EXPECT_EQ(found[1].payload, "hel" + std::string(200, 'x'));
}

struct BrokenFrame {
  const char* name;
  std::string bytes;
  ErrorCode code;
};

class BrokenFrames : public ::testing::TestWithParam<BrokenFrame> {};

TEST_P(BrokenFrames, AreRefused) {
  MessageReader reader{1000};
  reader.feed(GetParam().bytes);
  Result<std::optional<WebSocketMessage>> next = std::optional<WebSocketMessage>{};
  for (int count = 0; count < 10 && next; ++count) next = reader.next();
  ASSERT_FALSE(next);
  EXPECT_EQ(next.error().code, GetParam().code);
}

const std::string kHuge = std::string{"\x82\xff\x7f\xff\xff\xff\xff\xff\xff\xff", 10};

INSTANTIATE_TEST_SUITE_P(
    WebSocket, BrokenFrames,
    ::testing::Values(BrokenFrame{"Unmasked", std::string{"\x82\x01x", 3}, ErrorCode::kBadRequest},
                      BrokenFrame{"ReservedBit", masked(0xc2, "x"), ErrorCode::kBadRequest},
                      BrokenFrame{"UnknownOpcode", masked(0x83, "x"), ErrorCode::kBadRequest},
                      BrokenFrame{"LongPing", masked(0x89, std::string(126, 'x')), ErrorCode::kBadRequest},
                      BrokenFrame{"FragmentedPing", masked(0x09, "x"), ErrorCode::kBadRequest},
                      BrokenFrame{"ContinuesNothing", masked(0x80, "x"), ErrorCode::kBadRequest},
                      BrokenFrame{"BeginsTwice", masked(0x02, "x") + masked(0x82, "y"), ErrorCode::kBadRequest},
                      BrokenFrame{"AnnouncesTooMuch", kHuge, ErrorCode::kTooLarge},
                      BrokenFrame{"GrowsTooLarge",
                                  masked(0x02, std::string(900, 'x')) + masked(0x80, std::string(110, 'y')),
                                  ErrorCode::kTooLarge}),
    [](const auto& tested) { return tested.param.name; });

TEST(WebSocketStream, AnswersPingsAndCompletesAClose) {
  const auto bytes = std::make_shared<ScriptedStream>();
  const auto messages = std::make_shared<MessageStream>(bytes, 1000);
  std::vector<std::string> received;
  bool closed = false;
  std::function<void()> read = [&] {
    messages->read([&](Result<std::optional<WebSocketMessage>> message) {
      ASSERT_TRUE(message);
      if (!message.value()) {
        closed = true;
        return;
      }
      received.push_back(message.value()->payload);
      read();
    });
  };
  read();
  bytes->send(masked(0x89, "are you there"));
  EXPECT_EQ(bytes->take(), frame(Opcode::kPong, "are you there"));
  bytes->send(masked(0x82, "data") + masked(0x88, ""));
  EXPECT_EQ(received, std::vector<std::string>{"data"});
  EXPECT_TRUE(closed);
  EXPECT_TRUE(bytes->closed());
  EXPECT_EQ(bytes->take(), close_frame(CloseCode::kNormal, ""));
}

TEST(WebSocketStream, AClientThatTakesNoPongsIsNotReadFrom) {
  const auto bytes = std::make_shared<ScriptedStream>();
  const auto messages = std::make_shared<MessageStream>(bytes, 1000);
  bytes->hold_writes();
  messages->read([](const Result<std::optional<WebSocketMessage>>&) {});
  for (int count = 0; count < 1000; ++count) bytes->send(masked(0x89, "x"));
  EXPECT_EQ(bytes->take(), frame(Opcode::kPong, "x")) << "one, until it is taken";
  EXPECT_FALSE(bytes->reading());
  bytes->close();
}

TEST(WebSocketStream, AClientThatBreaksTheProtocolIsTold) {
  const auto bytes = std::make_shared<ScriptedStream>();
  const auto messages = std::make_shared<MessageStream>(bytes, 1000);
  Result<std::optional<WebSocketMessage>> received = std::optional<WebSocketMessage>{};
  messages->read([&](Result<std::optional<WebSocketMessage>> message) { received = std::move(message); });
  bytes->send(std::string{"\x82\x01x", 3});
  ASSERT_FALSE(received);
  EXPECT_TRUE(bytes->closed());
  EXPECT_THAT(bytes->take(), HasSubstr("must be masked"));
}

TEST(WebSocketTunnel, CarriesBytesInBinaryMessages) {
  const auto bytes = std::make_shared<ScriptedStream>();
  const auto inside = tunnel(std::make_shared<MessageStream>(bytes, 1000));
  std::vector<std::string> received;
  const auto read = [&] {
    inside->read([&](Result<std::string> more) { received.push_back(more ? more.value() : "error"); });
  };
  read();
  bytes->send(masked(0x82, "") + masked(0x82, "spdy"));
  inside->write("answer", [](const Result<void>&) {});
  EXPECT_EQ(bytes->take(), frame(Opcode::kBinary, "answer"));
  read();
  bytes->send(masked(0x81, "text"));
  EXPECT_EQ(received, (std::vector<std::string>{"spdy", "error"}));
}

}  // namespace
}  // namespace shiplog::websocket
