#pragma once

#include <string>
#include <string_view>

#include "events/base/time.h"
#include "events/base/value.h"

/// A function of a ResourceInterpreterCustomization that exceeded a limit is not run again until the customization's
/// spec changes; the next level interprets instead. This is recorded in the customization's status, so that every
/// replica and every replay decides alike:
///   quarantine: [{operation, function, namespaces, reason, message, since}]
///   conditions: Quarantined
/// It applies to objects in the namespace of the object on which it failed: a user who can write there must not affect
/// other namespaces. After failures in several namespaces it applies to all ("*").
namespace shiplog::interpreter {

inline constexpr const char* kQuarantined = "Quarantined";

/// One overrun.
struct Overrun {
  std::string operation;  ///< "InterpretHealth"
  std::string ns;         ///< of the interpreted object; empty: cluster-scoped
  std::string reason;     ///< "StepLimitExceeded", "MemoryLimitExceeded", "TimeLimitExceeded", "Crashed"
  std::string message;
};

/// Whether this function must not be run on objects of the namespace.
bool quarantined(const Value& customization, std::string_view operation, std::string_view ns);

/// The customization with this overrun recorded in its status.
Value with_quarantine(Value customization, const Overrun& overrun, UtcMillis now);

/// Whether its status refers to an earlier spec.
bool quarantine_is_over(const Value& customization);

/// The customization with the condition set to False and an empty quarantine.
Value without_quarantine(Value customization, UtcMillis now);

}  // namespace shiplog::interpreter
