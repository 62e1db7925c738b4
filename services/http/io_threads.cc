#include "services/http/io_threads.h"

#include <algorithm>

#include <boost/asio/post.hpp>

#include "events/base/thread_name.h"
#include "services/http/io_context.h"

namespace shiplog {

IoThreads::Impl::Impl(size_t count) : running{count}, serving{count} {
  for (size_t index = 0; index < count; ++index) {
    contexts.push_back(std::make_unique<Context>());
    guards.emplace_back(contexts.back()->get_executor());
  }
}

void IoThreads::Impl::serve(size_t index) {
  name_thread("io");
  Context& context = *contexts[index];
  context.run();
  std::unique_lock lock{mutex};
  --running;
  finished.notify_all();
  // A thread that still has work may hand some of it to this one.
  while (running > 0 && !stopping) {
    finished.wait_for(lock, std::chrono::milliseconds{1});
    lock.unlock();
    context.restart();
    context.poll();
    lock.lock();
  }
  const bool last = --serving == 0;
  lock.unlock();
  if (!last) return;
  for (const auto& other : contexts) other->drop_handlers();
}

IoThreads::IoThreads(size_t threads) : impl_{std::make_shared<Impl>(std::max<size_t>(threads, 1))} {
  const size_t count = impl_->running;
  for (size_t index = 0; index < count; ++index) {
    impl_->threads.emplace_back([impl = impl_, index] { impl->serve(index); });
  }
}

IoThreads::~IoThreads() { stop(); }

void IoThreads::stop() {
  const std::lock_guard one_at_a_time{impl_->stop_mutex};
  if (impl_->threads.empty()) return;
  impl_->guards.clear();
  const auto self = std::ranges::find(impl_->threads, std::this_thread::get_id(), &std::thread::get_id);
  if (self == impl_->threads.end()) {
    // Callbacks that are due anyway still run: a client that was just destroyed reports that to its callers.
    std::unique_lock lock{impl_->mutex};
    impl_->finished.wait_for(lock, std::chrono::seconds{1}, [this] { return impl_->running == 0; });
  }
  {
    const std::lock_guard lock{impl_->mutex};
    impl_->stopping = true;
  }
  for (const auto& context : impl_->contexts) context->stop();
  for (std::thread& thread : impl_->threads) {
    // A callback may drop the last reference: its thread cannot wait for itself, and holds what it needs.
    if (thread.get_id() == std::this_thread::get_id()) {
      thread.detach();
    } else {
      thread.join();
    }
  }
  impl_->threads.clear();
}

void IoThreads::post(std::function<void()> work) { boost::asio::post(impl_->next_context(), std::move(work)); }

}  // namespace shiplog
