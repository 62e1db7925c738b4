#include "services/http/message_parser.h"

#include <algorithm>

#include <gtest/gtest.h>

namespace shiplog {
namespace {

/// Fed as a connection does it: `piece` more bytes each time, behind those that were not used.
template <class Parser>
ParseStep feed_in_pieces(Parser& parser, std::string_view bytes, size_t piece) {
  size_t begin = 0;
  size_t end = 0;
  while (true) {
    size_t used = 0;
    const ParseStep step = parser.feed(bytes.substr(begin, end - begin), used);
    begin += used;
    if (step == ParseStep::kHeader) continue;
    if (step != ParseStep::kNeedMore || end == bytes.size()) return step;
    end = std::min(bytes.size(), end + piece);
  }
}

// Beast's own assertion ended the process here, on three bytes of any client.
TEST(MessageParser, ParsesAnEmptyChunkedBodyInAnyPieces) {
  for (size_t piece = 1; piece < 8; ++piece) {
    RequestParser request{ParseLimits{}};
    EXPECT_EQ(
        feed_in_pieces(request, "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", piece),
        ParseStep::kDone)
        << piece;
    ResponseParser response{false, ParseLimits{}};
    EXPECT_EQ(feed_in_pieces(response, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", piece),
              ParseStep::kDone)
        << piece;
  }
}

TEST(MessageParser, TakesChunksHoweverTheyCome) {
  const std::string_view text =
      "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3;a=b\r\nabc\r\n1\r\nd\r\n0\r\nTrailer: "
      "x\r\n\r\n";
  for (size_t piece = 1; piece < 12; ++piece) {
    RequestParser request{ParseLimits{}};
    EXPECT_EQ(feed_in_pieces(request, text, piece), ParseStep::kDone) << piece;
    EXPECT_EQ(request.request().body, "abcd") << piece;
  }
}

TEST(MessageParser, AnAnswerThatBreaksOffInItsLastChunkIsCut) {
  ResponseParser response{false, ParseLimits{}};
  EXPECT_EQ(feed_in_pieces(response, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n", 1),
            ParseStep::kNeedMore);
  EXPECT_EQ(response.feed_end(), ParseStep::kFailed);
}

}  // namespace
}  // namespace shiplog
