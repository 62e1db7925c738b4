#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

namespace shiplog {

/// Finds the nodes of a map by namespace and name in constant time: a tree of 100,000 names is seventeen steps deep,
/// most of them outside the processor's caches. Beside the map, which stays the one that is walked: how a hash table
/// orders its keys must not reach what decides. `Node` is the map's value_type, with first.ns and first.name; it must
/// stay where it is while it is in here.
template <class Node>
class NameTable {
 public:
  Node* find(std::string_view ns, std::string_view name) const {
    if (slots_.empty()) return nullptr;
    const size_t hash = hash_of(ns, name);
    for (size_t at = hash & mask();; at = (at + 1) & mask()) {
      const Slot& slot = slots_[at];
      if (slot.node == nullptr) return nullptr;
      if (slot.hash == hash && slot.node->first.name == name && slot.node->first.ns == ns) return slot.node;
    }
  }

  /// Of a name that is not there yet.
  void insert(Node* node) {
    if ((count_ + 1) * 4 > slots_.size() * 3) grow();
    place({hash_of(node->first.ns, node->first.name), node});
    ++count_;
  }

  /// Before the node leaves the map.
  void erase(const Node* node) {
    size_t hole = hash_of(node->first.ns, node->first.name) & mask();
    while (slots_[hole].node != node) hole = (hole + 1) & mask();
    --count_;
    // What stands behind the hole, and would not be found past it, moves into it.
    for (size_t at = (hole + 1) & mask(); slots_[at].node != nullptr; at = (at + 1) & mask()) {
      const size_t home = slots_[at].hash & mask();
      if (((at - home) & mask()) < ((at - hole) & mask())) continue;
      slots_[hole] = slots_[at];
      hole = at;
    }
    slots_[hole] = {};
  }

 private:
  struct Slot {
    size_t hash = 0;
    Node* node = nullptr;  // null: free
  };

  static size_t hash_of(std::string_view ns, std::string_view name) {
    constexpr size_t kOdd = 0x9E3779B97F4A7C15U;
    return std::hash<std::string_view>{}(name) ^ (std::hash<std::string_view>{}(ns)*kOdd);
  }
  size_t mask() const { return slots_.size() - 1; }
  void place(Slot slot) {
    size_t at = slot.hash & mask();
    while (slots_[at].node != nullptr) at = (at + 1) & mask();
    slots_[at] = slot;
  }
  void grow() {
    constexpr size_t kFewest = 16;
    std::vector<Slot> before(slots_.empty() ? kFewest : slots_.size() * 2);
    before.swap(slots_);
    for (const Slot& slot : before) {
      if (slot.node != nullptr) place(slot);
    }
  }

  std::vector<Slot> slots_;  // a power of two, at most three quarters in use
  size_t count_ = 0;
};

}  // namespace shiplog
