#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "events/base/time.h"
#include "services/programs/journals.h"
#include "services/programs/transfer/journal_copy.h"
#include "services/programs/transfer/manifest.h"

namespace shiplog {

struct RestoreOptions {
  std::string from;  ///< folder of a backup
  /// A new or empty folder, which becomes the data folder of a fleet on files; or empty, with `to_journal`.
  std::string to_data_dir;
  JournalOptions to_journal;            ///< on Kafka; topics that do not exist or are empty
  std::string to_keys_dir;              ///< a new or empty folder for fleet.key and pki, with `to_journal`
  std::optional<Revision> to_revision;  ///< what came after is left out
  std::optional<UtcMillis> to_time;
  std::function<void(const std::string& line)> say = {};
};

struct RestoredFleet {
  JournalDigest record;
  bool cut = false;       ///< entries were left out, as they came after what was asked for
  bool snapshot = false;  ///< its processes start from one
};

/// Verifies every checksum and the state hash of a backup, and makes a fleet of it. The target appears when it is
/// complete; on Kafka an interrupted one is continued.
/// Errors: kCorrupt, the backup is damaged, naming the file; kConflict, the target is not empty; kGone, the backup does
/// not cover the revision or time; kNotFound, no backup; kInvalid.
Result<RestoredFleet> restore_fleet(const RestoreOptions& options);

}  // namespace shiplog
