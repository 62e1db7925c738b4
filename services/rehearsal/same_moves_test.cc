// Any fleet, drawn from a seed: the rehearsal of a region's failure moves what the failure itself moves, run with the
// same roles on members that are down.
#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "events/base/random.h"
#include "services/rehearsal/rehearsal.h"
#include "tests/support/failing_fleet.h"
#include "tests/support/must.h"
#include "tests/support/stage.h"

namespace shiplog {
namespace {

using testing::Stage;

constexpr Millis kLength{6 * 60'000};
constexpr Millis kReadyAfter{2'000};

Value json_of(const std::string& text) { return must(parse_json(text)); }

/// Where each workload is, by namespace and name of its binding.
using Placements = std::map<std::string, std::vector<Target>>;

class RandomFleet {
 public:
  explicit RandomFleet(uint64_t seed) : random_{seed} {
    testing::start_failing_fleet(stage, {"Failover", "FederatedQuotaEnforcement"});
    stage.write({OptionsSet{options()}});
    const size_t regions = 2 + below(3);
    // No two clusters are alike, and none is full: a few pods more or less change no order.
    for (size_t cluster = 0; cluster < regions * 2; ++cluster) join(cluster, regions);
    for (size_t ns = 0; ns < kNamespaces; ++ns) {
      stage.put({type::kNamespace, "", ns_name(ns)}, testing::namespace_object(ns_name(ns)));
    }
    run_kubelets();
    stage.run(Millis{60'000});
    for (int number = 0; number < 24; ++number) deploy("app" + std::to_string(number));
    stage.run(Millis{60'000});
    // Some namespaces have just used up their quota: what waits there takes what an eviction returns.
    for (size_t ns = 0; ns < kNamespaces; ++ns) {
      if (below(2) == 0) limit(ns_name(ns));
    }
    for (int number = 0; number < 4; ++number) deploy("late" + std::to_string(number));
    stage.run(Millis{120'000});
    failing_ = "r" + std::to_string(below(regions));
  }

  const std::string& failing() const { return failing_; }

  RehearsalReport rehearsed() const {
    State forked = stage.state();
    return must(rehearse(forked, {.fail_regions = {failing_}, .length = kLength, .ready_after = kReadyAfter}));
  }

  void fail() {
    for (const std::string& name : clusters_) {
      if (stage.state().cluster(name)->region == failing_) stage.members().set_down(name, true);
    }
    stage.run(kLength);
  }

  Placements placements() const {
    Placements all;
    for (const auto& [name, binding] : stage.state().objects(type::kResourceBinding)) {
      std::vector<Target>& targets = all[name.ns + "/" + name.name];
      for (const Value& target : binding.value["spec"]["clusters"].items()) {
        targets.push_back({target["name"].str(), target["replicas"].as_int()});
      }
      std::ranges::sort(targets);
    }
    return all;
  }

  Stage stage;

 private:
  static constexpr size_t kNamespaces = 3;
  static std::string ns_name(size_t number) { return "team" + std::to_string(number); }

  size_t below(size_t bound) { return random_below(random_, bound); }
  std::string one_of(const std::vector<std::string>& choices) { return choices[below(choices.size())]; }

  std::vector<OptionSetting> options() {
    std::vector<OptionSetting> settings{{"enable-no-execute-taint-eviction", {"true"}},
                                        {"resource-eviction-rate", {one_of({"0.5", "2", "100"})}},
                                        {"graceful-eviction-timeout", {one_of({"1m", "10m"})}},
                                        {"no-execute-taint-eviction-purge-mode", {one_of({"Gracefully", "Directly"})}}};
    if (below(3) == 0) settings.push_back({"eviction-budget", {"evictions=" + one_of({"2", "9"}), "window=1m"}});
    return settings;
  }

  void join(size_t number, size_t regions) {
    const std::string name = "m" + std::to_string(number);
    clusters_.push_back(name);
    auto& member = stage.members().member(name);
    member.ready_after = kReadyAfter;
    testing::add_nodes(member, static_cast<int>(2 + 3 * number + below(2)));
    Value cluster = testing::cluster_object(name);
    cluster.edit("spec").set("region", "r" + std::to_string(number % regions));
    cluster.edit("spec").set("zones", Value::array({"z" + std::to_string(number % 2)}));
    cluster.edit("metadata").set("labels", Value::object({{"tier", one_of({"a", "b"})}}));
    stage.put(testing::cluster_key(name), cluster);
  }

  /// Pods of what is ready in a member, which take the room that probes observe.
  void run_kubelets() {
    stage.after(Millis{5'000}, [this] {
      for (const std::string& cluster : clusters_) schedule_pods(stage.members().member(cluster));
      run_kubelets();
    });
  }

  static void schedule_pods(testing::FakeMember& member) {
    std::map<ObjectKey, Value> wanted;
    for (const auto& [key, object] : member.objects()) {
      if (key.type != "deployments.apps") continue;
      for (int64_t replica = 0; replica < object["status"]["readyReplicas"].as_int(); ++replica) {
        const std::string name = key.name + "-" + std::to_string(replica);
        Value spec = object["spec"]["template"]["spec"];
        spec.set("nodeName", "n" + std::to_string(replica % 2));
        wanted.emplace(ObjectKey{"pods", key.ns, name},
                       Value::object({{"apiVersion", "v1"},
                                      {"kind", "Pod"},
                                      {"metadata", Value::object({{"name", name}, {"namespace", key.ns}})},
                                      {"spec", std::move(spec)},
                                      {"status", Value::object({{"phase", "Running"}})}}));
      }
    }
    std::vector<ObjectKey> gone;
    for (const auto& [key, object] : member.objects()) {
      if (key.type == "pods" && wanted.erase(key) == 0) gone.push_back(key);
    }
    for (const ObjectKey& key : gone) member.erase(key);
    for (auto& [key, pod] : wanted) member.put(key, std::move(pod));
  }

  void deploy(const std::string& name) {
    const std::string ns = ns_name(below(kNamespaces));
    Value object = testing::deployment_requesting(ns, name, static_cast<int64_t>(1 + below(7)), one_of({"100m", "1"}));
    stage.put({"deployments.apps", ns, name}, std::move(object));
    testing::put_policy(stage, ns, name, placement());
  }

  Value placement() {
    Value placement = Value::object({});
    if (below(3) == 0) {
      placement.set("clusterAffinity",
                    json_of(R"({"labelSelector":{"matchLabels":{"tier":")" + one_of({"a", "b"}) + R"("}}})"));
    }
    switch (below(5)) {
      case 0:
        break;
      case 1:
        placement.set("replicaScheduling", json_of(R"({"replicaSchedulingType":"Duplicated"})"));
        break;
      case 2:
        placement.set("replicaScheduling", json_of(R"({"replicaSchedulingType":"Divided",
            "replicaDivisionPreference":"Weighted","weightPreference":{"staticWeightList":[
            {"targetCluster":{"labelSelector":{"matchLabels":{"tier":"a"}}},"weight":2},
            {"targetCluster":{"labelSelector":{"matchLabels":{"tier":"b"}}},"weight":1}]}})"));
        break;
      case 3:
        placement.set("replicaScheduling", json_of(R"({"replicaSchedulingType":"Divided",
            "replicaDivisionPreference":"Weighted","weightPreference":{"dynamicWeight":"AvailableReplicas"}})"));
        break;
      default:
        placement.set("replicaScheduling", json_of(R"({"replicaSchedulingType":"Divided",
            "replicaDivisionPreference":"Aggregated"})"));
    }
    placement.set("spreadConstraints",
                  json_of(one_of({R"([])", R"([{"spreadByField":"cluster","minGroups":1,"maxGroups":1}])",
                                  R"([{"spreadByField":"cluster","minGroups":2,"maxGroups":2}])",
                                  R"([{"spreadByField":"region","minGroups":1,"maxGroups":2},
            {"spreadByField":"cluster","minGroups":2,"maxGroups":3}])",
                                  R"([{"spreadByField":"region","minGroups":2,"maxGroups":2},
            {"spreadByField":"cluster","minGroups":2,"maxGroups":4}])"})));
    const std::string seconds = one_of({"-", "", "0", "30", "120"});
    if (seconds != "-") {
      placement.set("clusterTolerations", json_of(R"([{"key":"away","operator":"Exists","effect":"NoExecute")" +
                                                  (seconds.empty() ? "" : ",\"tolerationSeconds\":" + seconds) + "}]"));
    }
    return placement;
  }

  /// No more than what is used now; usage is counted once there is a quota.
  void limit(const std::string& ns) {
    Value quota =
        Value::object({{"apiVersion", "policy.karmada.io/v1alpha1"},
                       {"kind", "FederatedResourceQuota"},
                       {"metadata", Value::object({{"name", "limits"}, {"namespace", ns}, {"generation", 1}})},
                       {"spec", Value::object({{"overall", Value::object({{"cpu", "1000"}})}})}});
    stage.put({type::kFederatedResourceQuota, ns, "limits"}, quota);
    quota.edit("spec").set("overall", to_value(stage.state().quota_usage(ns)));
    stage.put({type::kFederatedResourceQuota, ns, "limits"}, quota);
  }

  SeededRandom random_;
  std::vector<std::string> clusters_;
  std::string failing_;
};

std::string text_of(const std::vector<Target>& targets) {
  std::string text;
  for (const Target& target : targets) text += " " + target.cluster + ":" + std::to_string(target.replicas);
  return text;
}

TEST(SameMoves, InAnyFleetTheRehearsalMovesWhatTheFailureMoves) {
  size_t moved = 0, over_quota = 0;
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    RandomFleet fleet{seed};
    SCOPED_TRACE("seed " + std::to_string(seed) + ", " + fleet.failing() + " fails");
    const Placements before = fleet.placements();
    const RehearsalReport report = fleet.rehearsed();
    EXPECT_EQ(fleet.placements(), before) << "a rehearsal changes nothing";
    fleet.fail();
    const Placements after = fleet.placements();

    Placements rehearsed = before;
    for (const RehearsedWorkload& workload : report.workloads) {
      rehearsed[workload.binding.ns + "/" + workload.binding.name] = workload.after;
    }
    for (const auto& [name, targets] : after) {
      EXPECT_EQ(text_of(rehearsed[name]), text_of(targets)) << name << ", from" << text_of(before.at(name));
      moved += targets != before.at(name) ? 1U : 0U;
    }
    EXPECT_TRUE(report.unanswered.empty()) << report.unanswered.front();
    over_quota += fleet.stage.count<QuotaRefused>();
  }
  EXPECT_GE(moved, 50U) << "the comparison is of something";
  EXPECT_GE(over_quota, 1U);
}

}  // namespace
}  // namespace shiplog
