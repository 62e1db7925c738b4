#include "events/codec/utf8_repair.h"

#include "events/base/utf8.h"

namespace shiplog::codec {

std::string repaired(std::string_view text) {
  constexpr std::string_view kReplacement = "\xEF\xBF\xBD";
  constexpr size_t kLongestCharacter = 4;
  std::string out;
  for (size_t position = 0; position < text.size();) {
    size_t length = 1;
    while (length <= kLongestCharacter && !is_utf8(text.substr(position, length))) ++length;
    const bool readable = length <= kLongestCharacter;
    out += readable ? text.substr(position, length) : kReplacement;
    position += readable ? length : 1;
  }
  return out;
}

}  // namespace shiplog::codec
