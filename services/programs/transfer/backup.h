#pragma once

#include <functional>
#include <string>

#include "events/base/time.h"
#include "services/programs/transfer/fleet_storage.h"
#include "services/programs/transfer/manifest.h"

namespace shiplog {

struct BackupOptions {
  FleetPlace place;
  std::string data_dir;  ///< on Kafka: of a process, for its snapshots; empty: none
  std::string to;        ///< folder, which must not exist or be empty
  UtcMillis time;
  std::function<void(const std::string& line)> say = {};
};

/// Backs up a fleet, whether or not its processes run. What is in it belongs together: the journals up to their ends at
/// one moment, and the keys as they were just after it. A key that was destroyed by then, as its Secret was deleted, is
/// not in the backup; nor can the Secret be read at an earlier revision.
/// Errors: kConflict, the target is not empty; those of the storage. What is left of a failed one has no manifest.
Result<BackupManifest> back_up(const BackupOptions& options);

/// The folders below a data folder that snapshots of the journals are in.
inline constexpr const char* kRecordSnapshots = "snapshots";
inline constexpr const char* kEphemeraSnapshots = "ephemera-snapshots";

}  // namespace shiplog
