#pragma once

#include <cstdint>
#include <string>
#include <string_view>

/// Protobuf assembled by hand from field numbers, so that a codec is not only compared with itself. For tests.
namespace shiplog::wire {

inline std::string number(uint64_t value) {
  std::string out;
  for (; value > 127; value >>= 7U) out += static_cast<char>((value & 127U) | 128U);
  return out + static_cast<char>(value);
}
inline std::string varint(uint64_t field, uint64_t value) { return number(field << 3U) + number(value); }
/// A string, bytes, or a message within a message.
inline std::string bytes(uint64_t field, std::string_view content) {
  return (number(field << 3U | 2U) + number(content.size())).append(content);
}
/// A body as a client sends it; `rest` are further fields of runtime.Unknown.
inline std::string envelope(std::string_view api_version, std::string_view kind, std::string_view raw,
                            std::string_view rest = {}) {
  const std::string type = bytes(1, api_version) + bytes(2, kind);
  return (std::string{"k8s\0", 4} + bytes(1, type) + bytes(2, raw)).append(rest);
}

}  // namespace shiplog::wire
