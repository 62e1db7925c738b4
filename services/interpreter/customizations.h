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
  Value customization;  ///< whose it is; null for a built-in one
};

/// The state's scripts for this operation and kind, by the customizations' names: the first counts, of dependencies all
/// (L-17). Without those that are quarantined for objects like this one.
std::vector<Script> customized(const State& state, const Value& object, Operation operation);

/// A script of a customization that does not parse (L-17).
struct BadScript {
  std::string field;  ///< "spec.customizations.retention.luaScript"
  std::string why;
};
std::vector<BadScript> bad_scripts(const Value& customization);

/// Why a customization may not stand beside the others: one of the same kind has a script for an operation that it has
/// one for, dependencies excepted (L-17). nullopt: it may.
std::optional<std::string> conflict(const Value& customization, const std::vector<Value>& others);

/// Whether objects of this type say how kinds are interpreted: customizations and configurations of webhooks.
bool interprets(std::string_view type);

/// The kinds whose objects have to be looked at again after this change: what the customization, or the configuration
/// of webhooks, was for, and what it is for now; of what is for many kinds those that there are objects of.
struct Target {
  std::string api_version, kind;
  bool operator==(const Target&) const = default;
};
std::vector<Target> concerned(const State& state, const Change& change);

}  // namespace shiplog::interpreter
