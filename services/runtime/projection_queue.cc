#include "services/runtime/projection_queue.h"

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <ranges>
#include <thread>

#include "events/base/thread_name.h"
#include "projections/runner.h"
#include "services/runtime/metrics.h"

namespace shiplog {
namespace {

using Steady = std::chrono::steady_clock;
using Batches = std::vector<std::shared_ptr<const FoldedBatch>>;

metrics::Histogram write_seconds(const std::string& journal) {
  static const metrics::HistogramFamily family{
      "shiplog_projection_duration_seconds",
      "Seconds to write what was folded to the projection, in one transaction.",
      {"journal"}};
  return family.with({journal});
}

metrics::Gauge lag(const std::string& journal) {
  static const metrics::GaugeFamily family{
      "shiplog_projection_lag_entries", "Entries that are folded and not yet in the projection.", {"journal"}};
  return family.with({journal});
}

/// So many changes are looked through for one of an object: in less time than a read of the projection takes.
constexpr size_t kMostLookedThrough = 4096;

size_t changes_of(const FoldedBatch& batch) {
  size_t changes = 0;
  for (const Folded& folded : batch.folded) changes += folded.changes.size();
  return changes;
}

/// Of what a batch keeps in memory, the part that may be large.
size_t bytes_of(const FoldedBatch& batch) {
  size_t bytes = 0;
  for (const Folded& folded : batch.folded) {
    for (const Change& change : folded.changes) bytes += change.json ? change.json->size() : 0;
  }
  return bytes;
}

}  // namespace

Result<void> write_batches(Projections& projections, const std::vector<std::shared_ptr<const FoldedBatch>>& batches) {
  if (batches.empty()) return ok();
  std::vector<FoldedEntry> entries;
  for (const auto& batch : batches) {
    for (size_t index = 0; index < batch->records.size(); ++index) {
      const DecodedRecord& record = batch->records[index];
      entries.push_back(FoldedEntry{record.offset, record.entry, batch->folded[index], record.leaf});
    }
  }
  return projections.apply(entries, batches.back()->after);
}

struct ProjectionQueue::Impl {
  explicit Impl(const std::string& name) : seconds{write_seconds(name)}, waiting_entries{lag(name)} {}

  const metrics::Histogram seconds;
  const metrics::Gauge waiting_entries;

  std::atomic<uint64_t> added{0}, written{0};  // entries

  std::mutex writing;            // held while the projection is written
  std::optional<Error> failure;  // guarded by `writing`
  std::function<void(const Error&)> failed;

  std::mutex mutex;  // guards what follows; held for moments only
  std::condition_variable changed;
  Batches waiting;
  size_t entries = 0, bytes = 0, changes = 0;  // of these
  Batches in_flight;                           // being written, or could not be
  size_t changes_in_flight = 0;
  bool broken = false;
  Steady::time_point since;  // the first of these was added
  std::vector<std::function<void()>> for_room;
  bool stopping = false;

  std::thread thread;
};

ProjectionQueue::Writing::Writing(ProjectionQueue& queue) : impl_{*queue.impl_} { impl_.writing.lock(); }
ProjectionQueue::Writing::~Writing() { impl_.writing.unlock(); }

ProjectionQueue::ProjectionQueue(Options options)
    : options_{std::move(options)}, impl_{std::make_unique<Impl>(options_.name)} {
  impl_->thread = std::thread{[this] { run(); }};
}

ProjectionQueue::~ProjectionQueue() { stop(); }

void ProjectionQueue::when_failed(std::function<void(const Error&)> failed) {
  const Writing writing{*this};
  impl_->failed = std::move(failed);
}

void ProjectionQueue::add(std::shared_ptr<const FoldedBatch> batch) {
  const size_t entries = batch->records.size();
  const size_t bytes = bytes_of(*batch);
  const size_t changes = changes_of(*batch);
  const auto enough = [this] { return impl_->entries >= options_.enough || impl_->bytes >= options_.enough_bytes; };
  impl_->waiting_entries.add(static_cast<double>(entries));
  bool wake = false;
  {
    const std::lock_guard lock{impl_->mutex};
    const bool first = impl_->waiting.empty();
    if (first) impl_->since = Steady::now();
    const bool before = enough();
    impl_->waiting.push_back(std::move(batch));
    impl_->entries += entries;
    impl_->bytes += bytes;
    impl_->changes += changes;
    impl_->added.fetch_add(entries, std::memory_order_release);
    wake = first || (!before && enough());
  }
  if (wake) impl_->changed.notify_one();
}

bool ProjectionQueue::has_room() const {
  const uint64_t written = impl_->written.load(std::memory_order_acquire);  // first: it never passes `added`
  return impl_->added.load(std::memory_order_acquire) - written < options_.most;
}

void ProjectionQueue::when_room(std::function<void()> then) {
  {
    const std::lock_guard lock{impl_->mutex};
    if (!has_room()) return impl_->for_room.push_back(std::move(then));
  }
  then();
}

ProjectionQueue::Waiting ProjectionQueue::waiting(const ObjectKey& object) const {
  // If nothing waits there is nothing to look through, and no lock to take.
  const uint64_t added = impl_->added.load(std::memory_order_acquire);
  if (impl_->written.load(std::memory_order_acquire) >= added) return {};
  Batches batches;
  {
    const std::lock_guard lock{impl_->mutex};
    if (impl_->broken || impl_->changes + impl_->changes_in_flight > kMostLookedThrough) return {nullptr, false};
    batches.reserve(impl_->in_flight.size() + impl_->waiting.size());
    batches = impl_->in_flight;
    batches.insert(batches.end(), impl_->waiting.begin(), impl_->waiting.end());
  }
  for (const auto& batch : std::views::reverse(batches)) {
    for (const Folded& folded : std::views::reverse(batch->folded)) {
      for (const Change& change : std::views::reverse(folded.changes)) {
        if (change.object == object) return {std::shared_ptr<const Change>{batch, &change}, true};
      }
    }
  }
  return {};
}

Result<void> ProjectionQueue::flush() {
  const uint64_t until = impl_->added.load(std::memory_order_acquire);
  if (impl_->written.load(std::memory_order_acquire) >= until) return ok();
  const Writing writing{*this};
  // Another thread may have written it while this one waited for its turn.
  if (impl_->written.load(std::memory_order_acquire) >= until) return ok();
  return write_waiting();
}

// The caller holds Writing.
Result<void> ProjectionQueue::write_waiting() {
  Batches batches;
  size_t entries = 0;
  {
    const std::lock_guard lock{impl_->mutex};
    batches.swap(impl_->waiting);
    entries = std::exchange(impl_->entries, 0);
    impl_->bytes = 0;
    impl_->in_flight = batches;
    impl_->changes_in_flight = std::exchange(impl_->changes, 0);
  }
  if (impl_->failure) return *impl_->failure;
  if (batches.empty()) return ok();
  const metrics::Stopwatch watch;
  auto applied = write_batches(*options_.projections, batches);
  impl_->seconds.observe(watch.seconds());
  if (!applied) {
    impl_->failure = applied.error().context("writing the projection");
    {
      const std::lock_guard lock{impl_->mutex};
      impl_->broken = true;
    }
    if (impl_->failed) impl_->failed(*impl_->failure);
    return *impl_->failure;
  }
  impl_->waiting_entries.add(-static_cast<double>(entries));
  std::vector<std::function<void()>> room;
  {
    const std::lock_guard lock{impl_->mutex};
    impl_->written.fetch_add(entries, std::memory_order_release);
    impl_->in_flight.clear();
    impl_->changes_in_flight = 0;
    room.swap(impl_->for_room);
  }
  for (const auto& then : room) then();
  return ok();
}

void ProjectionQueue::run() {
  name_thread("projector");
  std::unique_lock lock{impl_->mutex};
  while (!impl_->stopping) {
    if (impl_->waiting.empty()) {
      impl_->changed.wait(lock);
      continue;
    }
    const bool enough = impl_->entries >= options_.enough || impl_->bytes >= options_.enough_bytes;
    const auto due = impl_->since + options_.longest;
    if (!enough && Steady::now() < due) {
      impl_->changed.wait_until(lock, due);
      continue;
    }
    lock.unlock();
    static_cast<void>(flush());  // when_failed() reports it
    lock.lock();
  }
}

void ProjectionQueue::stop() {
  {
    const std::lock_guard lock{impl_->mutex};
    impl_->stopping = true;
  }
  impl_->changed.notify_one();
  if (impl_->thread.joinable()) impl_->thread.join();
  static_cast<void>(flush());
}

}  // namespace shiplog
