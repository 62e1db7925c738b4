#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "events/kinds/wire_type.h"

namespace shiplog {

struct WireField {
  uint32_t number = 0;
  WireType wire = WireType::kVarint;
  uint64_t bits = 0;            // of kVarint, kFixed64 and kFixed32
  std::string_view bytes = "";  // of kBytes
};

/// Reads a protobuf message field by field. Groups, which Kubernetes has never used, count as malformed.
class WireReader {
 public:
  explicit WireReader(std::string_view bytes) : rest_{bytes} {}
  bool done() const { return rest_.empty(); }
  /// What has not been read.
  std::string_view rest() const { return rest_; }

  /// nullopt: malformed.
  std::optional<WireField> next() {
    const auto tag = varint();
    if (!tag || *tag >> 3U == 0 || *tag >> 3U > (1U << 29U) - 1) return std::nullopt;
    WireField field;
    field.number = static_cast<uint32_t>(*tag >> 3U);
    std::optional<uint64_t> bits;
    switch (*tag & 7U) {
      case 0:
        bits = varint();
        break;
      case 1:
        field.wire = WireType::kFixed64;
        bits = fixed(8);
        break;
      case 2:
        field.wire = WireType::kBytes;
        bits = varint();
        if (!bits || *bits > rest_.size()) return std::nullopt;
        field.bytes = rest_.substr(0, static_cast<size_t>(*bits));
        rest_.remove_prefix(field.bytes.size());
        break;
      case 5:
        field.wire = WireType::kFixed32;
        bits = fixed(4);
        break;
      default:
        break;
    }
    if (!bits) return std::nullopt;
    field.bits = *bits;
    return field;
  }

  std::optional<uint64_t> varint() {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      if (rest_.empty()) return std::nullopt;
      const auto byte = static_cast<unsigned char>(rest_.front());
      rest_.remove_prefix(1);
      if (shift == 63 && byte > 1) return std::nullopt;
      value |= static_cast<uint64_t>(byte & 127U) << shift;
      if (byte < 128) return value;
    }
    return std::nullopt;
  }

 private:
  std::optional<uint64_t> fixed(size_t size) {
    if (rest_.size() < size) return std::nullopt;
    uint64_t value = 0;
    for (size_t i = size; i-- > 0;) value = (value << 8U) | static_cast<unsigned char>(rest_[i]);
    rest_.remove_prefix(size);
    return value;
  }

  std::string_view rest_;
};

}  // namespace shiplog
