#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

// The bytes of an entry without the generated classes: what can be answered at little cost.
namespace shiplog::codec {

/// Reads Protobuf's wire format; after the first thing that is wrong nothing is there.
class WireReader {
 public:
  explicit WireReader(std::string_view bytes) : at_{bytes.data()}, end_{bytes.data() + bytes.size()} {}

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

/// Where the events are in the bytes of an entry.
struct EntryLayout {
  size_t events_begin = 0;
  size_t events_end = 0;
  size_t events = 0;
};

/// Of a decision with events, none of them of family control, with the fields in the order of their numbers. nullopt:
/// it is another entry, or none.
std::optional<EntryLayout> layout_of_decision(std::string_view bytes);

}  // namespace shiplog::codec
