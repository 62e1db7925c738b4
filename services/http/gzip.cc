#include "services/http/gzip.h"

#include <algorithm>
#include <limits>

#define ZLIB_CONST  // it only reads its input
#include <zlib.h>

#include "events/base/ascii.h"
#include "events/base/check.h"

namespace shiplog {
namespace {

std::string_view trimmed(std::string_view text) {
  const auto blank = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

/// "q=0", "q=0.000".
bool is_refusal(std::string_view parameter) {
  return (parameter.starts_with("q=0") || parameter.starts_with("Q=0")) &&
         parameter.find_first_not_of("0.", 2) == std::string_view::npos;
}

bool is_gzip(std::string_view name) {
  constexpr std::string_view kGzip = "gzip";
  return std::ranges::equal(name, kGzip, [](char a, char b) { return lower_case(a) == b; });
}

}  // namespace

std::string gzip(std::string_view bytes) {
  constexpr int kGzipFormat = 15 + 16;  // the largest window, with gzip's header and trailer
  constexpr int kMemory = 8;
  z_stream stream{};
  SHIPLOG_CHECK(deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, kGzipFormat, kMemory, Z_DEFAULT_STRATEGY) == Z_OK,
                "zlib has memory for a stream");
  std::string packed(deflateBound(&stream, bytes.size()), '\0');
  constexpr size_t kMostAtOnce = std::numeric_limits<uInt>::max();
  size_t read = 0;
  int result = Z_OK;
  while (result == Z_OK) {
    const size_t part = std::min(bytes.size() - read, kMostAtOnce);
    stream.next_in = reinterpret_cast<const Bytef*>(bytes.data() + read);
    stream.avail_in = static_cast<uInt>(part);
    stream.next_out = reinterpret_cast<Bytef*>(packed.data() + stream.total_out);
    stream.avail_out = static_cast<uInt>(std::min(packed.size() - stream.total_out, kMostAtOnce));
    result = deflate(&stream, read + part == bytes.size() ? Z_FINISH : Z_NO_FLUSH);
    read += part - stream.avail_in;
  }
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  SHIPLOG_CHECK(result == Z_STREAM_END, "deflateBound returns a sufficient buffer size");
  return packed;
}

bool takes_gzip(std::string_view accept_encoding) {
  while (!accept_encoding.empty()) {
    const size_t comma = accept_encoding.find(',');
    const std::string_view coding = accept_encoding.substr(0, comma);
    accept_encoding = comma == std::string_view::npos ? std::string_view{} : accept_encoding.substr(comma + 1);
    const size_t semicolon = coding.find(';');
    if (!is_gzip(trimmed(coding.substr(0, semicolon)))) continue;
    return semicolon == std::string_view::npos || !is_refusal(trimmed(coding.substr(semicolon + 1)));
  }
  return false;
}

}  // namespace shiplog
