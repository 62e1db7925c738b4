#pragma once

#include "events/base/result.h"
#include "events/sqlite/connection.h"
#include "projections/store/checkpoint.h"
#include "projections/store/folded_entry.h"

namespace shiplog {

/// Writes every version of every object.
class HistoryProjection {
 public:
  static Result<HistoryProjection> create(sqlite::Connection& connection, store::TypeIds& types);
  Result<void> apply(const FoldedEntry& folded);

 private:
  HistoryProjection(store::TypeIds& types, sqlite::Statement insert) : types_{types}, insert_{std::move(insert)} {}

  store::TypeIds& types_;
  sqlite::Statement insert_;
};

/// Deletes versions that no revision from `oldest` on needs, and returns their number. Must not be called in a
/// transaction: it uses several, so that the writer's lock is never held for long.
Result<uint64_t> trim_versions(sqlite::Connection& connection, Revision oldest);

}  // namespace shiplog
