#pragma once

#include <map>
#include <string>

#include "events/base/ids.h"
#include "events/base/time.h"
#include "services/runtime/token_bucket.h"

namespace shiplog::dispatcher {

/// When an object that others changed or deleted in a member may be restored. The first kAtOnce times at once; each
/// further time after twice the pause, until the object has been left alone for kCalm. All that are restored more than
/// once share a budget of their member. Knows no clock; memory of this process alone, so a new leader begins with the
/// first time.
class Reverts {
 public:
  static constexpr int kAtOnce = 3;
  static constexpr Millis kFirstPause{5'000};
  static constexpr Millis kLongestPause{300'000};
  static constexpr Millis kCalm{600'000};
  static constexpr double kMemberBurst = 300;
  static constexpr double kMemberPerSecond = 2;

  /// Zero: now; takes from the member's budget. Else how long not yet.
  Millis pause(const ObjectKey& work, const std::string& cluster, UtcMillis now);
  /// How long until pause() may be zero; takes nothing.
  Millis due_in(const ObjectKey& work, UtcMillis now) const;
  /// The object was restored.
  void restored(const ObjectKey& work, UtcMillis now);
  /// How long until the object counts as left alone; zero: it does.
  Millis calm_in(const ObjectKey& work, UtcMillis now) const;
  void forget(const ObjectKey& work) { past_.erase(work); }
  void clear();

 private:
  struct Past {
    int count = 0;
    UtcMillis last;
  };
  std::map<ObjectKey, Past> past_;
  std::map<std::string, TokenBucket> budgets_;  // by cluster
};

}  // namespace shiplog::dispatcher
