#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

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

  /// Others may call `use` with each number below `count`, once, when they have nothing more urgent; or none does. What
  /// it uses must outlive this, or know that it is done. Older offers are dropped when there are many. Called by the
  /// thread that calls for_each().
  void offer(size_t count, Use use);
  /// Offers to free them.
  template <class Item>
  void offer_to_free(std::vector<Item> items) {
    offer(1, [held = std::make_shared<std::vector<Item>>(std::move(items))](size_t) { *held = {}; });
  }

  /// Takes part in the for_each() of another thread, if one is under way, or in what was offered. Whether it did.
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

  struct Offer {
    Use use;
    size_t count;
    std::atomic<size_t> next{0};
  };

  static bool run(Calls& calls);
  bool take_offer();

  std::atomic<Calls*> calls_{nullptr};
  std::atomic<uint64_t> rounds_{0};  // of for_each()
  std::atomic<uint32_t> inside_{0};  // threads that may use calls_
  std::atomic<uint64_t> wakes_{0};
  std::atomic<size_t> offered_{0};  // of offers_
  std::atomic<uint32_t> asleep_{0};
  std::mutex mutex_;
  std::condition_variable changed_;
  std::mutex offering_;  // of what is below
  std::deque<std::shared_ptr<Offer>> offers_;
};

}  // namespace shiplog::ctl
