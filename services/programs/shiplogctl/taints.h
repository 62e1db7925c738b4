#pragma once

#include <string>
#include <vector>

#include "events/base/result.h"
#include "events/base/value.h"

namespace shiplog::ctl {

/// The changes that `taint` makes.
struct TaintChanges {
  std::vector<Value> added;    ///< {key, value, effect}
  std::vector<Value> removed;  ///< {key, effect}; without an effect all of that key
};

/// Reads KEY=VALUE:EFFECT and KEY:EFFECT (added), KEY:EFFECT- and KEY- (removed). Error: kBadRequest, in kubectl's
/// words.
Result<TaintChanges> parse_taints(const std::vector<std::string>& specs);

/// The new taints, and what happened: "tainted", "untainted" or "modified".
struct ChangedTaints {
  Value taints;
  std::string what;
};
/// Errors: kAlreadyExists, an added taint is there and `overwrite` is false; kNotFound, a removed one is not.
Result<ChangedTaints> change_taints(const std::string& cluster, const Value& present, const TaintChanges& changes,
                                    bool overwrite);

/// The taint of a cordoned cluster.
Value unschedulable_taint();
bool has_taint(const Value& taints, const Value& taint);

}  // namespace shiplog::ctl
