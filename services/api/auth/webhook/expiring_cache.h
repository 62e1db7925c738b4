#pragma once

#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "events/base/time.h"

namespace shiplog::api {

/// Answers that hold for a while, by a text: at most `most` of them, of which the oldest give way. Threads: any.
template <class T>
class ExpiringCache {
 public:
  explicit ExpiringCache(size_t most) : most_{most} {}

  std::optional<T> find(const std::string& key, Millis now) const {
    const std::lock_guard lock{mutex_};
    const auto found = entries_.find(key);
    if (found == entries_.end() || found->second.until.value <= now.value) return std::nullopt;
    return found->second.value;
  }

  void put(const std::string& key, T value, Millis until) {
    const std::lock_guard lock{mutex_};
    const auto [at, is_new] = entries_.insert_or_assign(key, Entry{std::move(value), until});
    if (!is_new) return;
    order_.push_back(key);
    if (order_.size() <= most_) return;
    entries_.erase(order_.front());
    order_.pop_front();
  }

  size_t size() const {
    const std::lock_guard lock{mutex_};
    return entries_.size();
  }

 private:
  struct Entry {
    T value;
    Millis until;
  };
  const size_t most_;
  mutable std::mutex mutex_;
  std::unordered_map<std::string, Entry> entries_;
  std::deque<std::string> order_;  // the oldest first
};

}  // namespace shiplog::api
