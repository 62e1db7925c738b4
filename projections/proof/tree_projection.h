#pragma once

#include <utility>
#include <vector>

#include "events/base/result.h"
#include "events/proof/tree.h"
#include "events/sqlite/connection.h"
#include "projections/store/checked_insert.h"
#include "projections/store/folded_entry.h"

namespace shiplog {

/// Writes the Merkle tree of the journal's records. It begins with the first entry that has a leaf, and is empty for a
/// journal whose entries have none.
class TreeProjection {
 public:
  /// Error: kCorrupt, the right edge of the tree is damaged.
  static Result<TreeProjection> create(sqlite::Connection& connection);
  /// Errors: those of SQLite; kInternal, an entry without a leaf follows one with a leaf.
  Result<void> apply(const FoldedEntry& folded);
  /// Adds the leaf of the next record.
  Result<void> append(Offset offset, const proof::Digest& leaf);
  /// After a rollback: what is in the file counts.
  void forget() { known_ = false; }

 private:
  TreeProjection(sqlite::Connection& connection, store::CheckedInsert insert_leaf, store::CheckedInsert insert_node)
      : connection_{connection}, insert_leaf_{std::move(insert_leaf)}, insert_node_{std::move(insert_node)} {}
  Result<void> load();

  sqlite::Connection& connection_;
  store::CheckedInsert insert_leaf_, insert_node_;
  proof::Frontier frontier_;
  std::vector<std::pair<proof::NodeId, proof::Digest>> completed_;
  bool known_ = false;
};

}  // namespace shiplog
