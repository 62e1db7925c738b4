#include <ostream>

#include "events/base/system.h"
#include "services/programs/shiplogctl/commands.h"
#include "services/programs/transfer/backup.h"
#include "services/programs/transfer/restore.h"

namespace shiplog::ctl {

Result<void> backup_fleet(const BackupCommandOptions& options, std::ostream& out) {
  BackupOptions backup;
  backup.place.journal.journal =
      options.journal.empty() ? "sqlite:" + options.data_dir + "/journal.db" : options.journal;
  backup.place.journal.kafka = options.kafka;
  backup.place.journal.create = false;
  backup.place.keys_dir = options.keys_dir;
  backup.data_dir = options.data_dir;
  backup.to = options.to;
  backup.time = SystemClock{}.now();
  backup.say = [&](const std::string& line) { out << line << std::endl; };
  SHIPLOG_TRY(const BackupManifest manifest, back_up(backup));
  out << "keys: " << manifest.keys << ", wrapped as they were\n";
  if (manifest.files.contains("fleet.key")) {
    out << "ATTENTION: the backup contains fleet.key. Whoever reads it can read every Secret and the credentials of "
           "every member. Its files have mode 0600: keep it so.\n";
  } else {
    out << "ATTENTION: fleet.key and pki are not in the backup, as their folder is not known (--keys-dir). Without "
           "fleet.key no Secret can be read: back it up.\n";
  }
  out << options.to << ": " << manifest.files.size() << " files, revision " << manifest.record.revision.value
      << std::endl;
  return ok();
}

Result<void> restore_backup(const RestoreCommandOptions& options, std::ostream& out) {
  RestoreOptions restore;
  restore.from = options.from;
  restore.to_data_dir = options.to_data_dir;
  while (restore.to_data_dir.ends_with('/')) restore.to_data_dir.pop_back();
  restore.to_keys_dir = options.to_keys_dir;
  while (restore.to_keys_dir.ends_with('/')) restore.to_keys_dir.pop_back();
  if (!options.to_journal.empty()) {
    SHIPLOG_TRY(const JournalAddress address, parse_journal(options.to_journal));
    if (!address.on_kafka()) {
      return Error{ErrorCode::kInvalid, "--to-journal takes a fleet on Kafka; files are restored with --to-data-dir"};
    }
    restore.to_journal = {
        .journal = options.to_journal, .kafka = options.kafka, .kafka_replicas = options.kafka_replicas};
  }
  if (options.to_revision >= 0) restore.to_revision = Revision{static_cast<uint64_t>(options.to_revision)};
  if (!options.to_time.empty()) {
    SHIPLOG_TRY(restore.to_time, parse_rfc3339(options.to_time));
  }
  restore.say = [&](const std::string& line) { out << line << std::endl; };
  SHIPLOG_TRY(const RestoredFleet restored, restore_fleet(restore));
  out << "restored revision " << restored.record.revision.value << " of " << rfc3339_millis(restored.record.last_time)
      << ", state hash " << to_string(restored.record.state) << "\n";
  if (restored.cut) {
    out << "Later changes are left out. What they created in members runs on until it is applied or deleted there; "
           "Secrets that were deleted between this moment and the backup cannot be read.\n";
  }
  out << std::flush;
  return ok();
}

}  // namespace shiplog::ctl
