#pragma once

#include <string>
#include <string_view>

#include "events/base/time.h"
#include "events/base/value.h"

/// A function of a ResourceInterpreterCustomization that went beyond a limit is not run any more until the
/// customization's spec changes; the next level interprets instead. Recorded in the customization's status, so that
/// every replica and every replay decides alike:
///   quarantine: [{operation, function, namespaces, reason, message, since}]
///   conditions: Quarantined
/// It concerns objects of the namespace of the one it failed on: who can write there must not decide for others. In
/// several namespaces, all ("*").
namespace shiplog::interpreter {

inline constexpr const char* kQuarantined = "Quarantined";

/// One overrun.
struct Overrun {
  std::string operation;  ///< "InterpretHealth"
  std::string ns;         ///< of the object that was interpreted; empty: it has none
  std::string reason;     ///< "StepLimitExceeded", "MemoryLimitExceeded", "TimeLimitExceeded", "Crashed"
  std::string message;
};

/// Whether this function is not to be run on objects of the namespace.
bool quarantined(const Value& customization, std::string_view operation, std::string_view ns);

/// The customization with this in its status.
Value with_quarantine(Value customization, const Overrun& overrun, UtcMillis now);

/// Whether its status is about an earlier spec.
bool quarantine_is_over(const Value& customization);

/// The customization with the condition set to False and nothing in quarantine.
Value without_quarantine(Value customization, UtcMillis now);

}  // namespace shiplog::interpreter
