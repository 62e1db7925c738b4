#include "services/cel/lexer.h"

#include <array>
#include <cctype>
#include <charconv>
#include <system_error>

#include "events/base/ascii.h"
#include "events/base/utf8.h"

namespace shiplog::cel {
namespace {

bool is_hex_digit(char c) { return std::isxdigit(static_cast<unsigned char>(c)) != 0; }
bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

void append_utf8(uint32_t code, std::string& out) {
  const auto byte = [&](uint32_t bits) { out += static_cast<char>(static_cast<unsigned char>(bits)); };
  if (code < 0x80) {
    byte(code);
  } else if (code < 0x800) {
    byte(0xC0U | code >> 6U);
    byte(0x80U | (code & 0x3FU));
  } else if (code < 0x10000) {
    byte(0xE0U | code >> 12U);
    byte(0x80U | (code >> 6U & 0x3FU));
    byte(0x80U | (code & 0x3FU));
  } else {
    byte(0xF0U | code >> 18U);
    byte(0x80U | (code >> 12U & 0x3FU));
    byte(0x80U | (code >> 6U & 0x3FU));
    byte(0x80U | (code & 0x3FU));
  }
}

/// Reads one escape sequence after its backslash. False: there is no such sequence.
bool take_escape(std::string_view& rest, bool bytes, std::string& out) {
  if (rest.empty()) return false;
  const char c = rest[0];
  rest.remove_prefix(1);
  static constexpr std::string_view kFrom = "abfnrtv\"'\\?`";
  static constexpr std::string_view kTo = "\a\b\f\n\r\t\v\"'\\?`";
  if (const size_t at = kFrom.find(c); at != std::string_view::npos) {
    out += kTo[at];
    return true;
  }
  size_t digits = 0;
  int base = 16;
  if (c == 'x' || c == 'X') digits = 2;
  if (c == 'u') digits = 4;
  if (c == 'U') digits = 8;
  std::string number;
  if (c >= '0' && c <= '3') {
    digits = 2;
    base = 8;
    number = c;
  }
  if (digits == 0 || rest.size() < digits || (bytes && (c == 'u' || c == 'U'))) return false;
  number += rest.substr(0, digits);
  rest.remove_prefix(digits);
  uint32_t code = 0;
  const auto read = std::from_chars(number.data(), number.data() + number.size(), code, base);
  if (read.ec != std::errc{} || read.ptr != number.data() + number.size()) return false;
  if (bytes) {
    out += static_cast<char>(static_cast<unsigned char>(code));
    return true;
  }
  if (code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF)) return false;
  append_utf8(code, out);
  return true;
}

}  // namespace

CelToken CelLexer::error(size_t offset, std::string message) const {
  return {CelToken::Kind::kError, offset, std::move(message), {}, false};
}

void CelLexer::skip_space() {
  while (at_ < text_.size()) {
    const char c = text_[at_];
    if (c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\f') {
      ++at_;
    } else if (text_.substr(at_).starts_with("//")) {
      at_ = std::min(text_.find('\n', at_), text_.size());
    } else {
      return;
    }
  }
}

CelToken CelLexer::next() {
  skip_space();
  begin_ = at_;
  if (at_ == text_.size()) return {CelToken::Kind::kEnd, at_, "<EOF>", {}, false};
  const char c = peek();
  if (is_digit(c) || (c == '.' && is_digit(peek(1)))) return number();
  if (is_word(c)) return identifier();
  if (c == '"' || c == '\'') return quoted(false, false);
  static constexpr std::array<std::string_view, 6> kPairs = {"==", "!=", "<=", ">=", "&&", "||"};
  for (const std::string_view pair : kPairs) {
    if (!text_.substr(at_).starts_with(pair)) continue;
    at_ += 2;
    return {CelToken::Kind::kSymbol, begin_, std::string{pair}, {}, false};
  }
  if (std::string_view{"<>[]{}().,-!?:+*/%"}.find(c) != std::string_view::npos) {
    ++at_;
    return {CelToken::Kind::kSymbol, begin_, std::string{c}, {}, false};
  }
  size_t size = 1;
  while (at_ + size < text_.size() && (static_cast<unsigned char>(text_[at_ + size]) & 0xC0U) == 0x80U) ++size;
  return error(at_, "Syntax error: token recognition error at: '" + std::string{text_.substr(at_, size)} + "'");
}

CelToken CelLexer::number() {
  const bool hex = peek() == '0' && peek(1) == 'x' && is_hex_digit(peek(2));
  bool real = false;
  if (hex) {
    at_ += 2;
    while (is_hex_digit(peek())) ++at_;
  } else {
    while (is_digit(peek())) ++at_;
    if (peek() == '.' && is_digit(peek(1))) {
      real = true;
      ++at_;
      while (is_digit(peek())) ++at_;
    }
    const size_t sign = peek(1) == '+' || peek(1) == '-' ? 1 : 0;
    if ((peek() == 'e' || peek() == 'E') && is_digit(peek(1 + sign))) {
      real = true;
      at_ += 1 + sign;
      while (is_digit(peek())) ++at_;
    }
  }
  const std::string_view text = text_.substr(begin_, at_ - begin_);
  if (real) {
    double value = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
    if (read.ec != std::errc{}) return error(begin_, "invalid double literal");
    return {CelToken::Kind::kLiteral, begin_, std::string{text}, CelValue::real(value), false};
  }
  const std::string_view digits = hex ? text.substr(2) : text;
  uint64_t value = 0;
  const bool fits =
      std::from_chars(digits.data(), digits.data() + digits.size(), value, hex ? 16 : 10).ec == std::errc{};
  if (peek() == 'u' || peek() == 'U') {
    ++at_;
    if (!fits) return error(begin_, "invalid uint literal");
    return {CelToken::Kind::kLiteral, begin_, std::string{text}, CelValue::unsigned_integer(value), false};
  }
  const uint64_t after_minus = uint64_t{1} << 63U;
  if (!fits || value > after_minus) return error(begin_, "invalid int literal");
  return {CelToken::Kind::kInteger, begin_, std::string{text},
          CelValue::integer(value == after_minus ? INT64_MIN : static_cast<int64_t>(value)), value == after_minus};
}

CelToken CelLexer::identifier() {
  while (is_word(peek())) ++at_;
  const std::string_view word = text_.substr(begin_, at_ - begin_);
  const bool quote = peek() == '"' || peek() == '\'';
  if (quote && word.size() <= 2) {
    size_t raw = 0;
    size_t bytes = 0;
    for (const char c : word) {
      raw += c == 'r' || c == 'R' ? 1 : 0;
      bytes += c == 'b' || c == 'B' ? 1 : 0;
    }
    // The grammar has the b first: br"...".
    const bool order = word.size() == 1 || word[0] == 'b' || word[0] == 'B';
    if (raw + bytes == word.size() && raw <= 1 && bytes <= 1 && order) return quoted(raw == 1, bytes == 1);
  }
  return {CelToken::Kind::kIdentifier, begin_, std::string{word}, {}, false};
}

CelToken CelLexer::quoted(bool raw, bool bytes) {
  const char quote = peek();
  const std::string triple(3, quote);
  const bool is_triple = text_.substr(at_).starts_with(triple);
  const std::string_view close = is_triple ? std::string_view{triple} : std::string_view{triple}.substr(0, 1);
  at_ += close.size();
  std::string out;
  while (at_ < text_.size() && !text_.substr(at_).starts_with(close)) {
    const char c = text_[at_];
    if (!is_triple && (c == '\n' || c == '\r')) break;
    ++at_;
    if (c != '\\' || raw) {
      out += c;
      continue;
    }
    std::string_view rest = text_.substr(at_);
    if (!take_escape(rest, bytes, out)) return error(begin_, "Syntax error: invalid escape sequence in a literal");
    at_ = text_.size() - rest.size();
  }
  if (!text_.substr(at_).starts_with(close)) {
    return error(begin_, "Syntax error: token recognition error at: '" +
                             std::string{text_.substr(begin_, std::min<size_t>(at_ - begin_, 60))} + "'");
  }
  at_ += close.size();
  return {CelToken::Kind::kLiteral, begin_, "", bytes ? CelValue::bytes(out) : CelValue::string(out), false};
}

}  // namespace shiplog::cel
