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

/// What a projection file held when it was opened: what State::restore wants, and where to read on.
struct Restored {
  Offset next;  ///< the first journal offset to fold; 0 with an empty state: everything
  StateMeta meta;
  std::vector<std::pair<ObjectKey, Object>> objects;  ///< in no particular order
  std::vector<EntryId> seen;                          ///< oldest first, at most State::kSeenWindow
  std::optional<std::pair<Offset, EntryId>> last;     ///< the newest entry taken in; nullopt: none yet
  /// Why an existing file was dropped and is to be rebuilt from the journal, in a sentence; empty: it was not.
  std::string rebuilt;
};

/// A snapshot file: what it covers.
struct SnapshotInfo {
  Offset next;  ///< the first journal offset that is not in it
  Revision revision;
};

/// The one writer of a projection file: current objects, every version, audit trail and decisions. The file is derived:
/// deleting it loses nothing, and a file that is damaged or was made by another schema or fold version is dropped
/// at open and rebuilt by folding the journal from the start.
/// Threads: one, but for snapshot().
class Projections {
 public:
  struct Opened;
  /// Opens or makes the file. To be done before any Reader opens it. Errors: kIo (permission, disk).
  static Result<Opened> open(const std::string& path);

  Projections(const Projections&) = delete;
  Projections& operator=(const Projections&) = delete;
  ~Projections();

  /// Takes entries in, oldest first, and with them the state after the last one: all or nothing, in one transaction.
  /// Refused entries and twins belong in it too; nothing may be left out. Readers see it when this returns.
  /// Errors: nothing was taken in. kConflict, another process writes this file; kIo, e.g. the disk is full: may be
  /// tried again; kCorrupt: call reset() and fold the journal from the start.
  Result<void> apply(std::span<const FoldedEntry> batch, const StateMeta& after);

  /// Forgets everything, as if the file were new: for when State::restore finds that the objects do not add up.
  /// No Reader may be open.
  Result<void> reset();

  /// The first journal offset that has not been applied.
  Offset next() const;
  const std::string& path() const;

  /// Writes a consistent copy to `target` (written beside it, synced, then renamed, so that it is there whole or not at
  /// all). Threads: any, also while apply() runs; the copy has whole batches.
  Result<SnapshotInfo> snapshot(const std::string& target) const;

  /// Puts a snapshot in the place of the projection file `path`, which must not be open; open() goes on from there.
  /// Errors: kNotFound; kCorrupt, the snapshot is damaged; kUnavailable, it was made by another schema or fold version.
  /// After an error the file at `path` is as it was.
  static Result<SnapshotInfo> restore_snapshot(const std::string& snapshot, const std::string& path);

  /// Forgets versions that no revision from `oldest` on needs: what a list at `oldest` or later, or a watch from
  /// there, sees stays. Returns how many went. The audit trail and decisions stay whole.
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
