#pragma once

#include <cstddef>
#include <deque>

#include "events/base/hash.h"
#include "events/base/json.h"
#include "events/base/value.h"

namespace shiplog::collector {

/// Members of one kind serve the same APIs: what many of them have in common is held once. Threads: one.
class CommonValues {
 public:
  /// An equal value that was seen lately, or this one.
  Value held(Value value) {
    const Hash128 hash = siphash128(to_json(value));
    for (const Known& known : known_) {
      if (known.hash == hash && known.value == value) return known.value;
    }
    if (known_.size() == kMost) known_.pop_front();
    known_.push_back({hash, value});
    return value;
  }

 private:
  static constexpr size_t kMost = 32;
  struct Known {
    Hash128 hash;
    Value value;
  };
  std::deque<Known> known_;
};

}  // namespace shiplog::collector
