#include "projections/proof/tree_projection.h"

#include <utility>

#include "projections/proof/tree_query.h"
#include "projections/store/checked_table.h"

namespace shiplog {

Result<TreeProjection> TreeProjection::create(sqlite::Connection& connection) {
  SHIPLOG_TRY(auto insert_leaf, store::CheckedInsert::create(connection, store::tree_leaf_table()));
  SHIPLOG_TRY(auto insert_node, store::CheckedInsert::create(connection, store::tree_node_table()));
  TreeProjection made{connection, std::move(insert_leaf), std::move(insert_node)};
  SHIPLOG_TRY(made.load());
  return made;
}

Result<void> TreeProjection::load() {
  SHIPLOG_TRY(const uint64_t size, tree_size(connection_));
  SHIPLOG_TRY(frontier_, proof::frontier_at(size, tree_nodes(connection_)));
  known_ = true;
  return ok();
}

Result<void> TreeProjection::apply(const FoldedEntry& folded) {
  if (!known_) {
    SHIPLOG_TRY(load());
  }
  if (!folded.leaf) {
    if (frontier_.size() == 0) return ok();
    return Error{ErrorCode::kInternal, "the entry at offset " + std::to_string(folded.offset.value) +
                                           " has no leaf hash, but those before it have"};
  }
  return append(folded.offset, *folded.leaf);
}

Result<void> TreeProjection::append(Offset offset, const proof::Digest& leaf) {
  insert_leaf_.begin().add(static_cast<int64_t>(frontier_.size())).add(offset.value);
  SHIPLOG_TRY(insert_leaf_.add_blob(proof::bytes_of(leaf)).run());
  completed_.clear();
  frontier_.add(leaf, [this](proof::NodeId node, const proof::Digest& hash) {
    if (node.level % kTreeLevelsApart == 0) completed_.emplace_back(node, hash);
  });
  for (const auto& [node, hash] : completed_) {
    SHIPLOG_TRY(insert_node_.begin().add(tree_node_key(node)).add_blob(proof::bytes_of(hash)).run());
  }
  return ok();
}

}  // namespace shiplog
