#include "events/state/override_policy.h"

#include <algorithm>

namespace shiplog {
namespace {

OverrideRule rule_from(const Value& target, const Value& overriders) {
  return {target.is_object() ? std::optional{cluster_affinity_from(target)} : std::nullopt, overriders};
}

}  // namespace

bool OverridePolicy::selects_by_cluster_fields() const {
  return std::ranges::any_of(rules, [](const OverrideRule& rule) {
    return rule.clusters && (rule.clusters->labels || !rule.clusters->fields.empty());
  });
}

OverridePolicy override_policy_from(const Value& object) {
  const Value& spec = object["spec"];
  const Value& metadata = object["metadata"];
  OverridePolicy policy{SharedText::of(metadata["namespace"]), SharedText::of(metadata["name"]), {}, {}};
  policy.selectors = resource_selectors_from(spec["resourceSelectors"], policy.ns);
  for (const Value& rule : spec["overrideRules"].items()) {
    policy.rules.push_back(rule_from(rule["targetCluster"], rule["overriders"]));
  }
  // The API refuses a policy with both forms.
  if (policy.rules.empty() && (!spec["overriders"].is_empty() || spec["targetCluster"].is_object())) {
    policy.rules.push_back(rule_from(spec["targetCluster"], spec["overriders"]));
  }
  return policy;
}

SelectorMatch match(const OverridePolicy& policy, const Value& object) {
  if (!policy.cluster_scoped() && object["metadata"]["namespace"].as_string() != policy.ns) return SelectorMatch::kNone;
  if (policy.selectors.empty()) return SelectorMatch::kAll;
  return strongest_match(policy.selectors, object);
}

}  // namespace shiplog
