#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "events/base/result.h"
#include "events/state/state.h"

namespace shiplog::interpreter {

/// The type under which State stores ResourceInterpreterCustomizations.
inline constexpr const char* kCustomizationType = "resourceinterpretercustomizations.config.karmada.io";

/// The operations of the resource interpreter (L-1), as Karmada's InterpreterOperation.
enum class InterpreterOperation {
  kReplicas,
  kComponents,
  kRevise,
  kRetain,
  kAggregate,
  kStatus,
  kHealth,
  kDependencies
};

/// The names of an operation.
struct OperationNames {
  InterpreterOperation operation;
  const char* name;      ///< "InterpretHealth"
  const char* field;     ///< under spec.customizations
  const char* function;  ///< the Lua function
};
extern const std::array<OperationNames, 8> kOperations;
const OperationNames& names_of(InterpreterOperation operation);

/// One script for an operation, and where it is defined.
struct InterpreterScript {
  std::string where;  ///< "ResourceInterpreterCustomization flux, healthInterpretation"
  Value text;
  Value customization;  ///< the customization that contains it; null for a built-in script
};

/// The state's scripts for this operation and kind, in order of the customizations' names: the first one applies, for
/// dependencies all of them (L-17). Scripts that are quarantined for objects of this namespace are omitted.
std::vector<InterpreterScript> customized(const State& state, const Value& object, InterpreterOperation operation);

/// A script of a customization that does not parse (L-17).
struct BadScript {
  std::string field;  ///< "spec.customizations.retention.luaScript"
  std::string why;
};
std::vector<BadScript> bad_scripts(const Value& customization);

/// Why a customization conflicts with the others: another one for the same kind has a script for the same operation,
/// dependencies excepted (L-17). nullopt: no conflict.
std::optional<std::string> conflict(const Value& customization, const std::vector<Value>& others);

/// Whether objects of this type define how kinds are interpreted: customizations and webhook configurations.
bool interprets(std::string_view type);

/// The kinds whose objects must be interpreted again after this change: those that the customization or webhook
/// configuration applied to before the change or applies to after it. For wildcards, the kinds of existing objects.
struct InterpretedKind {
  std::string api_version, kind;
  bool operator==(const InterpretedKind&) const = default;
};
std::vector<InterpretedKind> concerned(const State& state, const Change& change);

}  // namespace shiplog::interpreter
