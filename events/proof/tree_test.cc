#include "events/proof/tree.h"

#include <bit>
#include <map>
#include <random>
#include <span>
#include <string>

#include <gtest/gtest.h>

#include "tests/support/must.h"

namespace shiplog::proof {
namespace {

// The definitions of RFC 9162, section 2.1, written down as they stand there.
uint64_t largest_power_below(uint64_t n) {
  uint64_t k = 1;
  while (k * 2 < n) k *= 2;
  return k;
}
Digest mth(std::span<const std::string> d) {
  if (d.empty()) return sha256({""});
  if (d.size() == 1) return sha256({std::string_view{"\0", 1}, d[0]});
  const uint64_t k = largest_power_below(d.size());
  return sha256({"\x01", bytes_of(mth(d.first(k))), bytes_of(mth(d.subspan(k)))});
}
std::vector<Digest> path_of(uint64_t m, std::span<const std::string> d) {
  if (d.size() == 1) return {};
  const uint64_t k = largest_power_below(d.size());
  std::vector<Digest> path = m < k ? path_of(m, d.first(k)) : path_of(m - k, d.subspan(k));
  path.push_back(m < k ? mth(d.subspan(k)) : mth(d.first(k)));
  return path;
}
std::vector<Digest> subproof_of(uint64_t m, std::span<const std::string> d, bool b) {
  if (m == d.size()) return b ? std::vector<Digest>{} : std::vector<Digest>{mth(d)};
  const uint64_t k = largest_power_below(d.size());
  std::vector<Digest> path = m <= k ? subproof_of(m, d.first(k), b) : subproof_of(m - k, d.subspan(k), false);
  path.push_back(m <= k ? mth(d.subspan(k)) : mth(d.first(k)));
  return path;
}

/// A tree with all its nodes at hand.
struct Grown {
  std::vector<std::string> records;
  std::map<std::pair<unsigned, uint64_t>, Digest> nodes;
  Frontier frontier;

  void add(std::string record) {
    const Digest leaf = leaf_hash(record);
    nodes[{0, records.size()}] = leaf;
    frontier.add(leaf, [&](NodeId id, const Digest& hash) { nodes[{id.level, id.index}] = hash; });
    records.push_back(std::move(record));
  }
  Nodes reader() const {
    return [this](NodeId id) -> Result<Digest> {
      const auto found = nodes.find({id.level, id.index});
      if (found == nodes.end()) return Error{ErrorCode::kNotFound, "no such node"};
      return found->second;
    };
  }
};

Grown grown(size_t leaves) {
  Grown tree;
  for (size_t index = 0; index < leaves; ++index) tree.add("record " + std::to_string(index * index));
  return tree;
}

std::string hex(const Digest& digest) {
  std::string text;
  for (const unsigned char byte : digest) {
    char digits[3];
    std::snprintf(digits, sizeof digits, "%02x", byte);
    text += digits;
  }
  return text;
}

// The test vectors that implementations of RFC 6962 share (those of Certificate Transparency's own tests).
TEST(MerkleTree, HasTheRootsOfTheKnownVectors) {
  const std::string leaves[] = {"",
                                std::string(1, '\0'),
                                "\x10",
                                "\x20\x21",
                                "\x30\x31",
                                "\x40\x41\x42\x43",
                                "\x50\x51\x52\x53\x54\x55\x56\x57",
                                "\x60\x61\x62\x63\x64\x65\x66\x67\x68\x69\x6a\x6b\x6c\x6d\x6e\x6f"};
  Frontier frontier;
  EXPECT_EQ(hex(frontier.root()), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  frontier.add(leaf_hash(leaves[0]));
  EXPECT_EQ(hex(frontier.root()), "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d");
  frontier.add(leaf_hash(leaves[1]));
  EXPECT_EQ(hex(frontier.root()), "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125");
  for (size_t index = 2; index < 8; ++index) frontier.add(leaf_hash(leaves[index]));
  EXPECT_EQ(hex(frontier.root()), "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328");
}

TEST(MerkleTree, AgreesWithTheDefinitionForEverySize) {
  Grown tree;
  for (size_t size = 0; size <= 70; ++size) {
    const std::span<const std::string> all{tree.records};
    EXPECT_EQ(tree.frontier.root(), mth(all)) << size;
    for (uint64_t smaller = 0; smaller <= size; ++smaller) {
      EXPECT_EQ(must(root_at(smaller, tree.reader())), mth(all.first(smaller))) << smaller << " of " << size;
    }
    tree.add("record " + std::to_string(size));
  }
}

TEST(MerkleTree, InclusionPathsAreThoseOfTheDefinitionAndVerify) {
  const Grown tree = grown(67);
  for (uint64_t size = 1; size <= 67; ++size) {
    const std::span<const std::string> part = std::span<const std::string>{tree.records}.first(size);
    for (uint64_t index = 0; index < size; ++index) {
      const auto path = must(inclusion_path(index, size, tree.reader()));
      ASSERT_EQ(path, path_of(index, part)) << index << " of " << size;
      ASSERT_TRUE(verify_inclusion(leaf_hash(tree.records[index]), index, size, path, mth(part)));
    }
  }
}

TEST(MerkleTree, ConsistencyPathsAreThoseOfTheDefinitionAndVerify) {
  const Grown tree = grown(67);
  const std::span<const std::string> all{tree.records};
  for (uint64_t to = 1; to <= 67; ++to) {
    for (uint64_t from = 1; from <= to; ++from) {
      const auto path = must(consistency_path(from, to, tree.reader()));
      ASSERT_EQ(path, subproof_of(from, all.first(to), true)) << from << " of " << to;
      ASSERT_TRUE(verify_consistency(from, to, path, mth(all.first(from)), mth(all.first(to)))) << from << " " << to;
    }
  }
  EXPECT_TRUE(verify_consistency(0, 67, {}, sha256({}), mth(all)));
}

TEST(MerkleTree, NoOtherInclusionVerifies) {
  const Grown tree = grown(41);
  const Digest root = tree.frontier.root();
  for (uint64_t index = 0; index < 41; ++index) {
    const Digest leaf = leaf_hash(tree.records[index]);
    const auto path = must(inclusion_path(index, 41, tree.reader()));
    for (uint64_t other = 0; other <= 41; ++other) {
      if (other != index) {
        EXPECT_FALSE(verify_inclusion(leaf, other, 41, path, root)) << index << " as " << other;
      }
    }
    EXPECT_FALSE(verify_inclusion(leaf_hash("another"), index, 41, path, root));
    for (size_t at = 0; at < path.size(); ++at) {
      auto changed = path;
      changed[at][31] ^= 1;
      EXPECT_FALSE(verify_inclusion(leaf, index, 41, changed, root));
      changed = path;
      changed.erase(changed.begin() + static_cast<std::ptrdiff_t>(at));
      EXPECT_FALSE(verify_inclusion(leaf, index, 41, changed, root));
    }
    auto longer = path;
    longer.push_back(root);
    EXPECT_FALSE(verify_inclusion(leaf, index, 41, longer, root));
  }
  EXPECT_FALSE(verify_inclusion(leaf_hash("x"), 0, 0, {}, sha256({})));
}

TEST(MerkleTree, NoOtherConsistencyVerifies) {
  const Grown tree = grown(41);
  for (const uint64_t from : {1U, 2U, 3U, 8U, 20U, 32U, 40U}) {
    const Digest from_root = must(root_at(from, tree.reader()));
    const auto path = must(consistency_path(from, 41, tree.reader()));
    for (size_t at = 0; at < path.size(); ++at) {
      auto changed = path;
      changed[at][0] ^= 1;
      EXPECT_FALSE(verify_consistency(from, 41, changed, from_root, tree.frontier.root())) << from << " " << at;
    }
    Digest other = from_root;
    other[5] ^= 4;
    EXPECT_FALSE(verify_consistency(from, 41, path, other, tree.frontier.root()));
    EXPECT_FALSE(verify_consistency(from, 41, {}, from_root, tree.frontier.root()));
    EXPECT_FALSE(verify_consistency(41, from, path, tree.frontier.root(), from_root));
    auto longer = path;
    longer.push_back(from_root);
    EXPECT_FALSE(verify_consistency(from, 41, longer, from_root, tree.frontier.root()));
  }
}

TEST(MerkleTree, GoesOnFromAnyFrontier) {
  const Grown tree = grown(200);
  std::mt19937_64 random{11};
  for (int round = 0; round < 100; ++round) {
    const uint64_t cut = random() % 201;
    Frontier frontier = must(frontier_at(cut, tree.reader()));
    EXPECT_EQ(*Frontier::from(cut, frontier.peaks()), frontier);
    for (uint64_t index = cut; index < 200; ++index) frontier.add(leaf_hash(tree.records[index]));
    EXPECT_EQ(frontier, tree.frontier) << cut;
  }
  EXPECT_FALSE(Frontier::from(3, {Digest{}}));
}

// A leaf must not pass for a node, or a tree of two records for one of another record.
TEST(MerkleTree, ANodeIsNoLeaf) {
  const Digest left = leaf_hash("a");
  const Digest right = leaf_hash("b");
  const std::string both = std::string{bytes_of(left)} + std::string{bytes_of(right)};
  EXPECT_NE(leaf_hash(both), node_hash(left, right));
  EXPECT_NE(node_hash(left, right), node_hash(right, left));
}

}  // namespace
}  // namespace shiplog::proof
