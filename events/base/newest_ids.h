#pragma once

#include <cstddef>
#include <deque>
#include <utility>
#include <vector>

#include "events/base/ids.h"

namespace shiplog {

/// The newest `window` entry ids, and whether one is among them, in constant time. It cannot be walked through: how a
/// hash table orders its keys differs between builds, and must not reach what decides.
class NewestIds {
 public:
  explicit NewestIds(size_t window) : window_{window} {}

  bool contains(const EntryId& id) const {
    if (id.empty()) return has_empty_;
    return !slots_.empty() && slots_[slot_of(id)] == id;
  }
  /// A hint: contains() and insert() are called with it soon.
  void expect(const EntryId& id) const {
    if (!slots_.empty()) __builtin_prefetch(&slots_[home_of(id)]);
  }
  /// Forgets the oldest when there are too many. An id that is there already stays where it is.
  void insert(const EntryId& id) {
    if (id.empty()) {
      if (std::exchange(has_empty_, true)) return;
    } else {
      if ((order_.size() + 1) * 2 > slots_.size()) grow();
      EntryId& slot = slots_[slot_of(id)];
      if (!slot.empty()) return;
      slot = id;
    }
    order_.push_back(id);
    if (order_.size() <= window_) return;
    erase(order_.front());
    order_.pop_front();
    // The next one to be erased is somewhere else in memory, too.
    if (!order_.empty()) __builtin_prefetch(&slots_[home_of(order_.front())]);
  }

 private:
  size_t mask() const { return slots_.size() - 1; }
  // Ids are random: any of their bytes will do.
  size_t home_of(const EntryId& id) const { return id.words()[0] & mask(); }
  /// Where it is, or would be.
  size_t slot_of(const EntryId& id) const {
    size_t at = home_of(id);
    while (!slots_[at].empty() && slots_[at] != id) at = (at + 1) & mask();
    return at;
  }
  void erase(const EntryId& id) {
    if (id.empty()) {
      has_empty_ = false;
      return;
    }
    size_t hole = slot_of(id);
    // What stands behind the hole, and would not be found past it, moves into it.
    for (size_t at = (hole + 1) & mask(); !slots_[at].empty(); at = (at + 1) & mask()) {
      const size_t home = home_of(slots_[at]);
      if (((at - home) & mask()) < ((at - hole) & mask())) continue;
      slots_[hole] = slots_[at];
      hole = at;
    }
    slots_[hole] = {};
  }
  void grow() {
    constexpr size_t kFewest = 16;
    std::vector<EntryId> before(slots_.empty() ? kFewest : slots_.size() * 2);
    before.swap(slots_);
    for (const EntryId& id : before) {
      if (!id.empty()) slots_[slot_of(id)] = id;
    }
  }

  size_t window_;
  std::deque<EntryId> order_;
  std::vector<EntryId> slots_;  // a power of two, at most half in use; the empty id: free
  bool has_empty_ = false;
};

}  // namespace shiplog
