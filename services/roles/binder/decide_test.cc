#include "services/roles/binder/decide.h"

#include <gtest/gtest.h>

#include "events/state/policy_identity.h"
#include "services/roles/binder/claim.h"
#include "tests/support/binder_loop.h"
#include "tests/support/given.h"

namespace shiplog::binder {
namespace {

using given::History;
using given::json;

constexpr const char* kRequestingDeployment = R"({"apiVersion": "apps/v1", "kind": "Deployment", "spec": {"replicas": 3,
    "template": {"spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": "100m"}}}]}}}})";

std::string policy_on_m1(const std::string& more = "", const std::string& selector = R"(, "name": "web")") {
  return R"({"apiVersion": "policy.karmada.io/v1alpha1", "kind": "PropagationPolicy", "spec": {"resourceSelectors":
      [{"apiVersion": "apps/v1", "kind": "Deployment")" +
         selector + R"(}], "placement": {"clusterAffinity": {"clusterNames": ["m1"]}})" + more + "}}";
}

/// A Deployment, a policy that names it, and everything decided.
History bound() {
  History history;
  history.object(kWeb, kRequestingDeployment).object(kPolicy, policy_on_m1());
  history.settle(decide, kPolicy);
  history.settle(decide, kWeb);
  return history;
}

TEST(BinderDecide, GivesAPolicyItsPermanentIdAndFinalizer) {  // D-15
  History history;
  history.object(kPolicy, policy_on_m1());
  EXPECT_EQ(history.settle(decide, kPolicy), 1);
  const Value& policy = history.state().value_of(kPolicy);
  EXPECT_EQ(label_of(policy, label::kPolicyId), uid_of(policy));
  EXPECT_TRUE(has_finalizer(policy, kPolicyFinalizer));
}

TEST(BinderDecide, ClaimsTheTemplateAndPutsItsBindingInOneEntry) {  // D-16, D-20 to D-24, D-17, D-27, N-1
  History history;
  history.object(kWeb, kRequestingDeployment).object(kPolicy, policy_on_m1());
  history.settle(decide, kPolicy);
  const auto decision = *decision_of(decide(history.state(), kWeb, history.now()));
  ASSERT_EQ(decision.events.size(), 2U);
  EXPECT_EQ(decision.expects, (std::vector<Expect>{{kWeb, history.state().revision_of(kWeb)}, {kBinding, {}}}));
  EXPECT_EQ(history.settle(decide, kWeb), 1);

  const Value& web = history.state().value_of(kWeb);
  EXPECT_EQ(annotation_of(web, kPolicyNamespaceAnnotation), "default");
  EXPECT_EQ(annotation_of(web, kPolicyNameAnnotation), "p");
  const Value& binding = history.state().value_of(kBinding);
  EXPECT_EQ(label_of(binding, label::kPolicyId), label_of(web, label::kPolicyId));
  EXPECT_EQ(label_of(binding, label::kBindingId).size(), 36U);
  EXPECT_TRUE(has_finalizer(binding, "karmada.io/binding-controller"));
  EXPECT_EQ(binding["metadata"]["ownerReferences"][0]["uid"], web["metadata"]["uid"]);
  EXPECT_EQ(binding["spec"]["resource"]["kind"].as_string(), "Deployment");
  EXPECT_EQ(binding["spec"]["replicas"].as_int(), 3);
  EXPECT_EQ(binding["spec"]["replicaRequirements"], json(R"({"resourceRequest": {"cpu": "100m"}})"));
  EXPECT_EQ(binding["spec"]["placement"], json(R"({"clusterAffinity": {"clusterNames": ["m1"]}})"));
  EXPECT_EQ(binding["spec"]["conflictResolution"].as_string(), "Abort");
}

TEST(BinderDecide, WaitsForThePolicysPermanentId) {
  History history;
  history.object(kWeb, kRequestingDeployment).object(kPolicy, policy_on_m1());
  EXPECT_FALSE(decision_of(decide(history.state(), kWeb, history.now())));
}

TEST(BinderDecide, IsTheSameEachTimeItIsComputed) {
  History history;
  history.object(kWeb, kRequestingDeployment).object(kPolicy, policy_on_m1());
  history.settle(decide, kPolicy);
  EXPECT_EQ(decide(history.state(), kWeb, history.now()).value(), decide(history.state(), kWeb, {}).value());
}

TEST(BinderDecide, LeavesTheFleetsOwnObjectsAlone) {  // D-2, D-4, D-7, N-7, T-16
  EXPECT_FALSE(decision_of(decide(bound().state(), kBinding, {})));
  for (const char* ns : {"karmada-es-m1", "karmada-system", "kube-system"}) {
    History history;
    history.object({type::kNamespace, "", ns}, R"({"apiVersion": "v1", "kind": "Namespace"})");
    history.object({"deployments.apps", ns, "web"}, kRequestingDeployment);
    history.object(kClusterPolicy, policy_on_m1());
    history.settle(decide, kClusterPolicy);
    EXPECT_FALSE(decision_of(decide(history.state(), {"deployments.apps", ns, "web"}, {}))) << ns;
  }
  History history = bound();
  history.edit(kWeb, [](Value& web) {
    web.edit("metadata").edit("labels").set("resourcetemplate.karmada.io/claimed-by", "MultiClusterService");
    web.edit("spec").set("replicas", 9);
  });
  EXPECT_FALSE(decision_of(decide(history.state(), kWeb, {})));
}

TEST(BinderDecide, ANamespacesOwnPolicyWinsAgainstAClusterPolicyOfAnyPriority) {  // D-11, TRAP-8
  History history;
  history.object(kWeb, kRequestingDeployment)
      .object(kClusterPolicy, policy_on_m1(R"(, "priority": 100)"))
      .object(kPolicy, policy_on_m1());
  history.settle(decide, kPolicy);
  history.settle(decide, kClusterPolicy);
  history.settle(decide, kWeb);
  EXPECT_EQ(claim_of(history.state().value_of(kWeb))->policy, (State::Name{"default", "p"}));
}

TEST(BinderDecide, ChoosesByPriorityThenMatchThenName) {  // D-12
  const auto winner = [](const std::vector<std::pair<std::string, std::string>>& policies) {
    History history;
    history.object(kWeb, kRequestingDeployment);
    for (const auto& [name, text] : policies) {
      history.object({type::kPropagationPolicy, "default", name}, text);
      history.settle(decide, {type::kPropagationPolicy, "default", name});
    }
    history.settle(decide, kWeb);
    return claim_of(history.state().value_of(kWeb))->policy.name;
  };
  const std::string by_kind = policy_on_m1("", "");
  EXPECT_EQ(winner({{"a", policy_on_m1()}, {"b", policy_on_m1(R"(, "priority": 1)", "")}}), "b");
  EXPECT_EQ(winner({{"a", by_kind}, {"b", policy_on_m1("", R"(, "labelSelector": {})")}}), "b");
  EXPECT_EQ(winner({{"a", policy_on_m1("", R"(, "labelSelector": {})")}, {"b", policy_on_m1()}}), "b");
  EXPECT_EQ(winner({{"b", by_kind}, {"a", by_kind}}), "a");
}

TEST(BinderDecide, AClaimedTemplateStaysWithItsPolicy) {  // D-18, D-37, D-17, TRAP-8
  History history = bound();
  const ObjectKey better{type::kPropagationPolicy, "default", "better"};
  history.object(better, policy_on_m1(R"(, "priority": 100, "preemption": "Never")"));
  history.settle(decide, better);
  EXPECT_FALSE(decision_of(decide(history.state(), kWeb, history.now())));
}

TEST(BinderDecide, CarriesAPolicyEditIntoTheBindingAndKeepsWhatIsNotItsOwn) {  // D-24, D-35
  History history = bound();
  history.accept({PlacementDecided{kBinding, {{"m1", 3}}, 1, "{}", "", {}}});
  history.edit(kPolicy, [](Value& policy) {
    policy.edit("spec").set("placement", json(R"({"clusterAffinity": {"clusterNames": ["m2"]}})"));
  });
  EXPECT_EQ(history.settle(decide, kWeb), 1);
  const Value& binding = history.state().value_of(kBinding);
  EXPECT_EQ(binding["spec"]["placement"]["clusterAffinity"]["clusterNames"], json(R"(["m2"])"));
  EXPECT_EQ(binding["spec"]["clusters"], json(R"([{"name": "m1", "replicas": 3}])"));
  EXPECT_EQ(annotation_of(binding, "policy.karmada.io/applied-placement"), "{}");
  EXPECT_FALSE(binding["status"]["lastScheduledTime"].is_null());
}

TEST(BinderDecide, ATemplateChangeGivesTheBindingANewGenerationAndAStatusChangeDoesNot) {  // D-5, D-22
  History history = bound();
  const auto generation = [&] { return history.state().value_of(kBinding)["metadata"]["generation"].as_int(); };
  const int64_t before = generation();
  history.edit(kWeb, [](Value& web) { web.edit("status").set("readyReplicas", 2); });
  EXPECT_FALSE(decision_of(decide(history.state(), kWeb, history.now())));
  history.edit(kWeb, [](Value& web) { web.edit("spec").set("paused", true); });
  EXPECT_EQ(history.settle(decide, kWeb), 1);
  EXPECT_EQ(generation(), before + 1);
  EXPECT_EQ(history.state().value_of(kBinding)["spec"]["resource"]["resourceVersion"],
            history.state().value_of(kWeb)["metadata"]["resourceVersion"]);
}

TEST(BinderDecide, ReleasesWhatThePolicyNoLongerSelects) {  // D-35
  History history = bound();
  history.edit(kPolicy, [](Value& policy) {
    policy.edit("spec").set("resourceSelectors",
                            json(R"([{"apiVersion": "apps/v1", "kind": "Deployment", "name": "other"}])"));
  });
  EXPECT_EQ(history.settle(decide, kWeb), 1);
  EXPECT_FALSE(has_claim_metadata(history.state().value_of(kWeb)));
  EXPECT_FALSE(has_claim_metadata(history.state().value_of(kBinding)));
  EXPECT_FALSE(history.state().value_of(kBinding).is_null());  // D-39
}

TEST(BinderDecide, ADeletedPolicyReleasesItsTemplatesFirst) {  // D-38, TRAP-8
  History history = bound();
  history.remove(kPolicy);
  EXPECT_EQ(history.settle(decide, kPolicy), 0);  // waits: the template still carries its claim
  ASSERT_NE(history.state().find(kPolicy), nullptr);
  EXPECT_EQ(history.settle(decide, kWeb), 1);
  EXPECT_EQ(history.settle(decide, kPolicy), 1);
  EXPECT_EQ(history.state().find(kPolicy), nullptr);
  EXPECT_NE(history.state().find(kBinding), nullptr);
  EXPECT_FALSE(has_claim_metadata(history.state().value_of(kBinding)));
}

TEST(BinderDecide, ADeletedPolicyAlsoReleasesBindingsWhoseTemplateIsDeleted) {  // D-19
  History history = bound();
  history.remove(kWeb).remove(kPolicy);
  EXPECT_EQ(history.settle(decide, kPolicy), 1);
  EXPECT_EQ(history.state().find(kPolicy), nullptr);
  EXPECT_FALSE(has_claim_metadata(history.state().value_of(kBinding)));
}

TEST(BinderDecide, AReleasedTemplateGoesToTheNextPolicyWithTheSameBinding) {  // D-19, D-39, D-20
  History history = bound();
  const std::string uid = history.state().value_of(kBinding)["metadata"]["uid"].str();
  history.object(kClusterPolicy, policy_on_m1());
  history.settle(decide, kClusterPolicy);
  history.remove(kPolicy);
  history.settle(decide, kWeb);
  EXPECT_EQ(claim_of(history.state().value_of(kWeb))->policy, (State::Name{"", "cp"}));
  EXPECT_EQ(history.state().value_of(kBinding)["metadata"]["uid"].as_string(), uid);
}

TEST(BinderDecide, ANewTemplateOfTheSameNameWaitsForTheOldBindingToGo) {  // D-30
  History history = bound();
  history.remove(kWeb).object(kWeb, kRequestingDeployment);
  const auto decided = decide(history.state(), kWeb, history.now());
  ASSERT_FALSE(decided);
  EXPECT_EQ(decided.error().code, ErrorCode::kConflict);
}

TEST(BinderDecide, ANewTemplateTakesTheBindingOfOneThatWasDeletedWithoutItsDependents) {  // D-30
  History history = bound();
  const std::string binding_uid{uid_of(history.state().value_of(kBinding))};
  const std::string template_uid{uid_of(history.state().value_of(kWeb))};
  history.edit(kBinding, [](Value& binding) { binding.edit("metadata").erase("ownerReferences"); });
  history.remove(kWeb).object(kWeb, kRequestingDeployment);
  history.edit(kWeb, [](Value& web) { web.edit("spec").set("replicas", 5); });
  EXPECT_EQ(history.settle(decide, kWeb), 1);
  const Value& binding = history.state().value_of(kBinding);
  const Value& web = history.state().value_of(kWeb);
  ASSERT_NE(uid_of(web), template_uid);
  EXPECT_EQ(binding["spec"]["resource"]["uid"], web["metadata"]["uid"]);
  EXPECT_EQ(binding["metadata"]["ownerReferences"][0]["uid"], web["metadata"]["uid"]);
  EXPECT_EQ(binding["spec"]["replicas"].as_int(), 5);
  EXPECT_EQ(uid_of(binding), binding_uid) << "what runs in members stays";
}

TEST(BinderDecide, ABindingWithoutOwnerOfAnotherKindIsNotTaken) {  // N-2
  History history = bound();
  history.edit(kBinding, [](Value& binding) {
    binding.edit("metadata").erase("ownerReferences");
    binding.edit("spec").edit("resource").set("apiVersion", "example.com/v1");
  });
  history.remove(kWeb).object(kWeb, kRequestingDeployment);
  const auto decided = decide(history.state(), kWeb, history.now());
  ASSERT_FALSE(decided);
  EXPECT_EQ(decided.error().code, ErrorCode::kConflict);
}

TEST(BinderDecide, WaitsForDependentOverrides) {  // D-13
  History history;
  history.object(kWeb, kRequestingDeployment).object(kPolicy, policy_on_m1(R"(, "dependentOverrides": ["op"])"));
  history.settle(decide, kPolicy);
  const auto decided = decide(history.state(), kWeb, history.now());
  ASSERT_FALSE(decided);
  EXPECT_TRUE(decided.error().message.starts_with("waiting for dependent overrides")) << decided.error().message;
  history.object({"overridepolicies.policy.karmada.io", "default", "op"}, R"({"kind": "OverridePolicy"})");
  EXPECT_EQ(history.settle(decide, kWeb), 1);
}

TEST(BinderDecide, ClusterScopedObjectsGetAClusterResourceBinding) {  // D-20, N-1, D-11, D-21, D-27
  History history;
  const ObjectKey role{"clusterroles.rbac.authorization.k8s.io", "", "system:x"};
  history.object(role, R"({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole"})");
  history.object(kClusterPolicy, R"({"spec": {"resourceSelectors": [{"apiVersion": "rbac.authorization.k8s.io/v1",
                                     "kind": "ClusterRole"}], "placement": {}}})");
  history.settle(decide, kClusterPolicy);
  history.settle(decide, role);
  const ObjectKey key{type::kClusterResourceBinding, "", "system.x-clusterrole"};
  const Value& binding = history.state().value_of(key);
  EXPECT_EQ(binding["kind"].as_string(), "ClusterResourceBinding");
  EXPECT_TRUE(has_finalizer(binding, "karmada.io/cluster-resource-binding-controller"));
  EXPECT_TRUE(binding["spec"]["replicas"].is_null());
}

TEST(BinderDecide, ThirdPartySuspensionOfSchedulingSurvivesAPolicyEdit) {  // D-26
  History history = bound();
  history.edit(kBinding,
               [](Value& binding) { binding.edit("spec").set("suspension", json(R"({"scheduling": true})")); });
  history.edit(kPolicy, [](Value& policy) { policy.edit("spec").set("suspension", json(R"({"dispatching": true})")); });
  history.settle(decide, kWeb);
  EXPECT_EQ(history.state().value_of(kBinding)["spec"]["suspension"],
            json(R"({"dispatching": true, "scheduling": true})"));
}

TEST(BinderDecide, NamesFieldsOfThePolicyThatWereIgnoredBeforeVersion7) {
  History history;
  history.object(kWeb, kRequestingDeployment).object(kPolicy, policy_on_m1(R"(, "failover": {"application": {}})"));
  history.settle(decide, kPolicy);
  const auto decision = *decision_of(decide(history.state(), kWeb, history.now()));
  EXPECT_NE(step_of<FailoverIgnored>(std::get<BindingPut>(decision.events.at(1)).why), nullptr);
}

TEST(BinderDecide, TakesSpecFailoverOverAndActsOnIt_3_1) {
  History history;
  history.accept({FoldVersionActivated{kFoldVersion}});
  history.object(kWeb, kRequestingDeployment).object(kPolicy, policy_on_m1(R"(, "failover": {"application": {}})"));
  history.settle(decide, kPolicy);
  const auto decision = *decision_of(decide(history.state(), kWeb, history.now()));
  const BindingPut& put = std::get<BindingPut>(decision.events.at(1));
  EXPECT_EQ(put.value["spec"]["failover"], json(R"({"application": {}})"));
  EXPECT_EQ(step_of<FailoverIgnored>(put.why), nullptr);
}

TEST(BinderDecide, LabelsOfTheTemplateNameItsAffinityGroups_D_29) {
  const auto groups = [](const char* labels, const char* affinity) {
    History history;
    history.object(kWeb, kRequestingDeployment).edit(kWeb, [&](Value& web) {
      web.edit("metadata").set("labels", json(labels));
    });
    history.object(kPolicy, policy_on_m1()).edit(kPolicy, [&](Value& policy) {
      policy.edit("spec").edit("placement").set("workloadAffinity", json(affinity));
    });
    history.settle(decide, kPolicy);
    history.settle(decide, kWeb);
    return to_json(history.state().value_of(kBinding)["spec"]["workloadAffinityGroups"]);
  };
  const char* both = R"({"affinity": {"groupByLabelKey": "app"}, "antiAffinity": {"groupByLabelKey": "tier"}})";
  EXPECT_EQ(groups(R"({"app": "shop", "tier": "db"})", both),
            R"({"affinityGroup":"app=shop","antiAffinityGroup":"tier=db"})");
  EXPECT_EQ(groups(R"({"tier": ""})", both), R"({"antiAffinityGroup":"tier="})");
  EXPECT_EQ(groups(R"({"other": "x"})", both), "null");
  EXPECT_EQ(groups(R"({"app": "shop", "tier": "db"})", R"({"affinity": {"groupByLabelKey": "app"}})"),
            R"({"affinityGroup":"app=shop"})");
}

TEST(BinderDecide, ComponentsTakeThePlaceOfReplicasWhereTheGateIsOn_D_28_L_8) {
  const ObjectKey flink{"flinkdeployments.flink.apache.org", "default", "job"};
  const ObjectKey binding{type::kResourceBinding, "default", "job-flinkdeployment"};
  History history;
  history.object(flink, R"({"apiVersion": "flink.apache.org/v1beta1", "kind": "FlinkDeployment", "spec": {
      "jobManager": {"replicas": 1, "resource": {"cpu": 1, "memory": "1Gi"}},
      "taskManager": {"replicas": 2, "resource": {"cpu": 2, "memory": "2Gi"}}}})");
  history.object(kPolicy, policy_on_m1()).edit(kPolicy, [](Value& policy) {
    policy.edit("spec").set("resourceSelectors",
                            json(R"([{"apiVersion": "flink.apache.org/v1beta1", "kind": "FlinkDeployment"}])"));
  });
  const auto settle = [&]() -> const Value& {
    history.settle(decide, kPolicy);
    history.settle(decide, flink);
    return history.state().value_of(binding)["spec"];
  };
  EXPECT_EQ(settle()["replicas"].as_int(), 3) << "L-9";
  EXPECT_TRUE(settle()["components"].is_null());

  history.accept({FeatureGatesSet{{"MultiplePodTemplatesScheduling"}}});
  EXPECT_TRUE(settle()["replicas"].is_null());
  EXPECT_TRUE(settle()["replicaRequirements"].is_null());
  EXPECT_EQ(settle()["components"].size(), 2U);
  EXPECT_EQ(settle()["components"][1]["name"], Value{"taskmanager"});
  EXPECT_EQ(settle()["components"][1]["replicas"].as_int(), 2);
  EXPECT_EQ(settle()["components"][1]["replicaRequirements"]["resourceRequest"]["cpu"], Value{"2"});

  history.accept({FeatureGatesSet{}});
  EXPECT_EQ(settle()["replicas"].as_int(), 3);
  EXPECT_TRUE(settle()["components"].is_null());
}

TEST(BinderDecide, EstimatorsGetNamespaceAndPriorityClassWhereTheGateIsOn_D_27_L_6) {
  History history = bound();
  history.edit(kWeb,
               [](Value& web) { web.edit("spec").edit("template").edit("spec").set("priorityClassName", "high"); });
  const auto requirements = [&]() -> const Value& {
    history.settle(decide, kWeb);
    return history.state().value_of(kBinding)["spec"]["replicaRequirements"];
  };
  EXPECT_EQ(requirements(), json(R"({"resourceRequest": {"cpu": "100m"}})"));
  history.accept({FeatureGatesSet{{"ResourceQuotaEstimate"}}});
  EXPECT_EQ(requirements(),
            json(R"({"resourceRequest": {"cpu": "100m"}, "namespace": "default", "priorityClassName": "high"})"));
}

TEST(BinderDecide, ANegativeRequestDoesNotLowerUsage) {
  const ObjectKey flink{"flinkdeployments.flink.apache.org", "default", "job"};
  for (const bool sets : {false, true}) {
    History history;
    history.accept({FoldVersionActivated{7}});
    if (sets) history.accept({FeatureGatesSet{{"MultiplePodTemplatesScheduling"}}});
    history.object(flink, R"({"apiVersion": "flink.apache.org/v1beta1", "kind": "FlinkDeployment", "spec": {
        "jobManager": {"replicas": 1, "resource": {"cpu": -100, "memory": "1Gi"}},
        "taskManager": {"replicas": 2, "resource": {"cpu": -100, "memory": "2Gi"}}}})");
    history.object(kPolicy, policy_on_m1()).edit(kPolicy, [](Value& policy) {
      policy.edit("spec").set("resourceSelectors",
                              json(R"([{"apiVersion": "flink.apache.org/v1beta1", "kind": "FlinkDeployment"}])"));
    });
    history.settle(decide, kPolicy);
    const auto decided = decide(history.state(), flink, history.now());
    ASSERT_FALSE(decided);
    EXPECT_EQ(decided.error().message, "resourceRequest.cpu is negative");
  }
}

TEST(BinderDecide, WhatAQuotaRefusesIsNotAppendedAndTheBindingStays_4_5_4_Q_21) {  // 4.3.4
  History history = bound();
  history.accept({FoldVersionActivated{7}});
  history.accept({FeatureGatesSet{{"FederatedQuotaEnforcement"}}});
  const ObjectKey quota{type::kFederatedResourceQuota, "default", "q"};
  history.object(quota, R"({"spec": {"overall": {"cpu": "400m"}}})");
  history.edit(kBinding, [](Value& binding) {
    binding.edit("spec").set("clusters", json(R"([{"name": "m1", "replicas": 3}])"));
  });
  const auto request = [&](const char* cpu) {
    history.edit(kWeb, [&](Value& web) {
      Value& pod = web.edit("spec").edit("template").edit("spec");
      pod.edit("containers").edit_items()[0].edit("resources").edit("requests").set("cpu", cpu);
    });
  };
  request("200m");
  const auto refused = decide(history.state(), kWeb, history.now());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kForbidden);
  EXPECT_EQ(refused.error().message,
            "admission webhook \"resourcebinding.karmada.io\" denied the request: FederatedResourceQuota(default/q) "
            "exceeded for resource cpu: requested sum 600m, limit 400m.");
  request("50m");
  history.settle(decide, kWeb);
  EXPECT_EQ(history.state().value_of(quota)["status"]["overallUsed"]["cpu"].as_string(), "150m");
}

}  // namespace
}  // namespace shiplog::binder
