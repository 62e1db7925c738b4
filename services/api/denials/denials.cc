#include "services/api/denials/denials.h"

#include <utility>

#include "services/api/status.h"
#include "services/runtime/log.h"

namespace shiplog::api {
namespace {

void append_and_log(Replica& replica, Entry entry) {
  replica.append(std::move(entry), [](const Result<Outcome>& outcome) {
    if (!outcome) log::warn("audit.denial_lost", {log::kv("reason", outcome.error().message)});
  });
}

ObjectKey subject_of(const Entry& entry) {
  return entry.events.empty() ? ObjectKey{} : shiplog::subject_of(entry.events[0]);
}

}  // namespace

void Denials::record(Replica& replica, const RefusedRequest& request) {
  const UtcMillis now = record_.executor().now();
  {
    const std::lock_guard lock{mutex_};
    if (!tally_.record(request, now)) {
      counted_.fetch_add(1, std::memory_order_relaxed);
      return arm();
    }
  }
  append_and_log(replica, denial_entry(request, now));
}

void Denials::append(Store& store, Entry entry, std::function<void(Result<Outcome>)> done) {
  bool suspicious = false;
  {
    const std::lock_guard lock{mutex_};
    suspicious = tally_.suspicious(entry.actor, record_.executor().now());
  }
  // What is needed of the entry when it is refused: small, as nearly every entry is accepted.
  auto request = std::make_shared<RefusedRequest>(
      RefusedRequest{entry.actor, entry.request.verb, entry.request.path, entry.cause, {subject_of(entry), 0, "", ""}});
  auto answered = [self = shared_from_this(), request, &replica = store.replica(),
                   done = std::move(done)](Result<Outcome> outcome) {
    if (outcome && outcome.value().refusal) {
      const Refusal& refusal = *outcome.value().refusal;
      if (outcome.value().stored) {
        const std::lock_guard lock{self->mutex_};
        self->tally_.recorded(request->actor, self->record_.executor().now());
      } else {
        request->denial.status = http_status(refusal.code);
        request->denial.reason = reason_of(refusal.code);
        request->denial.message = refusal.reason;
        self->record(replica, *request);
      }
    }
    done(std::move(outcome));
  };
  if (!suspicious) return store.replica().append(std::move(entry), std::move(answered));
  // Judged by a state that knows of everything acknowledged so far, as the fold would.
  auto shared = std::make_shared<Entry>(std::move(entry));
  store.when_current([&store, shared, answered = std::move(answered)](const Result<void>& current) {
    if (!current) return answered(current.error());
    store.replica().append_unless_refused(std::move(*shared), answered);
  });
}

// The caller holds the lock.
void Denials::arm() {
  if (std::exchange(armed_, true)) return;
  record_.executor().post_after(tally_.limits().window, [weak = weak_from_this()] {
    const auto self = weak.lock();
    if (!self) return;
    {
      const std::lock_guard lock{self->mutex_};
      self->armed_ = false;
    }
    self->flush();
  });
}

void Denials::flush() {
  std::vector<Entry> entries;
  {
    const std::lock_guard lock{mutex_};
    if (tally_.empty()) return;
    entries = tally_.take(record_.executor().now());
  }
  for (Entry& entry : entries) append_and_log(record_, std::move(entry));
}

}  // namespace shiplog::api
