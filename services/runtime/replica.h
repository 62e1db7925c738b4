#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "events/base/ids.h"
#include "events/base/random.h"
#include "events/base/result.h"
#include "events/entry.h"
#include "events/fold/fold.h"
#include "events/journal/journal.h"
#include "events/state/state.h"
#include "services/runtime/executor.h"
#include "services/runtime/feed.h"
#include "services/runtime/folded_batch.h"

namespace shiplog {

class ProjectionQueue;
class Projections;
struct Restored;

/// What became of an appended entry, after it was folded. Who reads the projection then calls Replica::settle() first.
struct Outcome {
  Offset offset;
  Revision revision;               ///< of the state after the entry
  std::optional<Refusal> refusal;  ///< it changed nothing
  std::vector<Feed::ChangePtr> changes;
  bool stored = true;  ///< false: refused without having been appended (append_unless_refused)
};

/// Told of everything that is folded, on the fold thread.
class Observer {
 public:
  virtual ~Observer() = default;
  virtual void on_folded(const State& state, const DecodedRecord& record, const Folded& folded) = 0;
};

/// A folded copy of one journal: the state, its projection, and the entries this process is waiting for. It has no
/// thread of its own: everything runs on the executor, so that the simulation can run many of them in one thread.
/// Threads: append(), append_unless_refused(), refuse_appends(), executor(), take_own(), when_folded(), settle(),
/// next(), caught_up() and feed() from any; everything else on the executor.
class Replica {
 public:
  struct Options {
    std::string name;  ///< "journal" or "ephemera", for logs
    Journal* journal = nullptr;
    Executor* executor = nullptr;
    Random* random = nullptr;            ///< entry ids and the jitter of retries
    Projections* projections = nullptr;  ///< may be nullptr: nothing is served from this replica
    /// Runs what it is given elsewhere, one after the other in this order, so that entries are answered and the next
    /// ones folded while these are written to the projection: the queue of a simulated process. Not set: the projection
    /// is written on the executor, before entries are answered.
    std::function<void(std::function<void()>)> projector = {};
    /// Writes the projection later than entries are answered.
    ProjectionQueue* queue = nullptr;
    bool tree = false;  ///< the projection has a Merkle tree of the records
  };

  explicit Replica(Options options);
  ~Replica();
  Replica(const Replica&) = delete;
  Replica& operator=(const Replica&) = delete;

  /// Starts from what the projection held, or from nothing, and returns from where the journal is to be read.
  Result<Offset> open(Restored restored);
  Result<Offset> open();

  /// Folds, publishes, calls the callbacks of append() and `done`. Roles see an entry as soon as it is folded. With a
  /// projector `done` waits until it is in the projection, with a queue while too much is not in the projection. A stop
  /// (diverged, or a newer build needed) is an Error: this replica accepts nothing more. `done` is called on the
  /// executor; never when the replica is destroyed.
  void deliver(std::vector<DecodedRecord> records, std::function<void(Result<void>)> done);

  /// Called once, on the executor, when the queue cannot write the projection: this replica accepts nothing more.
  void when_projection_fails(std::function<void(const Error&)> failed) { projection_failed_ = std::move(failed); }

  /// Appends an entry (its id and time are filled in when empty) and calls `done` on the executor once it is durable,
  /// folded and visible. An unknown outcome is retried here, with the same id, until the entry is folded or the journal
  /// reports an error. Errors: kTooLarge, kIo, kUnavailable: certainly not stored.
  void append(Entry entry, std::function<void(Result<Outcome>)> done);

  /// The same, but what the state here refuses already is answered with that refusal without being stored: for clients
  /// that have had too many refused to have each of them recorded.
  void append_unless_refused(Entry entry, std::function<void(Result<Outcome>)> done);

  /// From now on append() refuses with this error: the journal is damaged, and nothing may be added to it. The first
  /// call counts. Threads: any.
  void refuse_appends(const Error& reason);
  /// Why appends are refused; "": they are not. Threads: any.
  std::string appends_refused() const;

  /// The entry that append() was given, if these are its bytes and it was not taken yet: it needs no decoding, and its
  /// values go on sharing their content with those they were made from. Threads: any.
  std::optional<Entry> take_own(std::string_view bytes);

  /// Everything that was in the journal when open() was called has been folded.
  bool caught_up() const { return caught_up_.load(std::memory_order_acquire); }
  /// Calls back once, on the executor, as soon as that holds.
  void when_caught_up(std::function<void()> then);

  const State& state() const { return state_; }
  Executor& executor() const { return *options_.executor; }
  Feed& feed() { return feed_; }
  /// Every record before this offset is folded and visible.
  Offset next() const { return Offset{next_.load(std::memory_order_acquire)}; }
  /// Calls back once every record before `before` is folded and visible: at once, on this thread, when that is so
  /// already; else on the executor. Threads: any.
  void when_folded(Offset before, std::function<void()> then);
  /// Calls back, here or on the executor, once everything that any process had stored in the journal before this call
  /// is folded and visible: with it, a read is linearizable. Errors: kIo and kUnavailable, of the journal. Threads:
  /// any.
  void when_current(std::function<void(Result<void>)> then);
  /// Returns when everything that is visible is in the projection too: what every reader of the projection calls first.
  /// May write it. Errors: it cannot be written. Threads: any.
  Result<void> settle();
  uint64_t entries_folded() const { return entries_folded_.load(std::memory_order_relaxed); }
  /// Records are to be delivered with their leaf hash.
  bool keeps_tree() const { return options_.tree; }
  void add_observer(Observer& observer) { observers_.push_back(&observer); }

 private:
  struct Waiting;
  /// Time, id and trace, where the caller has set none.
  void complete(Entry& entry) const;
  void send(const std::shared_ptr<Waiting>& waiting);
  std::shared_ptr<Waiting> take_waiting(const EntryId& id);
  void on_stored(const std::shared_ptr<Waiting>& waiting, Result<Offset> stored);
  Result<std::shared_ptr<const FoldedBatch>> fold_all(std::vector<DecodedRecord> records);
  void enqueue(const std::shared_ptr<const FoldedBatch>& batch, std::function<void(Result<void>)> done);
  void stop_projecting(const Error& error);
  void answer(const FoldedBatch& batch);
  void check_caught_up();

  Options options_;
  State state_;
  Feed feed_;
  std::atomic<int64_t> next_{0};
  Offset end_at_start_;
  std::atomic<bool> caught_up_{false};
  std::atomic<uint64_t> entries_folded_{0};
  std::atomic<bool> stopped_{false};
  mutable std::mutex waiting_mutex_;
  std::map<EntryId, std::shared_ptr<Waiting>> waiting_;
  std::optional<Error> refused_;  // guarded by waiting_mutex_
  std::vector<std::function<void()>> when_caught_up_;
  std::multimap<Offset, std::function<void()>> when_folded_;
  std::vector<Observer*> observers_;
  std::function<void(const Error&)> projection_failed_;
  // Of the projector's thread: nothing is written after what could not be, or there would be a hole.
  std::shared_ptr<bool> projection_broken_ = std::make_shared<bool>(false);
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // callbacks of the journal outlive us
};

}  // namespace shiplog
