#include "services/http/spdy/session.h"

#include <gmock/gmock.h>

#include "tests/support/scripted_stream.h"

namespace shiplog::spdy {
namespace {

using testing::ScriptedStream;

/// A session and the client on the other side.
struct Peers {
  explicit Peers(SessionLimits limits = {}) {
    session = SpdySession::start(
        bytes, limits,
        [this](const std::shared_ptr<SpdyStream>& stream) {
          streams.push_back(stream);
          return accepts;
        },
        [this](const Error& error) { ended = error.message; });
  }
  Peers(const Peers&) = delete;
  Peers& operator=(const Peers&) = delete;
  ~Peers() { bytes->close(); }  // else the session and the bytes would hold each other
  std::vector<Frame> answers() {
    reader.feed(bytes->take());
    std::vector<Frame> frames;
    for (auto next = reader.next(); next && next.value(); next = reader.next()) frames.push_back(*next.value());
    return frames;
  }

  std::shared_ptr<ScriptedStream> bytes = std::make_shared<ScriptedStream>();
  SpdyWriter client;
  SpdyReader reader;
  std::vector<std::shared_ptr<SpdyStream>> streams;
  bool accepts = true;
  std::string ended;
  std::shared_ptr<SpdySession> session;
};

std::string read_now(SpdyStream& stream) {
  std::string got = "(nothing yet)";
  stream.read([&](Result<std::string> bytes) { got = bytes ? bytes.value() : "error"; });
  return got;
}

TEST(SpdySession, AStreamIsRepliedToAndCarriesBytesBothWays) {
  Peers peers;
  peers.bytes->send(peers.client.syn_stream(1, {{"streamtype", "data"}}) + SpdyWriter::data(1, "hello", false));
  ASSERT_EQ(peers.streams.size(), 1U);
  SpdyStream& stream = *peers.streams[0];
  EXPECT_EQ(stream.headers().get("streamtype"), "data");
  EXPECT_EQ(read_now(stream), "hello");
  peers.bytes->send(SpdyWriter::data(1, "", true));
  EXPECT_EQ(read_now(stream), "") << "the end";
  stream.write("answer", [](const Result<void>&) {});
  stream.finish();
  const auto answers = peers.answers();
  ASSERT_EQ(answers.size(), 3U);
  EXPECT_EQ(std::get<SynReply>(answers[0]).stream, 1U);
  EXPECT_EQ(std::get<Data>(answers[1]).bytes, "answer");
  EXPECT_TRUE(std::get<Data>(answers[2]).fin);
  EXPECT_EQ(peers.session->open_streams(), 0U);
}

TEST(SpdySession, AStreamThatIsNotAcceptedIsReset) {
  Peers peers;
  peers.accepts = false;
  peers.bytes->send(peers.client.syn_stream(1, {}));
  const auto answers = peers.answers();
  ASSERT_EQ(answers.size(), 2U);
  EXPECT_EQ(std::get<RstStream>(answers[1]).status, static_cast<uint32_t>(ResetStatus::kRefusedStream));
  EXPECT_EQ(peers.session->open_streams(), 0U);
}

TEST(SpdySession, StreamIdsMustRiseAndBeOdd) {
  Peers peers;
  for (const uint32_t id : {3U, 2U, 1U}) peers.bytes->send(peers.client.syn_stream(id, {}));
  const auto answers = peers.answers();
  ASSERT_EQ(answers.size(), 3U);
  EXPECT_EQ(std::get<RstStream>(answers[1]).stream, 2U);
  EXPECT_EQ(std::get<RstStream>(answers[2]).stream, 1U);
}

TEST(SpdySession, ThousandsOfStreamsAreRefusedNotKept) {
  Peers peers{{.streams = 4, .held_bytes = 1000}};
  for (uint32_t id = 1; id < 10'000; id += 2) peers.bytes->send(peers.client.syn_stream(id, {{"streamtype", "data"}}));
  EXPECT_EQ(peers.streams.size(), 4U);
  EXPECT_EQ(peers.session->open_streams(), 4U);
}

TEST(SpdySession, AClientThatTakesNoAnswersIsNotReadFrom) {
  Peers peers{{.streams = 1, .held_bytes = 1000}};
  peers.bytes->hold_writes();
  size_t sent = 0;
  while (peers.bytes->reading() && sent < 100'000) {
    peers.bytes->send(SpdyWriter::ping(1));
    ++sent;
  }
  EXPECT_FALSE(peers.bytes->reading());
  EXPECT_LT(sent, 10'000U);
}

TEST(SpdySession, WhatIsNotReadHoldsTheClientUp) {
  Peers peers{{.streams = 4, .held_bytes = 1000}};
  peers.bytes->send(peers.client.syn_stream(1, {}));
  peers.bytes->send(SpdyWriter::data(1, std::string(1001, 'x'), false));
  EXPECT_FALSE(peers.bytes->reading());
  EXPECT_EQ(read_now(*peers.streams[0]).size(), 1001U);
  EXPECT_TRUE(peers.bytes->reading());
}

TEST(SpdySession, AResetStreamFreesWhatItHeld) {
  Peers peers{{.streams = 4, .held_bytes = 1000}};
  peers.bytes->send(peers.client.syn_stream(1, {}) + SpdyWriter::data(1, std::string(1000, 'x'), false));
  peers.bytes->send(SpdyWriter::rst_stream(1, ResetStatus::kCancel));
  EXPECT_EQ(peers.session->open_streams(), 0U);
  EXPECT_EQ(read_now(*peers.streams[0]), "error");
  EXPECT_TRUE(peers.bytes->reading());
}

TEST(SpdySession, PingsOfTheClientAreAnswered) {
  Peers peers;
  peers.bytes->send(SpdyWriter::ping(5) + SpdyWriter::ping(6));
  const auto answers = peers.answers();
  ASSERT_EQ(answers.size(), 1U);
  EXPECT_EQ(std::get<Ping>(answers[0]).id, 5U);
}

TEST(SpdySession, BrokenFramesEndTheConnection) {
  Peers peers;
  peers.bytes->send(peers.client.syn_stream(1, {}));
  peers.bytes->send("this is not SPDY at all, but long enough to be a frame" + std::string(8, '\0'));
  peers.bytes->send(std::string(8 << 20, '\0'));
  EXPECT_TRUE(peers.bytes->closed());
  EXPECT_FALSE(peers.ended.empty());
  EXPECT_EQ(read_now(*peers.streams[0]), "error");
}

TEST(SpdySession, ACloseTellsTheClientAndEndsReads) {
  Peers peers;
  peers.bytes->send(peers.client.syn_stream(1, {}));
  std::string got;
  peers.streams[0]->read([&](Result<std::string> bytes) { got = bytes ? "bytes" : "error"; });
  peers.session->close();
  EXPECT_EQ(got, "error");
  EXPECT_TRUE(peers.bytes->closed());
  const auto answers = peers.answers();
  EXPECT_EQ(std::get<GoAway>(answers.back()).last_stream, 1U);
}

}  // namespace
}  // namespace shiplog::spdy
