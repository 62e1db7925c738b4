#pragma once

#include <cstdint>

#include "events/base/ids.h"
#include "events/base/result.h"
#include "events/sqlite/connection.h"
#include "projections/history/stored_version.h"
#include "projections/history/version_packer.h"
#include "projections/holds/holds.h"
#include "projections/store/checked_insert.h"
#include "projections/store/checkpoint.h"
#include "projections/store/folded_entry.h"

namespace shiplog {

/// The row of a change: of the folded entry, whose subjects must be set, the one with this index.
StoredVersion version_of(const FoldedEntry& folded, size_t index, int64_t type, int64_t object);
/// Writes a row in the place of the one with its revision. False: that is not there.
Result<bool> replace_version(sqlite::Connection& connection, const StoredVersion& version);

/// Writes every version of every object.
class HistoryProjection {
 public:
  static Result<HistoryProjection> create(sqlite::Connection& connection, store::TypeIds& types);
  Result<void> apply(const FoldedEntry& folded);
  /// After versions were deleted, or a transaction was rolled back.
  void forget() { packer_.forget(); }

 private:
  HistoryProjection(store::TypeIds& types, store::CheckedInsert insert, VersionPacker packer)
      : types_{types}, insert_{std::move(insert)}, packer_{std::move(packer)} {}

  store::TypeIds& types_;
  store::CheckedInsert insert_;
  VersionPacker packer_;
};

/// What one step of trimming has done.
struct TrimStep {
  uint64_t deleted = 0;
  bool more = false;  ///< call again
};

/// Deletes versions that no revision from `oldest` on needs, in one short transaction: those of some thousand revisions
/// at most. Interrupted between two steps, it is as if a smaller `oldest` had been asked for.
/// Versions that a hold covers stay.
Result<TrimStep> trim_versions(sqlite::Connection& connection, Revision oldest, const Holds& holds, HeldByName& held);
/// The same for revisions that were looked at before, after a hold was made or deleted: of those from `from` on, which
/// moves on and begins at 0.
Result<TrimStep> trim_versions_again(sqlite::Connection& connection, Revision& from, const Holds& holds,
                                     HeldByName& held);

}  // namespace shiplog
