#include "events/state/cluster.h"

#include <algorithm>

#include "events/state/object.h"
#include "events/state/quota.h"

namespace shiplog {
namespace {

constexpr std::string_view kInfix = ", Kind=";

std::string enablement(std::string_view api_version, std::string_view kind) {
  std::string text{api_version};
  text += kInfix;
  text += kind;
  return text;
}

std::vector<std::string> zones_of(const Value& spec) {
  std::vector<std::string> zones;
  for (const Value& zone : spec["zones"].items()) zones.push_back(zone.str());
  // spec.zone is the deprecated form; the API moves it into zones, but an old object may still hold it.
  if (zones.empty() && !spec["zone"].is_empty()) zones.push_back(spec["zone"].str());
  return zones;
}

Quantity amount(const std::map<std::string, Quantity>& list, const std::string& name) {
  const auto found = list.find(name);
  return found == list.end() ? Quantity{} : found->second;
}

std::vector<Cluster::Grade> grades_from(const Value& models, const Value& counts) {
  std::vector<Cluster::Grade> grades;
  for (const Value& count : counts.items()) {
    for (const Value& model : models.items()) {
      if (model["grade"].as_int() != count["grade"].as_int()) continue;
      Cluster::Grade& grade = grades.emplace_back();
      grade.nodes = count["count"].as_int();
      for (const Value& range : model["ranges"].items()) {
        for (const auto& [name, least] : resource_list_from(Value::object({{range["name"].str(), range["min"]}}))) {
          grade.least.emplace(name, Cluster::Room{least.units(), least.milli()});
        }
      }
      break;
    }
  }
  return grades;
}

Cluster::Condition condition_from(const Value& value) {
  const auto since = parse_rfc3339(value["lastTransitionTime"].as_string());
  return {value["type"].str(), value["status"].str(), value["reason"].str(), value["message"].str(),
          since.has_value() ? since.value() : UtcMillis{}};
}

}  // namespace

const Cluster::Condition* Cluster::condition(std::string_view type) const {
  const auto found =
      std::find_if(conditions.begin(), conditions.end(), [&](const Condition& each) { return each.type == type; });
  return found == conditions.end() ? nullptr : &*found;
}

bool Cluster::ready() const {
  const Condition* found = condition("Ready");
  return found != nullptr && found->status == "True";
}

Cluster cluster_from(const Value& object) {
  const Value& spec = object["spec"];
  const Value& status = object["status"];
  Cluster cluster;
  cluster.name = object["metadata"]["name"].str();
  cluster.uid = uid_of(object);
  cluster.id = spec["id"].str();
  cluster.sync_mode = spec["syncMode"].str();
  cluster.api_endpoint = spec["apiEndpoint"].str();
  cluster.secret_namespace = spec["secretRef"]["namespace"].str();
  cluster.secret_name = spec["secretRef"]["name"].str();
  cluster.provider = spec["provider"].str();
  cluster.region = spec["region"].str();
  cluster.zones = zones_of(spec);
  for (const auto& label : object["metadata"]["labels"].members()) {
    cluster.labels.emplace(label.key(), label.value.as_string());
  }
  for (const Value& taint : spec["taints"].items()) {
    cluster.taints.push_back({taint["key"].str(), taint["value"].str(), taint["effect"].str()});
  }
  for (const Value& condition : status["conditions"].items()) cluster.conditions.push_back(condition_from(condition));
  std::vector<std::string> enablements;
  for (const Value& api : status["apiEnablements"].items()) {
    for (const Value& resource : api["resources"].items()) {
      enablements.push_back(enablement(api["groupVersion"].as_string(), resource["kind"].as_string()));
    }
  }
  std::sort(enablements.begin(), enablements.end());
  cluster.api_enablements = SharedList<std::string>{std::move(enablements)};
  const Value& summary = status["resourceSummary"];
  cluster.room = room_of(resource_list_from(summary["allocatable"]), resource_list_from(summary["allocated"]),
                         resource_list_from(summary["allocating"]));
  for (auto& [name, room] : cluster.room) {
    if (written_in_binary(summary["allocatable"][name])) room.counted = room.units;
  }
  cluster.grades = grades_from(spec["resourceModels"], summary["allocatableModelings"]);
  cluster.deleting = deleting(object);
  return cluster;
}

std::map<std::string, Cluster::Room> room_of(const std::map<std::string, Quantity>& allocatable,
                                             const std::map<std::string, Quantity>& allocated,
                                             const std::map<std::string, Quantity>& allocating) {
  std::map<std::string, Cluster::Room> room;
  for (const auto& [name, all] : allocatable) {
    const Quantity left = all - amount(allocated, name) - amount(allocating, name);
    room.emplace(name, Cluster::Room{left.units(), left.milli(), left.milli()});
  }
  return room;
}

}  // namespace shiplog
