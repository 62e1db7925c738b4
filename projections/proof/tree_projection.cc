#include "projections/proof/tree_projection.h"

#include <utility>
#include <vector>

#include "projections/proof/tree_query.h"
#include "projections/store/checked_table.h"

namespace shiplog {
namespace {

Result<void> insert(sqlite::Connection& connection, const std::string& sql, int64_t key, std::optional<int64_t> offset,
                    const proof::Digest& hash) {
  SHIPLOG_TRY(auto row, connection.prepare(sql));
  int column = 0;
  row.bind(++column, key);
  if (offset) row.bind(++column, *offset);
  row.bind_blob(++column, proof::bytes_of(hash));
  return row.run();
}

}  // namespace

Result<TreeProjection> TreeProjection::create(sqlite::Connection& connection) {
  TreeProjection made{connection};
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
  static const std::string kLeaf = store::tree_leaf_table().insert();
  static const std::string kNode = store::tree_node_table().insert();
  SHIPLOG_TRY(insert(connection_, kLeaf, static_cast<int64_t>(frontier_.size()), offset.value, leaf));
  std::vector<std::pair<proof::NodeId, proof::Digest>> kept;
  frontier_.add(leaf, [&](proof::NodeId node, const proof::Digest& hash) {
    if (node.level % kTreeLevelsApart == 0) kept.emplace_back(node, hash);
  });
  for (const auto& [node, hash] : kept) {
    SHIPLOG_TRY(insert(connection_, kNode, tree_node_key(node), std::nullopt, hash));
  }
  return ok();
}

}  // namespace shiplog
