#include "services/programs/shiplogd/topic_watch.h"

#include <chrono>
#include <utility>

#include "services/runtime/log.h"

namespace shiplog {

TopicWatch::TopicWatch(std::unique_ptr<TopicIdentities> identities, Millis interval,
                       std::function<void(const Error&)> failed)
    : identities_{std::move(identities)}, interval_{interval}, failed_{std::move(failed)}, thread_{[this] { run(); }} {}

TopicWatch::~TopicWatch() {
  {
    const std::lock_guard lock{mutex_};
    stopping_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

void TopicWatch::run() {
  std::unique_lock lock{mutex_};
  while (!wake_.wait_for(lock, std::chrono::milliseconds{interval_.value}, [this] { return stopping_; })) {
    lock.unlock();
    const auto checked = identities_->check();
    if (!checked && checked.error().code == ErrorCode::kCorrupt) return failed_(checked.error());
    if (!checked) log::warn("topics.not_checked", {log::kv("reason", checked.error().message)});
    lock.lock();
  }
}

}  // namespace shiplog
