#include "services/runtime/feed.h"

#include <algorithm>

namespace shiplog {
namespace {

size_t bytes_of(const Feed::ChangePtr& change) { return change->json ? change->json->size() : 0; }

}  // namespace

Revision Feed::revision() const {
  const std::lock_guard lock{mutex_};
  return revision_;
}

Feed::Batch Feed::since(Revision after, std::string_view type, size_t max) const {
  const std::lock_guard lock{mutex_};
  Batch batch;
  batch.upto = revision_;
  if (after < first_) {
    batch.complete = false;
    return batch;
  }
  const auto begin =
      std::ranges::upper_bound(changes_, after, {}, [](const ChangePtr& change) { return change->revision; });
  for (auto entry = begin; entry != changes_.end(); ++entry) {
    if (!type.empty() && (*entry)->object.type != type) continue;
    if (batch.changes.size() == max) {
      batch.upto = max == 0 ? after : batch.changes.back()->revision;
      break;
    }
    batch.changes.push_back(*entry);
  }
  return batch;
}

int64_t Feed::listen(std::function<void()> published) {
  const std::lock_guard lock{listeners_mutex_};
  listeners_.emplace(next_handle_, std::move(published));
  return next_handle_++;
}

void Feed::ignore(int64_t handle) {
  const std::lock_guard lock{listeners_mutex_};
  listeners_.erase(handle);
}

void Feed::publish(std::vector<ChangePtr> changes, Revision revision) {
  {
    const std::lock_guard lock{mutex_};
    for (ChangePtr& change : changes) {
      bytes_ += bytes_of(change);
      changes_.push_back(std::move(change));
    }
    while (changes_.size() > capacity_ || (bytes_ > most_bytes_ && changes_.size() > 1)) {
      first_ = changes_.front()->revision;
      bytes_ -= bytes_of(changes_.front());
      changes_.pop_front();
    }
    revision_ = revision;
  }
  const std::lock_guard lock{listeners_mutex_};
  for (const auto& [handle, published] : listeners_) published();
}

void Feed::start_at(Revision revision) {
  const std::lock_guard lock{mutex_};
  first_ = revision;
  revision_ = revision;
}

}  // namespace shiplog
