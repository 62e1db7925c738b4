#include "services/cel/library/go_text.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>

#include "events/base/utf8.h"

namespace shiplog::cel {

std::string go_quoted(std::string_view text) {
  std::string out = "\"";
  while (!text.empty()) {
    const size_t length = utf8_sequence_length(text);
    const auto c = static_cast<unsigned char>(text[0]);
    if (length > 1) {
      out += text.substr(0, length);
      text.remove_prefix(length);
      continue;
    }
    text.remove_prefix(1);
    switch (c) {
      case '"':
        out += "\\\"";
        continue;
      case '\\':
        out += "\\\\";
        continue;
      case '\a':
        out += "\\a";
        continue;
      case '\b':
        out += "\\b";
        continue;
      case '\f':
        out += "\\f";
        continue;
      case '\n':
        out += "\\n";
        continue;
      case '\r':
        out += "\\r";
        continue;
      case '\t':
        out += "\\t";
        continue;
      case '\v':
        out += "\\v";
        continue;
      default:
        break;
    }
    if (length == 0 || c < 0x20 || c == 0x7F) {
      std::array<char, 8> escape{};
      std::snprintf(escape.data(), escape.size(), "\\x%02x", static_cast<unsigned>(c));
      out += escape.data();
    } else {
      out += static_cast<char>(c);
    }
  }
  return out + '"';
}

std::string go_double(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  std::array<char, 64> digits{};
  const auto scientific =
      std::to_chars(digits.data(), digits.data() + digits.size(), value, std::chars_format::scientific);
  const std::string text{digits.data(), scientific.ptr};
  const int exponent = std::stoi(text.substr(text.find('e') + 1));
  // Go's %g, which cel-go writes numbers with, has exponents below 1e-4 and from 1e6 on.
  if (exponent < -4 || exponent >= 6) return text;
  const auto fixed = std::to_chars(digits.data(), digits.data() + digits.size(), value, std::chars_format::fixed);
  return {digits.data(), fixed.ptr};
}

}  // namespace shiplog::cel
