#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "events/base/utf8.h"
#include "events/codec/utf8_repair.h"
#include "events/codec/wire.h"

// Writes messages without the generated classes: where a message for each cluster of a large fleet would cost more than
// the decision.
namespace shiplog::codec {

inline constexpr size_t kLongestVarint = 10;

/// Writes the number to `to`, which has room for the longest. The end of what was written.
inline char* write_varint(uint64_t number, char* to) {
  constexpr uint64_t kMore = 0x80;
  for (; number >= kMore; number >>= 7U) *to++ = static_cast<char>(number | kMore);
  *to++ = static_cast<char>(number);
  return to;
}

inline void put_varint(uint64_t number, std::string& out) {
  char bytes[kLongestVarint];
  out.append(bytes, static_cast<size_t>(write_varint(number, bytes) - bytes));
}

constexpr uint64_t wire_tag(uint32_t field, FactWireType type) {
  return (uint64_t{field} << kWireTypeBits) | static_cast<uint32_t>(type);
}

inline void put_tag(uint32_t field, FactWireType type, std::string& out) { put_varint(wire_tag(field, type), out); }

/// A field whose length is known once `write` has appended it. What was written is moved unless its length takes as
/// many bytes as `expected` does.
template <class Write>
void put_measured(uint32_t field, std::string& out, Write write, size_t expected = 0) {
  put_tag(field, FactWireType::kLengthFirst, out);
  const size_t begin = out.size();
  put_varint(expected, out);
  const size_t kept = out.size() - begin;
  write();
  char length[kLongestVarint];
  const auto* end = write_varint(out.size() - begin - kept, length);
  out.replace(begin, kept, length, static_cast<size_t>(end - length));
}

inline void put_bytes(uint32_t field, std::string_view bytes, std::string& out) {
  char head[2 * kLongestVarint];
  const auto* end = write_varint(bytes.size(), write_varint(wire_tag(field, FactWireType::kLengthFirst), head));
  out.append(head, static_cast<size_t>(end - head));
  out += bytes;
}

/// Repaired, where it is no UTF-8.
inline void put_text(uint32_t field, std::string_view text, std::string& out) {
  is_utf8(text) ? put_bytes(field, text, out) : put_bytes(field, repaired(text), out);
}

/// As in proto3, what has its default is left out.
inline void put_number(uint32_t field, int64_t number, std::string& out) {
  if (number == 0) return;
  put_tag(field, FactWireType::kVarint, out);
  put_varint(static_cast<uint64_t>(number), out);
}

/// A packed field; `raw` makes of an element what is written.
template <class Numbers, class Raw>
void put_packed(uint32_t field, const Numbers& numbers, std::string& out, Raw raw) {
  if (numbers.empty()) return;
  put_measured(field, out, [&] {
    constexpr size_t kChunk = 512;
    char chunk[kChunk + kLongestVarint];
    char* at = chunk;
    for (const auto& number : numbers) {
      at = write_varint(raw(number), at);
      if (at < chunk + kChunk) continue;
      out.append(chunk, static_cast<size_t>(at - chunk));
      at = chunk;
    }
    out.append(chunk, static_cast<size_t>(at - chunk));
  });
}

}  // namespace shiplog::codec
