#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>

namespace shiplog::ctl {

/// Work of one thread that others share while they have nothing else to do.
class SharedWork {
 public:
  using Use = std::function<void(size_t)>;

  SharedWork() = default;
  SharedWork(const SharedWork&) = delete;
  SharedWork& operator=(const SharedWork&) = delete;

  /// Calls `use` once with each number below `count`, on this thread and on those that help; all calls have returned
  /// when this does. One thread at a time calls it.
  void for_each(size_t count, const Use& use);

  /// Takes part in the for_each() of another thread, if one is under way. Whether it did.
  bool help();
  /// Takes part in each until `ready` is true, which is asked again after each wake().
  void help_until(const std::function<bool()>& ready);
  void wake();

 private:
  struct Calls {
    const Use& use;
    size_t count;
    std::atomic<size_t> next{0};
  };

  static bool run(Calls& calls);

  std::atomic<Calls*> calls_{nullptr};
  std::atomic<uint64_t> rounds_{0};  // of for_each()
  std::atomic<uint32_t> inside_{0};  // threads that may use calls_
  std::atomic<uint64_t> wakes_{0};
  std::atomic<uint32_t> asleep_{0};
  std::mutex mutex_;
  std::condition_variable changed_;
};

}  // namespace shiplog::ctl
