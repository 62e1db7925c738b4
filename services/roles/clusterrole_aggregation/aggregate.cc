#include "services/roles/clusterrole_aggregation/aggregate.h"

#include <algorithm>
#include <set>
#include <string>

#include "events/base/json.h"
#include "events/state/policy.h"
#include "events/state/rbac.h"

namespace shiplog::clusterrole_aggregation {

Value aggregated_rules(const Value& cluster_role, const State::Objects& cluster_roles) {
  std::vector<LabelSelector> selectors;
  for (const Value& selector : cluster_role["aggregationRule"]["clusterRoleSelectors"].items()) {
    selectors.push_back(label_selector_from(selector));
  }
  Value::Array rules;
  std::set<std::string> known;
  const Value& own_name = cluster_role["metadata"]["name"];
  for (const auto& [name, role] : cluster_roles) {
    if (name.name == own_name.as_string()) continue;
    const Value& labels = role.value["metadata"]["labels"];
    if (!std::ranges::any_of(selectors, [&](const LabelSelector& selector) { return selector.matches(labels); }))
      continue;
    for (const Value& rule : role.value["rules"].items()) {
      if (known.insert(to_json(rule)).second) rules.push_back(rule);
    }
  }
  return Value::array(std::move(rules));
}

std::optional<Value> up_to_date(const Value& cluster_role, const State::Objects& cluster_roles) {
  if (cluster_role["aggregationRule"].is_null() || deleting(cluster_role)) return std::nullopt;
  Value rules = aggregated_rules(cluster_role, cluster_roles);
  const Value& present = cluster_role["rules"];
  if (rules == present || (rules.size() == 0 && present.size() == 0)) return std::nullopt;
  Value wanted = cluster_role;
  wanted.set("rules", std::move(rules));
  return wanted;
}

std::vector<std::pair<ObjectKey, Value>> outdated_aggregates(const State::Objects& cluster_roles) {
  std::vector<std::pair<ObjectKey, Value>> outdated;
  for (const auto& [name, role] : cluster_roles) {
    auto wanted = up_to_date(role.value, cluster_roles);
    if (wanted) outdated.emplace_back(ObjectKey{rbac::kClusterRole, "", name.name}, std::move(*wanted));
  }
  return outdated;
}

}  // namespace shiplog::clusterrole_aggregation
