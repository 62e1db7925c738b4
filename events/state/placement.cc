#include "events/state/placement.h"

#include <algorithm>

namespace shiplog {
namespace {

std::vector<std::string> strings_from(const Value& list) {
  std::vector<std::string> strings;
  for (const Value& item : list.items()) strings.push_back(item.str());
  return strings;
}

bool contains(const std::vector<std::string>& list, const std::string& text) {
  return std::find(list.begin(), list.end(), text) != list.end();
}

// A cluster can be in several zones, so zone is no label: In means that they overlap, NotIn that they do not (S-17).
bool zones_hold(const LabelSelector::Requirement& requirement, const std::vector<std::string>& zones) {
  const bool overlap =
      std::any_of(zones.begin(), zones.end(), [&](const auto& zone) { return contains(requirement.values, zone); });
  if (requirement.op == "In") return overlap;
  if (requirement.op == "NotIn") return !overlap;
  if (requirement.op == "Exists") return !zones.empty();
  if (requirement.op == "DoesNotExist") return zones.empty();
  return false;
}

bool fields_hold(const std::vector<LabelSelector::Requirement>& fields, const Cluster& cluster) {
  Value rest = Value::object();
  for (const auto& requirement : fields) {
    if (requirement.key == "zone" && !zones_hold(requirement, cluster.zones)) return false;
    if (requirement.key == "zone") continue;
    Value item = Value::object({{"key", requirement.key}, {"operator", requirement.op}});
    for (const auto& value : requirement.values) item.edit("values").push_back(value);
    rest.edit("matchExpressions").push_back(std::move(item));
  }
  if (rest.size() == 0) return true;
  std::map<std::string, std::string> labels;  // an empty field is an absent key
  if (!cluster.provider.empty()) labels["provider"] = cluster.provider;
  if (!cluster.region.empty()) labels["region"] = cluster.region;
  return label_selector_from(rest).matches(labels);
}

Result<Strategy> strategy_from(const Value& scheduling) {
  if (scheduling.is_null()) return Strategy::kDuplicated;
  const auto type = scheduling["replicaSchedulingType"].as_string("Divided");
  if (type == "Duplicated") return Strategy::kDuplicated;
  if (type != "Divided") {
    return Error{ErrorCode::kInvalid, "spec.placement.replicaScheduling.replicaSchedulingType: unsupported value \"" +
                                          std::string{type} + "\", supported are Duplicated and Divided"};
  }
  const auto preference = scheduling["replicaDivisionPreference"].as_string("Weighted");
  if (preference == "Aggregated") return Strategy::kAggregated;
  if (preference != "Weighted" && !preference.empty()) {
    return Error{ErrorCode::kInvalid,
                 "spec.placement.replicaScheduling.replicaDivisionPreference: unsupported value \"" +
                     std::string{preference} + "\", supported are Aggregated and Weighted"};
  }
  const auto dynamic = scheduling["weightPreference"]["dynamicWeight"].as_string();
  if (dynamic.empty()) return Strategy::kStaticWeight;
  if (dynamic == "AvailableReplicas") return Strategy::kDynamicWeight;
  return Error{ErrorCode::kInvalid,
               "spec.placement.replicaScheduling.weightPreference.dynamicWeight: unsupported value \"" +
                   std::string{dynamic} + "\", supported is AvailableReplicas"};
}

}  // namespace

bool ClusterAffinity::matches(const Cluster& cluster) const {
  if (contains(exclude, cluster.name)) return false;
  if (!cluster_names.empty() && !contains(cluster_names, cluster.name)) return false;
  if (labels && !labels->matches(cluster.labels)) return false;
  return fields.empty() || fields_hold(fields, cluster);
}

ClusterAffinity cluster_affinity_from(const Value& value) {
  ClusterAffinity affinity;
  if (value["labelSelector"].is_object()) affinity.labels = label_selector_from(value["labelSelector"]);
  for (const Value& item : value["fieldSelector"]["matchExpressions"].items()) {
    affinity.fields.push_back({item["key"].str(), item["operator"].str(), strings_from(item["values"])});
  }
  affinity.cluster_names = strings_from(value["clusterNames"]);
  affinity.exclude = strings_from(value["exclude"]);
  return affinity;
}

bool Toleration::tolerates(const Taint& taint) const {
  if (!effect.empty() && effect != taint.effect) return false;
  if (!key.empty() && key != taint.key) return false;
  if (op.empty() || op == "Equal") return value == taint.value;
  return op == "Exists";
}

std::vector<Toleration> tolerations_from(const Value& list) {
  std::vector<Toleration> tolerations;
  for (const Value& item : list.items()) {
    Toleration toleration{item["key"].str(), item["operator"].str(), item["value"].str(), item["effect"].str(),
                          std::nullopt};
    if (!item["tolerationSeconds"].is_null()) toleration.seconds = item["tolerationSeconds"].as_int();
    tolerations.push_back(std::move(toleration));
  }
  return tolerations;
}

std::string to_string(const Taint& taint) {
  std::string text = taint.key;
  if (!taint.value.empty()) text += "=" + taint.value;
  return text + ":" + taint.effect;
}

const SpreadConstraint* Placement::spread_by(std::string_view field) const {
  const auto found =
      std::find_if(spread.begin(), spread.end(), [&](const SpreadConstraint& each) { return each.field == field; });
  return found == spread.end() ? nullptr : &*found;
}

Result<Placement> placement_from(const Value& value) {
  Placement placement;
  if (value["clusterAffinity"].is_object()) placement.affinity = cluster_affinity_from(value["clusterAffinity"]);
  for (const Value& item : value["clusterAffinities"].items()) {
    AffinityTerm term{item["affinityName"].str(), cluster_affinity_from(item), {}};
    for (const Value& tier : item["overflowAffinities"].items()) term.overflow.push_back(cluster_affinity_from(tier));
    placement.terms.push_back(std::move(term));
  }
  placement.tolerations = tolerations_from(value["clusterTolerations"]);
  for (const Value& item : value["spreadConstraints"].items()) {
    SpreadConstraint spread{item["spreadByField"].str(), item["spreadByLabel"].str(), item["minGroups"].as_int(),
                            item["maxGroups"].as_int()};
    if (spread.field.empty() && spread.label.empty()) spread.field = "cluster";  // as the API defaults it
    placement.spread.push_back(std::move(spread));
  }
  const Value& scheduling = value["replicaScheduling"];
  placement.scheduling_given = scheduling.is_object();
  SHIPLOG_TRY(placement.strategy, strategy_from(scheduling));
  placement.weights_given = scheduling["weightPreference"].is_object();
  for (const Value& item : scheduling["weightPreference"]["staticWeightList"].items()) {
    placement.weights.push_back({cluster_affinity_from(item["targetCluster"]), item["weight"].as_int()});
  }
  return placement;
}

}  // namespace shiplog
