#pragma once

#include "events/base/result.h"
#include "events/sqlite/connection.h"
#include "projections/store/checked_insert.h"
#include "projections/store/checkpoint.h"
#include "projections/store/folded_entry.h"

namespace shiplog {

/// Writes the existing objects.
class ObjectProjection {
 public:
  static Result<ObjectProjection> create(sqlite::Connection& connection, store::TypeIds& types);
  /// Fills in folded.object_ids.
  Result<void> apply(FoldedEntry& folded);

 private:
  ObjectProjection(sqlite::Connection& connection, store::TypeIds& types, store::CheckedInsert insert,
                   sqlite::Statement set_live, sqlite::Statement find)
      : connection_{connection},
        types_{types},
        insert_{std::move(insert)},
        set_live_{std::move(set_live)},
        find_{std::move(find)} {}
  Result<int64_t> id_of(const Change& change);

  sqlite::Connection& connection_;
  store::TypeIds& types_;
  store::CheckedInsert insert_;
  sqlite::Statement set_live_, find_;
};

}  // namespace shiplog
