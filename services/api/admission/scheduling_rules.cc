#include "services/api/admission/scheduling_rules.h"

#include <set>
#include <utility>

#include "services/api/admission/field_checks.h"

// Source: ValidateTolerations, validateAffinity and validateTopologySpreadConstraints in pkg/apis/core/validation of
// Kubernetes 1.37. What only some of its versions refuse is accepted: members may have others.

namespace shiplog::api {
namespace {

void check_key(const Value& key, const std::string& field, Causes& causes) {
  if (const auto problem = qualified_name_problem(key.as_string())) {
    causes.invalid(field, key.is_null() ? Value{""} : key, *problem);
  }
}

void check_node_label(const Value& requirement, const std::string& field, Causes& causes) {
  const std::string_view op = requirement["operator"].as_string();
  const size_t values = requirement["values"].size();
  if (op == "In" || op == "NotIn") {
    if (values == 0) causes.required(field + ".values", "must be specified when `operator` is 'In' or 'NotIn'");
  } else if (op == "Exists" || op == "DoesNotExist") {
    if (values > 0) {
      causes.forbidden(field + ".values", "may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
    }
  } else if (op == "Gt" || op == "Lt") {
    if (values != 1) {
      causes.required(field + ".values", "must be specified single value when `operator` is 'Lt' or 'Gt'");
    }
  } else {
    causes.invalid(field + ".operator", Value{op}, "not a valid selector operator");
  }
  check_key(requirement["key"], field + ".key", causes);
}

void check_node_field(const Value& requirement, const std::string& field, Causes& causes) {
  const std::string_view op = requirement["operator"].as_string();
  if (op != "In" && op != "NotIn") {
    causes.invalid(field + ".operator", Value{op}, "not a valid selector operator");
  } else if (requirement["values"].size() != 1) {
    causes.required(field + ".values",
                    "must be only one value when `operator` is 'In' or 'NotIn' for node field selector");
  }
  if (requirement["key"].as_string() != "metadata.name") {
    causes.invalid(field + ".key", Value{requirement["key"].as_string()}, "not a valid field selector key");
  }
}

void check_node_term(const Value& term, const std::string& field, Causes& causes) {
  for (size_t i = 0; i < term["matchExpressions"].size(); ++i) {
    check_node_label(term["matchExpressions"][i], at(field + ".matchExpressions", i), causes);
  }
  for (size_t i = 0; i < term["matchFields"].size(); ++i) {
    check_node_field(term["matchFields"][i], at(field + ".matchFields", i), causes);
  }
}

void check_weight(const Value& weight, const std::string& field, Causes& causes) {
  if (weight.as_int() >= 1 && weight.as_int() <= 100) return;
  causes.invalid(field, weight.is_null() ? Value{0} : weight, "must be in the range 1-100");
}

void check_node_affinity(const Value& affinity, const std::string& field, Causes& causes) {
  const Value& required = affinity["requiredDuringSchedulingIgnoredDuringExecution"];
  if (!required.is_null()) {
    check_node_selector(required, field + ".requiredDuringSchedulingIgnoredDuringExecution", causes);
  }
  const Value& preferred = affinity["preferredDuringSchedulingIgnoredDuringExecution"];
  for (size_t i = 0; i < preferred.size(); ++i) {
    const std::string here = at(field + ".preferredDuringSchedulingIgnoredDuringExecution", i);
    check_weight(preferred[i]["weight"], here + ".weight", causes);
    check_node_term(preferred[i]["preference"], here + ".preference", causes);
  }
}

void check_pod_term(const Value& term, const std::string& field, Causes& causes) {
  check_selector(term["labelSelector"], field + ".labelSelector", causes);
  check_selector(term["namespaceSelector"], field + ".namespaceSelector", causes);
  if (term["topologyKey"].is_empty()) {
    causes.required(field + ".topologyKey", "can not be empty");
  } else {
    check_key(term["topologyKey"], field + ".topologyKey", causes);
  }
}

void check_pod_affinity(const Value& affinity, const std::string& field, Causes& causes) {
  const Value& required = affinity["requiredDuringSchedulingIgnoredDuringExecution"];
  for (size_t i = 0; i < required.size(); ++i) {
    check_pod_term(required[i], at(field + ".requiredDuringSchedulingIgnoredDuringExecution", i), causes);
  }
  const Value& preferred = affinity["preferredDuringSchedulingIgnoredDuringExecution"];
  for (size_t i = 0; i < preferred.size(); ++i) {
    const std::string here = at(field + ".preferredDuringSchedulingIgnoredDuringExecution", i);
    check_weight(preferred[i]["weight"], here + ".weight", causes);
    check_pod_term(preferred[i]["podAffinityTerm"], here + ".podAffinityTerm", causes);
  }
}

void check_spreads(const Value& spreads, const std::string& field, Causes& causes) {
  // Upstream reports the earlier one of two that are alike: from the last to the first.
  std::set<std::pair<std::string_view, std::string_view>> later;
  std::set<size_t> repeated;
  for (size_t i = spreads.size(); i-- > 0;) {
    const Value& spread = spreads[i];
    if (!later.emplace(spread["topologyKey"].as_string(), spread["whenUnsatisfiable"].as_string()).second) {
      repeated.insert(i);
    }
  }
  for (size_t i = 0; i < spreads.size(); ++i) {
    const std::string here = at(field, i);
    const Value& spread = spreads[i];
    const std::string key = spread["topologyKey"].str();
    const std::string when = spread["whenUnsatisfiable"].str();
    if (spread["maxSkew"].as_int() <= 0) {
      causes.invalid(here + ".maxSkew", Value{spread["maxSkew"].as_int()}, "must be greater than zero");
    }
    if (key.empty()) causes.required(here + ".topologyKey", "can not be empty");
    if (when != "DoNotSchedule" && when != "ScheduleAnyway") {
      causes.not_supported(here + ".whenUnsatisfiable", Value{when}, {"DoNotSchedule", "ScheduleAnyway"});
    }
    if (repeated.contains(i)) {
      causes.duplicate(here + ".{topologyKey, whenUnsatisfiable}", Value{"{" + key + ", " + when + "}"});
    }
    if (const Value& domains = spread["minDomains"]; !domains.is_null()) {
      if (domains.as_int() <= 0) causes.invalid(here + ".minDomains", domains, "must be greater than zero");
      if (when != "DoNotSchedule") {
        causes.invalid(here + ".minDomains", domains,
                       "can only use minDomains if whenUnsatisfiable=DoNotSchedule, not " + when);
      }
    }
    for (const char* name : {"nodeAffinityPolicy", "nodeTaintsPolicy"}) {
      const Value& policy = spread[name];
      if (policy.is_null() || policy.as_string() == "Honor" || policy.as_string() == "Ignore") continue;
      causes.not_supported(here + "." + name, policy, {"Honor", "Ignore"});
    }
    check_selector(spread["labelSelector"], here + ".labelSelector", causes);
  }
}

}  // namespace

void check_toleration(const Value& toleration, const std::string& field, Causes& causes) {
  const Value& value = toleration["value"];
  const std::string_view op = toleration["operator"].as_string();
  const std::string_view effect = toleration["effect"].as_string();
  if (!toleration["key"].is_empty()) {
    check_key(toleration["key"], field + ".key", causes);
  } else if (op != "Exists") {
    causes.invalid(field + ".operator", Value{op},
                   "operator must be Exists when `key` is empty, which means \"match all values and all keys\"");
  }
  if (!toleration["tolerationSeconds"].is_null() && effect != "NoExecute") {
    causes.invalid(field + ".effect", Value{effect}, "effect must be 'NoExecute' when `tolerationSeconds` is set");
  }
  if (op.empty() || op == "Equal") {
    if (const auto problem = label_value_problem(value.as_string())) {
      causes.invalid(field + ".operator", value, *problem);
    }
  } else if (op == "Exists") {
    if (!value.is_empty())
      causes.invalid(field + ".operator", value, "value must be empty when `operator` is 'Exists'");
  } else if (op != "Lt" && op != "Gt") {  // these two exist in newer versions
    causes.not_supported(field + ".operator", toleration["operator"], {"Equal", "Exists"});
  }
  if (!effect.empty() && effect != "NoSchedule" && effect != "PreferNoSchedule" && effect != "NoExecute") {
    causes.not_supported(field + ".effect", toleration["effect"], {"NoSchedule", "PreferNoSchedule", "NoExecute"});
  }
}

void check_node_selector(const Value& selector, const std::string& field, Causes& causes) {
  const std::string here = field + ".nodeSelectorTerms";
  const Value& terms = selector["nodeSelectorTerms"];
  if (terms.size() == 0) causes.required(here, "must have at least one node selector term");
  for (size_t i = 0; i < terms.size(); ++i) check_node_term(terms[i], at(here, i), causes);
}

void check_scheduling(const Value& spec, const std::string& field, Causes& causes) {
  if (const Value& affinity = spec["affinity"]; !affinity.is_null()) {
    check_node_affinity(affinity["nodeAffinity"], field + ".affinity.nodeAffinity", causes);
    for (const char* name : {"podAffinity", "podAntiAffinity"}) {
      check_pod_affinity(affinity[name], field + ".affinity." + name, causes);
    }
  }
  check_spreads(spec["topologySpreadConstraints"], field + ".topologySpreadConstraints", causes);
  for (size_t i = 0; i < spec["tolerations"].size(); ++i) {
    check_toleration(spec["tolerations"][i], at(field + ".tolerations", i), causes);
  }
}

}  // namespace shiplog::api
