#include "services/runtime/replica.h"

#include <algorithm>
#include <map>
#include <utility>

#include "events/base/check.h"
#include "events/codec/codec.h"
#include "events/codec/outline.h"
#include "projections/runner.h"
#include "services/runtime/log.h"
#include "services/runtime/metrics.h"
#include "services/runtime/projection_queue.h"

namespace shiplog {
namespace {

constexpr int64_t kFirstRetryMs = 20;
constexpr int64_t kLongestRetryMs = 2'000;

}  // namespace

/// An appended entry until it is folded here.
struct Replica::Waiting {
  EntryId id;
  std::string bytes;
  std::optional<Entry> entry;  // until the fold takes it
  std::function<void(Result<Outcome>)> done;
  int tries = 0;
  metrics::Stopwatch watch = {};
};

namespace {

/// Of one journal; shared by the replicas that a process has of it.
struct JournalMeters {
  explicit JournalMeters(const std::string& journal);

  metrics::Histogram appended, visible, folded;
  metrics::Counter retries;
  std::map<ErrorCode, metrics::Counter> refusals;
};

JournalMeters::JournalMeters(const std::string& journal) {
  static const metrics::HistogramFamily append_seconds{
      "shiplog_append_duration_seconds",
      "Seconds from handing an entry to the journal until it is durable.",
      {"journal"}};
  static const metrics::HistogramFamily visible_seconds{
      "shiplog_append_to_visible_duration_seconds",
      "Seconds from handing an entry to the journal until it is folded and visible to reads.",
      {"journal"}};
  static const metrics::HistogramFamily fold_seconds{
      "shiplog_fold_duration_seconds",
      "Seconds to fold a batch of entries and queue the keys that they concern.",
      {"journal"}};
  static const metrics::CounterFamily append_retries{
      "shiplog_append_retries_total", "Appends with an unknown outcome that were repeated.", {"journal"}};
  static const metrics::CounterFamily refused_entries{
      "shiplog_refusals_total", "Entries that the fold refused, by the code of the reason.", {"journal", "reason"}};
  appended = append_seconds.with({journal});
  visible = visible_seconds.with({journal});
  folded = fold_seconds.with({journal});
  retries = append_retries.with({journal});
  for (int code = 0; code <= static_cast<int>(ErrorCode::kInternal); ++code) {
    const auto reason = static_cast<ErrorCode>(code);
    refusals[reason] = refused_entries.with({journal, name_of(reason)});
  }
}

/// Each thread has handles of its own to the same series: no lock is held.
const JournalMeters& meters_of(const std::string& journal) {
  thread_local std::map<std::string, JournalMeters> all;
  return all.try_emplace(journal, journal).first->second;
}

}  // namespace

Replica::Replica(Options options) : options_{std::move(options)} {
  if (options_.queue == nullptr) return;
  options_.queue->when_failed([this, alive = alive_, executor = options_.executor](const Error& error) {
    executor->post([this, alive, error] {
      if (*alive) stop_projecting(error);
    });
  });
}

Replica::~Replica() { *alive_ = false; }

Result<Offset> Replica::open() { return open(Restored{}); }

Result<Offset> Replica::open(Restored restored) {
  if (!restored.rebuilt.empty()) {
    log::warn("projection.rebuild", {log::kv("journal", options_.name), log::kv("reason", restored.rebuilt)});
  }
  next_ = restored.next.value;
  if (!State::restore(restored.meta, std::move(restored.objects), std::move(restored.seen), state_,
                      restored.requests)) {
    log::warn("projection.rebuild",
              {log::kv("journal", options_.name), log::kv("reason", "its objects do not hash to what it recorded")});
    if (options_.projections != nullptr) {
      SHIPLOG_TRY(options_.projections->reset());
    }
    state_ = State{};
    next_ = 0;
  }
  feed_.start_at(state_.revision());
  SHIPLOG_TRY(end_at_start_, options_.journal->head());
  SHIPLOG_TRY(const Offset oldest, options_.journal->oldest());
  // Offsets have gaps, but the first record of a journal stands at 0 or 1: anything above was trimmed.
  if (next() < oldest && oldest.value > 1 && next() < end_at_start_) {
    return Error{ErrorCode::kGone, options_.journal->describe() + " begins at offset " + std::to_string(oldest.value) +
                                       ", but this replica has to read on from " + std::to_string(next().value) +
                                       ": restore a snapshot that covers what was trimmed"};
  }
  check_caught_up();
  return next();
}

Result<std::shared_ptr<const FoldedBatch>> Replica::fold_all(std::vector<DecodedRecord> records) {
  if (stopped_) return Error{ErrorCode::kUnavailable, options_.name + ": this replica has stopped"};
  const JournalMeters& meters = meters_of(options_.name);
  const metrics::Stopwatch watch;
  auto batch = std::make_shared<FoldedBatch>();
  batch->folded.reserve(records.size());
  for (const DecodedRecord& record : records) {
    const Folded& folded = batch->folded.emplace_back(fold(state_, record.entry));
    if (folded.refusal) meters.refusals.at(folded.refusal->code).add();
    for (Observer* observer : observers_) observer->on_folded(state_, record, folded);
    if (!folded.stop) continue;
    stopped_ = true;
    log::error("replica.stopped", {log::kv("journal", options_.name), log::kv("offset", record.offset.value),
                                   log::kv("reason", *folded.stop)});
    return Error{ErrorCode::kInternal, *folded.stop};
  }
  meters.folded.observe(watch.seconds());
  batch->records = std::move(records);
  batch->after = state_.meta();
  return std::shared_ptr<const FoldedBatch>{std::move(batch)};
}

void Replica::deliver(std::vector<DecodedRecord> records, std::function<void(Result<void>)> done) {
  auto folded = fold_all(std::move(records));
  if (!folded) return done(std::move(folded).error());
  const auto& batch = folded.value();
  if (options_.queue != nullptr) return enqueue(batch, std::move(done));
  auto write_batch = [batch, projections = options_.projections, broken = projection_broken_]() -> Result<void> {
    if (projections == nullptr) return ok();
    if (*broken) return Error{ErrorCode::kUnavailable, "what comes before it could not be written"};
    auto written = write_batches(*projections, {batch});
    *broken = !written;
    return written;
  };
  if (options_.projector) {
    answer(*batch);
    options_.projector([this, alive = alive_, executor = options_.executor, write_batch = std::move(write_batch),
                        done = std::move(done)] {
      executor->post([this, alive, written = write_batch(), done] {
        if (!*alive) return;
        if (!written) stop_projecting(written.error());
        done(written);
      });
    });
    return;
  }
  if (auto written = write_batch(); !written) {
    stop_projecting(written.error());
    return done(written.error().context("writing the projection"));
  }
  answer(*batch);
  done(ok());
}

void Replica::enqueue(const std::shared_ptr<const FoldedBatch>& batch, std::function<void(Result<void>)> done) {
  options_.queue->add(batch);  // before anyone can ask for what it holds
  answer(*batch);
  if (options_.queue->has_room()) return done(ok());
  options_.queue->when_room([alive = alive_, executor = options_.executor, done = std::move(done)] {
    executor->post([alive, done] {
      if (*alive) done(ok());
    });
  });
}

/// The state is ahead of its projection now: going on would serve answers older than what was acknowledged.
void Replica::stop_projecting(const Error& error) {
  stopped_ = true;
  log::error("projection.failed", {log::kv("journal", options_.name), log::kv("reason", error.message)});
  if (auto failed = std::exchange(projection_failed_, nullptr)) failed(error);
}

void Replica::answer(const FoldedBatch& batch) {
  const JournalMeters& meters = meters_of(options_.name);
  std::vector<std::pair<std::shared_ptr<Waiting>, Outcome>> answered;
  std::vector<Feed::ChangePtr> published;
  for (size_t index = 0; index < batch.records.size(); ++index) {
    const Folded& folded = batch.folded[index];
    std::vector<Feed::ChangePtr> changes;
    changes.reserve(folded.changes.size());
    for (const Change& change : folded.changes) changes.push_back(std::make_shared<const Change>(change));
    published.insert(published.end(), changes.begin(), changes.end());
    if (folded.duplicate) continue;
    auto waiting = take_waiting(batch.records[index].entry.id);
    if (waiting == nullptr) continue;
    answered.emplace_back(std::move(waiting), Outcome{batch.records[index].offset, folded.revision, folded.refusal,
                                                      std::move(changes), true});
  }
  if (!batch.records.empty()) next_.store(batch.records.back().offset.value + 1, std::memory_order_release);
  entries_folded_.fetch_add(batch.records.size(), std::memory_order_relaxed);
  feed_.publish(std::move(published), batch.after.revision);
  for (auto& [waiting, outcome] : answered) {
    meters.visible.observe(waiting->watch.seconds());
    if (auto done = std::exchange(waiting->done, nullptr)) done(std::move(outcome));
  }
  check_caught_up();
}

Result<void> Replica::settle() { return options_.queue == nullptr ? ok() : options_.queue->flush(); }

/// What follows neither from a request nor from another entry begins a trace: a lease, the objects of a new fleet,
/// denials that were counted. The trace has the entry's id: both are 16 random bytes.
void Replica::complete(Entry& entry) const {
  if (entry.time == UtcMillis{}) entry.time = options_.executor->now();
  if (entry.id.empty()) entry.id = new_entry_id(*options_.random);
  if (entry.cause.trace_id.empty()) entry.cause.trace_id = to_string(entry.id);
}

void Replica::append(Entry entry, std::function<void(Result<Outcome>)> done) {
  complete(entry);
  auto waiting = std::make_shared<Waiting>(Waiting{entry.id, encode(entry), std::nullopt, std::move(done), 0});
  waiting->entry = std::move(entry);
  if (stopped_.load(std::memory_order_acquire)) {
    options_.executor->post([waiting, name = options_.name] {
      waiting->done(Error{ErrorCode::kUnavailable, name + ": this replica has stopped"});
    });
    return;
  }
  std::optional<Error> refused;
  {
    // Registered first: the entry may be folded before the journal has confirmed it.
    const std::lock_guard lock{waiting_mutex_};
    refused = refused_;
    if (!refused) waiting_.emplace(waiting->id, waiting);
  }
  if (refused) return options_.executor->post([waiting, refused] { waiting->done(*refused); });
  // Sent from here, not from the executor: while that folds one batch, the journal stores the next.
  send(waiting);
}

void Replica::refuse_appends(const Error& reason) {
  const std::lock_guard lock{waiting_mutex_};
  if (!refused_) refused_ = reason;
}

std::string Replica::appends_refused() const {
  const std::lock_guard lock{waiting_mutex_};
  return refused_ ? refused_->message : "";
}

void Replica::append_unless_refused(Entry entry, std::function<void(Result<Outcome>)> done) {
  complete(entry);
  options_.executor->post([this, alive = alive_, entry = std::move(entry), done = std::move(done)]() mutable {
    if (!*alive) return;
    if (auto refusal = would_refuse(state_, entry)) {
      return done(Outcome{next(), state_.revision(), std::move(refusal), {}, false});
    }
    append(std::move(entry), std::move(done));
  });
}

std::optional<Entry> Replica::take_own(std::string_view bytes) {
  const EntryId id = entry_id_in(bytes);
  const std::lock_guard lock{waiting_mutex_};
  const auto found = waiting_.find(id);
  if (found == waiting_.end() || found->second->bytes != bytes) return std::nullopt;
  return std::exchange(found->second->entry, std::nullopt);
}

std::shared_ptr<Replica::Waiting> Replica::take_waiting(const EntryId& id) {
  const std::lock_guard lock{waiting_mutex_};
  const auto found = waiting_.find(id);
  if (found == waiting_.end()) return nullptr;
  auto taken = std::move(found->second);
  waiting_.erase(found);
  return taken;
}

void Replica::send(const std::shared_ptr<Waiting>& waiting) {
  ++waiting->tries;
  // The journal may answer, on its own thread, when this replica is destroyed: nothing of it is touched before `alive`
  // was checked on the executor.
  Executor* executor = options_.executor;
  options_.journal->append(waiting->bytes, [this, executor, alive = alive_, waiting, watch = metrics::Stopwatch{},
                                            seconds = meters_of(options_.name).appended](Result<Offset> stored) {
    if (stored) return seconds.observe(watch.seconds());  // the fold answers
    executor->post([this, alive, waiting, stored = std::move(stored)] {
      if (*alive) on_stored(waiting, stored);
    });
  });
}

void Replica::on_stored(const std::shared_ptr<Waiting>& waiting, Result<Offset> stored) {
  if (!waiting->done) return;  // folded meanwhile
  if (stored.error().code != ErrorCode::kUnknownOutcome && waiting->tries == 1) {
    take_waiting(waiting->id);
    if (auto done = std::exchange(waiting->done, nullptr)) done(stored.error());
    return;
  }
  // It stays unknown until the fold shows the entry or its duplicate: a later "not stored" is about the retry only.
  const int64_t backoff = std::min(kLongestRetryMs, kFirstRetryMs << std::min(waiting->tries, 10));
  const auto jitter = static_cast<int64_t>(random_below(*options_.random, static_cast<uint64_t>(backoff)));
  meters_of(options_.name).retries.add();
  log::warn("append.retry", {log::kv("journal", options_.name), log::kv("entry", to_string(waiting->id)),
                             log::kv("tries", waiting->tries), log::kv("reason", stored.error().message)});
  options_.executor->post_after(Millis{backoff / 2 + jitter / 2}, [this, alive = alive_, waiting] {
    if (*alive && waiting->done) send(waiting);
  });
}

void Replica::when_caught_up(std::function<void()> then) {
  if (caught_up()) {
    options_.executor->post(std::move(then));
  } else {
    when_caught_up_.push_back(std::move(then));
  }
}

void Replica::when_folded(Offset before, std::function<void()> then) {
  if (before <= next()) return then();
  options_.executor->post([this, alive = alive_, before, then = std::move(then)]() mutable {
    if (!*alive) return;
    if (before <= next()) return then();
    when_folded_.emplace(before, std::move(then));
  });
}

void Replica::when_current(std::function<void(Result<void>)> then) {
  const auto wait = [this](const Result<Offset>& head, std::function<void(Result<void>)> answer) {
    if (!head) return answer(head.error());
    when_folded(head.value(), [answer = std::move(answer)] { answer(ok()); });
  };
  // As in send(): a journal that answers later may do so when this replica is destroyed.
  const auto head =
      options_.journal->find_head([wait, executor = options_.executor, alive = alive_, then](Result<Offset> found) {
        executor->post([wait, alive, then, found = std::move(found)] {
          if (*alive) wait(found, then);
        });
      });
  if (head) wait(*head, std::move(then));
}

void Replica::check_caught_up() {
  for (auto entry = when_folded_.begin(); entry != when_folded_.end() && entry->first <= next();) {
    auto then = std::move(entry->second);
    entry = when_folded_.erase(entry);
    then();
  }
  if (caught_up() || next() < end_at_start_) return;
  caught_up_.store(true, std::memory_order_release);
  for (auto& then : std::exchange(when_caught_up_, {})) options_.executor->post(std::move(then));
}

}  // namespace shiplog
