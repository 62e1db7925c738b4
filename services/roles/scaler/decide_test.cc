#include "services/roles/scaler/decide.h"

#include <functional>

#include <gtest/gtest.h>

#include "tests/support/given.h"

namespace shiplog::scaler {
namespace {

using given::History;

const ObjectKey kWeb{kDeployment, "default", "web"};
const ObjectKey kBinding{type::kResourceBinding, "default", "web-deployment"};
const ObjectKey kHpa{kAutoscaler, "default", "web"};

std::string autoscaler(const std::string& target, const std::string& labels) {
  return R"({"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler", "metadata": {"labels": {)" + labels +
         R"(}}, "spec": {"scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": ")" + target +
         R"("}}})";
}
const std::string kByPolicy = R"("propagationpolicy.karmada.io/permanent-id": "id")";
const std::string kByClusterPolicy = R"("clusterpropagationpolicy.karmada.io/permanent-id": "id")";

/// A Deployment of 4 replicas, whose members have `m1` and `m2`; both parts are on.
History deployed(const std::string& type = "Divided", int64_t m1 = 2, int64_t m2 = 2) {
  History history;
  history.accept({OptionsSet{{{"controllers", {"*", kHpaScaleTargetMarker, kDeploymentReplicasSyncer}}}}});
  history.object(kWeb, R"({"apiVersion": "apps/v1", "kind": "Deployment", "spec": {"replicas": 4}})");
  history.object(kBinding, R"({"spec": {"replicas": 4, "resource": {"kind": "Deployment", "name": "web"},
      "clusters": [{"name": "m1", "replicas": 2}, {"name": "m2", "replicas": 2}],
      "placement": {"replicaScheduling": {"replicaSchedulingType": ")" +
                               type + R"("}}}})");
  history.edit(kBinding, [&](Value& binding) {
    binding.edit("spec").edit("resource").set("uid", history.state().value_of(kWeb)["metadata"]["uid"]);
    const auto item = [](const char* name, int64_t replicas) {
      return Value::object({{"clusterName", name},
                            {"status", Value::object({{"replicas", replicas},
                                                      {"generation", 3},
                                                      {"observedGeneration", 3},
                                                      {"resourceTemplateGeneration", 1}})}});
    };
    binding.edit("status").set("aggregatedStatus", Value::array({item("m1", m1), item("m2", m2)}));
  });
  history.edit(kBinding, [](Value& binding) {
    binding.edit("status").set("schedulerObservedGeneration", binding["metadata"]["generation"].as_int());
  });
  history.edit(kWeb, [&](Value& web) { web.edit("status").set("replicas", m1 + m2); });
  return history;
}
History marked(const std::string& type = "Divided", int64_t m1 = 2, int64_t m2 = 2) {
  History history = deployed(type, m1, m2);
  history.object(kHpa, autoscaler("web", kByPolicy));
  return history;
}

bool retains(const History& history) { return retains_replicas(history.state().value_of(kWeb)); }
int64_t replicas(History& history) {
  history.settle(decide, kWeb);
  return history.state().value_of(kWeb)["spec"]["replicas"].as_int();
}

TEST(ScaleTargetMarker, MarksWhatAPropagatedAutoscalerScales_E_21) {
  History history = deployed();
  history.object(kHpa, autoscaler("web", ""));
  EXPECT_EQ(history.settle(decide, kWeb), 0) << "it stays in the control plane";
  for (const std::string& claimed : {kByPolicy, kByClusterPolicy}) {
    history = deployed();
    history.object(kHpa, autoscaler("web", claimed));
    EXPECT_EQ(history.settle(decide, kWeb), 1) << claimed;
    EXPECT_TRUE(retains(history));
  }
  history = deployed();
  history.object(kHpa, autoscaler("other", kByPolicy));
  EXPECT_EQ(history.settle(decide, kWeb), 0);
  history.object({kAutoscaler, "other", "web"}, autoscaler("web", kByPolicy));
  EXPECT_EQ(history.settle(decide, kWeb), 0) << "of another namespace";
}

TEST(ScaleTargetMarker, TheMarkGoesWithTheLastAutoscalerThatNamesIt_E_21) {
  History history = marked();
  history.object({kAutoscaler, "default", "second"}, autoscaler("web", kByPolicy));
  history.settle(decide, kWeb);
  history.remove(kHpa);
  EXPECT_EQ(history.settle(decide, kWeb), 0) << "the second one scales it still";
  history.edit({kAutoscaler, "default", "second"}, [](Value& hpa) {
    hpa.edit("metadata").edit("labels").erase("propagationpolicy.karmada.io/permanent-id");
  });
  EXPECT_EQ(history.settle(decide, kWeb), 0) << "without a policy it runs on in the members";
  history.edit({kAutoscaler, "default", "second"},
               [](Value& hpa) { hpa.edit("spec").edit("scaleTargetRef").set("name", "other"); });
  EXPECT_EQ(history.settle(decide, kWeb), 1);
  EXPECT_FALSE(retains(history));
  EXPECT_TRUE(history.state().value_of(kWeb)["metadata"]["annotations"].is_null());
}

TEST(ScaleTargetMarker, AMarkOfTheUsersStays_E_21) {
  History history = deployed();
  history.edit(kWeb, [](Value& web) { web.edit("metadata").edit("labels").set(kRetainReplicasLabel, "true"); });
  EXPECT_EQ(history.settle(decide, kWeb), 0) << "nobody names it";
  history.object(kHpa, autoscaler("web", kByPolicy));
  history.settle(decide, kWeb);
  history.remove(kHpa);
  history.settle(decide, kWeb);
  EXPECT_TRUE(retains(history));
}

TEST(ReplicasSyncer, TheTemplateFollowsWhatMembersHave_E_21) {
  History history = marked("Divided", 3, 5);
  EXPECT_EQ(replicas(history), 8);
  EXPECT_EQ(history.settle(decide, kWeb), 0) << "and then its binding has to catch up first";
}

TEST(ReplicasSyncer, OnlyDividedDeploymentsWithTheMarkFollow_E_21) {
  History duplicated = marked("Duplicated", 3, 5);
  EXPECT_EQ(replicas(duplicated), 4);
  History unmarked = deployed("Divided", 3, 5);
  EXPECT_EQ(replicas(unmarked), 4);
}

TEST(ReplicasSyncer, WaitsUntilAllAgree_E_21) {
  const auto waits = [](const std::function<void(History&)>& change) {
    History history = marked("Divided", 3, 5);
    change(history);
    return replicas(history) == 4;
  };
  const auto binding = [](const std::function<void(Value&)>& change) {
    return [change](History& history) { history.edit(kBinding, change); };
  };
  EXPECT_FALSE(waits([](History&) {}));
  EXPECT_TRUE(waits(binding([](Value& it) { it.edit("spec").set("replicas", 5); }))) << "not bound yet";
  EXPECT_TRUE(waits(binding([](Value& it) { it.edit("status").set("schedulerObservedGeneration", 0); })));
  EXPECT_TRUE(waits(binding([](Value& it) { it.edit("status").edit("aggregatedStatus").edit_items().pop_back(); })))
      << "m2 has said nothing";
  EXPECT_TRUE(waits(binding([](Value& it) {
    it.edit("status").edit("aggregatedStatus").edit_items()[1].edit("status").set("replicas", 0);
  }))) << "m2 has not begun";
  EXPECT_TRUE(waits(binding([](Value& it) {
    it.edit("status").edit("aggregatedStatus").edit_items()[1].edit("status").set("observedGeneration", 2);
  }))) << "m2 speaks of what it had before";
  EXPECT_TRUE(waits(binding([](Value& it) {
    it.edit("status").edit("aggregatedStatus").edit_items()[1].edit("status").set("replicas", 6);
  }))) << "the template's own status is not up to date";
  EXPECT_TRUE(waits(binding([](Value& it) { it.edit("spec").edit("resource").set("uid", "another"); })));
}

TEST(Scaler, BothPartsAreOffUntilAnOptionNamesThem_E_21) {
  History history = marked("Divided", 3, 5);
  history.accept({OptionsSet{}});
  EXPECT_EQ(replicas(history), 4);
  EXPECT_FALSE(retains(history));
  history.accept({OptionsSet{{{"controllers", {"*", kHpaScaleTargetMarker}}}}});
  EXPECT_EQ(replicas(history), 4);
  EXPECT_TRUE(retains(history));
  history.accept({OptionsSet{{{"controllers", {"*", kDeploymentReplicasSyncer}}}}});
  EXPECT_EQ(replicas(history), 8);
}

}  // namespace
}  // namespace shiplog::scaler
