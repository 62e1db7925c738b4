#pragma once

#include <array>
#include <bit>
#include <compare>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "events/base/result.h"
#include "events/base/shared_text.h"

namespace shiplog {

/// Position of an entry in its journal backend. Grows, may have gaps. The first entry of a journal is at 0 or above.
struct Offset {
  int64_t value = 0;
  auto operator<=>(const Offset&) const = default;
};

/// Counts accepted object changes from the first entry on: the Kubernetes resourceVersion. 0 is the empty fleet.
struct Revision {
  uint64_t value = 0;
  auto operator<=>(const Revision&) const = default;
};

/// 128 random bits chosen at the edge. A retry carries the same id, so that the fold drops the duplicate.
struct EntryId {
  std::array<uint8_t, 16> bytes = {};
  auto operator<=>(const EntryId&) const = default;
  // As two words: many are compared for each entry.
  bool operator==(const EntryId& other) const { return words() == other.words(); }
  bool empty() const { return words() == std::array<uint64_t, 2>{}; }
  std::array<uint64_t, 2> words() const { return std::bit_cast<std::array<uint64_t, 2>>(bytes); }
};

/// 32 lower-case hexadecimal digits.
std::string to_string(const EntryId& id);

/// A UUID (RFC 4122 shape, version 8: "custom") derived from an entry and the position of an event in it. This is how
/// objects get their metadata.uid: the id is random, so the uid is unique, and a replay gives the same one.
std::string uid_from(const EntryId& id, size_t event_index);

/// Names one object. `type` is the group-resource as kubectl writes it: "deployments.apps", "configmaps".
struct ObjectKey {
  SharedText type;
  SharedText ns;  ///< empty for cluster-scoped objects
  SharedText name;
  auto operator<=>(const ObjectKey&) const = default;
  // Of the keys that are compared few have the same name, and many the same type.
  bool operator==(const ObjectKey& other) const { return name == other.name && ns == other.ns && type == other.type; }
  bool empty() const { return type.empty(); }
};

/// "deployments.apps/default/nginx"; cluster-scoped: "clusters.cluster.karmada.io/m1".
std::string to_string(const ObjectKey& key);
/// Reads what to_string writes. Error: kBadRequest.
Result<ObjectKey> parse_object_key(std::string_view text);

}  // namespace shiplog

template <>
struct std::hash<shiplog::EntryId> {
  size_t operator()(const shiplog::EntryId& id) const noexcept;
};
/// Not noexcept, so that libstdc++ stores the hash with each entry of a table. Otherwise a look-up computes it again
/// for the entries that it passes, whose strings are rarely in the processor's caches.
template <>
struct std::hash<shiplog::ObjectKey> {
  size_t operator()(const shiplog::ObjectKey& key) const;
};
