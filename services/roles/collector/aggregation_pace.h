#pragma once

#include <deque>
#include <functional>
#include <optional>
#include <unordered_map>
#include <utility>

#include "events/base/ids.h"
#include "events/base/time.h"
#include "events/state/state.h"

namespace shiplog::collector {

/// When a binding's status is aggregated: its first report at once, and of a burst that follows the last result; not
/// while more of its clusters are about to report, so that a binding is aggregated once for all of them. Memory of one
/// process.
class AggregationPace {
 public:
  /// When to look again; nullopt: it is aggregated now.
  std::optional<UtcMillis> wait(const State& state, const ObjectKey& binding, UtcMillis now);
  /// It waits for clusters that have not reported (has_reported()), and is looked at again in any case.
  bool awaits(const ObjectKey& binding) const { return awaited_.find(binding) != awaited_.end(); }
  /// Something was reported.
  void reported(const ObjectKey& binding, UtcMillis now);
  void forget(const std::function<bool(const ObjectKey&)>& which);

 private:
  struct Awaited {
    Millis patience;
    UtcMillis since;
  };

  std::unordered_map<ObjectKey, UtcMillis> last_;
  std::deque<std::pair<UtcMillis, ObjectKey>> in_order_;  // of last_, so that only the recent ones are kept
  std::unordered_map<ObjectKey, Awaited> awaited_;
};

/// The member has applied the Work and its status is known (either arrives first), or something keeps it from the
/// member.
bool has_reported(const Value& work);

/// There may be something to aggregate: the binding has Works, or reports what Works had.
bool has_works(const State& state, const ObjectKey& binding, const Value& value);

}  // namespace shiplog::collector
