#pragma once

#include "events/base/result.h"
#include "events/sqlite/connection.h"
#include "projections/store/checkpoint.h"
#include "projections/store/folded_entry.h"

namespace shiplog {

/// Writes the decisions of roles, with their explanations.
class DecisionProjection {
 public:
  static Result<DecisionProjection> create(sqlite::Connection& connection, store::TypeIds& types);
  Result<void> apply(const FoldedEntry& folded);

 private:
  DecisionProjection(store::TypeIds& types, sqlite::Statement insert) : types_{types}, insert_{std::move(insert)} {}

  store::TypeIds& types_;
  sqlite::Statement insert_;
};

/// Deletes decisions of entries before an offset, in one short transaction. True: more remain, call again.
Result<bool> trim_decisions(sqlite::Connection& connection, Offset before, uint64_t& deleted);

}  // namespace shiplog
