#include "events/base/utf8.h"

#include <cstdint>
#include <cstring>

namespace shiplog {
namespace {

// How many bytes the well-formed sequence at `at` has; 0 when it is not one. RFC 3629, section 4.
size_t sequence_length(const unsigned char* at, size_t left) {
  const auto follows = [&](size_t index, unsigned low = 0x80, unsigned high = 0xBF) {
    return index < left && at[index] >= low && at[index] <= high;
  };
  const unsigned first = at[0];
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first <= 0xDF) return follows(1) ? 2 : 0;
  if (first >= 0xE0 && first <= 0xEF) {
    const unsigned low = first == 0xE0 ? 0xA0 : 0x80;   // overlong
    const unsigned high = first == 0xED ? 0x9F : 0xBF;  // surrogates
    return follows(1, low, high) && follows(2) ? 3 : 0;
  }
  if (first >= 0xF0 && first <= 0xF4) {
    const unsigned low = first == 0xF0 ? 0x90 : 0x80;   // overlong
    const unsigned high = first == 0xF4 ? 0x8F : 0xBF;  // above U+10FFFF
    return follows(1, low, high) && follows(2) && follows(3) ? 4 : 0;
  }
  return 0;
}

/// Of a sequence of two bytes or more: U+0080 to U+009F. Some terminals take U+009B for the beginning of an escape
/// sequence.
bool is_c1(const unsigned char* at) { return at[0] == 0xC2 && at[1] < 0xA0; }

}  // namespace

size_t utf8_sequence_length(std::string_view text) {
  return text.empty() ? 0 : sequence_length(reinterpret_cast<const unsigned char*>(text.data()), text.size());
}

bool is_utf8(std::string_view text) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(text.data());
  size_t position = 0;
  while (position < text.size()) {
    // Manifests are nearly all ASCII: eight bytes at a step.
    uint64_t word = 0;
    if (position + sizeof word <= text.size()) {
      std::memcpy(&word, bytes + position, sizeof word);
      if ((word & 0x8080808080808080U) == 0) {
        position += sizeof word;
        continue;
      }
    }
    const size_t length = sequence_length(bytes + position, text.size() - position);
    if (length == 0) return false;
    position += length;
  }
  return true;
}

std::string printable(std::string_view text, size_t longest) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(text.data());
  std::string shown;
  for (size_t position = 0; position < text.size();) {
    const size_t length = sequence_length(bytes + position, text.size() - position);
    const bool fit =
        length == 1 ? bytes[position] >= 0x20 && bytes[position] != 0x7F : length > 1 && !is_c1(bytes + position);
    const size_t step = length == 0 ? 1 : length;
    if (shown.size() + step > longest) return shown + "...";
    if (fit) {
      shown += text.substr(position, step);
    } else {
      shown += '?';
    }
    position += step;
  }
  return shown;
}

}  // namespace shiplog
