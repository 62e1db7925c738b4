#pragma once

#include "events/base/result.h"
#include "projections/store/checkpoint.h"
#include "projections/store/connection.h"
#include "projections/store/folded_entry.h"

namespace shiplog {

/// Writes which objects there are.
class ObjectProjection {
 public:
  static Result<ObjectProjection> create(store::Connection& connection, store::TypeIds& types);
  /// Fills in folded.object_ids.
  Result<void> apply(FoldedEntry& folded);

 private:
  ObjectProjection(store::TypeIds& types, store::Statement create, store::Statement remove, store::Statement find)
      : types_{types}, create_{std::move(create)}, remove_{std::move(remove)}, find_{std::move(find)} {}

  store::TypeIds& types_;
  store::Statement create_, remove_, find_;
};

}  // namespace shiplog
