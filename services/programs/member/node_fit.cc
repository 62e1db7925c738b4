#include "services/programs/member/node_fit.h"

#include <algorithm>

#include "events/state/placement.h"
#include "events/state/policy.h"

namespace shiplog::member {
namespace {

bool holds(const Value& requirements, const Value& labels) {
  return label_selector_from(Value::object({{"matchExpressions", requirements}})).matches(labels);
}

bool term_matches(const Value& term, const Value& node) {
  const Value& expressions = term["matchExpressions"];
  const Value& fields = term["matchFields"];
  if (expressions.size() == 0 && fields.size() == 0) return false;
  return holds(expressions, node["metadata"]["labels"]) &&
         holds(fields, Value::object({{"metadata.name", node["metadata"]["name"]}}));
}

bool selected(const Value& pod_spec, const Value& node) {
  const Value& labels = node["metadata"]["labels"];
  for (const Value::Member& wanted : pod_spec["nodeSelector"].members()) {
    if (labels[wanted.key()] != wanted.value) return false;
  }
  const Value& required = pod_spec["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"];
  if (required.is_null()) return true;
  const auto terms = required["nodeSelectorTerms"].items();
  return std::ranges::any_of(terms, [&](const Value& term) { return term_matches(term, node); });
}

}  // namespace

std::optional<std::string> misfit(const Value& pod_spec, const Value& node) {
  const auto tolerations = tolerations_from(pod_spec["tolerations"]);
  const auto tolerated = [&](const Taint& taint) {
    return std::ranges::any_of(tolerations, [&](const Toleration& toleration) { return toleration.tolerates(taint); });
  };
  if (node["spec"]["unschedulable"].as_bool() &&
      !tolerated({.key = "node.kubernetes.io/unschedulable", .value = "", .effect = "NoSchedule"})) {
    return "node(s) were unschedulable";
  }
  for (const Value& entry : node["spec"]["taints"].items()) {
    const Taint taint{entry["key"].str(), entry["value"].str(), entry["effect"].str()};
    if (taint.effect != "PreferNoSchedule" && !tolerated(taint)) {
      return "node(s) had untolerated taint {" + taint.key + ": " + taint.value + "}";
    }
  }
  if (!selected(pod_spec, node)) return "node(s) didn't match Pod's node affinity/selector";
  return std::nullopt;
}

}  // namespace shiplog::member
