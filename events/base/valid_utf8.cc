#include "events/base/valid_utf8.h"

#include "events/base/utf8.h"

namespace shiplog {

std::string valid_utf8(std::string_view text) {
  if (is_utf8(text)) return std::string{text};
  std::string valid;
  while (!text.empty()) {
    const size_t length = utf8_sequence_length(text);
    valid += length == 0 ? std::string_view{"\xEF\xBF\xBD"} : text.substr(0, length);
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return valid;
}

}  // namespace shiplog
