#include "tests/replay/golden_history.h"

#include <functional>
#include <utility>

#include "events/base/check.h"
#include "events/base/json.h"
#include "events/codec/codec.h"
#include "events/state/new_namespace.h"
#include "services/runtime/log.h"
#include "tests/simulation/faults.h"
#include "tests/simulation/objects.h"
#include "tests/simulation/world.h"

namespace shiplog::golden {
namespace {

using namespace shiplog::simulation;  // NOLINT(google-build-using-namespace): everything here is of the simulation

class GoldenFleet {
 public:
  explicit GoldenFleet(uint32_t fold_version)
      : world_{1, false, Sabotage::kNone}, faults_{world_}, version_{fold_version} {
    log::configure(log::Format::kText, log::Level::kError);
    faults_.begin();
    world_.processes.push_back(std::make_unique<SimulatedProcess>(world_, "p0", all_services(), kFoldVersion));
    process().start({});
  }

  std::vector<std::string> live() {
    begin();
    workloads();
    quotas_and_groups();
    what_versions_changed();
    evictions();
    endings();
    SHIPLOG_CHECK(!world_.broken(), "the simulated fleet breaks no rule");
    std::vector<std::string> records;
    for (const auto& [offset, stored] : world_.log.records()) records.push_back(stored.bytes);
    return records;
  }

 private:
  SimulatedProcess& process() { return *world_.processes.front(); }
  const State& state() { return process().replica().state(); }
  void write(std::vector<Event> events) { world_.write(process(), "write", std::move(events), {}); }
  void create(const ObjectKey& key, Value object) { write({ObjectCreated{key, std::move(object)}}); }
  void update(const ObjectKey& key, const std::function<void(Value&)>& edit) {
    Value object = state().value_of(key);
    edit(object);
    write({ObjectUpdated{key, std::move(object)}});
  }
  void remove(const ObjectKey& key) { write({DeletionRequested{.object = key, .propagation = "Background"}}); }
  void pause(int64_t seconds) { world_.run_for(Millis{1000 * seconds}); }
  static Value json(std::string_view text) { return parse_json(text).value(); }

  void begin() {
    if (version_ > 1) write({FoldVersionActivated{version_}});
    write({FeatureGatesSet{{"Failover", "FederatedQuotaEnforcement", "WorkloadAffinity"}},
           OptionsSet{{{"enable-no-execute-taint-eviction", {"true"}}, {"resource-eviction-rate", {"10"}}}}});
    for (const char* name : {"default", "kube-system", "karmada-system", "karmada-cluster"}) {
      create({type::kNamespace, "", name}, new_namespace(name));
    }
    for (const char* name : {"m1", "m2"}) create({type::kCluster, "", name}, cluster_object(name, "north"));
    pause(5);
  }

  void workloads() {
    Value placement = json(R"({"replicaScheduling":{"replicaSchedulingType":"Divided",
        "replicaDivisionPreference":"Weighted","weightPreference":{"dynamicWeight":"AvailableReplicas"}}})");
    Value of_web = policy("default", "web", Value::array({selector("apps/v1", "Deployment", "default", "web", "")}),
                          std::move(placement));
    of_web.edit("spec").set("propagateDeps", true);
    create({type::kPropagationPolicy, "default", "web"}, std::move(of_web));
    create({type::kOverridePolicy, "default", "tag"}, json(R"({"apiVersion":"policy.karmada.io/v1alpha1",
        "kind":"OverridePolicy","metadata":{"name":"tag","namespace":"default","generation":1},
        "spec":{"overrideRules":[{"overriders":{"imageOverrider":[{"component":"Tag","operator":"replace","value":"2"}]},
        "targetCluster":{"clusterNames":["m2"]}}]}})"));
    create({kConfigMaps, "default", "settings"}, config_map("default", "settings", "web", "one"));
    Value web = deployment("default", "web", "web", 4, 100);
    web.edit("spec")
        .edit("template")
        .edit("spec")
        .set("volumes", json(R"([{"name":"settings","configMap":{"name":"settings"}}])"));
    create(kWeb, std::move(web));
    pause(10);
    update(kWeb, [](Value& object) { object.edit("spec").set("replicas", 5); });
    pause(5);
  }

  void quotas_and_groups() {
    create({type::kFederatedResourceQuota, "default", "cpu"}, federated_quota("default", "cpu", 800));
    pause(3);
    update(kWeb, [](Value& object) { object.edit("spec").set("replicas", 20); });  // refused
    pause(6);
    update(kWeb, [](Value& object) { object.edit("spec").set("replicas", 4); });
    Value apart = policy("default", "apart", Value::array({selector("apps/v1", "Deployment", "default", "", "apart")}),
                         json(R"({"spreadConstraints":[{"spreadByField":"cluster","minGroups":1,"maxGroups":1}],
            "workloadAffinity":{"antiAffinity":{"groupByLabelKey":"app"}}})"));
    create({type::kPropagationPolicy, "default", "apart"}, std::move(apart));
    for (const char* name : {"a", "b", "c"})
      create({kDeployments, "default", name}, deployment("default", name, "apart", 1, 0));
    pause(10);
  }

  void what_versions_changed() {
    // 2: annotations count as a generation of a Deployment; a pod on a node has a grace period.
    update(kWeb, [](Value& object) { object.edit("metadata").set("annotations", Value::object({{"note", "one"}})); });
    const ObjectKey pod{"pods", "default", "p"};
    create(pod, json(R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","namespace":"default"},
        "spec":{"nodeName":"n","containers":[{"name":"c","image":"i"}],"terminationGracePeriodSeconds":5}})"));
    // 4: an address belongs to one Service.
    for (const char* name : {"s", "t"}) {
      Value service = json(R"({"apiVersion":"v1","kind":"Service","metadata":{"namespace":"default"},
          "spec":{"clusterIP":"10.96.0.7","clusterIPs":["10.96.0.7"],"type":"ClusterIP","ports":[{"port":80}]}})");
      service.edit("metadata").set("name", name);
      create({"services", "default", name}, std::move(service));
    }
    pause(1);
    write({DeletionRequested{.object = pod, .grace_seconds = 5, .propagation = "Background"}});
    // 5: a produced request is carried out once.
    for (const char* text : {"two", "three"}) {
      Entry entry;
      entry.id = new_entry_id(world_.chance.random());
      entry.actor = {.user = "alice", .groups = {}, .service = "requests", .source_ip = "", .user_agent = "golden"};
      entry.fold_version = version_;
      entry.source = {.id = "request-1", .topic = "requests", .partition = 0, .offset = 7, .done_before = 0};
      Value object = config_map("default", "produced", "web", text);
      entry.events = {ObjectCreated{{kConfigMaps, "default", std::string{"produced-"} + text}, std::move(object)}};
      process().replica().append(std::move(entry), [](const Result<Outcome>&) {});
    }
    pause(10);
    // 8: a member is registered once; requests to members are recorded.
    Value twin = cluster_object("twin", "north");
    twin.edit("spec").set("id", state().cluster("m1")->id);
    create({type::kCluster, "", "twin"}, std::move(twin));
    write({MemberRequested{.cluster = {type::kCluster, "", "m1"},
                           .method = "POST",
                           .path = "/api/v1/namespaces/default/configmaps",
                           .status = 201}});
  }

  void evictions() {
    update({type::kCluster, "", "m1"}, [&](Value& cluster) {
      cluster.edit("spec").set(
          "taints", Value::array({Value::object(
                        {{"key", "fire"}, {"effect", "NoExecute"}, {"timeAdded", rfc3339(world_.timeline.now())}})}));
    });
    pause(25);
    update({type::kCluster, "", "m1"}, [](Value& cluster) { cluster.edit("spec").erase("taints"); });
    create({"clustertaintpolicies.policy.karmada.io", "", "away"}, taint_policy("away", false));
    world_.members.set_down("m2", true);
    pause(45);
    world_.members.set_down("m2", false);
    pause(45);
  }

  void endings() {
    create({"workloadrebalancers.apps.karmada.io", "", "again"}, json(R"({"apiVersion":"apps.karmada.io/v1alpha1",
        "kind":"WorkloadRebalancer","metadata":{"name":"again","generation":1},"spec":{"ttlSecondsAfterFinished":5,
        "workloads":[{"apiVersion":"apps/v1","kind":"Deployment","namespace":"default","name":"web"}]}})"));
    pause(10);
    remove({type::kPropagationPolicy, "default", "apart"});
    remove({kDeployments, "default", "a"});
    remove({type::kCluster, "", "m2"});
    pause(30);
    remove(kWeb);
    pause(10);
    write({StateHashed{state().revision(), state().hash()}});
    pause(1);
  }

  const ObjectKey kWeb{kDeployments, "default", "web"};

  World world_;
  Faults faults_;
  const uint32_t version_;
};

}  // namespace

std::vector<std::string> history_at(uint32_t fold_version) { return GoldenFleet{fold_version}.live(); }

std::string to_file(const std::vector<std::string>& records) {
  std::string bytes;
  for (const std::string& record : records) {
    for (size_t shift = 0; shift < 32; shift += 8) bytes += static_cast<char>((record.size() >> shift) & 0xff);
    bytes += record;
  }
  return bytes;
}

std::vector<std::string> from_file(const std::string& bytes) {
  std::vector<std::string> records;
  for (size_t at = 0; at < bytes.size();) {
    SHIPLOG_CHECK(at + 4 <= bytes.size(), "a golden journal ends within a length");
    size_t size = 0;
    for (size_t byte = 0; byte < 4; ++byte)
      size |= static_cast<size_t>(static_cast<uint8_t>(bytes[at + byte])) << (8 * byte);
    SHIPLOG_CHECK(at + 4 + size <= bytes.size(), "a golden journal ends within a record");
    records.push_back(bytes.substr(at + 4, size));
    at += 4 + size;
  }
  return records;
}

}  // namespace shiplog::golden
