#include "services/http/strand.h"

#include <boost/asio/dispatch.hpp>
#include <boost/asio/post.hpp>

#include "services/http/io_context.h"

namespace shiplog::net {

Strand::Strand(IoThreads& io)
    : impl_{std::make_shared<Impl>(io.impl(), boost::asio::make_strand(io.impl()->next_context()))} {}
void Strand::dispatch(std::function<void()> work) const { boost::asio::dispatch(impl_->executor, std::move(work)); }
void Strand::post(std::function<void()> work) const { boost::asio::post(impl_->executor, std::move(work)); }

struct Timer::Impl {
  explicit Impl(const Executor& executor) : timer{executor} {}
  SteadyTimer timer;
  uint64_t armed = 0;  // a call that was already queued when the timer was cancelled carries an old number
};

Timer::Timer(const Strand& strand) : impl_{std::make_shared<Impl>(strand.impl().executor)} {}
Timer::~Timer() { cancel(); }

void Timer::arm(Millis after, std::function<void()> due) {
  const uint64_t number = ++impl_->armed;
  impl_->timer.expires_after(std::chrono::milliseconds{after.value});
  impl_->timer.async_wait([impl = impl_, number, due = std::move(due)](const boost::system::error_code& ec) {
    if (!ec && impl->armed == number) due();
  });
}

void Timer::cancel() {
  ++impl_->armed;
  impl_->timer.cancel();
}

}  // namespace shiplog::net
