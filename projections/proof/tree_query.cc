#include "projections/proof/tree_query.h"

#include <string>

#include "projections/store/checked_table.h"

namespace shiplog {
namespace {

constexpr unsigned kLevelBits = 56;

std::string name_of(proof::NodeId node) {
  return "the subtree " + std::to_string(node.index) + " of level " + std::to_string(node.level);
}

Result<std::optional<TreeLeaf>> leaf_in(sqlite::Connection& connection, uint64_t ordinal) {
  static const std::string kLeaf =
      "SELECT l.offset, l.hash FROM tree_leaf l WHERE l.ordinal = ? AND " + store::tree_leaf_table().intact("l");
  SHIPLOG_TRY(auto row, connection.prepare(kLeaf));
  row.bind(1, static_cast<int64_t>(ordinal));
  SHIPLOG_TRY(const bool found, row.next());
  if (!found) return std::nullopt;
  const auto hash = proof::digest_from(row.blob(1));
  if (!hash) {
    return Error{ErrorCode::kCorrupt, "leaf " + std::to_string(ordinal) + " of the tree of records is not 32 bytes"};
  }
  return std::optional{TreeLeaf{ordinal, Offset{row.integer(0)}, *hash}};
}

Result<proof::Digest> stored(sqlite::Connection& connection, proof::NodeId node) {
  if (node.level == 0) {
    SHIPLOG_TRY(const auto leaf, leaf_in(connection, node.index));
    if (leaf) return leaf->hash;
  } else {
    static const std::string kNode =
        "SELECT n.hash FROM tree_node n WHERE n.id = ? AND " + store::tree_node_table().intact("n");
    SHIPLOG_TRY(auto row, connection.prepare(kNode));
    row.bind(1, tree_node_key(node));
    SHIPLOG_TRY(const bool found, row.next());
    if (found) {
      if (const auto hash = proof::digest_from(row.blob(0))) return *hash;
    }
  }
  return Error{ErrorCode::kCorrupt,
               "projection " + connection.path() + ": " + name_of(node) + " of the tree of records is missing"};
}

}  // namespace

int64_t tree_node_key(proof::NodeId node) {
  return static_cast<int64_t>((uint64_t{node.level} << kLevelBits) | node.index);
}

proof::NodeId tree_node_of(int64_t key) {
  const auto bits = static_cast<uint64_t>(key);
  return {static_cast<unsigned>(bits >> kLevelBits), bits & ((uint64_t{1} << kLevelBits) - 1)};
}

Result<uint64_t> tree_size(sqlite::Connection& connection) {
  SHIPLOG_TRY(auto row, connection.prepare("SELECT coalesce(max(ordinal) + 1, 0) FROM tree_leaf"));
  SHIPLOG_TRY([[maybe_unused]] const bool found, row.next());
  return static_cast<uint64_t>(row.integer(0));
}

proof::Nodes tree_nodes(sqlite::Connection& connection) {
  return [&connection](proof::NodeId node) -> Result<proof::Digest> {
    const unsigned below = node.level % kTreeLevelsApart;
    if (below == 0) return stored(connection, node);
    // From the stored level below, up to eight of which are in it.
    const unsigned level = node.level - below;
    const uint64_t first = node.index << below;
    proof::Frontier subtree;
    for (uint64_t index = first; index < first + (uint64_t{1} << below); ++index) {
      SHIPLOG_TRY(const proof::Digest hash, stored(connection, {level, index}));
      subtree.add(hash);
    }
    return subtree.root();
  };
}

Result<uint64_t> TreeQuery::size() const { return tree_size(view_.connection()); }

Result<std::optional<TreeLeaf>> TreeQuery::leaf(uint64_t ordinal) const { return leaf_in(view_.connection(), ordinal); }

Result<std::optional<TreeLeaf>> TreeQuery::from(Offset offset) const {
  // Offsets grow with ordinals, so that no index is needed.
  SHIPLOG_TRY(uint64_t end, size());
  const uint64_t size_now = end;
  uint64_t begin = 0;
  while (begin < end) {
    const uint64_t middle = begin + (end - begin) / 2;
    SHIPLOG_TRY(const auto found, leaf(middle));
    if (!found) {
      return Error{ErrorCode::kCorrupt, "leaf " + std::to_string(middle) + " of the tree of records is missing"};
    }
    if (found->offset < offset) {
      begin = middle + 1;
    } else {
      end = middle;
    }
  }
  if (begin == size_now) return std::nullopt;
  return leaf(begin);
}

Result<std::optional<TreeLeaf>> TreeQuery::late_beginning() const {
  SHIPLOG_TRY(auto first, leaf(0));
  // The first record of a journal stands at 0 or 1.
  if (!first || first->offset.value <= 1) return std::nullopt;
  return first;
}

}  // namespace shiplog
