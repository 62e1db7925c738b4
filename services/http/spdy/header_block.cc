#include "services/http/spdy/header_block.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>

#define ZLIB_CONST  // it only reads its input
#include <zlib.h>

#include "events/base/ascii.h"
#include "events/base/check.h"
#include "services/http/spdy/dictionary.h"

namespace shiplog::spdy {
namespace {

const Bytef* bytes_of(std::string_view text) { return reinterpret_cast<const Bytef*>(text.data()); }

Error broken_block(const char* why) { return Error{ErrorCode::kBadRequest, std::string{"SPDY: "} + why}; }

void append_count(std::string& to, size_t number) {
  for (int shift = 24; shift >= 0; shift -= 8)
    to += static_cast<char>((number >> static_cast<unsigned>(shift)) & 0xffU);
}

/// Reads the numbers and texts of a block from its front.
class BlockReader {
 public:
  explicit BlockReader(std::string_view block) : rest_{block} {}

  std::optional<uint32_t> number() {
    if (rest_.size() < 4) return std::nullopt;
    uint32_t value = 0;
    for (const char c : rest_.substr(0, 4)) value = (value << 8U) | static_cast<unsigned char>(c);
    rest_.remove_prefix(4);
    return value;
  }
  std::optional<std::string_view> text() {
    const auto size = number();
    if (!size || *size > rest_.size()) return std::nullopt;
    const std::string_view found = rest_.substr(0, *size);
    rest_.remove_prefix(*size);
    return found;
  }
  bool at_end() const { return rest_.empty(); }

 private:
  std::string_view rest_;
};

Result<HttpHeaders> parse(std::string_view block) {
  BlockReader reader{block};
  const auto count = reader.number();
  if (!count) return broken_block("a header block without a number of headers");
  if (*count > HeaderInflater::kMostHeaders) {
    return Error{ErrorCode::kTooLarge, "SPDY: a header block has more than the " +
                                           std::to_string(HeaderInflater::kMostHeaders) + " headers that are allowed"};
  }
  HttpHeaders headers;
  for (uint32_t index = 0; index < *count; ++index) {
    const auto name = reader.text();
    const auto value = name ? reader.text() : std::nullopt;
    if (!value || name->empty()) return broken_block("a header block ends in the middle of a header");
    if (headers.contains(*name)) return broken_block("a header stands twice in its block");
    size_t begin = 0;
    while (begin <= value->size()) {
      const size_t end = std::min(value->find('\0', begin), value->size());
      headers.add(std::string{*name}, std::string{value->substr(begin, end - begin)});
      begin = end + 1;
    }
    if (headers.all().size() > HeaderInflater::kLongestBlock / 16) return broken_block("a header has too many values");
  }
  if (!reader.at_end()) return broken_block("a header block has bytes behind its last header");
  return headers;
}

}  // namespace

struct HeaderInflater::Stream {
  Stream() { SHIPLOG_CHECK(::inflateInit(&z) == Z_OK, "zlib has memory for a stream"); }
  ~Stream() { ::inflateEnd(&z); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  z_stream z{};
};

HeaderInflater::HeaderInflater() = default;
HeaderInflater::~HeaderInflater() = default;

Result<std::string> HeaderInflater::decompress(std::string_view block) {
  if (stream_ == nullptr) stream_ = std::make_unique<Stream>();
  z_stream& z = stream_->z;
  z.next_in = bytes_of(block);
  z.avail_in = static_cast<uInt>(block.size());
  std::string text;
  std::array<char, 4096> piece{};
  while (true) {
    z.next_out = reinterpret_cast<Bytef*>(piece.data());
    z.avail_out = static_cast<uInt>(piece.size());
    int result = ::inflate(&z, Z_SYNC_FLUSH);
    if (result == Z_NEED_DICT) {
      const std::string& dictionary = header_dictionary();
      result = ::inflateSetDictionary(&z, bytes_of(dictionary), static_cast<uInt>(dictionary.size()));
      if (result != Z_OK) return broken_block("a header block is compressed with another dictionary");
      continue;
    }
    if (result != Z_OK && result != Z_BUF_ERROR) return broken_block("a header block cannot be decompressed");
    text.append(piece.data(), piece.size() - z.avail_out);
    if (text.size() > kLongestBlock) {
      return Error{ErrorCode::kTooLarge, "SPDY: a header block has more than the " + std::to_string(kLongestBlock) +
                                             " bytes that are allowed"};
    }
    if (z.avail_out > 0) break;  // all there is
  }
  if (z.avail_in > 0) return broken_block("a header block has bytes behind its end");
  return text;
}

Result<HttpHeaders> HeaderInflater::inflate(std::string_view block) {
  SHIPLOG_TRY(const std::string text, decompress(block));
  return parse(text);
}

struct HeaderDeflater::Stream {
  Stream() {
    // A small window and little memory: headers of servers are short.
    constexpr int kWindow = 11;
    constexpr int kMemory = 1;
    SHIPLOG_CHECK(::deflateInit2(&z, Z_BEST_SPEED, Z_DEFLATED, kWindow, kMemory, Z_DEFAULT_STRATEGY) == Z_OK,
                  "zlib has memory for a stream");
    const std::string& dictionary = header_dictionary();
    SHIPLOG_CHECK(::deflateSetDictionary(&z, bytes_of(dictionary), static_cast<uInt>(dictionary.size())) == Z_OK,
                  "zlib takes the dictionary");
  }
  ~Stream() { ::deflateEnd(&z); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  z_stream z{};
};

HeaderDeflater::HeaderDeflater() = default;
HeaderDeflater::~HeaderDeflater() = default;

std::string HeaderDeflater::deflate(const HttpHeaders& headers) {
  std::map<std::string, std::string> fields;
  for (const auto& [name, value] : headers.all()) {
    const auto [found, added] = fields.try_emplace(lower_case(name), value);
    if (!added) found->second.append(1, '\0').append(value);
  }
  std::string block;
  append_count(block, fields.size());
  for (const auto& [name, value] : fields) {
    append_count(block, name.size());
    block += name;
    append_count(block, value.size());
    block += value;
  }
  if (stream_ == nullptr) stream_ = std::make_unique<Stream>();
  z_stream& z = stream_->z;
  z.next_in = bytes_of(block);
  z.avail_in = static_cast<uInt>(block.size());
  std::string compressed;
  std::array<char, 4096> piece{};
  do {
    z.next_out = reinterpret_cast<Bytef*>(piece.data());
    z.avail_out = static_cast<uInt>(piece.size());
    const int result = ::deflate(&z, Z_SYNC_FLUSH);
    SHIPLOG_CHECK(result == Z_OK || result == Z_BUF_ERROR, "zlib compresses headers");
    compressed.append(piece.data(), piece.size() - z.avail_out);
  } while (z.avail_out == 0);
  return compressed;
}

}  // namespace shiplog::spdy
