#include "services/runtime/tail_thread.h"

#include <array>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>

#include "events/base/json_sharing.h"
#include "events/base/thread_name.h"
#include "events/codec/codec.h"
#include "events/proof/tree.h"
#include "services/runtime/log.h"
#include "services/runtime/metrics.h"

namespace shiplog {
namespace {

constexpr size_t kBatchRecords = 512;
constexpr int kMostUnderWay = 2;  // batches: one is folded while the other is written to the projection
constexpr Millis kTailPatience{1'000};
constexpr auto kTailPause = std::chrono::milliseconds{200};

/// Makes equal parts of `later` the very ones of `earlier`. True: all of it was equal.
bool share(Value& later, const Value& earlier) {
  if (later.kind() != earlier.kind() || (later.is_array() && later.size() != earlier.size())) return false;
  if (later.is_array()) {
    bool all = true;
    Value::Array& items = later.edit_items();
    for (size_t index = 0; index < items.size(); ++index) all = share(items[index], earlier[index]) && all;
    if (all) later = earlier;
    return all;
  }
  if (!later.is_object()) {
    if (later != earlier) return false;
    later = earlier;
    return true;
  }
  bool all = later.size() == earlier.size();
  for (const auto& [key, value] : earlier.members()) {
    if (later.contains(key.as_string())) {
      all = share(later.edit(key.as_string()), value) && all;
    } else {
      all = false;
    }
  }
  if (all) later = earlier;
  return all;
}

/// The Works of one binding differ in a few words, and most of a fleet's memory is Works: what is equal is kept once.
/// Here, where these values are not shared yet, that copies nothing.
void share_between_works(Entry& entry) {
  const WorkRendered* first = nullptr;
  for (Event& event : entry.events) {
    auto* rendered = std::get_if<WorkRendered>(&event);
    if (rendered == nullptr) continue;
    if (first == nullptr) {
      first = rendered;
    } else {
      share(rendered->value, first->value);
    }
  }
}

/// Entries, events and bytes by family of the events; of an entry with events of several, the first counts.
class FamilyMeters {
 public:
  explicit FamilyMeters(const std::string& journal) {
    static const metrics::CounterFamily entries{
        "shiplog_journal_entries_total", "Entries read from the journal.", {"journal", "family"}};
    static const metrics::CounterFamily events{
        "shiplog_journal_events_total", "Events of the entries read from the journal.", {"journal", "family"}};
    static const metrics::CounterFamily bytes{
        "shiplog_journal_bytes_total", "Bytes of the entries read from the journal.", {"journal", "family"}};
    for (size_t index = 0; index < counters_.size(); ++index) {
      const std::string_view family = name_of(static_cast<Family>(index));
      counters_[index] = {entries.with({journal, family}), events.with({journal, family}),
                          bytes.with({journal, family})};
    }
  }
  void count(const Entry& entry, size_t bytes) const {
    for (const Event& event : entry.events) of(event).events.add();
    if (entry.events.empty()) return;
    of(entry.events.front()).entries.add();
    of(entry.events.front()).bytes.add(bytes);
  }

 private:
  struct FamilyCounters {
    metrics::Counter entries, events, bytes;
  };
  const FamilyCounters& of(const Event& event) const { return counters_[static_cast<size_t>(family_of(event))]; }

  std::array<FamilyCounters, static_cast<size_t>(Family::kControl) + 1> counters_;
};

}  // namespace

/// What is posted to the executor may run while the tail is destroyed on another thread: it holds this for as
/// long as it runs, and does nothing once it is shut.
struct Gate {
  std::recursive_mutex mutex;  // a replica may answer a batch while it is delivered
  bool open = true;
};

struct TailThread::Impl {
  Journal& journal;
  Replica& replica;
  Executor& executor;
  Offset from;
  std::function<void(const Error&)> failed;
  std::shared_ptr<JournalOutage> outage;
  FamilyMeters meters;

  std::mutex mutex;
  std::condition_variable changed;
  int under_way = 0;
  bool stopping = false;
  std::unique_ptr<Journal::Tail> tail;
  std::shared_ptr<Gate> gate = std::make_shared<Gate>();
  std::thread thread;

  bool stopped() {
    const std::lock_guard lock{mutex};
    return stopping;
  }

  void fail(const Error& error) {
    executor.post([this, held = gate, error] {
      const std::lock_guard running{held->mutex};
      if (held->open) failed(error);
    });
  }

  /// False when reading is over.
  bool deliver(std::vector<DecodedRecord> records) {
    {
      std::unique_lock lock{mutex};
      changed.wait(lock, [&] { return under_way < kMostUnderWay || stopping; });
      if (stopping) return false;
      ++under_way;
    }
    hand_over(std::move(records));
    return true;
  }

  /// On the journal's thread, while the one below waits for the next records: a thread less between the append and the
  /// fold. False: that thread is to read them.
  bool take(std::vector<JournalRecord>& records) {
    {
      const std::lock_guard lock{mutex};
      if (under_way >= kMostUnderWay || stopping) return false;
      ++under_way;
    }
    auto decoded = decode_all(records);
    if (decoded.failed) {
      const std::lock_guard lock{mutex};
      --under_way;
      return false;
    }
    hand_over(std::move(decoded.records));
    return true;
  }

  void hand_over(std::vector<DecodedRecord> records) {
    auto shared = std::make_shared<std::vector<DecodedRecord>>(std::move(records));
    executor.post([this, held = gate, shared] {
      const std::lock_guard running{held->mutex};
      if (!held->open) return;
      replica.deliver(std::move(*shared), [this, held](const Result<void>& delivered) {
        const std::lock_guard answering{held->mutex};
        if (held->open) on_delivered(delivered);
      });
    });
  }

  void on_delivered(const Result<void>& delivered) {
    {
      const std::lock_guard lock{mutex};
      --under_way;
      if (!delivered) stopping = true;
    }
    changed.notify_one();
    if (!delivered) failed(delivered.error());
  }

  std::optional<proof::Digest> leaf_of(const JournalRecord& record) const {
    if (!replica.keeps_tree()) return std::nullopt;
    return proof::leaf_hash(record.bytes);
  }

  struct DecodedBatch {
    std::vector<DecodedRecord> records;
    std::optional<Error> failed;  // the next one cannot be decoded
  };
  DecodedBatch decode_all(const std::vector<JournalRecord>& records) const {
    DecodedBatch batch;
    batch.records.reserve(records.size());
    for (const JournalRecord& record : records) {
      if (auto own = replica.take_own(record.bytes)) {
        meters.count(*own, record.bytes.size());
        batch.records.push_back({record.offset, *std::move(own), leaf_of(record)});
        continue;
      }
      auto entry = decode(record.bytes);
      if (!entry) {
        batch.failed = entry.error().context(journal.describe() + ", offset " + std::to_string(record.offset.value));
        return batch;
      }
      meters.count(entry.value(), record.bytes.size());
      share_between_works(entry.value());
      batch.records.push_back({record.offset, std::move(entry).value(), leaf_of(record)});
    }
    return batch;
  }

  void run() {
    name_thread("tail");
    // Of a long journal. What is written now and then has little in common, and is not to be kept any longer.
    std::optional<JsonSharing> sharing;
    while (!stopped()) {
      auto records = tail->next(kBatchRecords, kTailPatience);
      if (!records) {
        const ErrorCode code = records.error().code;
        if (code != ErrorCode::kIo && code != ErrorCode::kUnavailable) return fail(records.error());
        if (outage->failed(std::chrono::steady_clock::now())) {
          log::warn("journal.read_failed",
                    {log::kv("journal", journal.describe()), log::kv("reason", records.error().message)});
        }
        std::unique_lock lock{mutex};
        changed.wait_for(lock, kTailPause, [&] { return stopping; });
        continue;
      }
      if (const auto lasted = outage->ended(std::chrono::steady_clock::now())) {
        log::info("journal.read_again",
                  {log::kv("journal", journal.describe()), log::kv("outage_seconds", lasted->count())});
      }
      if (records.value().size() < kBatchRecords) {
        sharing.reset();
      } else if (!sharing) {
        sharing.emplace();
      }
      auto batch = decode_all(records.value());
      if (!batch.records.empty() && !deliver(std::move(batch.records))) return;
      if (batch.failed) return fail(*batch.failed);
    }
  }
};

TailThread::TailThread(const std::string& name, Journal& journal, Replica& replica, Executor& executor, Offset from,
                       std::function<void(const Error&)> failed, std::shared_ptr<JournalOutage> outage)
    : impl_{std::make_unique<Impl>(journal, replica, executor, from, std::move(failed), std::move(outage),
                                   FamilyMeters{name})} {
  auto tail = journal.tail(from);
  if (!tail) {
    impl_->fail(tail.error());
    return;
  }
  impl_->tail = std::move(tail).value();
  impl_->tail->pass_directly([impl = impl_.get()](std::vector<JournalRecord>& records) { return impl->take(records); });
  impl_->thread = std::thread{[this] { impl_->run(); }};
}

TailThread::~TailThread() {
  {
    const std::lock_guard lock{impl_->mutex};
    impl_->stopping = true;
  }
  if (impl_->tail) impl_->tail->stop();
  impl_->changed.notify_one();
  if (impl_->thread.joinable()) impl_->thread.join();
  const std::lock_guard none_running{impl_->gate->mutex};
  impl_->gate->open = false;
}

}  // namespace shiplog
