#pragma once

#include <map>
#include <optional>
#include <string>

#include "events/decision.h"
#include "events/state/object.h"

namespace shiplog {

/// Works of Pull clusters that others deleted are made again only after a pause. A cluster that unregisters deletes its
/// Works first, waits until it finds none, and then deletes its Cluster (1.10.3): upstream's command would wait in vain
/// if they were there again at once, and the member would lose and get its workloads in turn. It deletes one after the
/// other, at most five a second, so the pause lasts until no more are deleted. A Work that its binding gives up is made
/// again at once when it is wanted again. The pause holds up the whole decision, Works of other clusters too, so an
/// agent that keeps deleting must not be able to prolong it: each Work is waited for once in kRest. Every role that
/// makes Works has one. Memory of the process; what it forgets is made again sooner.
class Recreations {
 public:
  static constexpr Millis kPause{5'000};     ///< after the last Work of the cluster that was deleted
  static constexpr Millis kLongest{60'000};  ///< after the deletion of the Work: as long as upstream's command waits
  static constexpr Millis kRest{300'000};    ///< after that deletion: the Work is made at once if it is deleted again

  /// A Work is gone.
  void removed(const State& state, const Change& work);
  /// The decision, or when to decide again if it makes such a Work.
  Result<Decided> hold_back(Result<Decided> decided, UtcMillis now);

 private:
  /// The Works of one cluster that were deleted; nullopt: since the next decision.
  struct Gone {
    std::optional<UtcMillis> last;
    std::map<ObjectKey, std::optional<UtcMillis>> works;
  };
  void age(UtcMillis now);

  std::map<std::string, Gone> clusters_;
  std::optional<UtcMillis> aged_;  ///< when all of them were looked through; nullopt: one was added since
};

}  // namespace shiplog
