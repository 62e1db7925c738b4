// Feature gates, and what the state works out of bindings for the scheduler: groups that stay together or apart, what
// is placed but not healthy yet, usage of workloads with several pod templates.
#include <gtest/gtest.h>

#include "events/base/json.h"
#include "events/base/random.h"
#include "events/fold/fold.h"
#include "events/state/binding.h"
#include "tests/support/literals.h"

namespace shiplog {
namespace {

using test::json;

const std::string kSets = "MultiplePodTemplatesScheduling";
const std::string kOvercommit = "SchedulingOvercommitProtection";

ObjectKey binding_named(const std::string& name, const std::string& ns = "default") {
  return {type::kResourceBinding, ns, name};
}

struct GateHistory {
  State state;
  SeededRandom random{7};
  UtcMillis now{1'767'355'200'000};  // 2026-01-02T12:00:00Z

  GateHistory() {
    for (const char* ns : {"default", "other"}) {
      put({ObjectCreated{{type::kNamespace, "", ns}, Value::object({{"metadata", Value::object({{"name", ns}})}})}});
    }
  }
  Folded put(std::vector<Event> events) {
    Entry entry;
    entry.id = new_entry_id(random);
    entry.time = now = now + Millis{1000};
    entry.events = std::move(events);
    return fold(state, entry);
  }
  void bind(const ObjectKey& key, const char* spec) {
    put({BindingPut{
        key,
        Value::object({{"metadata", Value::object({{"name", key.name}, {"namespace", key.ns}})}, {"spec", json(spec)}}),
        {}}});
  }
  Folded place(const ObjectKey& key, std::vector<Target> targets, std::vector<ComponentReplicas> components = {}) {
    return put({PlacementDecided{key, std::move(targets), 1, "{}", "", {}, std::move(components)}});
  }
  /// The same, made from objects alone.
  State restored() const {
    std::vector<std::pair<ObjectKey, Object>> objects;
    for (const std::string& of_type : state.types()) {
      for (const auto& [name, object] : state.objects(of_type)) {
        objects.insert(objects.begin(), {{of_type, name.ns, name.name}, object});  // the gates last
      }
    }
    State made;
    EXPECT_TRUE(State::restore(state.meta(), std::move(objects), {}, made));
    return made;
  }
};

TEST(FeatureGates, AreOffUntilAnEntrySetsThemAndMoveTheRevision) {  // KIND-21
  GateHistory history;
  history.put({FoldVersionActivated{kFoldVersion}});
  EXPECT_EQ(history.state.gates(), FeatureGates{});
  const Revision before = history.state.revision();
  EXPECT_FALSE(history.put({FeatureGatesSet{{kSets}}}).refusal);
  EXPECT_TRUE(history.state.gates().multiple_pod_templates);
  EXPECT_FALSE(history.state.gates().overcommit_protection);
  EXPECT_GT(history.state.revision(), before) << "a decision is run again as of a revision: gates must have one";
  EXPECT_EQ(history.restored().gates(), history.state.gates());
  history.put({FeatureGatesSet{{kOvercommit}}});
  EXPECT_EQ(names_of(history.state.gates()), std::vector<std::string>{kOvercommit});
}

TEST(FeatureGates, WhatTheySwitchWasAlwaysOnInJournalsOfEarlierBuilds) {
  GateHistory history;
  history.put({FoldVersionActivated{6}});
  EXPECT_EQ(names_of(history.state.gates()),
            (std::vector<std::string>{"Failover", "FederatedQuotaEnforcement", "PropagationPolicyPreemption",
                                      "WorkloadAffinity"}));
  EXPECT_EQ(history.state.recorded_gates(), FeatureGates{}) << "an upgrade turns none of them on";
  history.put({FoldVersionActivated{7}});
  EXPECT_EQ(history.state.gates(), FeatureGates{});
}

TEST(FeatureGates, WithoutEnforcementNoQuotaRefusesAPlacement) {  // Q-3
  GateHistory history;
  history.put({FoldVersionActivated{kFoldVersion}});
  history.put(
      {ObjectCreated{{type::kFederatedResourceQuota, "default", "q"},
                     json(R"({"metadata":{"name":"q","namespace":"default"},"spec":{"overall":{"cpu":"1"}}})")}});
  history.bind(binding_named("web"), R"({"replicas":2,"replicaRequirements":{"resourceRequest":{"cpu":"1"}}})");
  EXPECT_FALSE(history.place(binding_named("web"), {{"m1", 2}}).refusal);
  history.put({FeatureGatesSet{{"FederatedQuotaEnforcement"}}});
  EXPECT_TRUE(history.place(binding_named("web"), {{"m1", 3}}).refusal);
}

TEST(FeatureGates, OneOfANewerBuildStopsTheReplica) {
  GateHistory history;
  const Folded folded = history.put({FeatureGatesSet{{"Teleportation"}}});
  ASSERT_TRUE(folded.stop);
  EXPECT_NE(folded.stop->find("Teleportation"), std::string::npos) << *folded.stop;
}

TEST(FleetOptions, HaveDefaultsUntilAnEntrySetsThemAndMoveTheRevision_D_4_S_23) {
  GateHistory history;
  EXPECT_EQ(history.state.options(), FleetOptions{});
  EXPECT_EQ(history.state.options().skipped_namespaces, std::vector<std::string>{"kube-.*"});
  const Revision before = history.state.revision();
  EXPECT_FALSE(history.put({OptionsSet{{{"plugins", {"*", "-TaintToleration"}}}}}).refusal);
  EXPECT_FALSE(history.state.options().plugin_on("TaintToleration"));
  EXPECT_GT(history.state.revision(), before) << "a decision is run again as of a revision: options must have one";
  EXPECT_EQ(history.restored().options(), history.state.options());
  history.put({OptionsSet{{{"skipped-propagating-namespaces", {}}}}});
  EXPECT_TRUE(history.state.options().plugin_on("TaintToleration")) << "what is not named is as by default";
  EXPECT_TRUE(history.state.options().skipped_namespaces.empty());
  EXPECT_EQ(settings_of(history.state.options()), (std::vector<OptionSetting>{{"skipped-propagating-namespaces", {}}}));
}

TEST(FleetOptions, OneOfANewerBuildStopsTheReplica) {
  GateHistory history;
  const Folded folded = history.put({OptionsSet{{{"teleportation", {"true"}}}}});
  ASSERT_TRUE(folded.stop);
  EXPECT_NE(folded.stop->find("--teleportation"), std::string::npos) << *folded.stop;
}

TEST(FleetOptions, EachCanBeSetByName) {
  for (const char* name : {"controllers", "enable-empty-workload-propagation", "enable-policy-author-check",
                           "namespaced-policy-apis", "plugins", "service-cluster-ip-range", "service-node-port-range",
                           "skipped-propagating-apis", "skipped-propagating-namespaces"}) {
    FleetOptions options;
    const OptionSetting setting{name, {"a", "b"}};
    ASSERT_TRUE(set_fleet_option(options, setting));
    EXPECT_EQ(settings_of(options), std::vector<OptionSetting>{setting});
  }
}

TEST(FleetOptions, PluginsAreEnabledAndDisabledByName_S_23) {
  const auto on = [](std::vector<std::string> words) {
    FleetOptions options;
    options.plugins = std::move(words);
    std::string names;
    for (const std::string& name : scheduler_plugin_names()) {
      if (options.plugin_on(name)) names += (names.empty() ? "" : " ") + name;
    }
    return names;
  };
  const std::string without_taints =
      "APIEnablement ClusterAffinity ClusterEviction ClusterLocality SpreadConstraint WorkloadAffinity "
      "WorkloadAntiAffinity";
  EXPECT_EQ(on({"*", "-TaintToleration"}), without_taints);
  EXPECT_EQ(on({"-TaintToleration", "*"}), without_taints) << "in either order";
  EXPECT_EQ(on({"ClusterAffinity", "TaintToleration"}), "ClusterAffinity TaintToleration");
  EXPECT_EQ(on({"ClusterAffinity", "-ClusterAffinity"}), "");
}

TEST(FleetOptions, OptionalControllersAreOffUntilNamedAndTheFirstWordCounts_E_21) {
  const auto marks = [](std::vector<std::string> words) {
    FleetOptions options;
    options.controllers = std::move(words);
    return options.controller_on(kHpaScaleTargetMarker);
  };
  EXPECT_FALSE(FleetOptions{}.controller_on(kHpaScaleTargetMarker));
  EXPECT_FALSE(marks({"*", "deploymentReplicasSyncer"}));
  EXPECT_TRUE(marks({"*", "hpaScaleTargetMarker"}));
  EXPECT_FALSE(marks({"-hpaScaleTargetMarker", "*", "hpaScaleTargetMarker"}));
}

TEST(FleetOptions, ApplicationFailoverIsOnUnlessLeftOut_3_2_1) {
  const auto on = [](std::vector<std::string> words) {
    FleetOptions options;
    options.controllers = std::move(words);
    return options.controller_on("applicationFailover");
  };
  EXPECT_TRUE(FleetOptions{}.controller_on("applicationFailover"));
  EXPECT_TRUE(on({"*", "hpaScaleTargetMarker"}));
  EXPECT_FALSE(on({"*", "-applicationFailover"}));
  EXPECT_FALSE(on({"-applicationFailover", "*"}));
  EXPECT_FALSE(on({"hpaScaleTargetMarker"})) << "without *, as upstream";
}

TEST(FeatureGates, EachCanBeSetByName) {  // KIND-21
  for (const std::string& name : feature_gate_names()) {
    FeatureGates gates;
    set_feature_gate(gates, name, true);
    EXPECT_EQ(names_of(gates), std::vector<std::string>{name});
    EXPECT_TRUE(is_feature_gate(name));
  }
  EXPECT_FALSE(is_feature_gate("multiplepodtemplatesscheduling"));
}

TEST(Fold, TargetsOfAWorkloadWithComponentsListThem_M_6) {
  GateHistory history;
  history.bind(binding_named("flink"),
               R"({"components": [{"name": "jm", "replicas": 1}, {"name": "tm", "replicas": 2}]})");
  history.place(binding_named("flink"), {{"m1", 0}}, {{"jm", 1}, {"tm", 2}});
  EXPECT_EQ(to_json(history.state.value_of(binding_named("flink"))["spec"]["clusters"]),
            R"([{"components":[{"name":"jm","replicas":1},{"name":"tm","replicas":2}],"name":"m1"}])");
  const Binding read = binding_from(binding_named("flink"), history.state.value_of(binding_named("flink")));
  EXPECT_TRUE(read.workload) << "S-13";
  EXPECT_FALSE(read.divisible()) << "S-43";
  EXPECT_EQ(read.placed_components, (std::vector<ComponentReplicas>{{"jm", 1}, {"tm", 2}}));
}

TEST(Fold, UsageOfComponentsCountsWholeSetsWhereTheGateIsOn) {  // Q-8
  GateHistory history;
  history.put({ObjectCreated{{type::kFederatedResourceQuota, "default", "limits"},
                             json(R"({"metadata": {"name": "limits", "namespace": "default"},
                                      "spec": {"overall": {"cpu": "10"}}})")}});
  history.bind(binding_named("flink"), R"({"components": [
      {"name": "jm", "replicas": 1, "replicaRequirements": {"resourceRequest": {"cpu": "1"}}},
      {"name": "tm", "replicas": 2, "replicaRequirements": {"resourceRequest": {"cpu": "2"}}}]})");
  history.place(binding_named("flink"), {{"m1", 0}, {"m2", 0}});
  EXPECT_TRUE(history.state.quota_usage("default").empty());
  history.put({FeatureGatesSet{{kSets}}});
  EXPECT_EQ(to_json(to_value(history.state.quota_usage("default"))), R"({"cpu":"10"})");
  EXPECT_EQ(history.restored().quota_usage("default"), history.state.quota_usage("default"));
  EXPECT_TRUE(history.place(binding_named("flink"), {{"m1", 0}, {"m2", 0}, {"m3", 0}}).refusal) << "15 of 10";
}

TEST(AffinityIndex, CountsWhereTheOthersOfAGroupAre_M_10) {
  GateHistory history;
  const auto together = [&](const State& state, const char* ns = "default") {
    return state.affinities().together(ns, "app=shop");
  };
  EXPECT_EQ(together(history.state), nullptr);
  const char* spec = R"({"workloadAffinityGroups": {"affinityGroup": "app=shop", "antiAffinityGroup": "tier=db"}})";
  for (const char* name : {"a", "b"}) history.bind(binding_named(name), spec);
  history.bind(binding_named("a", "other"), spec);
  history.place(binding_named("a"), {{"m1", 1}, {"m2", 1}});
  history.place(binding_named("a", "other"), {{"m3", 1}});
  for (const State& state : {history.state, history.restored()}) {
    const AffinityGroup* group = together(state);
    ASSERT_NE(group, nullptr);
    EXPECT_EQ(group->members.size(), 2U);
    EXPECT_EQ(group->others_placed(binding_named("a")), 0) << "no other binding has a target";
    EXPECT_EQ(group->others_placed(binding_named("b")), 1);
    EXPECT_EQ(group->others_on("m1", binding_named("b")), 1);
    EXPECT_EQ(group->others_on("m1", binding_named("a")), 0) << "its own target";
    EXPECT_EQ(group->others_on("m3", binding_named("b")), 0) << "another namespace's";
    EXPECT_EQ(state.affinities().apart("default", "tier=db")->others_on("m2", binding_named("b")), 1);
  }
  history.place(binding_named("b"), {{"m2", 1}});
  EXPECT_EQ(together(history.state)->others_on("m2", binding_named("none")), 2);
  // A member that leaves its group takes its targets with it, and the last one the group.
  history.bind(binding_named("a"), R"({"workloadAffinityGroups": {"affinityGroup": "app=bank"}})");
  EXPECT_EQ(together(history.state)->others_on("m1", binding_named("none")), 0);
  EXPECT_EQ(history.state.affinities().together("default", "app=bank")->others_on("m1", binding_named("none")), 1);
  history.put({ObjectRemoved{binding_named("b")}});
  EXPECT_EQ(together(history.state), nullptr);
  EXPECT_NE(together(history.state, "other"), nullptr);
}

std::vector<std::string> unsettled(const State& state, const std::string& cluster) {
  std::vector<std::string> found;
  for (const auto& [time, bindings] : state.unsettled().on(cluster)) {
    for (const auto& [key, footprint] : bindings) {
      std::string words = key.name.str();
      for (const Component& one : *footprint) words += " " + one.name + "*" + std::to_string(one.replicas);
      found.push_back(std::move(words));
    }
  }
  return found;
}

TEST(UnsettledIndex, HoldsWhatIsPlacedUntilItIsHealthyThere_M_8) {
  using Words = std::vector<std::string>;
  GateHistory history;
  history.bind(binding_named("web"), R"({"resource": {"name": "web"}, "replicas": 3,
      "replicaRequirements": {"resourceRequest": {"cpu": "1"}}})");
  history.bind(binding_named("flink"),
               R"({"components": [{"name": "jm", "replicas": 1}, {"name": "tm", "replicas": 2}]})");
  history.bind(binding_named("settings"), "{}");
  history.place(binding_named("web"), {{"m1", 2}, {"m2", 1}});
  EXPECT_EQ(unsettled(history.state, "m1"), Words{}) << "the gate is off";
  history.put({FeatureGatesSet{{kOvercommit}}});
  EXPECT_EQ(unsettled(history.state, "m1"), Words{"web web*2"});
  history.place(binding_named("flink"), {{"m1", 0}});
  history.place(binding_named("settings"), {{"m1", 0}});
  EXPECT_EQ(unsettled(history.state, "m1"), (Words{"web web*2", "flink jm*1 tm*2"}))
      << "what has no pods takes nothing";
  EXPECT_EQ(unsettled(history.restored(), "m1"), unsettled(history.state, "m1"));

  Value healthy = history.state.value_of(binding_named("web"));
  healthy.edit("status").set("aggregatedStatus", json(R"([{"clusterName": "m1", "health": "Healthy"},
                                                          {"clusterName": "m2", "health": "Unhealthy"}])"));
  history.put({StatusUpdated{binding_named("web"), healthy}});
  EXPECT_EQ(unsettled(history.state, "m1"), Words{"flink jm*1 tm*2"});
  EXPECT_EQ(unsettled(history.state, "m2"), Words{"web web*1"});
  history.place(binding_named("web"), {{"m1", 3}});
  EXPECT_EQ(unsettled(history.state, "m2"), Words{}) << "released with the target";
  history.put({ObjectRemoved{binding_named("flink")}});
  EXPECT_EQ(unsettled(history.state, "m1"), Words{});
}

}  // namespace
}  // namespace shiplog
