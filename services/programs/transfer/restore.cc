#include "services/programs/transfer/restore.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include <sys/stat.h>

#include "events/codec/codec.h"
#include "events/fold/fold.h"
#include "events/journal/embedded/sqlite_journal.h"
#include "services/http/private_file.h"
#include "services/programs/snapshot_files.h"
#include "services/programs/transfer/fleet_storage.h"
#include "services/programs/transfer/record_reader.h"

namespace shiplog {
namespace {

namespace fs = std::filesystem;

Error io_error(const std::string& doing, const std::error_code& why) {
  return {ErrorCode::kIo, "cannot " + doing + ": " + why.message()};
}

Result<void> refuse_unless_empty(const std::string& folder) {
  std::error_code none;
  if (!fs::exists(folder, none) || fs::is_empty(folder, none)) return ok();
  return Error{ErrorCode::kConflict, folder + " is not empty: restore into a new folder"};
}

void remove_companions_and_wal(const std::string& database) {
  std::error_code none;
  for (const char* companion : {"-head", "-shm", "-wal"}) fs::remove(database + companion, none);
}

/// The files of a backup in a folder of their own, verified, and cut off where that is asked for.
class Staging {
 public:
  Staging(const RestoreOptions& options, std::string folder) : options_{options}, folder_{std::move(folder)} {}

  const std::string& folder() const { return folder_; }
  const BackupManifest& manifest() const { return manifest_; }
  bool cut() const { return cut_; }
  const JournalDigest& record() const { return record_; }

  Result<void> prepare() {
    auto text = read_file(options_.from + "/manifest.json");
    if (!text && text.error().code == ErrorCode::kNotFound) {
      return Error{ErrorCode::kNotFound,
                   options_.from + " has no manifest.json: it is no backup, or one that was interrupted"};
    }
    SHIPLOG_TRY(const std::string json, std::move(text));
    auto parsed = parse_manifest(json);
    if (!parsed) return parsed.error().context(options_.from + "/manifest.json");
    manifest_ = std::move(parsed).value();
    SHIPLOG_TRY(copy_files());
    SHIPLOG_TRY(record_, settle_record());
    SHIPLOG_TRY(settle_ephemera());
    return ok();
  }

 private:
  std::string file(const std::string& name) const { return folder_ + "/" + name; }
  void say(const std::string& line) const {
    if (options_.say) options_.say(line);
  }

  Result<void> copy_files() {
    std::error_code failed;
    fs::remove_all(folder_, failed);  // what an interrupted one has left
    for (const auto& [name, expected] : manifest_.files) {
      const std::string target = file(name);
      fs::create_directories(fs::path{target}.parent_path(), failed);
      if (failed) return io_error("make the folder of " + target, failed);
      ::chmod(fs::path{target}.parent_path().c_str(), 0700);
      SHIPLOG_TRY(copy_private_file(options_.from + "/" + name, target));
      SHIPLOG_TRY(const FileChecksum found, checksum_of_file(target));
      if (found == expected) continue;
      return Error{ErrorCode::kCorrupt, options_.from + "/" + name + " is damaged: its SHA-256 is " + found.sha256 +
                                            ", the manifest has " + expected.sha256 + ": use another backup"};
    }
    say("verified the checksums of " + std::to_string(manifest_.files.size()) + " files");
    return ok();
  }

  /// The state to fold on from; empty: from nothing.
  Result<std::optional<State>> base_of(const JournalInBackup& journal) const {
    if (!journal.trimmed) return std::optional<State>{};
    SHIPLOG_TRY(State state, state_of_snapshot(file(journal.snapshot)));
    return std::optional{std::move(state)};
  }

  bool wants_cut() const { return options_.to_revision || options_.to_time; }

  Result<JournalDigest> settle_record() {
    const JournalInBackup& journal = manifest_.record;
    SHIPLOG_TRY(const auto base, base_of(journal));
    if (wants_cut()) {
      SHIPLOG_TRY(const Offset end, find_cut(journal, base ? &*base : nullptr));
      SHIPLOG_TRY(cut_off("journal", journal, end));
    }
    return check_fold("journal", journal, base ? &*base : nullptr);
  }

  /// Ephemera have revisions of their own: they end at the time at which the record does.
  Result<void> settle_ephemera() {
    const JournalInBackup& journal = manifest_.ephemera;
    SHIPLOG_TRY(const auto base, base_of(journal));
    if (cut_) {
      SHIPLOG_TRY(const Offset end, find_time(journal));
      SHIPLOG_TRY(cut_off("ephemera", journal, end));
    }
    SHIPLOG_TRY(check_fold("ephemera", journal, base ? &*base : nullptr));
    return ok();
  }

  /// Folds a journal, which what is left of a cut one has nothing to compare with.
  Result<JournalDigest> check_fold(const std::string& name, const JournalInBackup& journal, const State* base) {
    SHIPLOG_TRY(const JournalDigest digest, digest_file(name, base, journal));
    if (cut_ || to_string(digest.state) == journal.state_hash) {
      say(name + ": " + std::to_string(digest.entries) + " entries, revision " + std::to_string(digest.revision.value) +
          ", state hash " + to_string(digest.state) + (cut_ ? "" : ", as in the manifest"));
      return digest;
    }
    return Error{ErrorCode::kCorrupt, options_.from + "/" + name + ".db folds to the state hash " +
                                          to_string(digest.state) + ", the manifest has " + journal.state_hash +
                                          ": this program folds differently; use the version that made the backup"};
  }

  Result<JournalDigest> digest_file(const std::string& name, const State* base, const JournalInBackup& journal) {
    auto digest = [&]() -> Result<JournalDigest> {
      SHIPLOG_TRY(const auto opened, open_sqlite_journal(file(name + ".db"), {.create = false}));
      return digest_of(*opened, {.base = base, .base_next = journal.snapshot_next});
    }();
    remove_companions_and_wal(file(name + ".db"));
    return digest;
  }

  /// Where the record ends, as of the revision or time that is asked for.
  Result<Offset> find_cut(const JournalInBackup& journal, const State* base) {
    SHIPLOG_TRY(const auto opened, open_sqlite_journal(file("journal.db"), {.create = false}));
    SHIPLOG_TRY(auto reader, RecordReader::open(*opened));
    State state;
    if (base != nullptr) state = *base;
    const Revision first = state.revision();
    if (options_.to_revision && *options_.to_revision < first) return before_the_backup(first);
    Offset end = journal.first;
    UtcMillis began;
    while (!options_.to_revision || state.revision() < *options_.to_revision) {
      SHIPLOG_TRY(const auto record, reader.next());
      if (!record && options_.to_revision) {
        return Error{ErrorCode::kGone, "the backup ends at revision " + std::to_string(state.revision().value) +
                                           ": it does not have revision " +
                                           std::to_string(options_.to_revision->value)};
      }
      if (!record) break;
      SHIPLOG_TRY(const Entry entry, decode(record->bytes));
      if (end == journal.first) began = entry.time;
      if (options_.to_time && entry.time > *options_.to_time) break;
      end = Offset{record->offset.value + 1};
      if (base == nullptr || record->offset >= journal.snapshot_next) fold(state, entry);
    }
    if (base != nullptr && end < journal.snapshot_next) {
      if (!options_.to_revision || *options_.to_revision < first) return before_the_backup(first);
      end = journal.snapshot_next;
    }
    // A wrong year would make an empty fleet.
    if (base == nullptr && end == journal.first && end < journal.next) return older_than_all(began);
    cut_ = end < journal.next;
    cut_time_ = options_.to_time.value_or(state.time());
    return end;
  }

  static Error older_than_all(UtcMillis began) {
    return {ErrorCode::kGone, "nothing of the backup is as old as that" +
                                  (began == UtcMillis{} ? "" : ": it begins at " + rfc3339_millis(began))};
  }

  static Error before_the_backup(Revision first) {
    return {ErrorCode::kGone, "the backup begins at revision " + std::to_string(first.value) +
                                  ", as its journal is trimmed: it cannot be restored to an earlier one"};
  }

  /// Replaces a journal by its records before `end`.
  Result<void> cut_off(const std::string& name, const JournalInBackup& journal, Offset end) {
    const std::string whole = file(name + ".db");
    const std::string shorter = file(name + ".db.cut");
    {
      SHIPLOG_TRY(const auto from, open_sqlite_journal(whole, {.create = false}));
      SHIPLOG_TRY(const auto to, open_sqlite_journal(shorter, {.first_offset = journal.first}));
      SHIPLOG_TRY(copy_records(*from, *to, {.end = end, .from_snapshot = true}));
    }
    remove_companions_and_wal(whole);
    remove_companions_and_wal(shorter);
    std::error_code failed;
    fs::rename(shorter, whole, failed);
    if (failed) return io_error("rename " + shorter, failed);
    if (!journal.snapshot.empty() && journal.snapshot_next > end) fs::remove(file(journal.snapshot), failed);
    return ok();
  }

  /// Where the ephemera end, as of the moment at which the record is cut off.
  Result<Offset> find_time(const JournalInBackup& journal) {
    SHIPLOG_TRY(const auto opened, open_sqlite_journal(file("ephemera.db"), {.create = false}));
    SHIPLOG_TRY(auto reader, RecordReader::open(*opened));
    Offset end = journal.first;
    while (true) {
      SHIPLOG_TRY(const auto record, reader.next());
      if (!record) break;
      SHIPLOG_TRY(const Entry entry, decode(record->bytes));
      if (entry.time > cut_time_) break;
      end = Offset{record->offset.value + 1};
    }
    // Events and Leases between that moment and the snapshot stay then: no decision reads them.
    return journal.trimmed ? std::max(end, journal.snapshot_next) : end;
  }

  const RestoreOptions& options_;
  const std::string folder_;
  BackupManifest manifest_;
  JournalDigest record_;
  bool cut_ = false;
  UtcMillis cut_time_;
};

Result<void> to_kafka(const RestoreOptions& options, const Staging& staging) {
  for (const JournalInBackup* journal : {&staging.manifest().record, &staging.manifest().ephemera}) {
    if (!journal->trimmed) continue;
    return Error{ErrorCode::kInvalid,
                 "the backup is of a trimmed journal, whose snapshot names offsets that a new topic does not have: "
                 "restore it with --to-data-dir"};
  }
  SHIPLOG_TRY(FleetStorage from,
              open_fleet_storage({.journal = {.journal = "sqlite:" + staging.folder() + "/journal.db", .create = false},
                                  .keys_dir = ""}));
  SHIPLOG_TRY(FleetStorage to, open_fleet_storage({.journal = options.to_journal, .keys_dir = options.to_keys_dir}));
  for (const auto& [source, target] : {std::pair{from.record, to.record}, std::pair{from.ephemera, to.ephemera}}) {
    SHIPLOG_TRY(copy_records(*source, *target, {}));
    SHIPLOG_TRY(verify_copy(*source, *target, {}));
  }
  if (from.keys) {
    SHIPLOG_TRY(copy_keys(*from.keys, *to.keys));
  }
  SHIPLOG_TRY(copy_key_files(staging.folder(), options.to_keys_dir));
  return ok();
}

}  // namespace

Result<RestoredFleet> restore_fleet(const RestoreOptions& options) {
  const std::string& target = options.to_data_dir.empty() ? options.to_keys_dir : options.to_data_dir;
  // On Kafka an interrupted one is continued, which may have copied the key files already.
  if (!options.to_data_dir.empty()) {
    SHIPLOG_TRY(refuse_unless_empty(target));
  }
  Staging staging{options, target + ".restoring"};
  std::error_code failed;
  if (const auto prepared = staging.prepare(); !prepared) {
    fs::remove_all(staging.folder(), failed);  // it has a copy of fleet.key
    return prepared.error();
  }
  RestoredFleet restored{staging.record(), staging.cut(), false};
  if (options.to_data_dir.empty()) {
    SHIPLOG_TRY(to_kafka(options, staging));
    fs::remove_all(staging.folder(), failed);
    return restored;
  }
  restored.snapshot = !snapshots_in(staging.folder() + "/" + std::string{"snapshots"}).empty();
  fs::rename(staging.folder(), target, failed);
  if (failed) return io_error("rename " + staging.folder() + " to " + target, failed);
  return restored;
}

}  // namespace shiplog
