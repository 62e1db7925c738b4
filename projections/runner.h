#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "events/base/ids.h"
#include "events/base/result.h"
#include "events/base/value.h"
#include "events/state/state.h"
#include "projections/store/folded_entry.h"
#include "projections/store/reader.h"

namespace shiplog {

/// The content of a projection file when it was opened: the input of State::restore, and where to continue reading.
struct Restored {
  Offset next;  ///< the first journal offset to fold; 0 with an empty state: all entries
  StateMeta meta;
  std::vector<std::pair<ObjectKey, Object>> objects;  ///< in no particular order
  std::vector<EntryId> seen;                          ///< oldest first, at most State::kSeenWindow
  std::optional<std::pair<Offset, EntryId>> last;     ///< the newest applied entry; nullopt: none yet
  /// The reason why an existing file was dropped and must be rebuilt from the journal; empty: it was not.
  std::string rebuilt;
};

/// The range of entries that a snapshot file covers.
struct SnapshotInfo {
  Offset next;  ///< the first journal offset after the snapshot
  Revision revision;
};

/// The single writer of a projection file: current objects, every version, audit trail and decisions. The file is
/// derived: deleting it loses nothing, and a file that is damaged or was created by another schema or fold version is
/// dropped when it is opened, and rebuilt by folding the journal from the start.
/// Threads: one, except for snapshot().
class Projections {
 public:
  struct Opened;
  /// Opens or creates the file. Must be called before any Reader opens it. Errors: kIo (permission, disk).
  static Result<Opened> open(const std::string& path);

  Projections(const Projections&) = delete;
  Projections& operator=(const Projections&) = delete;
  ~Projections();

  /// Applies entries, oldest first, and the state after the last one, atomically in one transaction. Refused entries
  /// and duplicates must be included; no entry may be omitted. Readers see the result when this returns. Errors:
  /// nothing was applied. kConflict, another process writes this file; kIo, e.g. the disk is full: may be retried;
  /// kCorrupt: call reset() and fold the journal from the start.
  Result<void> apply(std::span<const FoldedEntry> batch, const StateMeta& after);

  /// Deletes all content, as if the file were new: for when State::restore finds that the state hash does not match.
  /// No Reader may be open.
  Result<void> reset();

  /// The first journal offset that has not been applied.
  Offset next() const;
  const std::string& path() const;

  /// Writes a consistent copy to `target` (a temporary file that is synced and then renamed, so that it appears
  /// complete or not at all). Threads: any, also while apply() runs; the copy contains whole batches.
  Result<SnapshotInfo> snapshot(const std::string& target) const;

  /// Replaces the projection file `path`, which must not be open, by a snapshot; open() continues from there. Errors:
  /// kNotFound; kCorrupt, the snapshot is damaged; kUnavailable, it was created by another schema or fold version.
  /// After an error the file at `path` is unchanged.
  static Result<SnapshotInfo> restore_snapshot(const std::string& snapshot, const std::string& path);

  /// Deletes versions that no revision from `oldest` on needs: lists at `oldest` or later, and watches from there, are
  /// not affected. Returns the number of deleted versions. The audit trail and decisions are kept completely.
  Result<uint64_t> trim_history(Revision oldest);

  /// A connection for one reading thread.
  Result<Reader> reader() const { return Reader::open(path()); }

 private:
  struct Impl;
  explicit Projections(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

struct Projections::Opened {
  std::unique_ptr<Projections> projections;
  Restored restored;
};

}  // namespace shiplog
