#include "services/programs/shiplogd/retention.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <future>
#include <mutex>
#include <set>
#include <string>
#include <thread>

#include "events/base/json.h"
#include "events/base/thread_name.h"
#include "events/codec/codec.h"
#include "events/state/legal_hold.h"
#include "projections/history/history_query.h"
#include "projections/objects/object_query.h"
#include "services/runtime/append_without_lease.h"
#include "services/runtime/log.h"
#include "services/runtime/metrics.h"

namespace shiplog {
namespace {

constexpr size_t kRecordsAtOnce = 512;
/// Between two steps, so that what is being written and read goes first.
constexpr std::chrono::milliseconds kPause{20};
constexpr Millis kReportHeldEvery{60 * 1000};
constexpr Millis kReportProgressEvery{10 * 1000};

struct RetentionMeters {
  metrics::Gauge oldest_offset, oldest_revision;
  metrics::Counter records, versions, entries, decisions;
  metrics::Gauge file, free;
  metrics::Counter released;
};

RetentionMeters retention_meters(const std::string& journal) {
  static const metrics::GaugeFamily oldest{
      "shiplog_journal_oldest_offset", "The offset of the oldest record that the journal holds.", {"journal"}};
  static const metrics::GaugeFamily revision{
      "shiplog_history_oldest_revision", "The oldest revision that objects can be read as of.", {"journal"}};
  static const metrics::CounterFamily trimmed{"shiplog_trimmed_total",
                                              "Offsets of the journal, and rows of the projection, that this process "
                                              "deleted as they were older than their retention.",
                                              {"journal", "part"}};
  static const metrics::GaugeFamily file{"shiplog_projection_bytes", "Size of the projection's file.", {"journal"}};
  static const metrics::GaugeFamily free{"shiplog_projection_free_bytes",
                                         "Bytes of the projection's file that are free for what is written next.",
                                         {"journal"}};
  static const metrics::CounterFamily released{
      "shiplog_projection_released_bytes_total",
      "Bytes of the projection's file that were given back to the file system.",
      {"journal"}};
  return {oldest.with({journal}),
          revision.with({journal}),
          trimmed.with({journal, "journal"}),
          trimmed.with({journal, "history"}),
          trimmed.with({journal, "audit"}),
          trimmed.with({journal, "decisions"}),
          file.with({journal}),
          free.with({journal}),
          released.with({journal})};
}

}  // namespace

struct Retention::Impl {
  RetentionOptions options;
  std::string name;
  RetentionMeters meters;
  TrimPoints points;
  std::unique_ptr<Journal::Tail> tail;  ///< where `points` has come to
  std::set<std::string> verified;       ///< snapshots, by this process
  std::string last_published;
  bool told_obstacle = false;
  bool told_fixed_size = false;
  std::optional<UtcMillis> reported;  ///< when the statuses of holds were written
  HeldByName reported_held;
  std::mutex mutex;
  std::condition_variable wake;
  bool stopping = false;
  std::thread thread;

  explicit Impl(RetentionOptions given)
      : options{std::move(given)}, name{options.snapshots->places().journal}, meters{retention_meters(name)} {}

  /// False: stopped meanwhile.
  bool wait(std::chrono::milliseconds duration) {
    std::unique_lock lock{mutex};
    return !wake.wait_for(lock, duration, [&] { return stopping; });
  }

  void run() {
    name_thread("retention");
    do {
      if (auto done = trim_journal(); !done) failed("journal", done.error());
      if (auto done = trim_projection(); !done) failed("projection", done.error());
      if (auto done = shrink_projection(); !done) failed("file", done.error());
      if (auto done = measure(); !done) failed("metrics", done.error());
    } while (wait(std::chrono::milliseconds{options.interval.value}));
  }

  void failed(const char* part, const Error& error) {
    log::warn("retention.failed", {log::kv("journal", name), log::kv("part", part), log::kv("reason", error.message)});
    tail.reset();  // it may have been trimmed by another process: the next pass begins at the oldest record
    points = TrimPoints{};
  }

  Result<void> measure() {
    SHIPLOG_TRY(const Offset oldest, options.stack->journal().oldest());
    meters.oldest_offset.set(static_cast<double>(oldest.value));
    SHIPLOG_TRY(Reader reader, options.stack->projections().reader());
    SHIPLOG_TRY(const View view, reader.view());
    SHIPLOG_TRY(const Revision revision, HistoryQuery{view}.oldest());
    meters.oldest_revision.set(static_cast<double>(revision.value));
    return ok();
  }

  /// Reads what was appended since the last pass.
  Result<void> read_on() {
    if (!tail) {
      SHIPLOG_TRY(tail, options.stack->journal().tail(Offset{0}));
    }
    while (wait(std::chrono::milliseconds{0})) {
      SHIPLOG_TRY(const auto records, tail->next(kRecordsAtOnce, Millis{0}));
      if (records.empty()) return ok();
      for (const JournalRecord& record : records) {
        points.add(record.offset, record.bytes.size(), [&] {
          const auto entry = decode(record.bytes);
          return entry ? entry.value().time : UtcMillis{};
        });
      }
    }
    return ok();
  }

  Result<void> trim_journal() {
    if (options.journal.keeps_all() || !options.leads()) return ok();
    if (!options.obstacle.empty()) {
      if (!told_obstacle) {
        log::warn("retention.not_applied", {log::kv("journal", name), log::kv("reason", options.obstacle)});
      }
      told_obstacle = true;
      return ok();
    }
    SHIPLOG_TRY(read_on());
    SHIPLOG_TRY(const auto keep_from, held_from());
    const Offset point = points.point(options.journal, options.executor->now(), keep_from);
    SHIPLOG_TRY(const Offset oldest, options.stack->journal().oldest());
    if (point <= oldest) return ok();
    const auto covered = covered_by_snapshots(point);
    if (!covered) return ok();
    const Offset before = std::min(point, *covered);
    if (before <= oldest) return ok();
    SHIPLOG_TRY(options.stack->journal().trim(before));
    points.trimmed(before);
    meters.records.add(static_cast<uint64_t>(before.value - oldest.value));
    log::info("journal.trimmed", {log::kv("journal", name), log::kv("oldest_offset", before.value),
                                  log::kv("offsets", before.value - oldest.value)});
    return ok();
  }

  /// Where the older of the newest two snapshots ends, both of which must be intact, as one of them may be lost later;
  /// nullopt: there is none yet. Asks for the next one when `point` is beyond them.
  std::optional<Offset> covered_by_snapshots(Offset point) {
    std::optional<Offset> newest, covered;
    std::string newest_file;
    for (const std::string& file : snapshots_in(options.snapshots->places().folder)) {
      const auto info = verified.contains(file) ? Projections::snapshot_info(file) : Projections::verify_snapshot(file);
      if (!info) {
        log::warn("snapshot.unusable", {log::kv("file", file), log::kv("reason", info.error().message)});
        continue;
      }
      verified.insert(file);
      if (!newest) newest_file = file;
      if (!newest) newest = info.value().next;
      covered = info.value().next;
    }
    if (options.snapshots->places().store != nullptr && newest && !publish(newest_file)) return std::nullopt;
    if (!newest || *newest < point) {
      options.executor->post([snapshots = options.snapshots] { snapshots->take(); });
    }
    return covered;
  }

  /// Other machines start from what the store has: it must have the newest snapshot before its entries are trimmed.
  bool publish(const std::string& file) {
    if (file == last_published) return true;
    const auto info = Projections::verify_snapshot(file);
    if (!info) return false;
    const auto stored = options.snapshots->places().store->publish(name, {file, info.value()});
    if (stored) last_published = file;
    if (stored) return true;
    log::warn("snapshot.store_failed", {log::kv("journal", name), log::kv("reason", stored.error().message)});
    return false;
  }

  Result<void> trim_projection() {
    const UtcMillis now = options.executor->now();
    const auto before = [&](const std::optional<Millis>& age) {
      return age ? UtcMillis{std::max<int64_t>(1, now.value - age->value)} : UtcMillis{};
    };
    if (!options.history && !options.audit && !options.decisions && options.families.empty()) return ok();
    Projections::Cutoffs cutoffs{before(options.history), before(options.audit), before(options.decisions)};
    for (const auto& [family, age] : options.families) {
      // An age that nothing reaches keeps all.
      cutoffs.families.emplace_back(family, age >= kForEver ? UtcMillis{} : before(age));
    }
    SHIPLOG_TRY(const Projections::Expired expired, options.stack->projections().expired(cutoffs));
    while (wait(kPause)) {
      SHIPLOG_TRY(const Projections::Trimmed trimmed, options.stack->trim_projection(expired));
      meters.versions.add(trimmed.versions);
      meters.entries.add(trimmed.entries);
      meters.decisions.add(trimmed.decisions);
      if (trimmed.more) continue;
      if (options.leads()) report_held(trimmed.held);
      break;
    }
    return ok();
  }

  void set_space_meters(const sqlite::FileSpace& space) const {
    meters.file.set(static_cast<double>(space.bytes()));
    meters.free.set(static_cast<double>(space.free_bytes()));
  }

  void log_space(const char* event, const sqlite::FileSpace& space, int64_t released) const {
    log::info(event, {log::kv("journal", name), log::kv("bytes", space.bytes()),
                      log::kv("free_bytes", space.free_bytes()), log::kv("released_bytes", released)});
  }

  /// Gives what trimming has freed back to the file system, but for what is soon used again.
  Result<void> shrink_projection() {
    SHIPLOG_TRY(sqlite::FileSpace space, options.stack->projections().space());
    set_space_meters(space);
    if (!sqlite::has_surplus(space)) return ok();
    if (!space.shrinks) {
      if (!told_fixed_size) {
        log::info("projection.cannot_shrink",
                  {log::kv("journal", name), log::kv("bytes", space.bytes()), log::kv("free_bytes", space.free_bytes()),
                   log::kv("reason",
                           "its file was made by an earlier build: what is free is used by what is written next; to "
                           "free it now, start the process with the file removed, and it is made of the newest "
                           "snapshot")});
      }
      told_fixed_size = true;
      return ok();
    }
    const int64_t keep = sqlite::pages_to_keep(space), before = space.bytes();
    log_space("projection.shrinking", space, 0);
    UtcMillis logged = options.executor->now();
    while (space.free > keep) {
      if (!wait(kPause)) return ok();
      const int64_t size = space.bytes();
      SHIPLOG_TRY(space, options.stack->release_projection(keep));
      if (space.bytes() >= size) break;  // what was written meanwhile took as much
      meters.released.add(static_cast<uint64_t>(size - space.bytes()));
      set_space_meters(space);
      if (options.executor->now() - logged < kReportProgressEvery) continue;
      logged = options.executor->now();
      log_space("projection.shrinking", space, before - space.bytes());
    }
    SHIPLOG_TRY(options.stack->projections().shrink_file());
    log_space("projection.shrunk", space, before - space.bytes());
    return ok();
  }

  /// The beginning of the oldest hold, which the journal must not be trimmed behind; nullopt: there is none. A hold
  /// that was answered with 201 by any process is found.
  Result<std::optional<UtcMillis>> held_from() {
    auto current = std::make_shared<std::promise<Result<void>>>();
    auto caught_up = current->get_future();
    options.stack->store().when_current([current](const Result<void>& result) { current->set_value(result); });
    while (caught_up.wait_for(kPause) != std::future_status::ready) {
      if (!wait(std::chrono::milliseconds{0})) return Error{ErrorCode::kUnavailable, "the process stops"};
    }
    SHIPLOG_TRY(caught_up.get());
    return options.stack->store().read([](const View& view) -> Result<std::optional<UtcMillis>> {
      SHIPLOG_TRY(const auto rows, ObjectQuery{view}.list({.type = kLegalHoldType}));
      std::optional<UtcMillis> oldest;
      for (const ObjectRow& row : rows) {
        SHIPLOG_TRY(const Value object, parse_stored_json(row.json));
        SHIPLOG_TRY(const LegalHold hold, legal_hold_from(object));
        oldest = std::min(oldest.value_or(hold.from.value_or(UtcMillis{})), hold.from.value_or(UtcMillis{}));
      }
      return oldest;
    });
  }

  static bool same_rows(const HeldByName& held, const HeldByName& before) {
    return std::ranges::all_of(held, [&](const auto& hold) {
      const auto found = before.find(hold.first);
      const HeldRows rows = found == before.end() ? HeldRows{} : found->second;
      const HeldRows& now = hold.second;
      return now.entries == rows.entries && now.versions == rows.versions && now.decisions == rows.decisions;
    });
  }

  static Value status_of(const HeldRows& held) {
    Value status = Value::object({{"entries", static_cast<int64_t>(held.entries)},
                                  {"versions", static_cast<int64_t>(held.versions)},
                                  {"decisions", static_cast<int64_t>(held.decisions)}});
    if (held.oldest != UtcMillis{}) status.set("oldest", rfc3339(held.oldest));
    return status;
  }

  /// Writes the statuses that have changed, not often: each is an entry of the journal.
  void report_held(const HeldByName& held) {
    const UtcMillis now = options.executor->now();
    if (same_rows(held, reported_held) || (reported && now - *reported < kReportHeldEvery)) return;
    reported = now;
    reported_held = held;
    options.executor->post([replica = &options.stack->replica(), held, now] {
      for (const auto& [hold_name, rows] : held) {
        const ObjectKey key{kLegalHoldType, "", hold_name};
        const Object* hold = replica->state().find(key);
        if (hold == nullptr) continue;
        Value status = status_of(rows);
        Value before = hold->value["status"];
        before.erase("observedTime");
        if (before == status) continue;
        status.set("observedTime", rfc3339(now));
        Value value = hold->value;
        value.set("status", std::move(status));
        const Decision observed{{StatusUpdated{key, std::move(value)}}, {{key, hold->revision}}};
        append_without_lease(*replica, {.service = "control", .user_agent = {}}, observed,
                             [](const Result<Outcome>& outcome) {
                               if (outcome) return;
                               log::warn("legal_hold.status_failed", {log::kv("reason", outcome.error().message)});
                             });
      }
    });
  }
};

Retention::Retention(RetentionOptions options) : impl_{std::make_unique<Impl>(std::move(options))} {
  impl_->thread = std::thread{[impl = impl_.get()] { impl->run(); }};
}

Retention::~Retention() {
  {
    const std::lock_guard lock{impl_->mutex};
    impl_->stopping = true;
  }
  impl_->wake.notify_all();
  impl_->thread.join();
}

}  // namespace shiplog
