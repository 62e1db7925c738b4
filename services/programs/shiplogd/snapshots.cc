#include "services/programs/shiplogd/snapshots.h"

#include <filesystem>
#include <vector>

#include <unistd.h>

#include "events/base/thread_name.h"
#include "projections/proof/begin_tree.h"
#include "projections/runner.h"
#include "projections/store/snapshot.h"
#include "services/http/private_file.h"
#include "services/programs/shiplogd/journal_identity.h"
#include "services/runtime/append_without_lease.h"
#include "services/runtime/log.h"
#include "services/runtime/metrics.h"

namespace shiplog {
namespace {

constexpr size_t kKeep = 2;

struct SnapshotMeters {
  metrics::Counter verified, failed;
  metrics::Gauge revision;
};

SnapshotMeters snapshot_meters(const std::string& journal) {
  static const metrics::CounterFamily taken{"shiplog_snapshots_total",
                                            "Snapshots that were taken, by whether they could be verified.",
                                            {"journal", "result"}};
  static const metrics::GaugeFamily revision{
      "shiplog_snapshot_revision", "The revision of the newest verified snapshot of this process.", {"journal"}};
  return {taken.with({journal, "verified"}), taken.with({journal, "failed"}), revision.with({journal})};
}

/// The build that made it may have known no trees.
Result<void> begin_tree_of(Journal& journal, const SnapshotPlaces& places, const std::string& projection) {
  if (places.journal != "journal") return ok();
  return begin_tree(journal, projection);
}

/// Whether the journal has the last entry of a snapshot, or has trimmed it. It has others in its place if its end was
/// lost and it was written on.
Result<void> check_fits(Journal& journal, const std::string& file) {
  SHIPLOG_TRY(const auto last, Projections::last_entry(file));
  return check_same_journal(journal, last);
}

/// The newest snapshot of the folder or the store that fits, at `projection`. False: there is none.
Result<bool> install(Journal& journal, const SnapshotPlaces& places, const std::string& projection, Offset oldest,
                     Offset head, bool verify) {
  const bool trimmed = oldest.value > 1;
  for (const std::string& file : snapshots_in(places.folder)) {
    auto found = verify ? Projections::verify_snapshot(file) : Projections::snapshot_info(file);
    if (!found && trimmed && found.error().code == ErrorCode::kUnavailable) {
      const std::string draft = snapshot_draft(places.folder, "migrated");
      found = Projections::migrate(file, draft);
      const bool fits =
          found && found.value().next >= oldest && found.value().next <= head && check_fits(journal, draft).has_value();
      if (fits) found = Projections::restore_snapshot(draft, projection);
      static_cast<void>(store::remove_database(draft));
      if (fits && found) {
        log::info("snapshot.migrated", {log::kv("file", file), log::kv("revision", found.value().revision.value)});
        SHIPLOG_TRY(begin_tree_of(journal, places, projection));
        return true;
      }
      if (found) continue;  // it lies elsewhere
    }
    if (found && (found.value().next < oldest || found.value().next > head)) continue;
    if (found) {
      if (const auto fits = check_fits(journal, file); !fits) found = fits.error();
    }
    if (found) found = Projections::restore_snapshot(file, projection);
    if (found) {
      log::info("snapshot.restored", {log::kv("file", file), log::kv("revision", found.value().revision.value)});
      return true;
    }
    log::warn("snapshot.unusable", {log::kv("file", file), log::kv("reason", found.error().message)});
  }
  if (places.store == nullptr) return false;
  const auto fetched = places.store->fetch(places.journal, places.folder, oldest, head);
  if (!fetched) {
    log::warn("snapshot.store_failed",
              {log::kv("journal", places.journal), log::kv("reason", fetched.error().message)});
    return false;
  }
  if (!fetched.value()) return false;
  if (const auto fits = check_fits(journal, fetched.value()->file); !fits) {
    log::warn("snapshot.unusable", {log::kv("file", fetched.value()->file), log::kv("reason", fits.error().message)});
    return false;
  }
  SHIPLOG_TRY(const SnapshotInfo info, Projections::restore_snapshot(fetched.value()->file, projection));
  log::info("snapshot.restored", {log::kv("file", fetched.value()->file), log::kv("revision", info.revision.value)});
  return true;
}

}  // namespace

Result<void> prepare_projection(Journal& journal, const SnapshotPlaces& places, const std::string& projection) {
  SHIPLOG_TRY(const Offset oldest, journal.oldest());
  SHIPLOG_TRY(const Offset head, journal.head());
  const bool trimmed = oldest.value > 1;
  if (!std::filesystem::exists(projection)) {
    // The state hash is compared when the replica opens it.
    SHIPLOG_TRY(install(journal, places, projection, trimmed ? oldest : Offset{0}, head, false));
    return ok();
  }
  if (!trimmed) return ok();
  const auto held = Projections::snapshot_info(projection);
  if (held && held.value().next >= oldest) return ok();
  if (!held && held.error().code == ErrorCode::kUnavailable) {
    // Of another build: what it holds is all there is, as the journal cannot be folded again.
    const auto migrated = Projections::migrate(projection, projection);
    if (migrated && migrated.value().next >= oldest) {
      log::info("projection.migrated",
                {log::kv("file", projection), log::kv("revision", migrated.value().revision.value)});
      return begin_tree_of(journal, places, projection);
    }
  }
  log::warn("projection.behind_the_journal",
            {log::kv("journal", journal.describe()), log::kv("oldest_offset", oldest.value),
             log::kv("reason",
                     held ? "it ends at offset " + std::to_string(held.value().next.value) : held.error().message)});
  SHIPLOG_TRY(install(journal, places, projection, oldest, head, true));
  return ok();
}

Snapshots::Snapshots(JournalStack& stack, Options options, Executor& executor)
    : stack_{stack}, options_{std::move(options)}, executor_{executor} {
  snapshot_meters(options_.places.journal);  // so that they are exported before there is one
}

Snapshots::~Snapshots() {
  *alive_ = false;
  if (thread_.joinable()) thread_.join();
}

void Snapshots::on_folded(const State&, const DecodedRecord&, const Folded&) {
  if (options_.every == 0 || ++entries_ < options_.every || under_way_) return;
  // After this batch is visible, so that it is in the snapshot.
  executor_.post([this, alive = alive_] {
    if (*alive) take();
  });
}

Result<VerifiedSnapshot> Snapshots::write() const {
  const std::string& folder = options_.places.folder;
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  remove_abandoned_drafts(folder);
  const std::string draft = snapshot_draft(folder, "draft");
  SHIPLOG_TRY(stack_.snapshot(draft));
  SHIPLOG_TRY(const SnapshotInfo info, Projections::verify_snapshot(draft));
  VerifiedSnapshot snapshot{folder + "/" + snapshot_file_name(info.revision), info};
  std::filesystem::rename(draft, snapshot.file, failed);
  if (failed) return Error{ErrorCode::kIo, "cannot rename " + draft + ": " + failed.message()};
  // A journal is trimmed behind it: after a power failure a draft would be all that is left of both.
  SHIPLOG_TRY(sync_folder(folder));
  return snapshot;
}

void Snapshots::take() {
  if (under_way_) return;
  entries_ = 0;
  under_way_ = true;
  if (thread_.joinable()) thread_.join();
  const bool publishes = options_.places.store != nullptr && options_.publishes && options_.publishes();
  thread_ = std::thread{[this, publishes, alive = alive_] {
    name_thread("snapshot");
    auto snapshot = write();
    if (snapshot && publishes) {
      const auto published = options_.places.store->publish(options_.places.journal, snapshot.value());
      if (!published) {
        log::warn("snapshot.store_failed",
                  {log::kv("journal", options_.places.journal), log::kv("reason", published.error().message)});
      }
    }
    executor_.post([this, alive, snapshot = std::move(snapshot)] {
      if (!*alive) return;
      under_way_ = false;
      const SnapshotMeters meters = snapshot_meters(options_.places.journal);
      (snapshot ? meters.verified : meters.failed).add();
      if (!snapshot) return log::warn("snapshot.failed", {log::kv("reason", snapshot.error().message)});
      meters.revision.set(static_cast<double>(snapshot.value().info.revision.value));
      taken(snapshot.value());
    });
  }};
}

void Snapshots::taken(const VerifiedSnapshot& snapshot) {
  const std::string name = std::filesystem::path{snapshot.file}.filename().string();
  log::info("snapshot.taken", {log::kv("file", name), log::kv("revision", snapshot.info.revision.value)});
  std::error_code none;
  const auto files = snapshots_in(options_.places.folder);
  for (size_t index = kKeep; index < files.size(); ++index) std::filesystem::remove(files[index], none);
  if (!options_.record) return;
  const auto hash = stack_.replica().state().hash_at(snapshot.info.revision);
  if (!hash) return;  // folded on too far meanwhile to compare
  append_without_lease(stack_.replica(), {.service = "control", .user_agent = ""},
                       {{SnapshotTaken{snapshot.info.revision, *hash, name}}, {}}, [](const Result<Outcome>&) {});
}

}  // namespace shiplog
