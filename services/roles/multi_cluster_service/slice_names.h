#pragma once

#include <optional>
#include <string>

#include "events/base/ids.h"

namespace shiplog::multi_cluster_service {

inline constexpr char kSeparator = ':';  // in no name of a cluster, slice or Service

/// What a slice_key() or collection_key() is about.
struct SliceName {
  std::string cluster, ns, name;
};
inline std::optional<SliceName> slice_name_of(const ObjectKey& key) {
  const std::string name = key.name.str();
  const size_t at = name.find(kSeparator);
  if (at == std::string::npos) return std::nullopt;
  return SliceName{name.substr(0, at), key.ns.str(), name.substr(at + 1)};
}

/// The name of a provider's slice in the control plane.
inline std::string imported_name(const std::string& cluster, const std::string& slice) {
  return "imported-" + cluster + "-" + slice;
}

}  // namespace shiplog::multi_cluster_service
