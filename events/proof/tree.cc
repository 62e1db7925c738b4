#include "events/proof/tree.h"

#include <bit>
#include <utility>

namespace shiplog::proof {
namespace {

constexpr std::string_view kLeafPrefix{"\0", 1};
constexpr std::string_view kNodePrefix{"\1", 1};

/// The largest power of two below n, which is at least 2.
uint64_t split_of(uint64_t n) { return uint64_t{1} << (std::bit_width(n - 1) - 1); }

/// MTH(D[begin:end]) of a range that the recursion of the RFC reaches: `begin` is a multiple of its largest subtree.
Result<Digest> hash_of(uint64_t begin, uint64_t end, const Nodes& nodes) {
  const uint64_t leaves = end - begin;
  if (std::has_single_bit(leaves)) {
    const auto level = static_cast<unsigned>(std::countr_zero(leaves));
    return nodes({level, begin >> level});
  }
  const uint64_t split = split_of(leaves);
  SHIPLOG_TRY(const Digest left, hash_of(begin, begin + split, nodes));
  SHIPLOG_TRY(const Digest right, hash_of(begin + split, end, nodes));
  return node_hash(left, right);
}

/// SUBPROOF(m, D[begin:end], whole).
Result<void> subproof(uint64_t m, uint64_t begin, uint64_t end, bool whole, const Nodes& nodes,
                      std::vector<Digest>& path) {
  const uint64_t leaves = end - begin;
  if (m == leaves) {
    if (whole) return ok();
    SHIPLOG_TRY(path.emplace_back(), hash_of(begin, end, nodes));
    return ok();
  }
  const uint64_t split = split_of(leaves);
  if (m <= split) {
    SHIPLOG_TRY(subproof(m, begin, begin + split, whole, nodes, path));
    SHIPLOG_TRY(path.emplace_back(), hash_of(begin + split, end, nodes));
    return ok();
  }
  SHIPLOG_TRY(subproof(m - split, begin + split, end, false, nodes, path));
  SHIPLOG_TRY(path.emplace_back(), hash_of(begin, begin + split, nodes));
  return ok();
}

}  // namespace

Digest leaf_hash(std::string_view record) { return sha256({kLeafPrefix, record}); }

Digest node_hash(const Digest& left, const Digest& right) {
  return sha256({kNodePrefix, bytes_of(left), bytes_of(right)});
}

std::optional<Frontier> Frontier::from(uint64_t size, std::vector<Digest> peaks) {
  if (static_cast<size_t>(std::popcount(size)) != peaks.size()) return std::nullopt;
  Frontier frontier;
  frontier.size_ = size;
  frontier.peaks_ = std::move(peaks);
  return frontier;
}

Digest Frontier::root() const {
  if (peaks_.empty()) return sha256({});
  Digest root = peaks_.back();
  for (size_t index = peaks_.size() - 1; index-- > 0;) root = node_hash(peaks_[index], root);
  return root;
}

void Frontier::add(const Digest& leaf, const std::function<void(NodeId, const Digest&)>& completed) {
  Digest hash = leaf;
  unsigned level = 0;
  for (uint64_t rest = size_; (rest & 1U) != 0; rest >>= 1U) {
    hash = node_hash(peaks_.back(), hash);
    peaks_.pop_back();
    ++level;
    if (completed) completed({level, size_ >> level}, hash);
  }
  peaks_.push_back(hash);
  ++size_;
}

Result<Frontier> frontier_at(uint64_t size, const Nodes& nodes) {
  std::vector<Digest> peaks;
  uint64_t begin = 0;
  for (auto level = static_cast<unsigned>(std::bit_width(size)); level-- > 0;) {
    const uint64_t leaves = uint64_t{1} << level;
    if ((size & leaves) == 0) continue;
    SHIPLOG_TRY(peaks.emplace_back(), nodes({level, begin >> level}));
    begin += leaves;
  }
  return *Frontier::from(size, std::move(peaks));
}

Result<Digest> root_at(uint64_t size, const Nodes& nodes) {
  SHIPLOG_TRY(const Frontier frontier, frontier_at(size, nodes));
  return frontier.root();
}

Result<std::vector<Digest>> inclusion_path(uint64_t index, uint64_t size, const Nodes& nodes) {
  // From the root down; the path is in the opposite order.
  std::vector<Digest> down;
  uint64_t begin = 0;
  uint64_t end = size;
  while (end - begin > 1) {
    const uint64_t middle = begin + split_of(end - begin);
    if (index < middle) {
      SHIPLOG_TRY(down.emplace_back(), hash_of(middle, end, nodes));
      end = middle;
    } else {
      SHIPLOG_TRY(down.emplace_back(), hash_of(begin, middle, nodes));
      begin = middle;
    }
  }
  return std::vector<Digest>{down.rbegin(), down.rend()};
}

Result<std::vector<Digest>> consistency_path(uint64_t from, uint64_t to, const Nodes& nodes) {
  std::vector<Digest> path;
  if (from == 0 || from == to) return path;
  SHIPLOG_TRY(subproof(from, 0, to, true, nodes, path));
  return path;
}

bool verify_inclusion(const Digest& leaf, uint64_t index, uint64_t size, const std::vector<Digest>& path,
                      const Digest& root) {
  if (index >= size) return false;
  uint64_t node = index;
  uint64_t last = size - 1;
  Digest hash = leaf;
  for (const Digest& sibling : path) {
    if (last == 0) return false;
    if ((node & 1U) != 0 || node == last) {
      hash = node_hash(sibling, hash);
      while ((node & 1U) == 0 && node != 0) {
        node >>= 1U;
        last >>= 1U;
      }
    } else {
      hash = node_hash(hash, sibling);
    }
    node >>= 1U;
    last >>= 1U;
  }
  return last == 0 && hash == root;
}

bool verify_consistency(uint64_t from, uint64_t to, const std::vector<Digest>& path, const Digest& from_root,
                        const Digest& to_root) {
  if (from > to) return false;
  if (from == to) return path.empty() && from_root == to_root;
  if (from == 0) return path.empty() && from_root == sha256({});
  size_t at = 0;
  Digest from_hash = from_root;
  if (!std::has_single_bit(from)) {
    if (path.empty()) return false;
    from_hash = path[at++];
  }
  Digest to_hash = from_hash;
  uint64_t node = from - 1;
  uint64_t last = to - 1;
  while ((node & 1U) != 0) {
    node >>= 1U;
    last >>= 1U;
  }
  for (; at < path.size(); ++at) {
    if (last == 0) return false;
    if ((node & 1U) != 0 || node == last) {
      from_hash = node_hash(path[at], from_hash);
      to_hash = node_hash(path[at], to_hash);
      while ((node & 1U) == 0 && node != 0) {
        node >>= 1U;
        last >>= 1U;
      }
    } else {
      to_hash = node_hash(to_hash, path[at]);
    }
    node >>= 1U;
    last >>= 1U;
  }
  return last == 0 && from_hash == from_root && to_hash == to_root;
}

}  // namespace shiplog::proof
