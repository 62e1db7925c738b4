#include "events/explain/fact_texts.h"
#include "events/explain/text.h"

namespace shiplog {

std::string override_policy_text(const std::string& policy_namespace, const std::string& policy) {
  return policy_namespace.empty() ? "cluster override policy(" + policy + ")"
                                  : "override policy(" + policy_namespace + "/" + policy + ")";
}

namespace explain {

std::string text(const ManifestRendered& fact, const Explanation&) {
  std::string text = "rendered " + fact.kind + " " + fact.name + " for " + fact.cluster;
  if (fact.divisible) text += " with " + std::to_string(fact.replicas) + " replicas";
  return text;
}

std::string text(const OverrideApplied& fact, const Explanation&) {
  return override_policy_text(fact.policy_namespace, fact.policy) + ", rule " + std::to_string(fact.rule) + ": " +
         (fact.change.empty() ? "changes nothing" : fact.change);
}

std::string text(const OverridePolicyForbidden& fact, const Explanation&) {
  return override_policy_text(fact.policy_namespace, fact.policy) + ": not applied, " + fact.reason;
}

std::string text(const TargetsRendered& fact, const Explanation&) {
  return fact.failed_before ? "every target is rendered again" : "every target is rendered: an eviction waits for them";
}

std::string text(const TargetsFailed& fact, const Explanation&) {
  return "not rendered for " + std::to_string(fact.count) + " of the targets";
}

std::string text(const OverrideFailed& fact, const Explanation&) {
  return "Apply " + override_policy_text(fact.policy_namespace, fact.policy) + " for cluster(" + fact.cluster +
         ") failed: rule " + std::to_string(fact.rule) + ": " + fact.cause;
}

std::string text(const RenderFailed& fact, const Explanation&) { return fact.cause; }

}  // namespace explain
}  // namespace shiplog
