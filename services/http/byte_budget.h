#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <utility>

namespace shiplog {

/// How many bytes of answers may be held at a time, for one server and, through `total`, for all of them together.
/// Threads: any.
class ByteBudget {
 public:
  explicit ByteBudget(size_t limit, std::shared_ptr<ByteBudget> total = nullptr)
      : limit_{limit}, total_{std::move(total)} {}

  /// False: there is no room for so many more, and none are reserved.
  bool take(size_t bytes) {
    if (used_.fetch_add(bytes) + bytes > limit_ || (total_ != nullptr && !total_->take(bytes))) {
      used_.fetch_sub(bytes);
      return false;
    }
    return true;
  }
  void give(size_t bytes) {
    used_.fetch_sub(bytes);
    if (total_ != nullptr) total_->give(bytes);
  }
  size_t limit() const { return limit_; }

 private:
  const size_t limit_;
  const std::shared_ptr<ByteBudget> total_;
  std::atomic<size_t> used_{0};
};

/// What one holder has reserved of a budget; given back at the end. Threads: one at a time.
class ByteLease {
 public:
  explicit ByteLease(std::shared_ptr<ByteBudget> budget) : budget_{std::move(budget)} {}
  ~ByteLease() { budget_->give(held_); }
  ByteLease(const ByteLease&) = delete;
  ByteLease& operator=(const ByteLease&) = delete;
  bool grow(size_t bytes) {
    if (!budget_->take(bytes)) return false;
    held_ += bytes;
    return true;
  }

 private:
  std::shared_ptr<ByteBudget> budget_;
  size_t held_ = 0;
};

}  // namespace shiplog
