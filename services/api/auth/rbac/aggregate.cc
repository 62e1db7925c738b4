#include "services/api/auth/rbac/aggregate.h"

#include <algorithm>
#include <set>
#include <string>

#include "events/base/json.h"
#include "events/state/policy.h"
#include "services/api/auth/rbac/policy.h"

namespace shiplog::api {

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
    if (!std::ranges::any_of(selectors, [&](const LabelSelector& one) { return one.matches(labels); })) continue;
    for (const Value& rule : role.value["rules"].items()) {
      if (known.insert(to_json(rule)).second) rules.push_back(rule);
    }
  }
  return Value::array(std::move(rules));
}

std::vector<std::pair<ObjectKey, Value>> outdated_aggregates(const State::Objects& cluster_roles) {
  std::vector<std::pair<ObjectKey, Value>> outdated;
  for (const auto& [name, role] : cluster_roles) {
    if (role.value["aggregationRule"].is_null() || deleting(role.value)) continue;
    Value rules = aggregated_rules(role.value, cluster_roles);
    if (rules == role.value["rules"] || (rules.size() == 0 && role.value["rules"].size() == 0)) continue;
    Value wanted = role.value;
    wanted.set("rules", std::move(rules));
    outdated.emplace_back(ObjectKey{rbac::kClusterRole, "", name.name}, std::move(wanted));
  }
  return outdated;
}

}  // namespace shiplog::api
