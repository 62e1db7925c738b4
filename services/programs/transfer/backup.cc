#include "services/programs/transfer/backup.h"

#include <filesystem>
#include <optional>
#include <utility>

#include <sys/stat.h>

#include "events/journal/embedded/sqlite_journal.h"
#include "services/http/private_file.h"
#include "services/programs/snapshot_files.h"
#include "services/programs/transfer/journal_copy.h"
#include "services/programs/transfer/record_reader.h"

namespace shiplog {
namespace {

namespace fs = std::filesystem;

Result<void> make_empty_folder(const std::string& path) {
  std::error_code failed;
  if (fs::exists(path, failed) && !fs::is_empty(path, failed)) {
    return Error{ErrorCode::kConflict, path + " is not empty: name a new folder for the backup"};
  }
  fs::create_directories(path, failed);
  if (failed) return Error{ErrorCode::kIo, "cannot make the folder " + path + ": " + failed.message()};
  ::chmod(path.c_str(), 0700);
  return ok();
}

/// The files that SQLite and the journal leave beside a closed database belong to it no longer.
void remove_companions(const std::string& database) {
  std::error_code none;
  for (const char* companion : {"-head", "-shm"}) fs::remove(database + companion, none);
}

/// One journal with its snapshot.
class JournalBackup {
 public:
  /// `name`: of its file and, in messages, of itself. `data`: the folder that the folder `snapshots` is in; empty: not
  /// known.
  JournalBackup(std::string name, std::string data, std::string snapshots, const BackupOptions& options)
      : name_{std::move(name)}, data_{std::move(data)}, snapshots_{std::move(snapshots)}, options_{options} {}

  /// Copies what is before `end`.
  Result<JournalInBackup> run(Journal& source, Offset end) {
    SHIPLOG_TRY(found_.first, first_offset(source));
    SHIPLOG_TRY(found_.trimmed, is_trimmed(source));
    found_.next = end;
    SHIPLOG_TRY(copy(source));
    SHIPLOG_TRY(take_snapshot());
    SHIPLOG_TRY(fold());
    remove_companions(file());
    return found_;
  }

 private:
  std::string file() const { return options_.to + "/" + name_ + ".db"; }
  void say(const std::string& line) const {
    if (options_.say) options_.say(name_ + ": " + line);
  }

  static Result<Offset> first_offset(Journal& source) {
    SHIPLOG_TRY(auto reader, RecordReader::open(source));
    SHIPLOG_TRY(const auto first, reader.next());
    return first ? first->offset : reader.end();
  }

  Result<void> copy(Journal& source) {
    SHIPLOG_TRY(const auto target, open_sqlite_journal(file(), {.first_offset = found_.first}));
    auto copied = copy_records(source, *target, {.end = found_.next, .from_snapshot = true});
    if (!copied && copied.error().code == ErrorCode::kGone) {
      return copied.error().context("the journal was trimmed during the backup; run it again");
    }
    SHIPLOG_TRY(const CopyProgress progress, std::move(copied));
    found_.same_offsets = progress.same_offsets;
    say(std::to_string(progress.entries) + " entries, " + std::to_string(progress.bytes) + " bytes");
    return ok();
  }

  /// The offsets in a snapshot are those of the journal: without them it is of no use.
  Result<void> take_snapshot() {
    const std::string folder = data_ + "/" + snapshots_;
    std::optional<VerifiedSnapshot> snapshot;
    if (found_.same_offsets && !data_.empty()) {
      snapshot = newest_intact_snapshot(folder, found_.first, found_.next);
    }
    if (!snapshot && found_.trimmed) {
      return Error{ErrorCode::kNotFound, "the journal begins at offset " + std::to_string(found_.first.value) +
                                             ", and what was before is in snapshots only, of which " +
                                             (data_.empty() ? "none is known: name the --data-dir of a process"
                                                            : folder + " has none that is intact and fits")};
    }
    if (!snapshot) return ok();
    std::error_code failed;
    fs::create_directories(options_.to + "/" + snapshots_, failed);
    ::chmod((options_.to + "/" + snapshots_).c_str(), 0700);
    found_.snapshot = snapshots_ + "/" + fs::path{snapshot->file}.filename().string();
    found_.snapshot_next = snapshot->info.next;
    SHIPLOG_TRY(copy_private_file(snapshot->file, options_.to + "/" + found_.snapshot));
    say("snapshot of revision " + std::to_string(snapshot->info.revision.value) + ", state hash " +
        to_string(snapshot->info.hash));
    return ok();
  }

  /// Folds the copy, which verifies it too.
  Result<void> fold() {
    SHIPLOG_TRY(const auto journal, open_sqlite_journal(file(), {.create = false}));
    State base;
    if (found_.trimmed) {
      SHIPLOG_TRY(base, state_of_snapshot(options_.to + "/" + found_.snapshot));
    }
    SHIPLOG_TRY(const JournalDigest digest,
                digest_of(*journal, {.base = found_.trimmed ? &base : nullptr, .base_next = found_.snapshot_next}));
    found_.entries = digest.entries;
    found_.revision = digest.revision;
    found_.state_hash = to_string(digest.state);
    found_.last_entry = digest.entries == 0 ? "" : to_string(digest.last_id);
    found_.last_time = digest.last_time;
    say("revision " + std::to_string(found_.revision.value) + ", state hash " + found_.state_hash);
    return ok();
  }

  const std::string name_, data_, snapshots_;
  const BackupOptions& options_;
  JournalInBackup found_;
};

Result<uint64_t> back_up_keys(FleetStorage& storage, const std::string& to) {
  if (!storage.keys) return uint64_t{0};
  uint64_t copied = 0;
  {
    SHIPLOG_TRY(const auto keys, open_sqlite_key_store(to + "/keys.db"));
    SHIPLOG_TRY(copied, copy_keys(*storage.keys, *keys));
  }
  remove_companions(to + "/keys.db");
  return copied;
}

Result<std::map<std::string, FileChecksum>> checksums_in(const std::string& folder) {
  std::map<std::string, FileChecksum> files;
  std::error_code failed;
  for (const auto& file : fs::recursive_directory_iterator(folder, failed)) {
    if (!file.is_regular_file()) continue;
    const std::string name = fs::relative(file.path(), folder).string();
    SHIPLOG_TRY(files[name], checksum_of_file(file.path().string()));
  }
  if (failed) return Error{ErrorCode::kIo, "cannot read the folder " + folder + ": " + failed.message()};
  return files;
}

}  // namespace

Result<BackupManifest> back_up(const BackupOptions& options) {
  SHIPLOG_TRY(const JournalAddress address, parse_journal(options.place.journal.journal));
  SHIPLOG_TRY(FleetStorage storage, open_fleet_storage(options.place));
  SHIPLOG_TRY(make_empty_folder(options.to));
  // Processes that share a journal file keep their snapshots beside it.
  std::string snapshots = address.on_kafka() ? options.data_dir : fs::path{address.sqlite_file}.parent_path().string();
  if (!address.on_kafka() && snapshots.empty()) snapshots = ".";
  SHIPLOG_TRY(const Offset end, storage.record->head());
  SHIPLOG_TRY(const Offset ephemera_end, storage.ephemera->head());
  BackupManifest manifest;
  manifest.source = storage.record->describe();
  manifest.time = options.time;
  // At once: a key is stored before what it seals, so that only those of Secrets that are deleted in this moment are
  // missing.
  SHIPLOG_TRY(manifest.keys, back_up_keys(storage, options.to));
  SHIPLOG_TRY(manifest.record,
              JournalBackup("journal", snapshots, kRecordSnapshots, options).run(*storage.record, end));
  SHIPLOG_TRY(manifest.ephemera,
              JournalBackup("ephemera", snapshots, kEphemeraSnapshots, options).run(*storage.ephemera, ephemera_end));
  if (!storage.keys_dir.empty()) {
    SHIPLOG_TRY(copy_key_files(storage.keys_dir, options.to));
  }
  SHIPLOG_TRY(manifest.files, checksums_in(options.to));
  SHIPLOG_TRY(write_private_file(options.to + "/manifest.json", to_json(manifest)));
  return manifest;
}

}  // namespace shiplog
