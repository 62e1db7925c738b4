#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "events/base/ids.h"
#include "events/base/random.h"
#include "events/base/time.h"
#include "events/entry.h"

namespace shiplog {

/// Why a key waits; upstream's names for it are the priorities 0 and -100 (QUE-1).
enum class Urgency {
  kRoutine,  ///< it is evaluated again with many others: at a start, or for a policy that selects them
  kChange,   ///< something of its own has changed
};
inline constexpr std::array<Urgency, 2> kUrgencies = {Urgency::kRoutine, Urgency::kChange};

/// Keys to reconcile: of those that are due changes before routine, then the highest priority first, then in the order
/// of their due times. While changes keep coming, every eighth key is one of the routine. A key is handed out once at a
/// time; triggered while it is busy, it is returned again afterwards. Failures wait 20 ms,
/// doubling to 30 s, with jitter; a trigger by a change does not wait. Pure: time and random values are parameters.
/// Threads: one.
class ReconcileQueue {
 public:
  /// What a trigger has to do with what is done then.
  enum class Relation {
    kCauses,
    kHastens,  ///< a key that waits for a time, or may when its step ends, is due sooner, for the cause that it has
  };
  /// The key is due now. The first cause since the last step is kept; but a change replaces the cause of routine, and
  /// raises a key that waits for that. No key is lowered. False: it was due already.
  bool wake(const ObjectKey& key, UtcMillis now, const Cause& cause, int64_t priority = 0,
            Urgency urgency = Urgency::kChange, Relation relation = Relation::kCauses);

  struct Taken {
    ObjectKey key;
    Cause cause;
    UtcMillis due = {};  ///< since when
    Urgency urgency = Urgency::kChange;
  };
  /// A due key, which is busy from now on; nullopt: none is due. `routine`: also one that waits for that.
  std::optional<Taken> take(UtcMillis now, bool routine = true);
  /// When the next key that is not busy is due. Not `routine`: of those that are due, the ones of changes.
  std::optional<UtcMillis> next_due(bool routine = true) const;

  /// The key's step succeeded; again at `look_again`, if given.
  void done(const ObjectKey& key, UtcMillis now, std::optional<UtcMillis> look_again);
  /// The key's step failed.
  void retry(const ObjectKey& key, UtcMillis now, Random& random);
  int failures(const ObjectKey& key) const;

  /// The keys that take() could return now, and how long the next one has been due.
  struct Backlog {
    size_t keys = 0;
    Millis waiting{0};
  };
  Backlog backlog(UtcMillis now) const;
  /// How many steps have failed since clear().
  uint64_t retries() const { return retries_; }

  void clear();
  size_t busy() const { return busy_; }
  /// Of these, the ones that were handed out as routine.
  size_t busy_with_routine() const { return busy_with_routine_; }
  /// Keys that are due and not busy.
  size_t ready(UtcMillis now);
  size_t ready(UtcMillis now, Urgency urgency);
  size_t size() const { return items_.size(); }

 private:
  struct Item {
    std::optional<UtcMillis> due;  // nullopt: busy and not triggered meanwhile
    bool busy = false;
    bool busy_with_routine = false;
    int failures = 0;
    int64_t priority = 0;
    Urgency urgency = Urgency::kRoutine;
    Cause cause;
  };
  using Items = std::unordered_map<ObjectKey, Item>;
  using Node = Items::value_type;  // they stay where they are: the sets below refer to them
  struct WaitingKey {
    UtcMillis due;
    Node* node;
    bool operator<(const WaitingKey& other) const {
      return std::tie(due, node->first) < std::tie(other.due, other.node->first);
    }
  };
  struct ReadyKey {
    int64_t priority;
    UtcMillis due;
    Node* node;
    bool operator<(const ReadyKey& other) const {
      return std::tie(other.priority, due, node->first) < std::tie(priority, other.due, other.node->first);
    }
  };
  void collect_due(UtcMillis now);
  Urgency end_step(Item& item);
  std::set<ReadyKey>& ready_of(Urgency urgency) { return ready_[static_cast<size_t>(urgency)]; }
  const std::set<ReadyKey>& ready_of(Urgency urgency) const { return ready_[static_cast<size_t>(urgency)]; }
  void schedule(Node& node, UtcMillis due);
  void unschedule(Node& node);

  Items items_;
  // Keys that are not busy: at first all wait; once they are due they are ready.
  std::set<WaitingKey> waiting_;
  std::array<std::set<ReadyKey>, kUrgencies.size()> ready_;  // by urgency
  int changes_in_a_row_ = 0;                                 // handed out while routine was ready
  size_t busy_ = 0;
  size_t busy_with_routine_ = 0;
  uint64_t retries_ = 0;
};

}  // namespace shiplog
