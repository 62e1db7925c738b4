#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "events/base/hash.h"
#include "events/base/ids.h"
#include "events/base/result.h"
#include "events/base/time.h"
#include "services/programs/file_checksum.h"

namespace shiplog {

/// What a backup has of one journal: the records [first, next).
struct JournalInBackup {
  Offset first, next;
  uint64_t entries = 0;
  Revision revision;  ///< of the state that they fold to, as its hash
  std::string state_hash, last_entry;
  UtcMillis last_time;
  bool trimmed = false;      ///< it does not begin with the fleet's first entry: restoring needs the snapshot
  bool same_offsets = true;  ///< records stand where they stood in the source
  std::string snapshot;      ///< its file in the backup; empty: none
  Offset snapshot_next;      ///< the first offset that it does not cover
};

/// manifest.json of a backup, written last: a folder without it is no backup.
struct BackupManifest {
  std::string source;  ///< "sqlite:/var/lib/shiplog/journal.db"
  UtcMillis time;
  JournalInBackup record, ephemera;
  uint64_t keys = 0;
  std::map<std::string, FileChecksum> files;  ///< all others, by their names below the folder
};

std::string to_json(const BackupManifest& manifest);
/// Errors: kInvalid, of a newer format; kCorrupt.
Result<BackupManifest> parse_manifest(std::string_view json);

}  // namespace shiplog
