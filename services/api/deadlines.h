#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>

#include "events/base/time.h"
#include "services/runtime/executor.h"
#include "services/runtime/replica.h"

namespace shiplog::api {

/// Answers for appends that take too long: a journal that is stuck, or an outcome that stays unknown, must not hold a
/// client for ever. Threads: any.
class Deadlines : public std::enable_shared_from_this<Deadlines> {
 public:
  using Done = std::function<void(Result<Outcome>)>;

  explicit Deadlines(Executor& executor) : executor_{executor} {}

  /// Calls `done` once: with the outcome that the returned function is given, or after `timeout`, on the executor, with
  /// kTimeout.
  Done guard(Millis timeout, Done done);

 private:
  struct Guarded;
  using Waiting = std::multimap<UtcMillis, std::shared_ptr<Guarded>>;
  struct Guarded {
    Done done;  // empty: answered
    Waiting::iterator at;
  };
  void arm();
  void expire();

  Executor& executor_;
  std::mutex mutex_;
  Waiting waiting_;
  bool armed_ = false;
};

}  // namespace shiplog::api
