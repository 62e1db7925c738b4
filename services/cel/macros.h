#pragma once

#include <optional>
#include <string>

#include "services/cel/expression.h"

namespace shiplog::cel {

struct MacroError {
  size_t offset = 0;
  std::string message;
};

/// Turns a call of a macro into what it stands for; any other call stays. An error if its arguments are not those of
/// the macro.
std::optional<MacroError> expand_macro(CelNode& call);

}  // namespace shiplog::cel
