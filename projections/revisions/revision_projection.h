#pragma once

#include <string>
#include <utility>
#include <vector>

#include "events/base/result.h"
#include "events/sqlite/connection.h"
#include "projections/store/checked_insert.h"
#include "projections/store/folded_entry.h"

namespace shiplog {

/// Writes the pod templates of workloads with a rollout history.
class RevisionProjection {
 public:
  static Result<RevisionProjection> create(sqlite::Connection& connection);
  Result<void> apply(const FoldedEntry& folded);
  /// Writes the rows of a workload, of which there are none, from its changes, oldest first. `object`: object.id.
  Result<void> repeat(int64_t object, const std::vector<std::pair<Change, UtcMillis>>& changes);

 private:
  RevisionProjection(sqlite::Connection& connection, sqlite::Statement rows, store::CheckedInsert insert)
      : connection_{connection}, rows_{std::move(rows)}, insert_{std::move(insert)} {}
  Result<void> follow(int64_t object, const Change& change, UtcMillis time);
  /// How many rows the workload has now.
  Result<int64_t> number(int64_t object, const Change& change, UtcMillis time);
  Result<void> trim(int64_t object, const Change& change);

  sqlite::Connection& connection_;
  sqlite::Statement rows_;
  store::CheckedInsert insert_;
};

}  // namespace shiplog
