#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "events/base/ids.h"
#include "events/base/random.h"
#include "events/base/time.h"
#include "events/entry.h"

namespace shiplog {

/// Keys that want a look: of those that are due the highest priority first, then in the order of their due times. A key
/// is handed out once at a time; woken while it is busy, it is handed out again afterwards. Failures wait 20 ms,
/// doubling to 30 s, with jitter; a wake-up by a change does not wait. Pure bookkeeping: time and chance are handed in.
/// Threads: one.
class ReconcileQueue {
 public:
  /// Something changed: the key is due now. The first cause since the last look is kept.
  void wake(const ObjectKey& key, UtcMillis now, const Cause& cause, int64_t priority = 0);

  struct Taken {
    ObjectKey key;
    Cause cause;
  };
  /// A due key, which is busy from now on; nullopt: none is due.
  std::optional<Taken> take(UtcMillis now);
  /// When the next key that is not busy is due.
  std::optional<UtcMillis> next_due() const;

  /// The key's step is over, all well; again at `look_again`, if given.
  void done(const ObjectKey& key, UtcMillis now, std::optional<UtcMillis> look_again);
  /// The key's step failed.
  void retry(const ObjectKey& key, UtcMillis now, Random& random);
  int failures(const ObjectKey& key) const;

  void clear();
  size_t busy() const { return busy_; }
  size_t size() const { return items_.size(); }

 private:
  struct Item {
    std::optional<UtcMillis> due;  // nullopt: busy and not woken meanwhile
    bool busy = false;
    int failures = 0;
    int64_t priority = 0;
    Cause cause;
  };
  struct Place {
    int64_t priority;
    UtcMillis due;
    ObjectKey key;
    bool operator<(const Place& other) const {
      return std::tie(other.priority, due, key) < std::tie(priority, other.due, other.key);
    }
  };
  void schedule(const ObjectKey& key, Item& item, UtcMillis due);
  void unschedule(const ObjectKey& key, Item& item);

  std::map<ObjectKey, Item> items_;
  // Keys that are not busy: at first all wait; once their time has come they are ready.
  std::set<std::pair<UtcMillis, ObjectKey>> waiting_;
  std::set<Place> ready_;
  size_t busy_ = 0;
};

}  // namespace shiplog
