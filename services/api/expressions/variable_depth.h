#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>

#include "events/base/result.h"

namespace shiplog::api {

/// How deep evaluations of the variables of a policy are nested. A variable is evaluated inside the expression that
/// reads it first, on the same stack, so a chain of them is as deep as all its expressions together.
class VariableDepths {
 public:
  /// Far more than policies need, and far less than the stack of a thread holds.
  static constexpr size_t kDeepest = 1000;

  /// Adds the next variable, which may read those before it. Error: kInvalid, it is nested deeper than kDeepest and
  /// must not be evaluated; those after it count it as not nested. An expression that cannot be parsed is not nested.
  Result<void> add(const std::string& name, std::string_view expression);

 private:
  std::map<std::string, size_t, std::less<>> depths_;
};

}  // namespace shiplog::api
