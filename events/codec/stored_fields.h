#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string_view>

// Reads the bytes of messages without the generated classes, which have memory for each text.
namespace shiplog::codec {

/// Reads Protobuf's wire format; after the first thing that is wrong nothing is there.
class StoredFieldReader {
 public:
  explicit StoredFieldReader(std::string_view bytes) : at_{bytes.data()}, end_{bytes.data() + bytes.size()} {}

  bool ended() const { return at_ == end_; }
  const char* position() const { return at_; }
  /// nullopt: there is no whole number.
  std::optional<uint64_t> varint() {
    uint64_t number = 0;
    for (unsigned shift = 0; at_ != end_ && shift < 64; shift += 7) {
      const auto byte = static_cast<unsigned char>(*at_++);
      number |= uint64_t{byte & 0x7FU} << shift;
      if (byte < 0x80U) return number;
    }
    return std::nullopt;
  }
  /// The content of a field whose length is next. nullopt: it is cut short.
  std::optional<std::string_view> content() {
    const auto length = varint();
    if (!length || *length > static_cast<uint64_t>(end_ - at_)) return std::nullopt;
    const std::string_view found{at_, static_cast<size_t>(*length)};
    at_ += found.size();
    return found;
  }
  /// True, and it is read, if it is next.
  bool take_tag(uint32_t tag) {
    const char* const before = at_;
    if (varint() == uint64_t{tag}) return true;
    at_ = before;
    return false;
  }

 private:
  const char* at_;
  const char* end_;
};

/// A field of a message: its number, and its content or its number.
struct StoredField {
  uint32_t number = 0;
  bool is_number = false;
  uint64_t value = 0;
  std::string_view content;
};

/// Calls `use` for each field; false when that is, or when the bytes are not as encode() arranges them: fields in the
/// order of their numbers, each once except those in `repeated`.
template <class Use>
bool for_each_field(std::string_view bytes, std::initializer_list<uint32_t> repeated, Use use) {
  constexpr uint64_t kVarint = 0;
  constexpr uint64_t kLengthFirst = 2;
  StoredFieldReader left{bytes};
  for (uint32_t last = 0; !left.ended();) {
    const auto tag = left.varint();
    if (!tag || *tag >> 3U > UINT32_MAX) return false;
    StoredField field;
    field.number = static_cast<uint32_t>(*tag >> 3U);
    if (field.number < last || (field.number == last && std::ranges::find(repeated, last) == repeated.end()))
      return false;
    last = field.number;
    field.is_number = (*tag & 7U) == kVarint;
    if (!field.is_number && (*tag & 7U) != kLengthFirst) return false;
    if (field.is_number) {
      const auto value = left.varint();
      if (!value) return false;
      field.value = *value;
    } else {
      const auto content = left.content();
      if (!content) return false;
      field.content = *content;
    }
    if (!use(field)) return false;
  }
  return true;
}

}  // namespace shiplog::codec
