#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "events/base/ids.h"
#include "events/base/value.h"
#include "events/state/object.h"
#include "events/state/work.h"

// What lets the control plane act in a member as the users of the cluster proxy (1.17).

namespace shiplog {

/// The ClusterRole, the ClusterRoleBinding and the ServiceAccount that it acts with.
inline constexpr const char* kImpersonator = "karmada-impersonator";

/// Where the Work with the ClusterRole or the ClusterRoleBinding (`kind`) of a cluster is.
inline ObjectKey impersonation_work(std::string_view kind, std::string_view cluster) {
  return {type::kWork, execution_space(cluster), work_name(kind, "", kImpersonator)};
}

/// The Work is one of the two, written for `cluster`: it is the only kind of Work that a Cluster owns.
inline bool owned_by_cluster(const Value& work, std::string_view cluster) {
  return std::ranges::any_of(work["metadata"]["ownerReferences"].items(), [&](const Value& owner) {
    return owner["kind"].as_string() == "Cluster" && owner["name"].as_string() == cluster &&
           owner["apiVersion"].as_string().starts_with("cluster.karmada.io/");
  });
}

}  // namespace shiplog
