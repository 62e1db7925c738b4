#pragma once

#include <map>
#include <string>

#include "events/base/result.h"
#include "events/sqlite/connection.h"
#include "projections/store/checkpoint.h"
#include "projections/store/folded_entry.h"

namespace shiplog {

/// Writes a row per entry, accepted or refused.
class AuditProjection {
 public:
  static Result<AuditProjection> create(sqlite::Connection& connection, store::TypeIds& types);
  Result<void> apply(const FoldedEntry& folded);
  /// After a rollback: discards the numbers assigned to actors in that transaction.
  void forget() {
    actors_.clear();
    last_actor_id_ = 0;
  }

 private:
  AuditProjection(store::TypeIds& types, sqlite::Statement insert, sqlite::Statement subject,
                  sqlite::Statement add_actor, sqlite::Statement find_actor)
      : types_{types},
        insert_{std::move(insert)},
        subject_{std::move(subject)},
        add_actor_{std::move(add_actor)},
        find_actor_{std::move(find_actor)} {}
  Result<int64_t> actor_id(const Actor& actor);

  store::TypeIds& types_;
  sqlite::Statement insert_, subject_, add_actor_, find_actor_;
  std::map<std::string, int64_t> actors_;
  Actor last_actor_;  // usually the actor of the next entry too
  int64_t last_actor_id_ = 0;
};

}  // namespace shiplog
