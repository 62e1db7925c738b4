#include "services/runtime/process_sampler.h"

#include <deque>
#include <mutex>
#include <utility>

namespace shiplog {

struct ProcessSampler::Impl : std::enable_shared_from_this<Impl> {
  struct RateSample {
    UtcMillis time;
    uint64_t entries;
  };

  Options options;
  UtcMillis started;
  mutable std::mutex mutex;
  std::deque<RateSample> samples;  // guarded by mutex, as what follows
  std::vector<RoleFigures> roles;

  void sample() {
    auto figures = options.roles();
    const RateSample taken{options.executor->now(), options.entries_folded()};
    {
      const std::lock_guard lock{mutex};
      // A clock that was set back: the rate begins anew.
      if (!samples.empty() && taken.time <= samples.back().time) samples.clear();
      samples.push_back(taken);
      if (samples.size() > options.samples + 1) samples.pop_front();
      roles = std::move(figures);
    }
    options.executor->post_after(options.every, [weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->sample();
    });
  }
};

ProcessSampler::ProcessSampler(Options options) : impl_{std::make_shared<Impl>()} {
  impl_->options = std::move(options);
  impl_->started = impl_->options.executor->now();
}

void ProcessSampler::start() { impl_->sample(); }

ProcessFigures ProcessSampler::now() const {
  ProcessFigures figures;
  figures.started = impl_->started;
  const std::lock_guard lock{impl_->mutex};
  figures.roles = impl_->roles;
  if (impl_->samples.size() < 2) return figures;
  const auto& first = impl_->samples.front();
  const auto& last = impl_->samples.back();
  figures.interval = last.time - first.time;
  figures.entries_per_second =
      static_cast<double>(last.entries - first.entries) * 1000 / static_cast<double>(figures.interval.value);
  return figures;
}

}  // namespace shiplog
