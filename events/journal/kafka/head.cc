#include "events/journal/kafka/head.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "events/base/thread_name.h"

namespace shiplog::kafka {

HeadFinder::HeadFinder(std::function<Result<Offset>()> query, Millis patience)
    : query_{std::move(query)}, patience_{patience.value}, thread_{[this] { run(); }} {}

HeadFinder::~HeadFinder() {
  {
    const std::lock_guard lock{mutex_};
    closing_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void HeadFinder::find(Found found) {
  const auto deadline = std::chrono::steady_clock::now() + patience_;
  {
    const std::lock_guard lock{mutex_};
    waiting_.push_back({std::move(found), deadline});
  }
  changed_.notify_all();
}

// Those of the last round that are left and all who came meanwhile; empty: this object is being destroyed.
std::vector<HeadFinder::Waiting> HeadFinder::next_round(std::vector<Waiting> left) {
  std::unique_lock lock{mutex_};
  changed_.wait(lock, [&] { return closing_ || !left.empty() || !waiting_.empty(); });
  std::ranges::move(std::exchange(waiting_, {}), std::back_inserter(left));
  if (!closing_) return left;
  lock.unlock();
  for (const Waiting& each : left) each.found(Error{ErrorCode::kUnavailable, "the journal is being closed"});
  return {};
}

void HeadFinder::run() {
  name_thread("kafka-head");
  for (auto round = next_round({}); !round.empty(); round = next_round(std::move(round))) {
    const Result<Offset> end = query_();
    const auto now = std::chrono::steady_clock::now();
    std::vector<Waiting> left;
    for (Waiting& each : round) {
      if (!end && now < each.deadline) {
        left.push_back(std::move(each));
      } else {
        each.found(end);
      }
    }
    round = std::move(left);
  }
}

}  // namespace shiplog::kafka
