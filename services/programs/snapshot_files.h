#pragma once

#include <optional>
#include <string>
#include <vector>

#include "projections/runner.h"

namespace shiplog {

/// The name of the file of a snapshot: "revision-00000000000000000042.db".
std::string snapshot_file_name(Revision revision);

/// Where this process writes a snapshot until it is whole: FOLDER/KIND-PID.db. Processes may share the folder.
std::string snapshot_draft(const std::string& folder, const std::string& kind);
/// Deletes drafts of processes that have ended, once they have not been written to for a minute: a process in another
/// container, with other process ids, may be writing.
void remove_abandoned_drafts(const std::string& folder);

/// The snapshots in a folder, newest first, as paths.
std::vector<std::string> snapshots_in(const std::string& folder);

struct VerifiedSnapshot {
  std::string file;
  SnapshotInfo info;
};

/// The newest snapshot in a folder that covers everything before `from`, and nothing at or after `to`, and that is
/// intact (Projections::verify_snapshot); nullopt: none.
std::optional<VerifiedSnapshot> newest_intact_snapshot(const std::string& folder, Offset from, Offset to);

/// The state that a snapshot holds. Errors: those of Projections::verify_snapshot.
Result<State> state_of_snapshot(const std::string& file);

}  // namespace shiplog
