#include "services/http/io_threads.h"

#include <algorithm>

#include <boost/asio/post.hpp>

#include "services/http/io_context.h"

namespace shiplog {

void IoThreads::Impl::serve() {
  context.run();
  std::unique_lock lock{mutex};
  const bool last = --running == 0;
  finished.notify_all();
  lock.unlock();
  if (last) context.drop_handlers();
}

IoThreads::IoThreads(size_t threads) : impl_{std::make_shared<Impl>(std::max<size_t>(threads, 1))} {
  const size_t count = impl_->running;
  for (size_t index = 0; index < count; ++index) impl_->threads.emplace_back([impl = impl_] { impl->serve(); });
}

IoThreads::~IoThreads() { stop(); }

void IoThreads::stop() {
  const std::lock_guard once{impl_->stopping};
  if (impl_->threads.empty()) return;
  impl_->guard.reset();
  const auto self = std::ranges::find(impl_->threads, std::this_thread::get_id(), &std::thread::get_id);
  if (self == impl_->threads.end()) {
    // Callbacks that are due anyway still run: a client that was just destroyed reports that to its callers.
    std::unique_lock lock{impl_->mutex};
    impl_->finished.wait_for(lock, std::chrono::seconds{1}, [this] { return impl_->running == 0; });
  }
  impl_->context.stop();
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

void IoThreads::post(std::function<void()> work) { boost::asio::post(impl_->context, std::move(work)); }

}  // namespace shiplog
