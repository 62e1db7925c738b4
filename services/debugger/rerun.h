#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "events/base/ids.h"
#include "events/base/result.h"
#include "events/base/time.h"
#include "events/control.h"
#include "events/decision.h"
#include "events/entry.h"
#include "events/state/state.h"
#include "services/debugger/value_path.h"

namespace shiplog::debugger {

/// Every service's decide function, by the name of the role.
using Decides = std::map<std::string, Decide>;

/// Whether a service decided the entry, so that it can be decided again.
bool is_decision(const Entry& entry);

/// One change of the inputs that a decision is run again with.
struct InputChange {
  enum class Kind { kSet, kUnset, kRemove, kGate, kOption, kTime };
  Kind kind = Kind::kSet;
  ObjectKey object;               ///< of kSet, kUnset, kRemove
  std::optional<ValuePath> path;  ///< of kSet, kUnset
  Value value;                    ///< of kSet
  std::string gate;               ///< of kGate
  bool on = false;                ///< of kGate
  OptionSetting option;           ///< of kOption
  UtcMillis time;                 ///< of kTime

  std::string text() const;
};

/// A copy of the state with these changes, and the time of the decision. Objects keep their revisions, so that only
/// what was asked for differs. Errors: kNotFound, there is no such object, gate or option; kBadRequest.
struct Inputs {
  State state;
  UtcMillis now;
};
Result<Inputs> changed_inputs(const State& as_of, UtcMillis now, const std::vector<InputChange>& changes);

/// What deciding again has given.
struct Rerun {
  std::string role;
  std::string key;
  bool same = false;                     ///< events, explanations and expectations are those recorded
  std::string outcome;                   ///< what the decide function answered, in a few words
  std::vector<std::string> differences;  ///< a line each; empty if it is the same
};

/// Runs the decision of an entry again. Errors: kNotFound, this build has no decide function of the role; kBadRequest,
/// no service decided the entry, or its key cannot be read.
Result<Rerun> rerun(const Decides& decides, const State& as_of, const Entry& entry, UtcMillis now);

/// The function that decides for a role, as a debugger names it: "shiplog::application_failover::decide".
std::string decide_function(std::string_view role);

}  // namespace shiplog::debugger
