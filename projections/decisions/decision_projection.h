#pragma once

#include <optional>
#include <string>

#include "events/base/result.h"
#include "events/event.h"
#include "events/sqlite/connection.h"
#include "events/sqlite/unpacked.h"
#include "projections/audit/family_cut.h"
#include "projections/holds/holds.h"
#include "projections/store/checked_insert.h"
#include "projections/store/checkpoint.h"
#include "projections/store/folded_entry.h"

namespace shiplog {

/// decision.id: the rows are in the order of the journal.
inline constexpr int kDecisionIndexBits = 20;
inline int64_t decision_id(Offset offset, size_t index) {
  return offset.value << kDecisionIndexBits | static_cast<int64_t>(index);
}

/// What is stored of a decision's reasons, uncompressed; nullopt: the event is no decision. Threads: any.
std::optional<std::string> explanation_json(const Event& event);

/// Writes the decisions of roles, with their explanations.
class DecisionProjection {
 public:
  static Result<DecisionProjection> create(sqlite::Connection& connection, store::TypeIds& types);
  Result<void> apply(const FoldedEntry& folded);
  /// Writes the row of one event again that is there and damaged. False: it is not there.
  Result<bool> replace(sqlite::Connection& connection, const FoldedEntry& folded, size_t index);

 private:
  DecisionProjection(store::TypeIds& types, store::CheckedInsert insert) : types_{types}, insert_{std::move(insert)} {}
  Result<void> insert(const FoldedEntry& folded, size_t index);

  store::TypeIds& types_;
  store::CheckedInsert insert_;
  sqlite::TextPacker packer_;
};

/// Deletes decisions that are old enough, in one short transaction; `from`, the first id that was not looked at, moves
/// on and begins at 0. Those that a hold covers stay. True: more remain, call again.
Result<bool> trim_decisions(sqlite::Connection& connection, const FamilyCut& cut, const Holds& holds, int64_t& from,
                            uint64_t& deleted, HeldByName& held);

}  // namespace shiplog
