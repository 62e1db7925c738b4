#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "events/base/hash.h"
#include "events/base/ids.h"
#include "events/base/result.h"
#include "events/base/value.h"
#include "events/sqlite/free_space.h"
#include "events/state/state.h"
#include "projections/audit/family_cut.h"
#include "projections/holds/holds.h"
#include "projections/store/folded_entry.h"
#include "projections/store/reader.h"

namespace shiplog {

/// The content of a projection file when it was opened: the input of State::restore, and where to continue reading.
struct Restored {
  Offset next;  ///< the first journal offset to fold; 0 with an empty state: all entries
  StateMeta meta;
  std::vector<std::pair<ObjectKey, Object>> objects;  ///< in no particular order
  std::vector<EntryId> seen;                          ///< oldest first, at most State::kSeenWindow
  std::vector<EntryId> requests;                      ///< oldest first, at most State::kRequestWindow
  std::optional<std::pair<Offset, EntryId>> last;     ///< the newest applied entry; nullopt: none yet
  /// The reason why an existing file was dropped and must be rebuilt from the journal; empty: it was not.
  std::string rebuilt;
};

/// The range of entries that a snapshot file covers.
struct SnapshotInfo {
  Offset next;  ///< the first journal offset after the snapshot
  Revision revision;
  Hash128 hash = {};  ///< of the state, as StateHashed records it
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

  /// What a snapshot, or a projection that no process has open, claims to hold; nothing is verified. Errors: kNotFound;
  /// kCorrupt; kUnavailable, it was created by another schema or fold version.
  static Result<SnapshotInfo> snapshot_info(const std::string& file);
  /// The newest entry that a file of this build has applied; nullopt: none. Errors: those of snapshot_info().
  static Result<std::optional<std::pair<Offset, EntryId>>> last_entry(const std::string& file);
  /// Makes a projection file of this build of a snapshot, or a projection that no process has open, of another build:
  /// for a journal that is trimmed, so that it cannot be folded again. The objects must hash to what was recorded.
  /// Errors: kCorrupt, they do not, or the file has too little in common with one of this build; kIo.
  static Result<SnapshotInfo> migrate(const std::string& file, const std::string& path);
  /// Verifies a snapshot: reads every page, and computes the state hash of its objects again. Threads: any.
  /// Errors: kNotFound; kCorrupt, the snapshot is damaged; kUnavailable, it was created by another schema or fold
  /// version.
  static Result<SnapshotInfo> verify_snapshot(const std::string& snapshot);
  /// What a snapshot contains, to fold on from. Errors: those of verify_snapshot(), except that State::restore compares
  /// the hash.
  static Result<Restored> read_snapshot(const std::string& snapshot);

  /// What is no longer needed, by its age.
  struct Expired {
    Revision history;            ///< versions that no revision from this one on needs
    FamilyCut audit, decisions;  ///< the entries before
  };
  struct Trimmed {
    uint64_t versions = 0, entries = 0, decisions = 0;  ///< deleted rows
    bool more = false;                                  ///< call again
    HeldByName held;  ///< without `more`: what each LegalHold has kept that would have been deleted
  };
  /// Deletes some thousand rows that are no longer needed, in short transactions. Lists as of Expired::history or
  /// later, and watches from there, are not affected. The entries that the versions refer to stay, and as many of the
  /// newest as State remembers the ids of, and what a LegalHold covers that was applied before. Threads: that of
  /// apply().
  Result<Trimmed> trim_some(const Expired& expired);
  /// Versions alone, and all of them. Returns the number of deleted versions.
  Result<uint64_t> trim_history(Revision oldest);
  /// What is older than these times; 0: keeps all. Threads: any.
  struct Cutoffs {
    UtcMillis history, audit, decisions;
    /// Of entries, and decisions, with events of these families, in place of `audit` and `decisions`.
    std::vector<std::pair<Family, UtcMillis>> families = {};
  };
  Result<Expired> expired(const Cutoffs& cutoffs) const;

  /// How much of the file is in use. Threads: any.
  Result<sqlite::FileSpace> space() const;
  /// Gives free pages back to the file system for some milliseconds, until `keep` are free, in one transaction. Readers
  /// do not notice. Returns what is left. Threads: that of apply(). Errors: as those of apply(); nothing has changed.
  Result<sqlite::FileSpace> release_some(int64_t keep);
  /// Has the file on the disk become as small as its content. Threads: any.
  Result<void> shrink_file() const;

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
