#include "services/api/api_services.h"

#include <map>
#include <set>

#include "events/state/object.h"
#include "services/api/own_entry.h"
#include "services/runtime/log.h"

namespace shiplog::api {
namespace {

constexpr const char* kApiServices = "apiservices.apiregistration.k8s.io";
constexpr const char* kManaged = "kube-aggregator.kubernetes.io/automanaged";

/// How kube-aggregator ranks the groups; those of users come last.
struct Rank {
  int group;
  int version;
};
Rank rank_of(const Kind& kind) {
  static const std::map<std::string, int, std::less<>> kGroups = {{"", 18000},
                                                                  {"apps", 17800},
                                                                  {"events.k8s.io", 17750},
                                                                  {"authentication.k8s.io", 17700},
                                                                  {"authorization.k8s.io", 17600},
                                                                  {"autoscaling", 17500},
                                                                  {"batch", 17400},
                                                                  {"certificates.k8s.io", 17300},
                                                                  {"networking.k8s.io", 17200},
                                                                  {"policy", 17100},
                                                                  {"rbac.authorization.k8s.io", 17000},
                                                                  {"storage.k8s.io", 16800},
                                                                  {"apiextensions.k8s.io", 16700},
                                                                  {"admissionregistration.k8s.io", 16700},
                                                                  {"scheduling.k8s.io", 16600},
                                                                  {"coordination.k8s.io", 16500},
                                                                  {"discovery.k8s.io", 16200},
                                                                  {"flowcontrol.apiserver.k8s.io", 16100}};
  if (!kind.builtin) return {1000, 100};
  const auto known = kGroups.find(kind.group);
  return {known == kGroups.end() ? 15000 : known->second, kind.version == "v1" ? 15 : 30};
}

Value api_service(const Kind& kind, UtcMillis now) {
  const Rank rank = rank_of(kind);
  Value spec = Value::object(
      {{"version", kind.version}, {"groupPriorityMinimum", rank.group}, {"versionPriority", rank.version}});
  if (!kind.group.empty()) spec.set("group", kind.group);
  Value metadata = Value::object({{"name", kind.version + "." + kind.group},
                                  {"labels", Value::object({{kManaged, kind.builtin ? "onstart" : "true"}})}});
  Value available = Value::object({{"type", "Available"},
                                   {"status", "True"},
                                   {"lastTransitionTime", rfc3339(now)},
                                   {"reason", "Local"},
                                   {"message", "Local APIServices are always available"}});
  return Value::object({{"apiVersion", "apiregistration.k8s.io/v1"},
                        {"kind", "APIService"},
                        {"metadata", std::move(metadata)},
                        {"spec", std::move(spec)},
                        {"status", Value::object({{"conditions", Value::array({std::move(available)})}})}});
}

}  // namespace

std::vector<Event> ApiServices::outdated(const State& state) const {
  const auto kinds = kinds_.current();
  std::set<std::string> served;
  std::vector<Event> events;
  for (const auto& kind : kinds->all()) {
    const std::string name = kind->version + "." + kind->group;
    const ObjectKey key{kApiServices, "", name};
    if (!served.insert(name).second || state.find(key) != nullptr) continue;
    events.emplace_back(ObjectCreated{key, api_service(*kind, clock_->now())});
  }
  for (const auto& [name, object] : state.objects(kApiServices)) {
    if (served.contains(name.name) || label_of(object.value, kManaged) != "true") continue;
    events.emplace_back(DeletionRequested{{kApiServices, "", name.name}, 0, "Background"});
  }
  return events;
}

void ApiServices::begin(Replica& replica, Clock& clock, std::string user_agent, std::function<void()> then) {
  replica_ = &replica;
  clock_ = &clock;
  user_agent_ = std::move(user_agent);
  auto events = outdated(replica.state());
  if (events.empty()) return then();
  // Of several processes one is first; the others' entries are refused, which is as good.
  replica.append(own_entry(user_agent_, std::move(events)), [then = std::move(then)](const Result<Outcome>& outcome) {
    if (!outcome) log::error("api_services.failed", {log::kv("reason", outcome.error().message)});
    then();
  });
}

void ApiServices::on_folded(const State& state, const DecodedRecord& record, const Folded& folded) {
  if (replica_ == nullptr) return;
  bool defined = false;
  for (const Change& change : folded.changes) {
    defined = defined || change.object.type == type::kCustomResourceDefinition;
  }
  if (!defined) return;
  auto events = outdated(state);
  if (events.empty()) return;
  Entry entry = own_entry(user_agent_, std::move(events));
  entry.cause = {folded.revision, record.entry.id, ""};
  replica_->append(std::move(entry), [](const Result<Outcome>& outcome) {
    if (!outcome) log::error("api_services.failed", {log::kv("reason", outcome.error().message)});
  });
}

}  // namespace shiplog::api
