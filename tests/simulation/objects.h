#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "events/base/ids.h"
#include "events/base/value.h"
#include "tests/simulation/timeline.h"

namespace shiplog::simulation {

inline constexpr const char* kDeployments = "deployments.apps";
inline constexpr const char* kConfigMaps = "configmaps";
inline constexpr const char* kClusterRoles = "clusterroles.rbac.authorization.k8s.io";
inline constexpr const char* kClusterRoleBindings = "clusterrolebindings.rbac.authorization.k8s.io";

// Whole objects, as the API server would append them: defaulted, with generation 1 where the kind has one.
Value cluster_object(const std::string& name, const std::string& region);
Value deployment(const std::string& ns, const std::string& name, const std::string& app, int64_t replicas,
                 int64_t cpu_milli);
Value config_map(const std::string& ns, const std::string& name, const std::string& app, const std::string& text);
Value cluster_role(const std::string& name, const std::string& app);
/// Permits the use of the proxy of one cluster, or of all of them when `cluster` is empty.
Value proxy_role(const std::string& name, const std::string& cluster);
Value proxy_binding(const std::string& name, const std::string& role, const std::string& user);
Value federated_quota(const std::string& ns, const std::string& name, int64_t cpu_milli);
/// Taints a cluster that is not Ready: NoSchedule, and NoExecute as well when `evict`.
Value taint_policy(const std::string& name, bool evict);

/// Where to and how, at random; names some of `clusters`.
Value random_placement(Chance& chance, const std::vector<std::string>& clusters);
/// A PropagationPolicy of `ns`, or a ClusterPropagationPolicy when that is empty.
Value policy(const std::string& ns, const std::string& name, Value selectors, Value placement);
/// An OverridePolicy of `ns`, or a ClusterOverridePolicy when that is empty: selectors, clusters and overriders at
/// random, among them some that cannot be applied to what they select.
Value override_policy(Chance& chance, const std::string& ns, const std::string& name,
                      const std::vector<std::string>& clusters);
Value selector(const char* api_version, const char* kind, const std::string& ns, const std::string& name,
               const std::string& app);

}  // namespace shiplog::simulation
