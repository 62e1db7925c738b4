// Workloads with several pod templates, placed whole: M-1 to M-7, and what is promised: M-8, M-9.
#include "services/roles/scheduler/remedy.h"
#include "tests/support/scheduling.h"

namespace shiplog::scheduler {
namespace {

const std::string kOne = R"({"spreadConstraints": [{"spreadByField": "cluster", "minGroups": 1, "maxGroups": 1}]})";

Value roomy(const std::string& name, const char* cpu, int64_t pods = 100) {
  Value value = cluster(name, pods);
  value.edit("status").edit("resourceSummary").edit("allocatable").set("cpu", cpu);
  return value;
}

/// jm 1 x 1 cpu and tm 2 x 2 cpu.
Value flink(const Case& from) {
  Value value = binding_of(from);
  value.edit("spec").set("components", json(R"([
    {"name": "jm", "replicas": 1, "replicaRequirements": {"resourceRequest": {"cpu": "1"}}},
    {"name": "tm", "replicas": 2, "replicaRequirements": {"resourceRequest": {"cpu": "2"}}}])"));
  return value;
}

History fleet(const Case& from, const std::vector<std::string>& gates = {"MultiplePodTemplatesScheduling"}) {
  History history;
  history.put(cluster_key("a"), roomy("a", "6"));
  history.put(cluster_key("b"), roomy("b", "40"));
  history.put(cluster_key("c"), roomy("c", "4"));
  if (!gates.empty()) history.accept({FeatureGatesSet{gates}});
  history.put(kBinding, flink(from));
  return history;
}

const PlacementDecided& placed(const Event& event) { return std::get<PlacementDecided>(event); }

TEST(Components, AWholeSetGoesToTheClusterWithTheMostRoomForSets_M_1_M_6) {
  for (const char* scheduling : {kDuplicated, kDynamic, kAggregated}) {
    History history = fleet({.scheduling = scheduling, .clusters = {}, .placement = kOne});
    const Event event = decided(history);
    EXPECT_EQ(in_words(placed(event).targets), "b:0") << scheduling;
    EXPECT_EQ(placed(event).components, (std::vector<ComponentReplicas>{{"jm", 1}, {"tm", 2}}));
    EXPECT_EQ(placed(event).why.clusters[0].available_replicas, 1);
    EXPECT_EQ(placed(event).why.clusters[1].available_replicas, 8);
    EXPECT_EQ(placed(event).why.clusters[2].available_replicas, 0);
    history.accept({event});
    EXPECT_EQ(history.settle(decide, kBinding), 0) << "nothing is new";
  }
}

TEST(Components, NoClusterWithRoomForASetIsAnError_M_1) {
  History history = fleet({.scheduling = kDynamic, .clusters = {}, .placement = kOne});
  for (const char* name : {"a", "b"}) history.put(cluster_key(name), roomy(name, "4"));
  EXPECT_EQ(answer(history), "SchedulerError: failed to select clusters: no enough resource when selecting 1 clusters");
  // Duplicated ones take the best there is, as upstream (S-33).
  history.put(kBinding, flink({.scheduling = kDuplicated, .clusters = {}, .placement = kOne}));
  EXPECT_EQ(answer(history), "a:0");
}

TEST(Components, WithoutThatConstraintTheyGoToEveryClusterAndListNoComponents_M_2_S_43) {  // S-13
  for (const std::string& placement : {std::string{"{}"}, std::string{R"({"spreadConstraints":
           [{"spreadByField": "cluster", "minGroups": 1, "maxGroups": 3}]})"}}) {
    const Event event = decided(fleet({.scheduling = kDuplicated, .clusters = {}, .placement = placement}));
    EXPECT_EQ(in_words(placed(event).targets), "a:0 b:0 c:0");
    EXPECT_TRUE(placed(event).components.empty());
  }
  // Only pods are counted there.
  const Event event = decided(fleet(
      {.scheduling = kDuplicated, .clusters = {}, .placement = R"({"spreadConstraints": [{"spreadByField": "cluster",
                                                      "minGroups": 1, "maxGroups": 3}]})"}));
  EXPECT_EQ(placed(event).why.clusters[0].available_replicas, 100);
}

TEST(Components, OneComponentAloneIsPlacedButNotListed_M_6) {
  History history = fleet({.scheduling = kDuplicated, .clusters = {}, .placement = kOne});
  history.edit(kBinding, [](Value& binding) {
    binding.edit("spec").set("components", json(R"([{"name": "jm", "replicas": 3}])"));
  });
  EXPECT_EQ(in_words(placed(decided(history)).targets), "a:0") << "each has room for 33 sets: by name";
  EXPECT_TRUE(placed(decided(history)).components.empty());
}

TEST(Components, WithTheGateOffTheyAreNoReasonForAnything_M_1) {
  const Event event = decided(fleet({.scheduling = kDuplicated, .clusters = {}, .placement = kOne}, {}));
  EXPECT_EQ(in_words(placed(event).targets), "a:0");
  EXPECT_TRUE(placed(event).components.empty());
}

TEST(Components, ADividedWorkloadWithoutTargetsIsPlacedAgainAndOneWithThemStays_S_12) {
  History history = fleet({.scheduling = kDynamic, .clusters = {}, .placement = kOne});
  history.settle(decide, kBinding);
  history.edit(kBinding,
               [](Value& binding) { binding.edit("spec").edit("components").edit_items()[0].set("replicas", 2); });
  EXPECT_EQ(answer(history), "stands") << "a change inside the components is not detected";
  history.edit(kBinding, [](Value& binding) { binding.edit("spec").erase("clusters"); });
  EXPECT_EQ(answer(history), "b:0");
}

TEST(Components, ADuplicatedWorkloadFollowsItsComponents_S_10) {
  History history = fleet({.scheduling = kDuplicated, .clusters = {}, .placement = kOne});
  history.settle(decide, kBinding);
  history.edit(kBinding,
               [](Value& binding) { binding.edit("spec").edit("components").edit_items()[0].set("replicas", 2); });
  history.settle(decide, kBinding);
  EXPECT_EQ(to_json(history.state().value_of(kBinding)["spec"]["clusters"]),
            R"([{"components":[{"name":"jm","replicas":2},{"name":"tm","replicas":2}],"name":"b"}])");
}

TEST(Components, AQuotaCountsWholeSets) {  // Q-8
  History history = fleet({.scheduling = kDuplicated, .clusters = {}, .placement = kOne});
  history.object({type::kFederatedResourceQuota, "default", "limits"}, R"({"spec": {"overall": {"cpu": "4"}}})");
  EXPECT_EQ(
      answer(history),
      "QuotaExceeded: FederatedResourceQuota(default/limits) exceeded for resource cpu: requested sum 5, limit 4.");
}

TEST(Overcommit, ASecondWorkloadDoesNotCountOnTheRoomOfTheFirst_M_8_M_9) {
  const ObjectKey other{type::kResourceBinding, "default", "first"};
  for (const bool on : {false, true}) {
    History history;
    history.put(cluster_key("a"), roomy("a", "10"));
    history.put(cluster_key("b"), roomy("b", "8"));
    if (on) history.accept({FeatureGatesSet{{"SchedulingOvercommitProtection"}}});
    for (const ObjectKey& key : {other, kBinding}) {
      Value value = binding_of({.replicas = 8, .scheduling = kAggregated, .clusters = {}});
      value.edit("spec").edit("replicaRequirements").edit("resourceRequest").set("cpu", "1");
      history.put(key, History::named(key, std::move(value)));
    }
    history.settle(decide, other);
    EXPECT_EQ(answer(history), on ? "b:8" : "a:8") << "a has room for 10, of which 8 are promised";
  }
}

TEST(Remedy, RoomForOneMoreSetMakesAClusterFeasible_M_1) {
  History history = fleet({.scheduling = kDynamic, .clusters = {}, .placement = R"({"clusterAffinity": {"clusterNames":
      ["c"]}, "spreadConstraints": [{"spreadByField": "cluster", "minGroups": 1, "maxGroups": 1}]})"});
  const Binding binding = binding_from(kBinding, history.state().value_of(kBinding));
  const auto found = remedy_for(binding, placement_from(binding.placement).value(), history.state().clusters(), "c",
                                false, {.component_sets = true});
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->chosen);
  EXPECT_EQ(found->changes, std::vector<std::string>{"make room for one more set of its components in cluster c"});
}

TEST(Remedy, CapacityIsFreedOnNodesWhereTheyAreReported_S_70) {
  for (const bool sets : {true, false}) {
    History history = fleet({.replicas = sets ? 0 : 3, .scheduling = kDynamic, .clusters = {}, .placement = kOne});
    for (const char* name : {"a", "b", "c"}) {
      history.edit(cluster_key(name), [&](Value& value) {
        value.edit("spec").set("resourceModels", json(R"([{"grade": 1, "ranges": [{"name": "cpu", "min": "4"}]}])"));
        value.edit("status")
            .edit("resourceSummary")
            .set("allocatableModelings",
                 json(std::string{name} == "b" ? R"([{"grade": 1, "count": 3}])" : R"([{"grade": 1, "count": 1}])"));
        value.edit("status").edit("resourceSummary").edit("allocatable").set("cpu", "100");
      });
    }
    history.edit(kBinding, [&](Value& binding) {
      if (sets) return;
      binding.edit("spec").erase("components");
      binding.edit("spec").edit("replicaRequirements").edit("resourceRequest").set("cpu", "3");
    });
    EXPECT_EQ(answer(history), sets ? "b:0" : "b:3");
    const Binding binding = binding_from(kBinding, history.state().value_of(kBinding));
    const auto found = remedy_for(binding, placement_from(binding.placement).value(), history.state().clusters(), "a",
                                  false, {.component_sets = true});
    ASSERT_TRUE(found && found->chosen) << sets;
    if (sets) {
      EXPECT_EQ(found->changes.front(), "make room for 2 more sets of its components in cluster a")
          << "b has room for two";
    }
  }
}

}  // namespace
}  // namespace shiplog::scheduler
