#include "services/programs/shiplogctl/policies.h"

#include "events/base/api_version.h"
#include "events/state/work.h"

namespace shiplog::ctl {
namespace {

constexpr const char* kPolicies = "policy.karmada.io/v1alpha1";

Value selector_of(const PolicyTarget& target) {
  return Value::object({{"apiVersion", target.api_version}, {"kind", target.kind}, {"name", target.name}});
}

Value policy(const PolicyTarget& target, const std::string& name, Value spec) {
  Value metadata = Value::object({{"name", name}});
  if (!target.ns.empty()) metadata.set("namespace", target.ns);
  return Value::object({{"apiVersion", kPolicies},
                        {"kind", target.ns.empty() ? "ClusterPropagationPolicy" : "PropagationPolicy"},
                        {"metadata", std::move(metadata)},
                        {"spec", std::move(spec)}});
}

Value placement_of(const std::vector<std::string>& clusters) {
  Value affinity = Value::object();
  if (!clusters.empty()) {
    Value names = Value::array();
    for (const std::string& cluster : clusters) names.push_back(cluster);
    affinity.set("clusterNames", std::move(names));
  }
  return Value::object({{"clusterAffinity", std::move(affinity)}});
}

}  // namespace

std::string policy_name(const PolicyTarget& target) {
  const GroupVersion parts = split_api_version(target.api_version);
  const std::string type = std::string{parts.group} + "/" + std::string{parts.version} + ", Kind=" + target.kind;
  return dns_name(target.name) + "-" + safe_hash(target.ns + type);
}

std::string policy_collection(const PolicyTarget& target) {
  const std::string base = std::string{"/apis/"} + kPolicies;
  return target.ns.empty() ? base + "/clusterpropagationpolicies"
                           : base + "/namespaces/" + target.ns + "/propagationpolicies";
}

Value applied_policy(const PolicyTarget& target, const std::vector<std::string>& clusters) {
  Value selector = selector_of(target);
  if (!target.ns.empty()) selector.set("namespace", target.ns);
  return policy(target, policy_name(target),
                Value::object({{"resourceSelectors", Value::array({std::move(selector)})},
                               {"placement", placement_of(clusters)}}));
}

Value promoted_policy(const PolicyTarget& target, const std::string& name, const std::string& cluster,
                      bool with_dependencies) {
  Value spec = Value::object({{"resourceSelectors", Value::array({selector_of(target)})},
                              {"placement", placement_of({cluster})},
                              {"conflictResolution", "Overwrite"},
                              {"preserveResourcesOnDeletion", true}});
  if (with_dependencies) spec.set("propagateDeps", true);
  return policy(target, name.empty() ? policy_name(target) : name, std::move(spec));
}

}  // namespace shiplog::ctl
