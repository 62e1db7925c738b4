#include "services/runtime/workers.h"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

#include <sys/resource.h>

#include "events/base/thread_name.h"

namespace shiplog {

struct Workers::Impl {
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::function<void()>> queue;
  bool stopping = false;
  std::vector<std::thread> threads;

  void run() {
    std::unique_lock lock{mutex};
    for (;;) {
      changed.wait(lock, [&] { return stopping || !queue.empty(); });
      if (stopping) return;
      auto work = std::move(queue.front());
      queue.pop_front();
      lock.unlock();
      work();
      work = nullptr;
      lock.lock();
    }
  }
};

Workers::Workers(size_t threads, int niceness) : impl_{std::make_unique<Impl>()} {
  for (size_t index = 0; index < threads; ++index) {
    impl_->threads.emplace_back([this, niceness] {
      // Linux keeps a priority for each thread; 0 is the calling one.
      if (niceness > 0) ::setpriority(PRIO_PROCESS, 0, niceness);
      name_thread("worker");
      impl_->run();
    });
  }
}

Workers::~Workers() { stop(); }

void Workers::post(std::function<void()> work) {
  {
    const std::lock_guard lock{impl_->mutex};
    if (impl_->stopping) return;
    impl_->queue.push_back(std::move(work));
  }
  impl_->changed.notify_one();
}

void Workers::stop() {
  {
    const std::lock_guard lock{impl_->mutex};
    impl_->stopping = true;
  }
  impl_->changed.notify_all();
  for (std::thread& thread : impl_->threads) {
    if (thread.joinable()) thread.join();
  }
  impl_->queue.clear();
}

}  // namespace shiplog
