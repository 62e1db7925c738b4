#include "events/sqlite/unpacked.h"

#include <string>
#include <string_view>

#include <sqlite3.h>

#include "events/base/check.h"
#include "events/compression/compression.h"

namespace shiplog::sqlite {
namespace {

constexpr size_t kMostBytes = size_t{64} << 20;  // more than any text that is stored

static_assert(kNewestDictionary < 128, "the number is one byte");

/// Of a connection: which has one thread at a time.
struct Unpacking {
  Compressor compressor, of_base;
  // The base that was used last, compressed and not: one version of an object is often read after another.
  std::string packed_base;
  std::string_view base;
};

std::string_view bytes_of(sqlite3_value* value) {
  const bool text = sqlite3_value_type(value) == SQLITE_TEXT;
  const auto* data = text ? reinterpret_cast<const char*>(sqlite3_value_text(value))
                          : static_cast<const char*>(sqlite3_value_blob(value));
  return data == nullptr ? std::string_view{} : std::string_view{data, static_cast<size_t>(sqlite3_value_bytes(value))};
}

Result<std::string_view> alone(Compressor& compressor, sqlite3_value* value) {
  const std::string_view bytes = bytes_of(value);
  if (sqlite3_value_type(value) == SQLITE_TEXT) return bytes;
  if (sqlite3_value_type(value) != SQLITE_BLOB || bytes.empty()) {
    return Error{ErrorCode::kCorrupt, "there is neither a text nor a compressed one"};
  }
  return compressor.decompress(bytes.substr(1), static_cast<uint8_t>(bytes[0]), kMostBytes);
}

Result<std::string_view> base_in(Unpacking& unpacking, sqlite3_value* value) {
  if (sqlite3_value_type(value) != SQLITE_BLOB) return alone(unpacking.of_base, value);
  const std::string_view packed = bytes_of(value);
  if (!packed.empty() && packed == unpacking.packed_base) return unpacking.base;
  unpacking.packed_base.clear();
  SHIPLOG_TRY(unpacking.base, alone(unpacking.of_base, value));
  unpacking.packed_base = packed;
  return unpacking.base;
}

Result<std::string_view> difference(Unpacking& unpacking, sqlite3_value* value, sqlite3_value* base) {
  if (sqlite3_value_type(value) == SQLITE_TEXT) return bytes_of(value);
  if (sqlite3_value_type(value) != SQLITE_BLOB) {
    return Error{ErrorCode::kCorrupt, "there is neither a text nor a compressed one"};
  }
  SHIPLOG_TRY(const std::string_view whole, base_in(unpacking, base));
  const std::string_view bytes = bytes_of(value);
  return bytes.empty() ? whole : unpacking.compressor.decompress_against(bytes, whole, kMostBytes);
}

void unpacked(sqlite3_context* context, int count, sqlite3_value** values) {
  auto& unpacking = *static_cast<Unpacking*>(sqlite3_user_data(context));
  const auto text = count == 1 ? alone(unpacking.compressor, values[0]) : difference(unpacking, values[0], values[1]);
  if (text) {
    return sqlite3_result_text64(context, text.value().data(), text.value().size(), SQLITE_TRANSIENT, SQLITE_UTF8);
  }
  const std::string message = "a compressed text is damaged: " + text.error().message;
  sqlite3_result_error(context, message.c_str(), static_cast<int>(message.size()));
  sqlite3_result_error_code(context, SQLITE_CORRUPT);  // keeps the message
}

}  // namespace

TextPacker::TextPacker() : compressor_{std::make_unique<Compressor>()} {}
TextPacker::TextPacker(TextPacker&&) noexcept = default;
TextPacker& TextPacker::operator=(TextPacker&&) noexcept = default;
TextPacker::~TextPacker() = default;

PackedText TextPacker::pack(std::string_view text) {
  const auto compressed = compressor_->compress(text);
  if (!compressed || compressed->size() + 1 >= text.size()) return {text, false};
  buffer_.assign(1, static_cast<char>(kNewestDictionary));
  buffer_ += *compressed;
  return {buffer_, true};
}

PackedText TextPacker::pack_against(std::string_view text, std::string_view base) {
  if (text == base) return {{}, true};
  const auto compressed = compressor_->compress_against(text, base);
  return compressed ? PackedText{*compressed, true} : PackedText{text, false};
}

void add_unpacked(sqlite3* database) {
  constexpr int kFlags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS;
  for (const int count : {1, 2}) {
    const int code =
        sqlite3_create_function_v2(database, "unpacked", count, kFlags, new Unpacking, unpacked, nullptr, nullptr,
                                   [](void* unpacking) { delete static_cast<Unpacking*>(unpacking); });
    SHIPLOG_CHECK(code == SQLITE_OK, "SQLite takes the function");
  }
}

}  // namespace shiplog::sqlite
