#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <utility>

namespace shiplog::api {

/// How many bytes of cached objects may be held, of one cluster and, through `total`, of all. Threads: any.
class CacheBudget {
 public:
  /// Lists may fill nine tenths. The rest is for what changes: a list that does not fit must not take the room that a
  /// change of another kind needs.
  enum class Use { kList, kChange };

  explicit CacheBudget(size_t limit, std::shared_ptr<CacheBudget> total = nullptr)
      : limit_{limit}, total_{std::move(total)} {}

  /// False: there is no room for so many more, and none are taken.
  bool take(size_t bytes, Use use = Use::kChange) {
    const size_t limit = use == Use::kList ? limit_ - limit_ / 10 : limit_;
    if (used_.fetch_add(bytes) + bytes <= limit && (total_ == nullptr || total_->take(bytes, use))) return true;
    used_.fetch_sub(bytes);
    return false;
  }
  void give(size_t bytes) {
    used_.fetch_sub(bytes);
    if (total_ != nullptr) total_->give(bytes);
  }
  size_t used() const { return used_.load(std::memory_order_relaxed); }

 private:
  const size_t limit_;
  const std::shared_ptr<CacheBudget> total_;
  std::atomic<size_t> used_{0};
};

}  // namespace shiplog::api
