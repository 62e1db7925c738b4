#pragma once

#include <cstdint>
#include <optional>

#include "events/base/ids.h"
#include "events/base/result.h"
#include "events/proof/tree.h"
#include "events/sqlite/connection.h"
#include "projections/store/reader.h"

namespace shiplog {

/// Of how many levels of the tree one is stored.
inline constexpr unsigned kTreeLevelsApart = 4;
/// tree_node.id
int64_t tree_node_key(proof::NodeId node);
proof::NodeId tree_node_of(int64_t key);

/// How many leaves a projection file has.
Result<uint64_t> tree_size(sqlite::Connection& connection);
/// Its subtrees, stored or computed from stored ones. Errors: kCorrupt, a row is damaged or missing. The connection
/// must outlive it.
proof::Nodes tree_nodes(sqlite::Connection& connection);

struct TreeLeaf {
  uint64_t ordinal = 0;
  Offset offset;
  proof::Digest hash = {};
};

/// The Merkle tree of the journal's records, as of a view.
class TreeQuery {
 public:
  /// The view must outlive it.
  explicit TreeQuery(const View& view) : view_{view} {}

  Result<uint64_t> size() const;
  /// nullopt: the tree has fewer.
  Result<std::optional<TreeLeaf>> leaf(uint64_t ordinal) const;
  /// The first leaf at or after an offset; nullopt: there is none.
  Result<std::optional<TreeLeaf>> from(Offset offset) const;
  /// What the tree does not begin with the journal's first record for, being made later: its first leaf; nullopt: it
  /// does begin there, or is empty.
  Result<std::optional<TreeLeaf>> late_beginning() const;
  proof::Nodes nodes() const { return tree_nodes(view_.connection()); }

 private:
  const View& view_;
};

}  // namespace shiplog
