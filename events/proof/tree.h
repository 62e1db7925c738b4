#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "events/base/result.h"
#include "events/proof/sha256.h"

// The Merkle tree of RFC 9162, section 2.1, over the records of a journal: leaf n is the nth record, in its bytes as
// the journal stores them. Pure.
namespace shiplog::proof {

/// SHA-256(0x00 || record).
Digest leaf_hash(std::string_view record);
/// SHA-256(0x01 || left || right).
Digest node_hash(const Digest& left, const Digest& right);

/// The complete subtree of 2^level leaves from leaf index * 2^level on.
struct NodeId {
  unsigned level = 0;
  uint64_t index = 0;
  bool operator==(const NodeId&) const = default;
};

/// The right edge of a tree: all that is needed to add leaves to it and to know its root. A tree of n leaves has one
/// hash for each bit that is set in n, the largest subtree first.
class Frontier {
 public:
  Frontier() = default;
  /// nullopt: a tree of that size has another number of hashes.
  static std::optional<Frontier> from(uint64_t size, std::vector<Digest> peaks);

  uint64_t size() const { return size_; }
  const std::vector<Digest>& peaks() const { return peaks_; }
  /// Of the empty tree: SHA-256 of nothing.
  Digest root() const;

  /// Adds a leaf. `completed` is called with each subtree that it completes, the smallest first, without the leaf.
  void add(const Digest& leaf, const std::function<void(NodeId, const Digest&)>& completed = {});

  bool operator==(const Frontier&) const = default;

 private:
  uint64_t size_ = 0;
  std::vector<Digest> peaks_;
};

/// The hash of a complete subtree. Errors: those of where it is kept.
using Nodes = std::function<Result<Digest>(NodeId)>;

/// The tree of the first `size` leaves.
Result<Frontier> frontier_at(uint64_t size, const Nodes& nodes);
/// Its root.
Result<Digest> root_at(uint64_t size, const Nodes& nodes);
/// PATH(index, D[size]): that leaf `index` is in the tree of `size` leaves. Needs index < size.
Result<std::vector<Digest>> inclusion_path(uint64_t index, uint64_t size, const Nodes& nodes);
/// PROOF(from, D[to]): that the tree of `from` leaves is the beginning of the tree of `to` leaves. Needs from <= to;
/// empty when they are equal or `from` is 0.
Result<std::vector<Digest>> consistency_path(uint64_t from, uint64_t to, const Nodes& nodes);

/// RFC 9162, 2.1.3.2.
bool verify_inclusion(const Digest& leaf, uint64_t index, uint64_t size, const std::vector<Digest>& path,
                      const Digest& root);
/// RFC 9162, 2.1.4.2; of trees of the same size, and of the empty tree, the path is empty.
bool verify_consistency(uint64_t from, uint64_t to, const std::vector<Digest>& path, const Digest& from_root,
                        const Digest& to_root);

}  // namespace shiplog::proof
