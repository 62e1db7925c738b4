#include "services/api/admission/scheduling_rules.h"

#include <charconv>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "services/api/admission/field_checks.h"

// Source: ValidateTolerations, validateAffinity and validateTopologySpreadConstraints in pkg/apis/core/validation of
// Kubernetes 1.36. What only some of its versions refuse is accepted: members may have others.

namespace shiplog::api {
namespace {

constexpr const char* kRequiredAffinity = "requiredDuringSchedulingIgnoredDuringExecution";
constexpr const char* kPreferredAffinity = "preferredDuringSchedulingIgnoredDuringExecution";

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

/// No node has a label with another kind of value. In what is only preferred Kubernetes leaves it.
void check_node_values(const Value& term, const std::string& field, Causes& causes) {
  for (size_t i = 0; i < term["matchExpressions"].size(); ++i) {
    const Value& values = term["matchExpressions"][i]["values"];
    for (size_t j = 0; j < values.size(); ++j) {
      const auto problem = label_value_problem(values[j].as_string());
      if (problem) causes.invalid(at(at(field + ".matchExpressions", i) + ".values", j), values[j], *problem);
    }
  }
}

void check_weight(const Value& weight, const std::string& field, Causes& causes) {
  if (weight.as_int() >= 1 && weight.as_int() <= 100) return;
  causes.invalid(field, weight.is_null() ? Value{0} : weight, "must be in the range 1-100");
}

void check_node_affinity(const Value& affinity, const std::string& field, Causes& causes) {
  const Value& required = affinity[kRequiredAffinity];
  if (!required.is_null()) {
    check_node_selector(required, field + "." + kRequiredAffinity, causes);
  }
  const Value& preferred = affinity[kPreferredAffinity];
  for (size_t i = 0; i < preferred.size(); ++i) {
    const std::string here = at(field + "." + kPreferredAffinity, i);
    check_weight(preferred[i]["weight"], here + ".weight", causes);
    check_node_term(preferred[i]["preference"], here + ".preference", causes);
  }
}

/// Labels of the pod itself that select pods too, or none of them. Kubernetes names the first of three problems so.
void check_label_keys(const Value& term, const std::string& field, Causes& causes) {
  const Value& keys = term["matchLabelKeys"];
  const Value& others = term["mismatchLabelKeys"];
  if (keys.size() + others.size() == 0) return;
  const Value& selector = term["labelSelector"];
  for (const char* name : {"matchLabelKeys", "mismatchLabelKeys"}) {
    if (selector.is_null() && term[name].size() > 0) {
      causes.forbidden(field + "." + name, "must not be specified when labelSelector is not set");
      continue;
    }
    for (size_t i = 0; i < term[name].size(); ++i) check_key(term[name][i], at(field + "." + name, i), causes);
  }
  std::map<std::string_view, size_t> index;
  for (size_t i = 0; i < keys.size(); ++i) index.insert_or_assign(keys[i].as_string(), i);
  std::set<std::string_view> selected;
  for (const auto& label : selector["matchLabels"].members()) selected.insert(label.key());
  for (const Value& expression : selector["matchExpressions"].items()) {
    const auto found = index.find(expression["key"].as_string());
    if (!selected.insert(expression["key"].as_string()).second && found != index.end()) {
      causes.invalid(at(field, found->second), expression["key"], "exists in both matchLabelKeys and labelSelector");
    }
  }
  std::set<std::string_view> mismatched;
  for (const Value& key : others.items()) mismatched.insert(key.as_string());
  for (size_t i = 0; i < keys.size(); ++i) {
    if (!mismatched.contains(keys[i].as_string())) continue;
    causes.invalid(at(field + ".matchLabelKeys", i), keys[i], "exists in both matchLabelKeys and mismatchLabelKeys");
  }
}

void check_pod_term(const Value& term, const std::string& field, Causes& causes) {
  check_selector(term["labelSelector"], field + ".labelSelector", causes);
  check_selector(term["namespaceSelector"], field + ".namespaceSelector", causes);
  check_label_keys(term, field, causes);
  if (term["topologyKey"].is_empty()) {
    causes.required(field + ".topologyKey", "can not be empty");
  } else {
    check_key(term["topologyKey"], field + ".topologyKey", causes);
  }
}

void check_pod_affinity(const Value& affinity, const std::string& field, Causes& causes) {
  const Value& required = affinity[kRequiredAffinity];
  for (size_t i = 0; i < required.size(); ++i) {
    check_pod_term(required[i], at(field + "." + kRequiredAffinity, i), causes);
  }
  const Value& preferred = affinity[kPreferredAffinity];
  for (size_t i = 0; i < preferred.size(); ++i) {
    const std::string here = at(field + "." + kPreferredAffinity, i);
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
    check_label_keys(spread, here, causes);
    check_selector(spread["labelSelector"], here + ".labelSelector", causes);
  }
}

/// As a person writes a number: no plus, no zero in front.
void check_whole_number(const Value& value, const std::string& field, Causes& causes) {
  const std::string_view text = value.as_string();
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc{} && end == text.data() + text.size() && std::to_string(number) == text) return;
  if (text.empty()) return causes.invalid(field, Value{text}, "must be non-empty");
  causes.invalid(field, Value{text}, "must be a valid decimal integer in canonical form");
}

/// The pods that a term selects have the same value of these labels, or another one.
void merge_label_keys(Value& term, const Value& labels) {
  if (term["labelSelector"].is_null()) return;
  constexpr std::pair<const char*, const char*> kLists[] = {{"matchLabelKeys", "In"}, {"mismatchLabelKeys", "NotIn"}};
  for (const auto& [list, op] : kLists) {
    const Value keys = term[list];
    for (const Value& key : keys.items()) {
      const Value* label = labels.find(key.as_string());
      if (label == nullptr) continue;
      Value& selector = term.edit("labelSelector");
      if (!selector["matchExpressions"].is_array()) selector.set("matchExpressions", Value::array());
      selector.edit("matchExpressions")
          .push_back(Value::object({{"key", key}, {"operator", op}, {"values", Value::array({*label})}}));
    }
  }
}

/// A group of pods that are scheduled together.
void check_scheduling_group(const Value& group, const std::string& field, Causes& causes) {
  if (group.is_null()) return;
  const Value& name = group["podGroupName"];
  if (name.is_null()) return causes.invalid(field + ".podGroupName", name, "must specify one of: `podGroupName`");
  if (const auto problem = subdomain_problem(name.as_string())) causes.invalid(field + ".podGroupName", name, *problem);
}

}  // namespace

void fill_label_keys(Value& spec, const Value& labels) {
  if (spec["topologySpreadConstraints"].size() > 0) {
    for (Value& spread : spec.edit("topologySpreadConstraints").edit_items()) merge_label_keys(spread, labels);
  }
  for (const char* type : {"podAffinity", "podAntiAffinity"}) {
    if (!spec["affinity"][type].is_object()) continue;
    Value& affinity = spec.edit("affinity").edit(type);
    if (affinity[kRequiredAffinity].size() > 0) {
      for (Value& term : affinity.edit(kRequiredAffinity).edit_items()) merge_label_keys(term, labels);
    }
    if (affinity[kPreferredAffinity].size() == 0) continue;
    for (Value& term : affinity.edit(kPreferredAffinity).edit_items()) {
      if (term["podAffinityTerm"].is_object()) merge_label_keys(term.edit("podAffinityTerm"), labels);
    }
  }
}

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
  } else if (op == "Lt" || op == "Gt") {  // only with a feature gate of newer versions
    check_whole_number(value, field + ".value", causes);
  } else {
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
  for (size_t i = 0; i < terms.size(); ++i) {
    check_node_term(terms[i], at(here, i), causes);
    check_node_values(terms[i], at(here, i), causes);
  }
}

void check_scheduling(const Value& spec, const std::string& field, Causes& causes) {
  if (const Value& affinity = spec["affinity"]; !affinity.is_null()) {
    check_node_affinity(affinity["nodeAffinity"], field + ".affinity.nodeAffinity", causes);
    for (const char* name : {"podAffinity", "podAntiAffinity"}) {
      check_pod_affinity(affinity[name], field + ".affinity." + name, causes);
    }
  }
  check_scheduling_group(spec["schedulingGroup"], field + ".schedulingGroup", causes);
  check_spreads(spec["topologySpreadConstraints"], field + ".topologySpreadConstraints", causes);
  for (size_t i = 0; i < spec["tolerations"].size(); ++i) {
    check_toleration(spec["tolerations"][i], at(field + ".tolerations", i), causes);
  }
}

}  // namespace shiplog::api
