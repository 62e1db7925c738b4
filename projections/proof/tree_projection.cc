#include "projections/proof/tree_projection.h"

#include <utility>

#include "projections/proof/tree_query.h"
#include "projections/store/checked_table.h"

namespace shiplog {

Result<TreeProjection> TreeProjection::create(sqlite::Connection& connection) {
  SHIPLOG_TRY(auto insert_leaf, connection.prepare(store::tree_leaf_table().insert()));
  SHIPLOG_TRY(auto insert_node, connection.prepare(store::tree_node_table().insert()));
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
  insert_leaf_.bind(1, static_cast<int64_t>(frontier_.size()));
  insert_leaf_.bind(2, offset.value);
  insert_leaf_.bind_blob(3, proof::bytes_of(leaf));
  SHIPLOG_TRY(insert_leaf_.run());
  completed_.clear();
  frontier_.add(leaf, [this](proof::NodeId node, const proof::Digest& hash) {
    if (node.level % kTreeLevelsApart == 0) completed_.emplace_back(node, hash);
  });
  for (const auto& [node, hash] : completed_) {
    insert_node_.bind(1, tree_node_key(node));
    insert_node_.bind_blob(2, proof::bytes_of(hash));
    SHIPLOG_TRY(insert_node_.run());
  }
  return ok();
}

}  // namespace shiplog
