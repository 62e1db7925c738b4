#pragma once

#include <set>
#include <string>
#include <string_view>

#include "services/cel/expression.h"
#include "services/cel/program.h"

namespace shiplog::cel {

struct CelChecked {
  CelType type;
  size_t slots = 0;            ///< variables of the environment and of macros at once
  size_t memory = 0;           ///< of what literals were compiled to
  std::set<std::string> used;  ///< variables of the environment
  std::string issues;          ///< empty: the types fit
};

/// Finds the type of each part of an expression, and resolves its names. `text` is for the messages.
/// Source: github.com/google/cel-spec doc/langdef.md, "Gradual Type Checking"; cel-go's messages.
CelChecked check_types(CelNode& root, std::string_view text, const CelEnvironment& environment);

}  // namespace shiplog::cel
