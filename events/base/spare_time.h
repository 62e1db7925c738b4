#pragma once

#include <functional>
#include <vector>

namespace shiplog {

/// The time of a thread that has nothing to do once it has woken others: what it would wake them for it can do itself,
/// which saves waking them. While one lives, what is posted from its thread to a ThreadLoop is left to it. On the stack
/// of its thread; not one inside of another.
class SpareTime {
 public:
  /// The thread still has nothing else to do.
  using Free = std::function<bool()>;
  using Work = std::function<void(const Free& free)>;

  SpareTime();
  /// Calls what was not called yet, as by a thread that has something else to do.
  ~SpareTime();
  SpareTime(const SpareTime&) = delete;
  SpareTime& operator=(const SpareTime&) = delete;

  /// Calls what was left so far, outside of all locks, and ends it.
  void spend(const Free& free);

  /// Leaves this to the spare time of the calling thread. False: there is none.
  static bool leave(Work work);

 private:
  std::vector<Work> left_;
};

}  // namespace shiplog
