#pragma once

#include <map>
#include <optional>

#include "events/decision.h"

namespace shiplog::dispatcher {

/// Works of Pull clusters that were deleted are made again only after some seconds. A cluster that unregisters deletes
/// its Works first, waits until it finds none, and then deletes its Cluster (1.10.3): upstream's command would wait in
/// vain if they were there again at once, and the member would lose and get its workloads in turn.
/// Memory of the process; what it forgets is made again sooner.
class Recreations {
 public:
  static constexpr Millis kPause{5'000};

  void removed(const State& state, const ObjectKey& work);
  /// The decision, or when to decide again if it makes such a Work.
  Result<Decided> hold_back(Result<Decided> decided, UtcMillis now);

 private:
  std::map<ObjectKey, std::optional<UtcMillis>> until_;  // nullopt: from the next decision on
};

}  // namespace shiplog::dispatcher
