#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
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
///
/// Keys whose steps wait for the same party outside, a member, are in a lane. A lane is slow from when one of its steps
/// has taken kSlow, until one has ended sooner and none of those is left. Of a slow lane few keys are handed out at a
/// time, and none of them counts: what waits for a member that hangs takes no places of others.
/// Threads: one.
class ReconcileQueue {
 public:
  static constexpr Millis kSlow{1'000};
  static constexpr size_t kMostOfSlowLane = 8;
  /// The lane of a key; empty: it is in none.
  using LaneOf = std::function<std::string(const ObjectKey&)>;
  ReconcileQueue() = default;
  explicit ReconcileQueue(LaneOf lane_of) : lane_of_{std::move(lane_of)} {}

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
  /// When the next key is due that take() may hand out. Not `routine`: of those that are due, the ones of changes.
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
  size_t busy() const { return steps_.all; }
  struct Steps {
    size_t all = 0;
    size_t routine = 0;  ///< of these, the ones that were handed out as routine
    Steps& operator+=(const Steps& more) {
      all += more.all;
      routine += more.routine;
      return *this;
    }
    Steps& operator-=(const Steps& less) {
      all -= less.all;
      routine -= less.routine;
      return *this;
    }
  };
  /// The keys that are busy, but for those of slow lanes.
  Steps counted(UtcMillis now);
  /// Keys that are due and not busy.
  size_t ready(UtcMillis now);
  size_t ready(UtcMillis now, Urgency urgency);
  size_t size() const { return items_.size(); }

 private:
  struct Lane;
  struct Item {
    std::optional<UtcMillis> due;  // nullopt: busy and not triggered meanwhile
    bool busy = false;
    bool busy_with_routine = false;
    bool slow = false;  // its step has taken kSlow
    int failures = 0;
    int64_t priority = 0;
    Urgency urgency = Urgency::kRoutine;
    Cause cause;
    Lane* lane = nullptr;  // while it is busy, or held back; nullptr: it is in none
    UtcMillis began = {};  // its step
    uint64_t number = 0;   // of its step
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
  using ReadyKeys = std::array<std::set<ReadyKey>, kUrgencies.size()>;
  struct Lane {
    Steps steps;
    size_t slow_steps = 0;
    bool slow = false;
    ReadyKeys held = {};  // due, until steps of the lane end
  };
  void collect_due(UtcMillis now);
  Lane* lane_of(const ObjectKey& key);
  void begin_step(Node& node, bool routine, Lane* lane, UtcMillis now);
  Urgency end_step(Item& item, UtcMillis now);
  void end_step_in_lane(Item& item, const Steps& step, UtcMillis now);
  void become_slow(Lane& lane);
  void notice_slow(UtcMillis now);
  void release(Lane& lane, size_t most_of_each);
  std::set<ReadyKey>& ready_of(Urgency urgency) { return ready_[static_cast<size_t>(urgency)]; }
  const std::set<ReadyKey>& ready_of(Urgency urgency) const { return ready_[static_cast<size_t>(urgency)]; }
  void schedule(Node& node, UtcMillis due);
  void unschedule(Node& node);

  Items items_;
  // Keys that are not busy: at first all wait; once they are due they are ready.
  std::set<WaitingKey> waiting_;
  ReadyKeys ready_;           // by urgency
  int changes_in_a_row_ = 0;  // handed out while routine was ready
  Steps steps_, of_slow_;     // of_slow_: those of slow lanes
  uint64_t retries_ = 0;
  LaneOf lane_of_;
  std::unordered_map<std::string, Lane> lanes_;
  std::array<size_t, kUrgencies.size()> held_ = {};  // of all lanes
  std::map<uint64_t, Node*> quick_;                  // steps in lanes that have not taken kSlow yet, by number
  uint64_t last_step_ = 0;
};

}  // namespace shiplog
