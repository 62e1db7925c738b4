#include "services/runtime/thread_loop.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <future>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

#include "events/base/system.h"
#include "events/base/thread_name.h"

namespace shiplog {

namespace {

constexpr int64_t kIdle = -1;
/// Timers of so long, and longer ones, end at multiples of kStep: those that are due about the same time wake the
/// thread once.
constexpr Millis kLong{100};
constexpr std::chrono::milliseconds kStep{50};

std::chrono::steady_clock::time_point end_of(Millis delay) {
  const auto exact = std::chrono::steady_clock::now() + std::chrono::milliseconds{delay.value};
  if (delay < kLong) return exact;
  const auto over = exact.time_since_epoch() % kStep;
  return over.count() == 0 ? exact : exact - over + kStep;
}

}  // namespace

struct ThreadLoop::Impl {
  using Steady = std::chrono::steady_clock;

  std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::function<void()>> ready;
  std::multimap<Steady::time_point, std::function<void()>> timers;
  bool stopping = false;
  size_t left = 0;                    // of the batch that runs; of this thread alone
  std::atomic<int64_t> since{kIdle};  // when what runs began, in ns of the steady clock
  SystemClock clock;
  std::thread thread;

  void run() {
    name_thread("fold");
    std::vector<std::function<void()>> batch;
    std::unique_lock lock{mutex};
    while (!stopping) {
      const auto now = Steady::now();
      while (!timers.empty() && timers.begin()->first <= now) {
        ready.push_back(std::move(timers.begin()->second));
        timers.erase(timers.begin());
      }
      if (ready.empty()) {
        if (timers.empty()) {
          changed.wait(lock);
        } else {
          changed.wait_until(lock, timers.begin()->first);
        }
        continue;
      }
      batch.swap(ready);
      lock.unlock();
      left = batch.size();
      for (auto& run_one : batch) {
        --left;
        since.store(Steady::now().time_since_epoch().count(), std::memory_order_relaxed);
        run_one();
      }
      since.store(kIdle, std::memory_order_relaxed);
      batch.clear();
      lock.lock();
    }
  }
};

ThreadLoop::ThreadLoop() : impl_{std::make_unique<Impl>()} {
  impl_->thread = std::thread{[this] { impl_->run(); }};
}

ThreadLoop::~ThreadLoop() { stop(); }

void ThreadLoop::post(std::function<void()> run) {
  {
    const std::lock_guard lock{impl_->mutex};
    if (impl_->stopping) return;
    impl_->ready.push_back(std::move(run));
  }
  impl_->changed.notify_one();
}

void ThreadLoop::post_after(Millis delay, std::function<void()> run) {
  {
    const std::lock_guard lock{impl_->mutex};
    if (impl_->stopping) return;
    const auto at = impl_->timers.emplace(end_of(delay), std::move(run));
    if (at != impl_->timers.begin()) return;  // the thread wakes early enough
  }
  impl_->changed.notify_one();
}

bool ThreadLoop::idle() const {
  if (impl_->left > 0) return false;
  const std::lock_guard lock{impl_->mutex};
  return impl_->ready.empty();
}

Millis ThreadLoop::busy_for() const {
  const int64_t since = impl_->since.load(std::memory_order_relaxed);
  if (since == kIdle) return Millis{0};
  const std::chrono::nanoseconds busy{Impl::Steady::now().time_since_epoch().count() - since};
  return Millis{std::chrono::duration_cast<std::chrono::milliseconds>(busy).count()};
}

UtcMillis ThreadLoop::now() const { return impl_->clock.now(); }

void ThreadLoop::call(std::function<void()> run) {
  std::promise<void> ran;
  post([&] {
    run();
    ran.set_value();
  });
  ran.get_future().wait();
}

void ThreadLoop::stop() {
  {
    const std::lock_guard lock{impl_->mutex};
    impl_->stopping = true;
  }
  impl_->changed.notify_one();
  if (impl_->thread.joinable()) impl_->thread.join();
  impl_->ready.clear();
  impl_->timers.clear();
}

}  // namespace shiplog
