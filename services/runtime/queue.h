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

/// Keys to reconcile: of those that are due the highest priority first, then in the order of their due times. A key
/// is handed out once at a time; triggered while it is busy, it is returned again afterwards. Failures wait 20 ms,
/// doubling to 30 s, with jitter; a trigger by a change does not wait. Pure: time and random values are parameters.
/// Threads: one.
class ReconcileQueue {
 public:
  /// Something changed: the key is due now. The first cause since the last step is kept. False: it was due already.
  bool wake(const ObjectKey& key, UtcMillis now, const Cause& cause, int64_t priority = 0);

  struct Taken {
    ObjectKey key;
    Cause cause;
    UtcMillis due = {};  ///< since when
  };
  /// A due key, which is busy from now on; nullopt: none is due.
  std::optional<Taken> take(UtcMillis now);
  /// When the next key that is not busy is due.
  std::optional<UtcMillis> next_due() const;

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
  /// Keys that are due and not busy.
  size_t ready(UtcMillis now);
  size_t size() const { return items_.size(); }

 private:
  struct Item {
    std::optional<UtcMillis> due;  // nullopt: busy and not triggered meanwhile
    bool busy = false;
    int failures = 0;
    int64_t priority = 0;
    Cause cause;
  };
  struct ReadyKey {
    int64_t priority;
    UtcMillis due;
    ObjectKey key;
    bool operator<(const ReadyKey& other) const {
      return std::tie(other.priority, due, key) < std::tie(priority, other.due, other.key);
    }
  };
  void collect_due(UtcMillis now);
  void schedule(const ObjectKey& key, Item& item, UtcMillis due);
  void unschedule(const ObjectKey& key, Item& item);

  std::map<ObjectKey, Item> items_;
  // Keys that are not busy: at first all wait; once they are due they are ready.
  std::set<std::pair<UtcMillis, ObjectKey>> waiting_;
  std::set<ReadyKey> ready_;
  size_t busy_ = 0;
  uint64_t retries_ = 0;
};

}  // namespace shiplog
