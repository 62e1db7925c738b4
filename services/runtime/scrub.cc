#include "services/runtime/scrub.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "events/base/thread_name.h"
#include "events/codec/codec.h"
#include "events/fold/fold.h"
#include "events/proof/tree.h"
#include "projections/scrub/repair.h"
#include "projections/scrub/scrub.h"
#include "projections/store/checked_table.h"
#include "projections/store/reader.h"
#include "services/runtime/log.h"
#include "services/runtime/metrics.h"

namespace shiplog {
namespace {

constexpr size_t kRecordsAtOnce = 64;
constexpr size_t kRowsAtOnce = 256;
// A topic of Kafka is fetched in the background, and may end in records that are none of ours. Short waits, so that a
// process that stops does not wait for the scrub.
constexpr Millis kScrubPatience{50};
constexpr int kMostWaits = 20;

struct Meters {
  metrics::Counter bytes, passes, damaged_records, damaged_rows, repaired;
  metrics::Gauge journal_progress, projection_progress;
};

Meters scrub_meters_of(const std::string& journal) {
  static const metrics::CounterFamily bytes{
      "shiplog_scrub_bytes_total", "Bytes that were read to find damage.", {"journal"}};
  static const metrics::CounterFamily passes{
      "shiplog_scrub_passes_total", "Completed passes over the journal and its projection.", {"journal"}};
  static const metrics::CounterFamily damaged{
      "shiplog_scrub_damaged_total",
      "Damaged records of the journal and rows of the projection that were found.",
      {"journal", "part"}};
  static const metrics::CounterFamily repaired{
      "shiplog_scrub_repaired_total", "Damaged rows of the projection that were written again.", {"journal"}};
  static const metrics::GaugeFamily progress{
      "shiplog_scrub_progress_ratio", "How much of the part the present pass has read.", {"journal", "part"}};
  return {bytes.with({journal}),
          passes.with({journal}),
          damaged.with({journal, "journal"}),
          damaged.with({journal, "projection"}),
          repaired.with({journal}),
          progress.with({journal, "journal"}),
          progress.with({journal, "projection"})};
}

double ratio(uint64_t part, uint64_t whole) {
  return whole == 0 ? 1 : std::min(1.0, static_cast<double>(part) / static_cast<double>(whole));
}

/// One pass, and what it needs in all its parts.
class Pass {
 public:
  Pass(const ScrubOptions& options, const std::function<bool(size_t)>& pace)
      : options_{options}, pace_{pace}, meters_{scrub_meters_of(options.name)} {}

  ScrubReport run() {
    if (!over(read_journal()) && !over(read_projection()) && !damage_.empty()) over(repair());
    if (!ended_) meters_.passes.add();
    return report_;
  }

 private:
  /// Logs why a part of the pass came to nothing. True: the pass is over.
  bool over(const Result<void>& done) {
    if (!done) {
      log::warn("scrub.failed", {log::kv("journal", options_.name), log::kv("reason", done.error().message)});
    }
    return ended_;
  }
  bool read(size_t bytes) {
    meters_.bytes.add(bytes);
    ended_ = ended_ || !pace_(bytes);
    return !ended_;
  }

  /// The next records; none: the journal has ended, or the pass.
  Result<std::vector<JournalRecord>> next(Journal::Tail& tail) {
    for (int waits = 0; waits < kMostWaits && read(0); ++waits) {
      SHIPLOG_TRY(auto records, tail.next(kRecordsAtOnce, kScrubPatience));
      if (!records.empty()) return records;
    }
    return std::vector<JournalRecord>{};
  }

  Result<void> read_journal() {
    if (!options_.reads_journal) return ok();
    SHIPLOG_TRY(const Offset head, options_.journal->head());
    if (head == Offset{0}) return ok();
    SHIPLOG_TRY(const auto tail, options_.journal->tail(Offset{0}));
    while (true) {
      auto records = next(*tail);
      if (!records && records.error().code == ErrorCode::kCorrupt) return record_damaged(records.error());
      if (!records && records.error().code == ErrorCode::kGone)
        return ok();  // trimmed meanwhile: the next pass reads on
      if (!records) return std::move(records).error();
      if (records.value().empty()) break;
      size_t bytes = 0;
      for (const JournalRecord& record : records.value()) bytes += record.bytes.size();
      report_.records += records.value().size();
      const Offset last = records.value().back().offset;
      meters_.journal_progress.set(ratio(static_cast<uint64_t>(last.value) + 1, static_cast<uint64_t>(head.value)));
      if (!read(bytes) || last.value + 1 >= head.value) break;
    }
    return ok();
  }

  Result<void> record_damaged(const Error& error) {
    ++report_.damaged_records;
    meters_.damaged_records.add();
    const Error damage{ErrorCode::kCorrupt,
                       error.message +
                           ". Nothing is appended to a damaged journal, since it cannot be folded again: stop all "
                           "processes of the fleet and restore the journal from a backup"};
    log::error("scrub.journal_damaged", {log::kv("journal", options_.name), log::kv("reason", damage.message)});
    if (options_.journal_damaged) options_.journal_damaged(damage);
    return ok();
  }

  Result<void> read_projection() {
    SHIPLOG_TRY(Reader reader, Reader::open(options_.projection));
    const auto tables = store::checked_tables();
    for (size_t done = 0; done < tables.size(); ++done) {
      SHIPLOG_TRY(read_table(reader, *tables[done]));
      if (ended_) break;
      // Every other row refers to types: what is read of them now could be wrong.
      if (tables[done] == &store::type_table() && !damage_.empty()) break;
      meters_.projection_progress.set(ratio(done + 1, tables.size()));
    }
    for (const ProjectionDamage::Row& row : damage_.rows) row_damaged(row.table->name, text_of(row.key), "checksum");
    for (const std::string& index : damage_.indexes) row_damaged(index, "", "index");
    for (const RowKey& key : damage_.unnamed) row_damaged("version", text_of(key), "name");
    for (const RowKey& key : damage_.unfound) row_damaged("entry", text_of(key), "name");
    return ok();
  }

  Result<void> read_table(Reader& reader, const store::CheckedTable& table) {
    std::optional<RowKey> after;
    while (true) {
      ScrubbedRows rows;
      {
        SHIPLOG_TRY(const View view, reader.view());
        SHIPLOG_TRY(rows, scrub_rows(view, table, after, kRowsAtOnce, damage_));
      }
      report_.rows += rows.rows;
      if (!read(rows.bytes) || !rows.last) return ok();
      after = std::move(rows.last);
    }
  }

  void row_damaged(const std::string& table, const std::string& key, const char* what) {
    ++report_.damaged_rows;
    meters_.damaged_rows.add();
    log::error("scrub.row_damaged", {log::kv("journal", options_.name), log::kv("file", options_.projection),
                                     log::kv("table", table), log::kv("row", key), log::kv("what", what)});
  }

  Result<void> repair() {
    SHIPLOG_TRY(ProjectionRepair repair, ProjectionRepair::open(options_.projection, damage_));
    const Result<void> folded = repair.needs_journal() ? fold_again(repair) : ok();
    if (ended_) return ok();
    SHIPLOG_TRY(repair.finish());
    report_.repaired_rows = repair.repaired();
    meters_.repaired.add(repair.repaired());
    log::info("scrub.repaired", {log::kv("journal", options_.name), log::kv("file", options_.projection),
                                 log::kv("rows", repair.repaired())});
    SHIPLOG_TRY(folded);
    if (repair.repaired() == damage_.size()) return ok();
    return unrepaired("the keys of " + std::to_string(damage_.size() - repair.repaired()) +
                      " rows are damaged too, unless they were deleted meanwhile by their age");
  }

  Error unrepaired(const std::string& why) const {
    return {ErrorCode::kCorrupt, "damaged rows of " + options_.projection + " cannot be repaired: " + why +
                                     ". Stop the process, delete the file and start again: it is rebuilt"};
  }

  /// Folds the journal again, in memory of its own.
  Result<void> fold_again(ProjectionRepair& repair) {
    if (report_.damaged_records > 0) return unrepaired("the journal is damaged too");
    SHIPLOG_TRY(const Offset oldest, options_.journal->oldest());
    if (oldest.value > 1) return unrepaired("the journal begins at offset " + std::to_string(oldest.value));
    SHIPLOG_TRY(const auto tail, options_.journal->tail(Offset{0}));
    State state;
    while (repair.needs_journal()) {
      SHIPLOG_TRY(const auto records, next(*tail));
      if (ended_) return ok();
      if (records.empty()) return unrepaired("the journal ends before their entries");
      size_t bytes = 0;
      for (const JournalRecord& record : records) {
        bytes += record.bytes.size();
        SHIPLOG_TRY(const Entry entry, decode(record.bytes));
        const Folded folded = fold(state, entry);
        if (folded.stop) return unrepaired(*folded.stop);
        SHIPLOG_TRY(repair.take(record.offset, entry, folded, proof::leaf_hash(record.bytes)));
      }
      if (repair.needs_journal() && !read(bytes)) return ok();
    }
    return ok();
  }

  const ScrubOptions& options_;
  const std::function<bool(size_t)>& pace_;
  const Meters meters_;
  ScrubReport report_;
  ProjectionDamage damage_;
  bool ended_ = false;
};

}  // namespace

ScrubReport scrub(const ScrubOptions& options, const std::function<bool(size_t bytes)>& pace) {
  return Pass{options, pace}.run();
}

struct ScrubThread::Impl {
  ScrubOptions options;
  int64_t bytes_per_second;
  Millis interval;
  std::mutex mutex;
  std::condition_variable stop;
  bool stopping = false;
  std::thread thread;

  /// False: stopped meanwhile.
  bool wait(std::chrono::steady_clock::duration duration) {
    std::unique_lock lock{mutex};
    return !stop.wait_for(lock, duration, [&] { return stopping; });
  }

  void run() {
    name_thread("scrub");
    const auto pace = [this](size_t bytes) {
      return wait(std::chrono::microseconds{static_cast<int64_t>(bytes) * 1'000'000 / bytes_per_second});
    };
    while (true) {
      const auto next = std::chrono::steady_clock::now() + std::chrono::milliseconds{interval.value};
      scrub(options, pace);
      if (!wait(std::max(next - std::chrono::steady_clock::now(), std::chrono::steady_clock::duration::zero()))) return;
    }
  }
};

ScrubThread::ScrubThread(ScrubOptions options, int64_t bytes_per_second, Millis interval)
    : impl_{std::make_unique<Impl>()} {
  impl_->options = std::move(options);
  impl_->bytes_per_second = bytes_per_second;
  impl_->interval = interval;
  impl_->thread = std::thread{[impl = impl_.get()] { impl->run(); }};
}

ScrubThread::~ScrubThread() {
  {
    const std::lock_guard lock{impl_->mutex};
    impl_->stopping = true;
  }
  impl_->stop.notify_all();
  impl_->thread.join();
}

}  // namespace shiplog
