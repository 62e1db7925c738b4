#include "services/roles/remedy/decide.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "events/state/condition.h"
#include "events/state/object.h"

namespace shiplog::remedy {
namespace {

/// 5.6.2: a condition that the cluster does not have matches nothing, not even NotEqual.
bool matches(const Value& match, const Value& cluster) {
  const Value& wanted = match["clusterConditionMatch"];
  if (wanted.is_null()) return false;
  const Value& condition = condition_of(cluster, wanted["conditionType"].as_string());
  if (condition.is_null()) return false;
  const bool equal = condition["status"] == wanted["conditionStatus"];
  return wanted["operator"].as_string() == "NotEqual" ? !equal : equal;
}

bool acts_on(const Value& remedy, const Value& cluster) {
  const Value& spec = remedy["spec"];
  if (!spec["clusterAffinity"].is_null()) {
    const auto names = spec["clusterAffinity"]["clusterNames"].items();
    if (std::ranges::find(names, cluster["metadata"]["name"]) == names.end()) return false;
  }
  // Without the list it always acts, with an empty one never.
  if (spec["decisionMatches"].is_null()) return true;
  return std::ranges::any_of(spec["decisionMatches"].items(),
                             [&](const Value& match) { return matches(match, cluster); });
}

}  // namespace

Result<Decided> decide(const State& state, const ObjectKey& key, UtcMillis /*now*/) {
  const Object* cluster = state.find(key);
  if (cluster == nullptr || deleting(cluster->value) || !state.options().controller_on(kController)) return Nothing{};
  std::set<std::string> actions;
  for (const auto& [name, remedy] : state.objects(kRemedy)) {
    if (deleting(remedy.value) || !acts_on(remedy.value, cluster->value)) continue;
    for (const Value& action : remedy.value["spec"]["actions"].items()) actions.insert(action.str());
  }
  Value list = Value::array();
  for (const std::string& action : actions) list.push_back(action);
  const Value& recorded = cluster->value["status"]["remedyActions"];
  if (list == recorded || (list.size() == 0 && recorded.is_null())) return Nothing{};
  Value wanted = cluster->value;
  if (list.size() == 0) {
    wanted.edit("status").erase("remedyActions");
  } else {
    wanted.edit("status").set("remedyActions", std::move(list));
  }
  return decide_one(StatusUpdated{key, std::move(wanted)}, {key, cluster->revision});
}

}  // namespace shiplog::remedy
