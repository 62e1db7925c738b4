#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "events/base/ids.h"
#include "events/base/result.h"
#include "events/base/time.h"

namespace shiplog::kafka {

/// Finds the end of the partition for callers that must not block, on a thread of its own: one query answers all who
/// were waiting when it began. While no broker answers, a caller waits for `patience`, and the query is repeated.
class HeadFinder {
 public:
  using Found = std::function<void(Result<Offset>)>;

  /// `query`: the end of the partition now; it may block.
  HeadFinder(std::function<Result<Offset>()> query, Millis patience);
  /// Waits for a query that is under way. Who still waits is answered with kUnavailable.
  ~HeadFinder();
  HeadFinder(const HeadFinder&) = delete;
  HeadFinder& operator=(const HeadFinder&) = delete;

  /// Calls back once, on the thread of this object. Errors: those of the query. Threads: any.
  void find(Found found);

 private:
  struct Waiting {
    Found found;
    std::chrono::steady_clock::time_point deadline;
  };

  void run();
  std::vector<Waiting> next_round(std::vector<Waiting> left);

  const std::function<Result<Offset>()> query_;
  const std::chrono::milliseconds patience_;
  std::mutex mutex_;  // guards the members below
  std::condition_variable changed_;
  std::vector<Waiting> waiting_;
  bool closing_ = false;
  std::thread thread_;
};

}  // namespace shiplog::kafka
