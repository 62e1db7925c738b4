// A custom resource and its CustomResourceDefinition that are applied together (decision 0033).
#include "services/roles/scheduler/definition_placement.h"

#include <gtest/gtest.h>

#include "events/state/work.h"
#include "services/roles/scheduler/role.h"
#include "tests/support/decided.h"
#include "tests/support/fake_task.h"
#include "tests/support/scheduling.h"

namespace shiplog::scheduler {
namespace {

const std::string kName = "sofas.example.com";
const ObjectKey kDefinition{type::kCustomResourceDefinition, "", kName};
const ObjectKey kDefinitionBinding{type::kClusterResourceBinding, "", kName + "-customresourcedefinition"};

class Definitions : public ::testing::Test {
 protected:
  explicit Definitions(uint32_t fold_version = kFoldVersion) {
    if (fold_version > 1) history.accept({FoldVersionActivated{fold_version}});
    for (const char* name : {"m1", "m2", "m3"}) history.put(cluster_key(name), cluster(name, 10));
    history.object(kDefinition, R"({"spec": {"group": "example.com", "names": {"kind": "Sofa", "plural": "sofas"}}})");
  }

  /// Three replicas of a Sofa, shared evenly.
  void make_sofa(const char* scheduling) {
    Case from{3, scheduling, {}};
    Value sofa = binding_of(from);
    sofa.edit("spec").edit("resource").set("apiVersion", "example.com/v1");
    sofa.edit("spec").edit("resource").set("kind", "Sofa");
    history.put(kBinding, sofa);
  }
  void make_definition_binding() {
    history.object(kDefinitionBinding,
                   R"({"metadata": {"labels": {"clusterpropagationpolicy.karmada.io/permanent-id": "id"}},
      "spec": {"placement": {}, "resource": {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
               "name": "sofas.example.com"}}})");
  }
  Change place_definition(const std::vector<Target>& targets) {
    PlacementDecided placed;
    placed.binding = kDefinitionBinding;
    placed.targets = targets;
    placed.observed_generation = 1;
    placed.applied_placement = "{}";
    const Folded folded = history.fold({placed});
    EXPECT_FALSE(folded.refusal);
    return folded.changes.front();
  }
  void serve_in(const std::string& name) {
    history.edit(cluster_key(name), [](Value& value) {
      value.edit("status")
          .edit("apiEnablements")
          .push_back(json(R"({"groupVersion": "example.com/v1", "resources": [{"kind": "Sofa", "name": "sofas"}]})"));
    });
  }
  void take() {
    const auto decision = decide(history.state(), kBinding, history.now());
    ASSERT_TRUE(decision && decision_of(decision));
    history.accept(*decision_of(decision));
  }

  History history;
};

TEST_F(Definitions, TheObjectWaitsForTheFirstPlacementOfItsDefinition) {
  make_sofa(kDuplicated);
  make_definition_binding();
  EXPECT_EQ(answer(history), "nothing new");
  place_definition({{"m1", 0}, {"m3", 0}});
  EXPECT_EQ(answer(history), "m1:3 m3:3");
}

TEST_F(Definitions, ItIsPlacedWhereTheDefinitionIsGoingToBeServed) {
  make_definition_binding();
  place_definition({{"m1", 0}, {"m2", 0}});
  make_sofa(kDuplicated);
  const Event event = decided(history);
  const auto* placed = std::get_if<PlacementDecided>(&event);
  ASSERT_NE(placed, nullptr);
  EXPECT_EQ(in_words(placed->targets), "m1:3 m2:3");
  EXPECT_EQ(placed->why.steps.back(), (Fact{DefinitionExpected{"Sofa", "sofas.example.com", {"m1", "m2"}}}));
}

TEST_F(Definitions, DividedReplicasAreNotMovedWhenTheClustersBeginToServe) {
  make_definition_binding();
  place_definition({{"m1", 0}, {"m2", 0}, {"m3", 0}});
  make_sofa(R"({"replicaSchedulingType": "Divided", "replicaDivisionPreference": "Weighted"})");
  EXPECT_EQ(answer(history), "m1:1 m2:1 m3:1");
  take();
  for (const char* name : {"m3", "m1", "m2"}) {
    serve_in(name);
    EXPECT_EQ(answer(history), "nothing new") << name;
  }
}

TEST_F(Definitions, AClusterThatRefusesTheDefinitionIsNotCounted) {
  make_definition_binding();
  place_definition({{"m1", 0}, {"m2", 0}});
  const ObjectKey work = definition_work_key(kName, "m1");
  history.put({type::kNamespace, "", work.ns}, History::named({type::kNamespace, "", work.ns}, json("{}")));
  history.object(work, R"({"status": {"conditions": [{"type": "Applied", "status": "False"}]}})");
  make_sofa(kDuplicated);
  EXPECT_EQ(answer(history), "m2:3");
}

TEST_F(Definitions, WithoutABindingOfTheDefinitionOnlyWhatIsServedCounts) {
  make_sofa(kDuplicated);
  EXPECT_EQ(answer(history), "NoClusterFit: 0/3 clusters are available: 3 cluster(s) did not have the API resource.");
  serve_in("m2");
  EXPECT_EQ(answer(history), "m2:3");
}

TEST_F(Definitions, ASuspendedDefinitionIsNotWaitedFor) {
  make_definition_binding();
  history.edit(kDefinitionBinding, [](Value& value) { value.edit("spec").edit("suspension").set("scheduling", true); });
  make_sofa(kDuplicated);
  serve_in("m2");
  EXPECT_EQ(answer(history), "m2:3");
}

TEST_F(Definitions, ThePlacementOfTheDefinitionTriggersTheObjectsOfItsKind) {
  make_sofa(kDuplicated);
  make_definition_binding();
  const auto service = make_scheduler_role();
  std::vector<ObjectKey> wake;
  service->on_change(history.state(), place_definition({{"m1", 0}}), wake);
  EXPECT_NE(std::ranges::find(wake, kBinding), wake.end());
}

class DefinitionsOfEarlierBuilds : public Definitions {
 protected:
  DefinitionsOfEarlierBuilds() : Definitions{3} {}
};

TEST_F(DefinitionsOfEarlierBuilds, OnlyWhatIsServedCounts) {
  make_definition_binding();
  place_definition({{"m1", 0}, {"m2", 0}});
  make_sofa(kDuplicated);
  EXPECT_EQ(answer(history), "NoClusterFit: 0/3 clusters are available: 3 cluster(s) did not have the API resource.");
}

}  // namespace
}  // namespace shiplog::scheduler
