#pragma once

#include <cstddef>
#include <cstring>
#include <deque>
#include <unordered_set>

#include "events/base/ids.h"

namespace shiplog {

/// The newest `window` entry ids, and whether one is among them, in constant time. It cannot be walked through: how a
/// hash table orders its keys differs between builds, and must not reach what decides.
class NewestIds {
 public:
  explicit NewestIds(size_t window) : window_{window} {}

  bool contains(const EntryId& id) const { return ids_.contains(id); }
  /// Forgets the oldest when there are too many. An id that is there already stays where it is.
  void insert(const EntryId& id) {
    if (!ids_.insert(id).second) return;
    order_.push_back(id);
    if (order_.size() <= window_) return;
    ids_.erase(order_.front());
    order_.pop_front();
  }

 private:
  // Ids are random: any of their bytes will do.
  struct Hash {
    size_t operator()(const EntryId& id) const {
      size_t bytes = 0;
      std::memcpy(&bytes, id.bytes.data(), sizeof bytes);
      return bytes;
    }
  };

  size_t window_;
  std::deque<EntryId> order_;
  std::unordered_set<EntryId, Hash> ids_;
};

}  // namespace shiplog
