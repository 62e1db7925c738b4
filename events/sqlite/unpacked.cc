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

Error no_text() { return {ErrorCode::kCorrupt, "there is neither a text nor a compressed one"}; }

Result<std::string_view> alone(Compressor& compressor, const PackedText& text) {
  if (!text.compressed) return text.bytes;
  if (text.bytes.empty()) return no_text();
  return compressor.decompress(text.bytes.substr(1), static_cast<uint8_t>(text.bytes[0]), kMostBytes);
}

/// The base of `kept.packed_base`, or this one, which is then kept.
Result<std::string_view> base_in(Unpacking& kept, const PackedText& base) {
  if (!base.compressed) return base.bytes;
  if (!base.bytes.empty() && base.bytes == kept.packed_base) return kept.base;
  kept.packed_base.clear();
  SHIPLOG_TRY(kept.base, alone(kept.of_base, base));
  kept.packed_base = base.bytes;
  return kept.base;
}

Result<std::string_view> difference(Compressor& compressor, const PackedText& text, std::string_view base) {
  return text.bytes.empty() ? base : compressor.decompress_against(text.bytes, base, kMostBytes);
}

/// nullopt: neither a TEXT nor a BLOB.
std::optional<PackedText> packed(sqlite3_value* value) {
  const int type = sqlite3_value_type(value);
  if (type != SQLITE_TEXT && type != SQLITE_BLOB) return std::nullopt;
  return PackedText{bytes_of(value), type == SQLITE_BLOB};
}

Result<std::string_view> text_of(Unpacking& unpacking, int count, sqlite3_value** values) {
  const auto text = packed(values[0]);
  if (!text) return no_text();
  if (count == 1) return alone(unpacking.compressor, *text);
  if (!text->compressed) return text->bytes;
  const auto base = packed(values[1]);
  if (!base) return no_text();
  SHIPLOG_TRY(const std::string_view whole, base_in(unpacking, *base));
  return difference(unpacking.compressor, *text, whole);
}

void unpacked(sqlite3_context* context, int count, sqlite3_value** values) {
  auto& unpacking = *static_cast<Unpacking*>(sqlite3_user_data(context));
  const auto text = text_of(unpacking, count, values);
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

TextUnpacker::TextUnpacker() : compressor_{std::make_unique<Compressor>()}, of_base_{std::make_unique<Compressor>()} {}
TextUnpacker::TextUnpacker(TextUnpacker&&) noexcept = default;
TextUnpacker& TextUnpacker::operator=(TextUnpacker&&) noexcept = default;
TextUnpacker::~TextUnpacker() = default;

Result<std::string_view> TextUnpacker::unpack(const PackedText& text, const std::optional<PackedText>& base) {
  if (!text.compressed) return text.bytes;
  if (!base) return alone(*compressor_, text);
  SHIPLOG_TRY(const std::string_view whole, alone(*of_base_, *base));
  return difference(*compressor_, text, whole);
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
