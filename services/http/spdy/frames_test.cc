#include "services/http/spdy/frames.h"

#include <gmock/gmock.h>

namespace shiplog::spdy {
namespace {

using ::testing::HasSubstr;

std::vector<Frame> all_frames(SpdyReader& reader) {
  std::vector<Frame> frames;
  while (true) {
    auto next = reader.next();
    EXPECT_TRUE(next) << next.error().message;
    if (!next || !next.value()) return frames;
    frames.push_back(std::move(*next.value()));
  }
}

std::string number(uint32_t value) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8)
    bytes += static_cast<char>((value >> static_cast<unsigned>(shift)) & 0xffU);
  return bytes;
}

/// SYN_STREAM with such a header block, which is compressed already.
std::string syn_stream(std::string_view block) {
  std::string body = number(1) + number(0) + std::string(2, '\0');
  body += block;
  return number(0x80030001) + number(static_cast<uint32_t>(body.size())) + body;
}

Error failure_of(std::string_view bytes) {
  SpdyReader reader;
  reader.feed(bytes);
  for (int count = 0; count < 100; ++count) {
    auto next = reader.next();
    if (!next) return next.error();
  }
  return {ErrorCode::kInternal, "it did not fail"};
}

TEST(SpdyFrames, HeadersOfSeveralFramesShareOneZlibStream) {
  SpdyWriter writer;
  SpdyReader reader;
  const HttpHeaders headers{{"streamType", "stdin"}, {"x", "1"}, {"x", "2"}};
  const std::string first = writer.syn_stream(1, headers);
  const std::string second = writer.syn_stream(3, headers, true);
  EXPECT_LT(second.size(), first.size()) << "the second is compressed with what the first left";
  for (const char byte : first + second) reader.feed({&byte, 1});
  const auto frames = all_frames(reader);
  ASSERT_EQ(frames.size(), 2U);
  for (size_t index = 0; index < 2; ++index) {
    const auto& syn = std::get<SynStream>(frames[index]);
    EXPECT_EQ(syn.stream, index == 0 ? 1U : 3U);
    EXPECT_EQ(syn.fin, index == 1);
    EXPECT_EQ(syn.headers.get("streamtype"), "stdin");
    EXPECT_EQ(syn.headers.all().size(), 3U) << "a header of two values is two fields";
  }
}

TEST(SpdyFrames, AReplyWithoutHeadersIsReadBack) {
  SpdyWriter writer;
  SpdyReader reader;
  reader.feed(writer.syn_reply(1, {}));
  const auto frames = all_frames(reader);
  ASSERT_EQ(frames.size(), 1U);
  EXPECT_EQ(std::get<SynReply>(frames[0]).stream, 1U);
  EXPECT_TRUE(std::get<SynReply>(frames[0]).headers.all().empty());
}

TEST(SpdyFrames, DataIsPassedOnAsItArrives) {
  SpdyReader reader;
  const std::string bytes = SpdyWriter::data(5, std::string(1000, 'x'), true);
  reader.feed(bytes.substr(0, 500));
  auto frames = all_frames(reader);
  ASSERT_EQ(frames.size(), 1U);
  EXPECT_EQ(std::get<Data>(frames[0]).bytes.size(), 492U);
  EXPECT_FALSE(std::get<Data>(frames[0]).fin);
  reader.feed(bytes.substr(500));
  frames = all_frames(reader);
  ASSERT_EQ(frames.size(), 1U);
  EXPECT_EQ(std::get<Data>(frames[0]).bytes.size(), 508U);
  EXPECT_TRUE(std::get<Data>(frames[0]).fin);
}

TEST(SpdyFrames, AnEmptyDataFrameWithFinEndsAStream) {
  SpdyReader reader;
  reader.feed(SpdyWriter::data(5, "", true));
  const auto frames = all_frames(reader);
  ASSERT_EQ(frames.size(), 1U);
  EXPECT_TRUE(std::get<Data>(frames[0]).fin);
}

TEST(SpdyFrames, SettingsAndWindowUpdatesAreLeftOut) {
  SpdyReader reader;
  reader.feed(number(0x80030004) + number(4) + number(0));
  reader.feed(number(0x80030009) + number(8) + number(1) + number(100));
  reader.feed(number(0x800300aa) + number(3) + "abc");
  reader.feed(SpdyWriter::ping(7));
  const auto frames = all_frames(reader);
  ASSERT_EQ(frames.size(), 1U);
  EXPECT_EQ(std::get<Ping>(frames[0]).id, 7U);
}

TEST(SpdyFrames, RefusesWhatIsNoSpdy) {
  EXPECT_THAT(failure_of(std::string(8, '\0')).message, HasSubstr("stream 0"));
  EXPECT_THAT(failure_of(number(0x80020001) + number(0)).message, HasSubstr("another version"));
  EXPECT_THAT(failure_of(number(0x80030003) + number(4) + number(1)).message, HasSubstr("too short"));
  EXPECT_EQ(failure_of(number(0x80030001) + number(0xffffff)).code, ErrorCode::kTooLarge);
  EXPECT_THAT(failure_of(syn_stream("no zlib")).message, HasSubstr("decompressed"));
}

TEST(SpdyFrames, AHeaderBlockThatGrowsIsRefused) {
  SpdyWriter writer;
  // Some hundred bytes that decompress to more than is allowed.
  const std::string bomb = writer.syn_stream(1, {{"a", std::string(1 << 20, 'a')}});
  ASSERT_LT(bomb.size(), SpdyReader::kLongestControlFrame);
  EXPECT_EQ(failure_of(bomb).code, ErrorCode::kTooLarge);
}

TEST(SpdyFrames, TooManyHeadersAreRefused) {
  HttpHeaders headers;
  for (size_t index = 0; index <= HeaderInflater::kMostHeaders; ++index) headers.add("h" + std::to_string(index), "v");
  EXPECT_EQ(failure_of(SpdyWriter{}.syn_stream(1, headers)).code, ErrorCode::kTooLarge);
  HttpHeaders values;
  for (size_t index = 0; index <= HeaderInflater::kLongestBlock / 16; ++index) values.add("h", "");
  EXPECT_EQ(failure_of(SpdyWriter{}.syn_stream(1, values)).code, ErrorCode::kBadRequest);
}

TEST(SpdyFrames, ACutOrChangedFrameNeverCrashes) {
  SpdyWriter writer;
  const std::string whole = writer.syn_stream(1, {{"streamtype", "error"}, {"port", "80"}}) +
                            SpdyWriter::data(1, "some data", true) + SpdyWriter::ping(1) +
                            SpdyWriter::rst_stream(1, ResetStatus::kCancel) + SpdyWriter::go_away(1, GoAwayStatus::kOk);
  for (size_t at = 0; at < whole.size(); ++at) {
    for (const int flip : {1, 0x80, 0xff}) {
      std::string changed = whole;
      changed[at] = static_cast<char>(changed[at] ^ flip);
      SpdyReader reader;
      reader.feed(changed);
      for (int count = 0; count < 100; ++count) {
        const auto next = reader.next();
        if (!next || !next.value()) break;
      }
    }
  }
}

}  // namespace
}  // namespace shiplog::spdy
