#include <map>
#include <set>

#include "events/base/names.h"
#include "events/base/quantity.h"
#include "events/state/object.h"
#include "services/api/admission/field_checks.h"
#include "services/api/admission/resource_names.h"
#include "services/api/admission/rules.h"

// FederatedResourceQuota (Q-2, KIND-8) and ClusterTaintPolicy (TN-14).

namespace shiplog::api {
namespace {

void check_quota(const Value& object, const Write&, Causes& causes) {
  if (object["metadata"]["name"].as_string().size() > 63) {
    causes.invalid("metadata.name", object["metadata"]["name"], "must be no more than 63 characters");
  }
  const Value& overall = object["spec"]["overall"];
  check_quota_list(overall, "spec.overall", causes);
  std::map<std::string, Quantity> assigned;
  const Value& assignments = object["spec"]["staticAssignments"];
  for (size_t i = 0; i < assignments.size(); ++i) {
    const std::string field = at("spec.staticAssignments", i);
    const Value& cluster = assignments[i]["clusterName"];
    if (cluster.as_string().size() > 48) {
      causes.invalid(field + ".clusterName", cluster, "must be no more than 48 characters");
    } else if (const auto problem = label_problem(cluster.as_string())) {
      causes.invalid(field + ".clusterName", cluster, *problem);
    }
    check_quota_list(assignments[i]["hard"], field + ".hard", causes);
    for (const auto& limit : assignments[i]["hard"].members()) {
      const auto amount = parse_quantity(quantity_text(limit.value));
      if (!amount) continue;
      Quantity& sum = assigned[std::string{limit.key()}];
      sum = sum + amount.value();
    }
  }
  for (const auto& [name, sum] : assigned) {
    const Value* limit = overall.find(name);
    if (limit == nullptr) {
      causes.invalid("spec.overall[" + name + "]", Value{name}, "assignment resourceName is not exist in overall");
      continue;
    }
    const auto most = parse_quantity(quantity_text(*limit));
    if (most && most.value() < sum) {
      causes.invalid("spec.overall[" + name + "]", *limit, "overall is less than assignments");
    }
  }
}

void check_taint_policy(const Value& object, const Write& write, Causes& causes) {
  std::set<std::pair<std::string, std::string>> pairs;
  const Value& taints = object["spec"]["taints"];
  for (size_t i = 0; i < taints.size(); ++i) {
    const std::string key = taints[i]["key"].str();
    const std::string effect = taints[i]["effect"].str();
    if (!pairs.emplace(key, effect).second) {
      causes.invalid(at("spec.taints", i), taints[i],
                     "Duplicate taint with the same key(" + key + ") and effect(" + effect + ") is not allowed");
    }
    if (effect == "NoExecute" && !write.allows_no_execute_policies) {
      causes.invalid(at("spec.taints", i) + ".effect", taints[i]["effect"],
                     "Configuring taint with NoExecute effect is not allowed, this capability must be explicitly "
                     "enabled by administrators through command-line flags");
    }
  }
}

}  // namespace

const std::vector<Rules>& quota_rules() {
  static const std::vector<Rules> kRules = {
      {.type = type::kFederatedResourceQuota, .webhook = "federatedresourcequota.karmada.io", .check = check_quota},
      {.type = type::kClusterTaintPolicy, .webhook = "clustertaintpolicy.karmada.io", .check = check_taint_policy},
  };
  return kRules;
}

}  // namespace shiplog::api
