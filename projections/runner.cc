#include "projections/runner.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <thread>
#include <utility>

#include "events/base/check.h"
#include "events/sqlite/connection.h"
#include "projections/audit/audit_projection.h"
#include "projections/decisions/decision_projection.h"
#include "projections/history/history_projection.h"
#include "projections/live_objects.h"
#include "projections/objects/object_projection.h"
#include "projections/preparation.h"
#include "projections/proof/tree_projection.h"
#include "projections/revisions/revision_projection.h"
#include "projections/store/checked_table.h"
#include "projections/store/checkpoint.h"
#include "projections/store/migrate.h"
#include "projections/store/open.h"
#include "projections/store/schemas.h"
#include "projections/store/snapshot.h"

namespace shiplog {
namespace {

// Four times the size that SQLite's own checkpoints leave.
constexpr int64_t kLongWalBytes = 128 << 20;
// So long may a batch wait for pages that are given back.
constexpr std::chrono::milliseconds kReleaseTurn{4};
constexpr int kMoveTries = 50;
constexpr std::chrono::milliseconds kBetweenMoves{20};

/// The writers of the tables of an open file.
struct Writers {
  explicit Writers(sqlite::Connection& connection) : types{connection} {}

  Result<void> prepare(sqlite::Connection& connection) {
    SHIPLOG_TRY(auto object_projection, ObjectProjection::create(connection, types));
    SHIPLOG_TRY(auto history_projection, HistoryProjection::create(connection, types));
    SHIPLOG_TRY(auto audit_projection, AuditProjection::create(connection, types));
    SHIPLOG_TRY(auto decision_projection, DecisionProjection::create(connection, types));
    SHIPLOG_TRY(auto revision_projection, RevisionProjection::create(connection));
    SHIPLOG_TRY(auto tree_projection, TreeProjection::create(connection));
    objects = std::make_unique<ObjectProjection>(std::move(object_projection));
    history = std::make_unique<HistoryProjection>(std::move(history_projection));
    audit = std::make_unique<AuditProjection>(std::move(audit_projection));
    decisions = std::make_unique<DecisionProjection>(std::move(decision_projection));
    revisions = std::make_unique<RevisionProjection>(std::move(revision_projection));
    tree = std::make_unique<TreeProjection>(std::move(tree_projection));
    return ok();
  }

  Result<void> apply(FoldedEntry& folded) const {
    SHIPLOG_TRY(objects->apply(folded));
    SHIPLOG_TRY(history->apply(folded));
    SHIPLOG_TRY(audit->apply(folded));
    SHIPLOG_TRY(decisions->apply(folded));
    SHIPLOG_TRY(revisions->apply(folded));
    return tree->apply(folded);
  }

  store::TypeIds types;
  std::unique_ptr<ObjectProjection> objects;
  std::unique_ptr<HistoryProjection> history;
  std::unique_ptr<AuditProjection> audit;
  std::unique_ptr<DecisionProjection> decisions;
  std::unique_ptr<RevisionProjection> revisions;
  std::unique_ptr<TreeProjection> tree;
};

/// Creates the tables in an empty file.
Result<void> create_tables(sqlite::Connection& connection) {
  SHIPLOG_TRY(auto transaction, sqlite::Transaction::begin(connection));
  for (const char* schema : store::schemas()) {
    SHIPLOG_TRY(connection.execute(schema));
  }
  SHIPLOG_TRY(store::insert_checkpoint(connection, {store::fingerprint(), Offset{}, StateMeta{}}));
  return transaction.commit();
}

// A live object without a version would be omitted, which the state hash detects.
const std::string kLiveObjects =
    "SELECT t.name, o.ns, o.name, " + store::version_json("v") +
    " FROM object o CROSS JOIN type t ON t.id = o.type "
    "CROSS JOIN version v ON v.revision = (SELECT max(revision) FROM version WHERE object = o.id) WHERE o.live";

/// The sum of the hashes of all objects, which is what a checkpoint records.
Result<Hash128> hash_of_objects(sqlite::Connection& connection) {
  SHIPLOG_TRY(auto row, connection.prepare(kLiveObjects));
  Hash128 sum;
  while (true) {
    SHIPLOG_TRY(const bool found, row.next());
    if (!found) return sum;
    const ObjectKey key{std::string{row.text(0)}, std::string{row.text(1)}, std::string{row.text(2)}};
    SHIPLOG_TRY(const Object object, object_from(key, row.text(3)));
    sum += object.hash;
  }
}

SnapshotInfo info_of(const store::Checkpoint& checkpoint) {
  State without_objects;
  State::restore(checkpoint.meta, {}, {}, without_objects);
  return {checkpoint.next, checkpoint.meta.revision, without_objects.hash()};
}

Result<EntryId> entry_id_of(std::string_view bytes) {
  EntryId id;
  if (bytes.size() != id.bytes.size()) return Error{ErrorCode::kCorrupt, "an entry id is not 16 bytes"};
  std::copy(bytes.begin(), bytes.end(), reinterpret_cast<char*>(id.bytes.data()));
  return id;
}

// Duplicates are not recorded a second time, as in the fold.
Result<void> read_seen(sqlite::Connection& connection, std::vector<EntryId>& seen) {
  SHIPLOG_TRY(auto row, connection.prepare("SELECT id FROM entry e WHERE " + store::entry_table().intact("e") +
                                           " AND NOT duplicate ORDER BY offset DESC LIMIT ?"));
  row.bind(1, static_cast<int64_t>(State::kSeenWindow));
  while (true) {
    SHIPLOG_TRY(const bool found, row.next());
    if (!found) break;
    SHIPLOG_TRY(seen.emplace_back(), entry_id_of(row.blob(0)));
  }
  std::ranges::reverse(seen);
  return ok();
}

Result<void> read_requests(sqlite::Connection& connection, std::vector<EntryId>& requests) {
  SHIPLOG_TRY(auto row,
              connection.prepare("SELECT request FROM (SELECT request, offset FROM entry e INDEXED BY entry_by_request "
                                 "WHERE request IS NOT NULL AND " +
                                 store::entry_table().intact("e") + " ORDER BY offset DESC LIMIT ?) ORDER BY offset"));
  row.bind(1, static_cast<int64_t>(State::kRequestWindow));
  while (true) {
    SHIPLOG_TRY(const bool found, row.next());
    if (!found) return ok();
    SHIPLOG_TRY(requests.emplace_back(), entry_id_of(row.blob(0)));
  }
}

Result<std::optional<std::pair<Offset, EntryId>>> read_last(sqlite::Connection& connection) {
  SHIPLOG_TRY(auto row, connection.prepare("SELECT offset, id FROM entry e WHERE " + store::entry_table().intact("e") +
                                           " ORDER BY offset DESC LIMIT 1"));
  SHIPLOG_TRY(const bool found, row.next());
  if (!found) return std::nullopt;
  SHIPLOG_TRY(const EntryId id, entry_id_of(row.blob(1)));
  return std::pair{Offset{row.integer(0)}, id};
}

/// The content of a file for State::restore. Error: kCorrupt with the reason, also for a file of another schema.
Result<Restored> read_all(sqlite::Connection& connection) {
  SHIPLOG_TRY(auto checkpoint, store::read_checkpoint(connection));
  if (!checkpoint) return Error{ErrorCode::kCorrupt, "it has no checkpoint"};
  if (checkpoint->fingerprint != store::fingerprint()) {
    return Error{ErrorCode::kCorrupt, "it was made with another schema or fold version"};
  }
  Restored restored;
  restored.next = checkpoint->next;
  restored.meta = std::move(checkpoint->meta);
  const auto seen = [&](sqlite::Connection& reading) { return read_seen(reading, restored.seen); };
  SHIPLOG_TRY(restored.objects, read_live_objects(connection, seen));
  SHIPLOG_TRY(read_requests(connection, restored.requests));
  SHIPLOG_TRY(restored.last, read_last(connection));
  return restored;
}

}  // namespace

struct Projections::Impl {
  std::string path;
  Offset next;
  // By trim_some(): what was looked at, in this pass or since a hold was made or deleted; what holds have kept.
  Offset audit_looked_at;
  int64_t decisions_looked_at = 0;
  std::optional<Revision> versions_looked_at;  // nullopt: not again
  std::string which_holds;
  HeldByName held_entries, held_decisions, held_versions;
  std::unique_ptr<sqlite::Connection> connection;
  std::unique_ptr<Writers> writers;
  sqlite::TextPacker packer, helpers_packer;  // of Preparation
  store::LeasesText leases;

  /// Opens the file and its writers; creates the tables in a new file.
  Result<void> start(bool make_tables) {
    writers.reset();
    connection.reset();
    SHIPLOG_TRY(connection, store::open_writer(path));
    if (make_tables) {
      SHIPLOG_TRY(create_tables(*connection));
    }
    writers = std::make_unique<Writers>(*connection);
    return ok();
  }

  Result<void> start_anew() {
    writers.reset();
    connection.reset();
    SHIPLOG_TRY(store::remove_database(path));
    SHIPLOG_TRY(start(true));
    next = Offset{};
    return writers->prepare(*connection);
  }

  /// True: more remain.
  Result<bool> trim_versions_of(const Holds& holds, Revision expired, const store::Checkpoint& checkpoint,
                                uint64_t& deleted) {
    bool again = false;
    if (versions_looked_at) {
      SHIPLOG_TRY(const TrimStep step, trim_versions_again(*connection, *versions_looked_at, holds, held_versions));
      deleted += step.deleted;
      again = step.more;
      if (!again) versions_looked_at.reset();
    }
    // The bound moves on only behind what was looked at again, so that nothing is counted twice.
    if (again) return true;
    SHIPLOG_TRY(const TrimStep step,
                trim_versions(*connection, std::min(expired, checkpoint.meta.revision), holds, held_versions));
    deleted += step.deleted;
    return step.more;
  }

  /// By hold, also of those that have kept nothing yet.
  HeldByName held(const Holds& holds) const {
    HeldByName all;
    for (const LegalHold& hold : holds.all) {
      HeldRows& rows = all[hold.name];
      for (const HeldByName* part : {&held_entries, &held_decisions, &held_versions}) {
        const auto found = part->find(hold.name);
        if (found == part->end()) continue;
        rows.entries += found->second.entries;
        rows.decisions += found->second.decisions;
        rows.versions += found->second.versions;
        const UtcMillis oldest = found->second.oldest;
        if (oldest != UtcMillis{} && (rows.oldest == UtcMillis{} || oldest < rows.oldest)) rows.oldest = oldest;
      }
    }
    return all;
  }

  Result<Restored> start_existing() {
    SHIPLOG_TRY(start(false));
    SHIPLOG_TRY(auto restored, read_all(*connection));
    SHIPLOG_TRY(writers->prepare(*connection));
    next = restored.next;
    return restored;
  }
};

Projections::Projections(std::unique_ptr<Impl> impl) : impl_{std::move(impl)} {}
Projections::~Projections() = default;

Result<Projections::Opened> Projections::open(const std::string& path) {
  auto impl = std::make_unique<Impl>();
  impl->path = path;
  Restored restored;
  std::error_code ignored;  // opening the file reports a better error
  if (std::filesystem::exists(path, ignored)) {
    auto existing = impl->start_existing();
    if (existing) {
      restored = std::move(existing).value();
    } else if (existing.error().code == ErrorCode::kCorrupt) {
      restored.rebuilt = "projection " + path + " is rebuilt from the journal: " + existing.error().message;
      SHIPLOG_TRY(impl->start_anew());
    } else {
      return std::move(existing).error();
    }
  } else {
    SHIPLOG_TRY(impl->start_anew());
  }
  return Opened{std::unique_ptr<Projections>{new Projections{std::move(impl)}}, std::move(restored)};
}

Result<void> Projections::apply(std::span<const FoldedEntry> batch, const StateMeta& after) {
  if (batch.empty()) return ok();
  const auto all = [&]() -> Result<Offset> {
    SHIPLOG_TRY(auto transaction, sqlite::Transaction::begin(*impl_->connection));
    // First: what another process has written meanwhile is the reason for whatever else would fail.
    const Offset end{batch.back().offset.value + 1};
    SHIPLOG_TRY(store::advance_checkpoint(*impl_->connection, impl_->leases, impl_->next, end, after));
    Offset next = impl_->next;
    Preparation preparation{batch, impl_->packer, impl_->helpers_packer};
    for (size_t index = 0; index < batch.size(); ++index) {
      const FoldedEntry& next_entry = batch[index];
      SHIPLOG_CHECK(next_entry.offset >= next, "entries are applied once and in order");
      FoldedEntry folded{next_entry.offset, next_entry.entry, next_entry.folded, next_entry.leaf};
      for (const Event& event : next_entry.entry.events) folded.subjects.push_back(subject_of(event));
      folded.prepared = &preparation.of(index);
      SHIPLOG_TRY(impl_->writers->apply(folded));
      next = Offset{next_entry.offset.value + 1};
    }
    SHIPLOG_TRY(transaction.commit());
    return end;
  };
  auto next = all();
  if (!next) {
    impl_->writers->types.forget();
    impl_->writers->audit->forget();
    impl_->writers->history->forget();
    impl_->writers->tree->forget();
    return std::move(next).error();
  }
  impl_->next = next.value();
  impl_->connection->tend_wal(kLongWalBytes);
  return ok();
}

Result<void> Projections::reset() { return impl_->start_anew(); }

Offset Projections::next() const { return impl_->next; }
const std::string& Projections::path() const { return impl_->path; }

Result<SnapshotInfo> Projections::snapshot(const std::string& target) const {
  SHIPLOG_TRY(const auto checkpoint, store::write_snapshot(impl_->path, target));
  return info_of(checkpoint);
}

Result<SnapshotInfo> Projections::restore_snapshot(const std::string& snapshot, const std::string& path) {
  SHIPLOG_TRY(const auto checkpoint, store::install_snapshot(snapshot, path));
  return info_of(checkpoint);
}

Result<SnapshotInfo> Projections::snapshot_info(const std::string& file) {
  std::error_code none;
  if (!std::filesystem::exists(file, none)) return Error{ErrorCode::kNotFound, "there is no file " + file};
  SHIPLOG_TRY(const auto connection, store::open_reader(file));
  SHIPLOG_TRY(const auto checkpoint, store::read_checkpoint(*connection));
  if (!checkpoint) return Error{ErrorCode::kCorrupt, file + " has no checkpoint"};
  if (checkpoint->fingerprint == store::fingerprint()) return info_of(*checkpoint);
  return Error{ErrorCode::kUnavailable, file + " was made with another schema or fold version"};
}

Result<std::optional<std::pair<Offset, EntryId>>> Projections::last_entry(const std::string& file) {
  SHIPLOG_TRY([[maybe_unused]] const SnapshotInfo of_this_build, snapshot_info(file));
  SHIPLOG_TRY(const auto connection, store::open_reader(file));
  return read_last(*connection);
}

Result<SnapshotInfo> Projections::migrate(const std::string& file, const std::string& path) {
  const std::string made = path + ".new";
  SHIPLOG_TRY(store::migrate_database(file, made));
  auto verified = verify_snapshot(made);
  if (verified) verified = restore_snapshot(made, path);
  static_cast<void>(store::remove_database(made));
  return verified;
}

Result<SnapshotInfo> Projections::verify_snapshot(const std::string& snapshot) {
  SHIPLOG_TRY(const auto checkpoint, store::check_snapshot(snapshot));
  SHIPLOG_TRY(const auto connection, store::open_reader(snapshot));
  SHIPLOG_TRY(const Hash128 hash, hash_of_objects(*connection));
  if (hash == checkpoint.meta.hash) return info_of(checkpoint);
  return Error{ErrorCode::kCorrupt, "snapshot " + snapshot + ": its objects do not hash to what it recorded"};
}

Result<Restored> Projections::read_snapshot(const std::string& snapshot) {
  SHIPLOG_TRY(store::check_snapshot(snapshot));
  SHIPLOG_TRY(const auto connection, store::open_reader(snapshot));
  return read_all(*connection);
}

Result<Projections::Trimmed> Projections::trim_some(const Expired& expired) {
  SHIPLOG_TRY(const auto checkpoint, store::read_checkpoint(*impl_->connection));
  SHIPLOG_CHECK(checkpoint, "an open projection has a checkpoint");
  sqlite::Connection& connection = *impl_->connection;
  // Here, not once for a pass: what was applied before this step is held by it.
  SHIPLOG_TRY(const Holds holds, read_holds(connection));
  if (holds.which != impl_->which_holds) {
    impl_->which_holds = holds.which;
    impl_->versions_looked_at = Revision{0};
    impl_->held_versions.clear();
  }
  Trimmed trimmed;
  SHIPLOG_TRY(const bool more_versions, impl_->trim_versions_of(holds, expired.history, *checkpoint, trimmed.versions));
  trimmed.more = more_versions;
  if (trimmed.versions > 0) impl_->writers->history->forget();
  if (expired.decisions.end() > Offset{0}) {
    if (impl_->decisions_looked_at == 0) impl_->held_decisions.clear();
    SHIPLOG_TRY(const bool more, trim_decisions(connection, expired.decisions, holds, impl_->decisions_looked_at,
                                                trimmed.decisions, impl_->held_decisions));
    trimmed.more = trimmed.more || more;
    if (!more) impl_->decisions_looked_at = 0;
  }
  if (expired.audit.end() > Offset{0}) {
    if (impl_->audit_looked_at == Offset{0}) impl_->held_entries.clear();
    SHIPLOG_TRY(const bool more, trim_entries(connection, expired.audit, holds, impl_->audit_looked_at, trimmed.entries,
                                              impl_->held_entries));
    trimmed.more = trimmed.more || more;
    // The next pass looks at those again whose versions were there now.
    if (!more) impl_->audit_looked_at = Offset{0};
  }
  if (!trimmed.more) trimmed.held = impl_->held(holds);
  return trimmed;
}

Result<uint64_t> Projections::trim_history(Revision oldest) {
  uint64_t versions = 0;
  while (true) {
    SHIPLOG_TRY(const Trimmed trimmed, trim_some({oldest, {}, {}}));
    versions += trimmed.versions;
    if (!trimmed.more) return versions;
  }
}

Result<sqlite::FileSpace> Projections::space() const {
  SHIPLOG_TRY(const auto connection, store::open_reader(impl_->path));
  return sqlite::space_of(*connection);
}

Result<sqlite::FileSpace> Projections::release_some(int64_t keep) {
  sqlite::Connection& connection = *impl_->connection;
  {
    SHIPLOG_TRY(auto transaction, sqlite::Transaction::begin(connection));
    SHIPLOG_TRY(sqlite::release_pages(connection, keep, kReleaseTurn));
    SHIPLOG_TRY(transaction.commit());
  }
  connection.tend_wal(kLongWalBytes);
  return sqlite::space_of(connection);
}

Result<void> Projections::shrink_file() const {
  SHIPLOG_TRY(const auto connection, store::open_reader(impl_->path));
  for (int tries = 0; tries < kMoveTries; ++tries) {
    const auto moved = sqlite::move_wal(*connection);
    if (moved || moved.error().code != ErrorCode::kUnavailable) return moved;
    std::this_thread::sleep_for(kBetweenMoves);
  }
  return ok();  // it is moved later, as after any write
}

Result<Projections::Expired> Projections::expired(const Cutoffs& cutoffs) const {
  SHIPLOG_TRY(const auto connection, store::open_reader(impl_->path));
  SHIPLOG_TRY(auto last,
              connection->prepare("SELECT offset, revision FROM entry e INDEXED BY entry_by_time "
                                  "WHERE time <= ? AND " +
                                  store::entry_table().intact("e") + " ORDER BY time DESC, offset DESC LIMIT 1"));
  const auto newest_at = [&](UtcMillis at) -> Result<std::pair<Offset, Revision>> {
    if (at == UtcMillis{}) return std::pair{Offset{}, Revision{}};
    last.reset();
    last.bind(1, at.value);
    SHIPLOG_TRY(const bool found, last.next());
    if (!found) return std::pair{Offset{}, Revision{}};
    return std::pair{Offset{last.integer(0) + 1}, Revision{static_cast<uint64_t>(last.integer(1))}};
  };
  SHIPLOG_TRY(const auto history, newest_at(cutoffs.history));
  SHIPLOG_TRY(const auto audit, newest_at(cutoffs.audit));
  SHIPLOG_TRY(const auto decisions, newest_at(cutoffs.decisions));
  std::vector<std::pair<Family, Offset>> families;
  for (const auto& [family, time] : cutoffs.families) {
    SHIPLOG_TRY(const auto of_family, newest_at(time));
    families.emplace_back(family, of_family.first);
  }
  last.reset();
  // A replica that starts from this file must recognise the duplicates of as many entries as any other.
  SHIPLOG_TRY(auto seen, connection->prepare("SELECT offset FROM entry WHERE NOT duplicate ORDER BY offset DESC "
                                             "LIMIT 1 OFFSET ?"));
  seen.bind(1, static_cast<int64_t>(State::kSeenWindow));
  SHIPLOG_TRY(const bool beyond, seen.next());
  const Offset unseen{beyond ? seen.integer(0) + 1 : 0};
  Expired expired{history.second, {std::min(audit.first, unseen), families}, {decisions.first, families}};
  for (auto& [family, offset] : expired.audit.families) offset = std::min(offset, unseen);
  return expired;
}

}  // namespace shiplog
