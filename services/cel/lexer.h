#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "services/cel/cel_value.h"

namespace shiplog::cel {

struct CelToken {
  enum class Kind : uint8_t {
    kEnd,
    kIdentifier,  ///< also reserved words; text
    kLiteral,     ///< value
    kInteger,     ///< value is an int; see minimum_int
    kSymbol,      ///< text, e.g. "&&"
    kError,       ///< text is the message
  };
  Kind kind = Kind::kEnd;
  size_t offset = 0;
  std::string text;
  CelValue value;
  bool minimum_int = false;  ///< 9223372036854775808, which is an int only after a minus
};

/// Splits an expression into tokens.
class CelLexer {
 public:
  explicit CelLexer(std::string_view text) : text_{text} {}
  CelToken next();

 private:
  void skip_space();
  CelToken number();
  CelToken identifier();
  CelToken quoted(bool raw, bool bytes);
  CelToken error(size_t offset, std::string message) const;
  char peek(size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }

  std::string_view text_;
  size_t at_ = 0;
  size_t begin_ = 0;
};

}  // namespace shiplog::cel
