#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "events/base/ids.h"
#include "events/state/object.h"

namespace shiplog {

/// The newest changes, for readers that follow at their own pace: watches pull from here by revision and fall back
/// to the history projection when they are further behind than what is kept. Nothing is queued per follower, so a slow
/// one costs nothing. Threads: any.
class Feed {
 public:
  using ChangePtr = std::shared_ptr<const Change>;

  /// Keeps at most this many changes, and at most this many bytes of their JSON (but always the newest change): what a
  /// change holds in memory beside its JSON is of the same order.
  explicit Feed(size_t capacity = 16384, size_t json_bytes = size_t{4} << 20U)
      : capacity_{capacity}, most_bytes_{json_bytes} {}

  /// Everything up to this revision is folded and visible in the projection.
  Revision revision() const;

  struct Batch {
    bool complete = true;            ///< false: `after` lies before what is kept: read the history instead
    Revision upto;                   ///< all changes in (after, upto] of the type are in here
    std::vector<ChangePtr> changes;  ///< in revision order
  };
  /// Changes of one type (empty: all) after a revision, at most `max`.
  Batch since(Revision after, std::string_view type, size_t max) const;

  /// Called, on the fold thread, each time changes were published; must not block. Returns a handle for ignore().
  int64_t listen(std::function<void()> published);
  /// After this returns the listener is not called again.
  void ignore(int64_t handle);

  /// Fold thread: changes in revision order; `revision` is the state's afterwards.
  void publish(std::vector<ChangePtr> changes, Revision revision);
  /// Fold thread, at start: history before this revision is in the projection only.
  void start_at(Revision revision);

 private:
  mutable std::mutex mutex_;
  std::mutex listeners_mutex_;
  size_t capacity_;
  size_t most_bytes_;
  size_t bytes_ = 0;  // of the JSON of what is kept
  Revision first_;    // changes after this one are kept
  Revision revision_;
  std::deque<ChangePtr> changes_;
  std::map<int64_t, std::function<void()>> listeners_;
  int64_t next_handle_ = 1;
};

}  // namespace shiplog
