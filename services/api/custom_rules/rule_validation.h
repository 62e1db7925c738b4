#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "events/base/error.h"
#include "events/base/value.h"
#include "services/api/custom_rules/rule_set.h"

namespace shiplog::api {

// Source: k8s.io/apiserver pkg/apis/cel/config.go.
inline constexpr uint64_t kRuleCost = 1'000'000;      ///< the most that one evaluation may cost
inline constexpr int64_t kObjectBudget = 10'000'000;  ///< the most that all rules for one object may cost

/// What the rules say of an object.
struct RuleFindings {
  std::vector<FieldCause> causes;
  std::vector<std::string> warnings;  ///< errors of values that the write leaves as they are, which may stay
};

/// Evaluates all rules for `object`, with defaults filled in. `old` is what it replaces, nullptr for a new one: rules
/// that use oldSelf are evaluated only where there is an old value. Takes at most about as long as kObjectBudget says.
/// Source: k8s.io/apiextensions-apiserver pkg/apiserver/schema/cel.
RuleFindings validate_rules(const RuleSet& rules, const Value& object, const Value* old,
                            int64_t budget = kObjectBudget);

/// The defaults of the schema, at `path`, that its rules refuse.
std::vector<FieldCause> validate_defaults(const RuleSet& rules, const std::string& path);

}  // namespace shiplog::api
