#include "services/api/auditing/audit_backend.h"

#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "events/base/json.h"
#include "services/runtime/log.h"
#include "services/runtime/metrics.h"
#include "services/runtime/token_bucket.h"

namespace shiplog::api {
namespace {

using SteadyTime = std::chrono::steady_clock::time_point;

constexpr std::chrono::seconds kDrain{2};
constexpr std::chrono::seconds kReportEvery{10};
/// Deliveries of blocking modes: the events of requests that wait at the same time are written together.
constexpr size_t kMostTogether = 1000;

metrics::Counter errors(const std::string& plugin) {
  static const metrics::CounterFamily family{
      "apiserver_audit_error_total",
      "Audit events that were lost: dropped as the buffer was full, too long, or "
      "not accepted by the backend.",
      {"plugin"}};
  return family.with({plugin});
}

struct Waiting {
  AuditLogEvent event;
  size_t bytes = 0;
  SteadyTime since;
  std::function<void(Result<void>)> done;
};

UtcMillis steady_millis(SteadyTime at) {
  return {std::chrono::duration_cast<std::chrono::milliseconds>(at.time_since_epoch()).count() + 1};
}

}  // namespace

struct AuditBackend::Impl {
  Options options;
  std::unique_ptr<AuditSink> sink;
  metrics::Counter lost;
  TokenBucket throttle;

  std::mutex mutex;
  std::condition_variable wake, idle;
  std::deque<Waiting> waiting;
  size_t waiting_bytes = 0;
  size_t delivering = 0;  ///< events that the thread has taken
  bool stopping = false, abandoned = false;
  size_t unreported = 0;
  SteadyTime reported = {};

  Impl(Options given, std::unique_ptr<AuditSink> to)
      : options{std::move(given)},
        sink{std::move(to)},
        lost{errors(options.plugin)},
        throttle{static_cast<double>(options.batching.burst), options.batching.per_second} {}

  bool in_batches() const { return options.mode == AuditMode::kBatch; }

  /// Counts lost events, and reports the first and then their number from time to time. Under the mutex.
  void lose(size_t events, const std::string& reason) {
    lost.add(events);
    unreported += events;
    const SteadyTime now = std::chrono::steady_clock::now();
    if (reported != SteadyTime{} && now - reported < kReportEvery) return;
    log::error("audit.events_lost",
               {log::kv("plugin", options.plugin), log::kv("events", unreported), log::kv("reason", reason)});
    reported = now;
    unreported = 0;
  }

  /// What is delivered next; empty: the backend stops and nothing waits.
  std::vector<Waiting> next() {
    std::unique_lock lock{mutex};
    delivering = 0;
    idle.notify_all();
    wake.wait(lock, [&] { return stopping || !waiting.empty(); });
    if (in_batches()) wait_for_batch(lock);
    const size_t most = in_batches() ? options.batching.batch : kMostTogether;
    std::vector<Waiting> batch;
    while (!waiting.empty() && batch.size() < most) {
      waiting_bytes -= waiting.front().bytes;
      batch.push_back(std::move(waiting.front()));
      waiting.pop_front();
    }
    delivering = batch.size();
    return batch;
  }

  void wait_for_batch(std::unique_lock<std::mutex>& lock) {
    if (options.batching.batch > 1 && !waiting.empty()) {
      const auto until = waiting.front().since + std::chrono::milliseconds{options.batching.wait.value};
      wake.wait_until(lock, until, [&] { return stopping || waiting.size() >= options.batching.batch; });
    }
    constexpr std::chrono::milliseconds kLook{20};
    while (options.batching.throttled && !stopping &&
           !throttle.take(1, steady_millis(std::chrono::steady_clock::now()))) {
      wake.wait_for(lock, kLook, [&] { return stopping; });
    }
  }

  /// The documents that may be delivered; a too long one is lost.
  std::vector<Value> render(const std::vector<Waiting>& batch, std::vector<size_t>& bytes) {
    std::vector<Value> documents;
    for (const Waiting& each : batch) {
      Value document = to_value(each.event);
      if (options.truncation.enabled) {
        if (!truncate_event(document, options.truncation.most_event)) {
          const std::lock_guard lock{mutex};
          lose(1, "the event is longer than --audit-" + options.plugin + "-truncate-max-event-size");
          continue;
        }
        bytes.push_back(to_json(document).size());
      }
      documents.push_back(std::move(document));
    }
    return documents;
  }

  Result<void> deliver(const std::vector<Value>& documents, const std::vector<size_t>& bytes) {
    if (documents.empty()) return ok();
    if (!options.truncation.enabled) return deliver(documents);
    for (size_t begin = 0; begin < documents.size();) {
      size_t end = begin, sum = 0;
      while (end < documents.size() && (end == begin || sum + bytes[end] <= options.truncation.most_batch)) {
        sum += bytes[end++];
      }
      SHIPLOG_TRY(deliver({documents.begin() + static_cast<std::ptrdiff_t>(begin),
                           documents.begin() + static_cast<std::ptrdiff_t>(end)}));
      begin = end;
    }
    return ok();
  }

  Result<void> deliver(const std::vector<Value>& documents) {
    auto delivered = sink->deliver(documents);
    if (delivered) return ok();
    const std::lock_guard lock{mutex};
    if (!abandoned) lose(documents.size(), delivered.error().message);
    return delivered;
  }

  void run() {
    while (true) {
      const std::vector<Waiting> batch = next();
      if (batch.empty()) return;
      std::vector<size_t> bytes;
      const std::vector<Value> documents = render(batch, bytes);
      const auto delivered = deliver(documents, bytes);
      {
        const std::lock_guard lock{mutex};
        if (abandoned) return;
      }
      for (const Waiting& each : batch) {
        if (each.done) each.done(delivered);
      }
    }
  }
};

AuditBackend::AuditBackend(Options options, std::unique_ptr<AuditSink> sink)
    : impl_{std::make_shared<Impl>(std::move(options), std::move(sink))} {
  std::thread{[impl = impl_] { impl->run(); }}.detach();
}

AuditBackend::~AuditBackend() {
  std::unique_lock lock{impl_->mutex};
  impl_->stopping = true;
  impl_->wake.notify_all();
  const auto nothing_waits = [&] { return impl_->waiting.empty() && impl_->delivering == 0; };
  if (impl_->idle.wait_for(lock, kDrain, nothing_waits)) return;
  impl_->abandoned = true;
  impl_->reported = {};
  impl_->lose(impl_->waiting.size() + impl_->delivering, "the process stops and the backend does not take them");
  impl_->waiting.clear();
  lock.unlock();
  impl_->sink->interrupt();
}

AuditMode AuditBackend::mode() const { return impl_->options.mode; }

void AuditBackend::record(AuditLogEvent event, std::function<void(Result<void>)> done) {
  Impl& impl = *impl_;
  const size_t bytes = event.bytes();
  const std::lock_guard lock{impl.mutex};
  const bool full =
      impl.waiting.size() >= impl.options.batching.buffer || impl.waiting_bytes + bytes > impl.options.most_bytes;
  if (impl.in_batches() && full) return impl.lose(1, "the buffer is full: the backend is slower than the requests");
  impl.waiting_bytes += bytes;
  impl.waiting.push_back(
      {std::move(event), bytes, std::chrono::steady_clock::now(), impl.in_batches() ? nullptr : std::move(done)});
  impl.wake.notify_one();
}

}  // namespace shiplog::api
