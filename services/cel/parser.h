#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "events/base/result.h"
#include "services/cel/expression.h"

namespace shiplog::cel {

/// How deep an expression may be nested. Also bounds the stack of an evaluation.
constexpr size_t kDeepestExpression = 250;
/// In bytes.
constexpr size_t kLongestExpression = 100'000;

/// Reads an expression and expands its macros. Error: kInvalid; the message is as issue_text() writes it.
/// Source: github.com/google/cel-spec doc/langdef.md, "Syntax" and "Macros"; Kubernetes' optional syntax and
/// two-variable comprehensions.
Result<std::unique_ptr<CelNode>> parse_expression(std::string_view text);

/// "ERROR: <input>:1:5: message", the line of the text and a mark below the place.
std::string issue_text(std::string_view text, size_t offset, std::string_view message);

}  // namespace shiplog::cel
