#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "events/base/result.h"
#include "events/state/state.h"

namespace shiplog::interpreter {

/// The type that State keeps ResourceInterpreterCustomizations under.
inline constexpr const char* kCustomizationType = "resourceinterpretercustomizations.config.karmada.io";

/// What can be asked of a kind (L-1).
enum class Operation { kReplicas, kComponents, kRevise, kRetain, kAggregate, kStatus, kHealth, kDependencies };

/// How an operation is called where.
struct OperationNames {
  Operation operation;
  const char* name;      ///< "InterpretHealth"
  const char* field;     ///< under spec.customizations
  const char* function;  ///< the Lua function
};
extern const std::array<OperationNames, 8> kOperations;
const OperationNames& names_of(Operation operation);

/// One script for an operation, and where people find it.
struct Script {
  std::string where;  ///< "ResourceInterpreterCustomization flux, healthInterpretation"
  Value text;
};

/// The state's scripts for this operation and kind, by the customizations' names: the first counts, of dependencies all
/// (L-17).
std::vector<Script> customized(const State& state, const Value& object, Operation operation);

/// What of a customization an admission refuses (L-17): a script that does not parse, and an operation that another
/// customization of the same kind has, dependencies excepted. Error: kInvalid.
Result<void> check_customization(const State& state, const Value& customization);
/// The first half of that, which needs no state.
Result<void> check_scripts(const Value& customization);

/// The objects that a change of this customization concerns: those of its target's kind.
struct Target {
  std::string api_version, kind;
};
Target target_of(const Value& customization);

}  // namespace shiplog::interpreter
