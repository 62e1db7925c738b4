#pragma once

#include <map>
#include <string>

#include "events/base/result.h"
#include "events/sqlite/connection.h"
#include "projections/audit/family_cut.h"
#include "projections/holds/holds.h"
#include "projections/store/checked_insert.h"
#include "projections/store/checkpoint.h"
#include "projections/store/folded_entry.h"

namespace shiplog {

/// Writes a row per entry, accepted or refused.
class AuditProjection {
 public:
  static Result<AuditProjection> create(sqlite::Connection& connection, store::TypeIds& types);
  Result<void> apply(const FoldedEntry& folded);
  /// Writes the row of an entry again that is there and damaged. False: it is not there.
  Result<bool> replace(sqlite::Connection& connection, const FoldedEntry& folded);
  /// Writes a row of `actor` again.
  static Result<bool> replace_actor(sqlite::Connection& connection, int64_t id, const Actor& actor);
  /// Relates all objects that the events of an entry are about to it, whatever else does.
  Result<void> name_subjects(const FoldedEntry& folded);
  /// After a rollback: discards the numbers assigned to actors in that transaction.
  void forget() {
    actors_.clear();
    last_actor_id_ = 0;
  }

 private:
  AuditProjection(store::TypeIds& types, store::CheckedInsert insert, sqlite::Statement subject,
                  sqlite::Statement add_actor, sqlite::Statement find_actor, sqlite::Statement newest_actor)
      : types_{types},
        insert_{std::move(insert)},
        subject_{std::move(subject)},
        add_actor_{std::move(add_actor)},
        find_actor_{std::move(find_actor)},
        newest_actor_{std::move(newest_actor)} {}
  Result<int64_t> actor_id(const Actor& actor);
  /// Subjects of events that did not change them: those that did are found by their versions.
  Result<void> add_subjects_without_change(const FoldedEntry& folded);

  store::TypeIds& types_;
  store::CheckedInsert insert_;
  sqlite::Statement subject_, add_actor_, find_actor_, newest_actor_;
  std::map<std::string, int64_t> actors_;
  Actor last_actor_;  // usually the actor of the next entry too
  int64_t last_actor_id_ = 0;
};

/// Deletes rows of entries that are old enough, in one short transaction; `from` moves on behind what was looked at,
/// and begins at 0. Entries that a version or a decision refers to, or that a hold covers, stay. True: more remain,
/// call again.
Result<bool> trim_entries(sqlite::Connection& connection, const FamilyCut& cut, const Holds& holds, Offset& from,
                          uint64_t& deleted, HeldByName& held);

}  // namespace shiplog
