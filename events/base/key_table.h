#pragma once

#include <cstddef>
#include <functional>
#include <type_traits>
#include <unordered_map>

#include "events/base/ids.h"

namespace shiplog {

/// Not noexcept, unlike std::hash<ObjectKey>: libstdc++ keeps the hash of each entry then. Otherwise a look-up computes
/// it anew for the entries that it passes, of which two strings are outside of the processor's caches in a large table.
struct KeptHash {
  size_t operator()(const ObjectKey& key) const { return std::hash<ObjectKey>{}(key); }
};

static_assert(!std::is_nothrow_invocable_v<KeptHash, const ObjectKey&>);

/// A hash table by key, for many keys.
template <class T>
using KeyTable = std::unordered_map<ObjectKey, T, KeptHash>;

}  // namespace shiplog
