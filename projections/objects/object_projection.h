#pragma once

#include "events/base/result.h"
#include "projections/store/checkpoint.h"
#include "projections/store/connection.h"
#include "projections/store/folded_entry.h"

namespace shiplog {

/// Writes the current objects.
class ObjectProjection {
 public:
  static Result<ObjectProjection> create(store::Connection& connection, store::TypeIds& types);
  Result<void> apply(const FoldedEntry& folded);

 private:
  ObjectProjection(store::TypeIds& types, store::Statement put, store::Statement remove)
      : types_{types}, put_{std::move(put)}, remove_{std::move(remove)} {}

  store::TypeIds& types_;
  store::Statement put_, remove_;
};

}  // namespace shiplog
