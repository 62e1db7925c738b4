// Rules of docs/reference that the other tests of decide() pass by.
#include <gtest/gtest.h>

#include "events/state/api_selector.h"
#include "events/state/policy_author.h"
#include "services/roles/binder/claim.h"
#include "services/roles/binder/decide.h"
#include "services/roles/binder/templates.h"
#include "tests/support/binder_loop.h"
#include "tests/support/given.h"

namespace shiplog::binder {
namespace {

using given::History;
using given::json;

constexpr const char* kThreeReplicas = R"({"apiVersion": "apps/v1", "kind": "Deployment", "spec": {"replicas": 3}})";

std::string policy_with(const std::string& more = "") {
  return R"({"spec": {"resourceSelectors": [{"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}],
      "placement": {"clusterAffinity": {"clusterNames": ["m1"]}})" +
         more + "}}";
}

/// A Deployment bound by a policy of its namespace.
History bound_with(const std::string& more = "") {
  History history;
  history.object(kWeb, kThreeReplicas).object(kPolicy, policy_with(more));
  history.settle(decide, kPolicy);
  history.settle(decide, kWeb);
  return history;
}

const Value& spec_of(const History& history) { return history.state().value_of(kBinding)["spec"]; }

constexpr const char* kDefinition = R"({"spec": {"group": "example.com", "scope": "Namespaced",
    "names": {"plural": "deployments", "kind": "Deployment"}, "versions": [{"name": "v1", "served": true}]}})";
const ObjectKey kDefinitionKey{type::kCustomResourceDefinition, "", "deployments.example.com"};
const ObjectKey kForeign{"deployments.example.com", "default", "web"};

TEST(BinderRules, AKindThatAUserDefinesIsBoundAtOnce_D_1) {
  History history;
  history.object(kDefinitionKey, kDefinition);
  history.object(kForeign, R"({"apiVersion": "example.com/v1", "kind": "Deployment"})");
  history.object(kPolicy,
                 R"({"spec": {"resourceSelectors": [{"apiVersion": "example.com/v1", "kind": "Deployment"}]}})");
  history.settle(decide, kPolicy);
  EXPECT_EQ(selected_by(history.state(), history.state().policies().at({"default", "p"})),
            std::vector<ObjectKey>{kForeign});
  EXPECT_EQ(history.settle(decide, kForeign), 1);
  EXPECT_EQ(spec_of(history)["resource"]["apiVersion"], Value{"example.com/v1"});
}

// Decision 0028.

const ObjectKey kSecretKey{"secrets", "default", "s"};
constexpr const char* kBySecret = R"({"spec": {"resourceSelectors": [{"apiVersion": "v1", "kind": "Secret"}]}})";

/// A policy that selects Secrets, as this user has written it.
Value policy_of(const std::string& user, const std::string& text = kBySecret) {
  Value policy = json(text);
  policy.edit("metadata").set("name", "p");
  policy.edit("metadata").set("namespace", "default");
  if (!user.empty())
    policy.edit("metadata").edit("annotations").set(kPolicyAuthorAnnotation, author_text({user, {}, "", {}}));
  return policy;
}

/// A Secret that only user ann may read.
History guarded() {
  History history;
  history.accept({OptionsSet{{{"enable-policy-author-check", {"true"}}}}});
  history.object({rbac::kRole, "default", "reader"},
                 R"({"rules": [{"verbs": ["get"], "apiGroups": [""], "resources": ["secrets"]}]})");
  history.object({rbac::kRoleBinding, "default", "ann"},
                 R"({"roleRef": {"kind": "Role", "name": "reader"}, "subjects": [{"kind": "User", "name": "ann"}]})");
  history.object(kSecretKey, R"({"apiVersion": "v1", "kind": "Secret"})");
  return history;
}

std::string error_of(const History& history, const ObjectKey& key) {
  const auto decided = decide(history.state(), key, history.now());
  return decided ? "" : decided.error().message;
}

TEST(BinderRules, WhatThePolicysAuthorMayNotReadIsNotClaimed) {
  History history = guarded();
  history.put(kPolicy, policy_of("mallory"));
  history.settle(decide, kPolicy);
  EXPECT_EQ(error_of(history, kSecretKey),
            "PropagationPolicy default/p selects it and may not have it: its author mallory may not get secrets in "
            "namespace default");
  EXPECT_EQ(policy_for(history.state(), kSecretKey), (State::Name{"default", "p"})) << "the Event is about this one";
  EXPECT_FALSE(has_claim_metadata(history.state().value_of(kSecretKey)));

  Value written = history.state().value_of(kPolicy);
  written.edit("metadata").edit("annotations").set(kPolicyAuthorAnnotation, author_text({"ann", {}, "", {}}));
  history.put(kPolicy, written);
  EXPECT_EQ(history.settle(decide, kSecretKey), 1);
  EXPECT_TRUE(has_claim_metadata(history.state().value_of(kSecretKey)));

  // Without the permission it is released, and what was bound stays.
  history.remove({rbac::kRoleBinding, "default", "ann"});
  EXPECT_TRUE(decision_of(decide(history.state(), kSecretKey, history.now())));
  history.accept(*decision_of(decide(history.state(), kSecretKey, history.now())));
  EXPECT_FALSE(has_claim_metadata(history.state().value_of(kSecretKey)));
  EXPECT_FALSE(history.state().value_of({type::kResourceBinding, "default", "s-secret"}).is_null());
  EXPECT_NE(error_of(history, kSecretKey), "");
}

TEST(BinderRules, AnotherPolicyWhoseAuthorMayReadItGetsIt) {
  History history = guarded();
  history.put(kPolicy, policy_of("mallory"));
  history.settle(decide, kPolicy);
  Value other = policy_of("ann");
  other.edit("metadata").set("name", "z");
  const ObjectKey second{type::kPropagationPolicy, "default", "z"};
  history.put(second, other);
  history.settle(decide, second);
  const auto decided = decide(history.state(), kSecretKey, history.now());
  ASSERT_TRUE(decided && decision_of(decided));
  const auto* put = std::get_if<BindingPut>(&decision_of(decided)->events.back());
  ASSERT_NE(put, nullptr);
  EXPECT_EQ(put->why.steps.front(),
            (Fact{PolicyForbidden{"default", "p", "its author mallory may not get secrets in namespace default"}}));
  history.accept(*decision_of(decided));
  EXPECT_EQ(claim_of(history.state().value_of(kSecretKey))->policy, (State::Name{"default", "z"}));
}

TEST(BinderRules, PoliciesOfNamespacesSelectAllowedKindsOnly) {
  History history;
  history.accept({OptionsSet{{{"namespaced-policy-apis", {"apps"}}}}});
  history.object(kSecretKey, R"({"apiVersion": "v1", "kind": "Secret"})");
  history.object(kPolicy, kBySecret);
  history.settle(decide, kPolicy);
  EXPECT_EQ(error_of(history, kSecretKey),
            "PropagationPolicy default/p selects it and may not have it: policies of namespaces may not select Secret: "
            "it is not among --namespaced-policy-apis");
  history.object(kClusterPolicy, kBySecret);
  history.settle(decide, kClusterPolicy);
  EXPECT_EQ(history.settle(decide, kSecretKey), 1) << "a cluster-scoped policy may";
}

TEST(BinderRules, TwoKindsOfOneNameCollideAndTheSecondReportsIt_N_2) {
  History history = bound_with();
  history.object(kDefinitionKey, kDefinition);
  history.object(kForeign, R"({"apiVersion": "example.com/v1", "kind": "Deployment"})");
  history.object(kClusterPolicy, R"({"spec": {"resourceSelectors": [{"apiVersion": "example.com/v1",
                                     "kind": "Deployment"}]}})");
  history.settle(decide, kClusterPolicy);
  const auto second = decide(history.state(), kForeign, history.now());
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::kConflict);
  EXPECT_NE(second.error().message.find("web-deployment"), std::string::npos) << second.error().message;
  EXPECT_EQ(spec_of(history)["resource"]["apiVersion"], Value{"apps/v1"}) << "the first keeps it";
}

TEST(BinderRules, WhatIsNeverPropagated_D_2_D_4_N_7) {
  for (const char* group :
       {"cluster.karmada.io", "policy.karmada.io", "work.karmada.io", "config.karmada.io", "networking.karmada.io",
        "autoscaling.karmada.io", "remedy.karmada.io", "apps.karmada.io", "events.k8s.io", "audit.shiplog.io"}) {
    EXPECT_FALSE(propagates(std::string{"things."} + group)) << group;
  }
  EXPECT_FALSE(propagates("leases.coordination.k8s.io"));
  EXPECT_FALSE(propagates("events"));
  for (const char* type : {"pods", "configmaps", "deployments.apps", "things.example.com", "namespaces"}) {
    EXPECT_TRUE(propagates(type)) << type;
  }
  for (const char* ns : {"karmada-system", "karmada-cluster", "karmada-es-m1", "kube-system", "kube-public"}) {
    EXPECT_FALSE(propagates({}, {"configmaps", ns, "x"}, {})) << ns;
  }
  for (const char* ns : {"default", "karmada", "kube", "karmada-systems", ""}) {
    EXPECT_TRUE(propagates({}, {"configmaps", ns, "x"}, {})) << ns;
  }
}

TEST(BinderRules, SkippedNamespacesAreWholeNamesByRegularExpression_D_4) {
  FleetOptions options;
  options.skipped_namespaces = {"team-[0-9]+", "lab", "a|b", "exact.name"};
  const auto skipped = [&](const char* ns) { return !propagates(options, {"configmaps", ns, "x"}, {}); };
  for (const char* ns : {"team-1", "team-42", "lab", "a", "b", "karmada-es-m1", "karmada-system"}) {
    EXPECT_TRUE(skipped(ns)) << ns;
  }
  for (const char* ns : {"kube-system", "team-", "my-team-1", "team-1x", "labs", "ab", "default", ""}) {
    EXPECT_FALSE(skipped(ns)) << ns;
  }
  EXPECT_FALSE(propagates(options, {"configmaps", "kube-system", "extension-apiserver-authentication"}, {}));
  options.skipped_namespaces = {".*"};
  EXPECT_TRUE(skipped("default"));
}

TEST(BinderRules, SkippedApisAreGroupsVersionsAndKinds_D_3) {
  const auto skipped = [](std::vector<std::string> words, const char* api_version, const char* kind) {
    FleetOptions options;
    options.skipped_apis = std::move(words);
    return selects_api(options.skipped_apis, api_version, kind);
  };
  EXPECT_FALSE(skipped({}, "apps/v1", "Deployment"));
  EXPECT_TRUE(skipped({"apps"}, "apps/v1", "Deployment"));
  EXPECT_FALSE(skipped({"apps"}, "apps.kruise.io/v1", "Deployment"));
  EXPECT_TRUE(skipped({"batch", "apps/v1"}, "apps/v1", "Deployment"));
  EXPECT_FALSE(skipped({"apps/v1beta1"}, "apps/v1", "Deployment"));
  EXPECT_TRUE(skipped({"apps/v1/DaemonSet,Deployment"}, "apps/v1", "Deployment"));
  EXPECT_FALSE(skipped({"apps/v1/DaemonSet,Deployment"}, "apps/v1", "StatefulSet"));
  EXPECT_FALSE(skipped({"apps/v1/DaemonSet,Deployment"}, "apps/v2", "Deployment"));
  EXPECT_TRUE(skipped({"v1/Pod,Secret"}, "v1", "Secret"));
  EXPECT_FALSE(skipped({"v1/Pod,Secret"}, "v1", "ConfigMap"));
  EXPECT_FALSE(skipped({"v1/Pod,Secret"}, "example.com/v1", "Secret"));
  for (const char* word : {"apps", "apps/v1", "apps/v1/Deployment", "v1/Pod,Secret"}) {
    EXPECT_TRUE(check_api_selector(word)) << word;
  }
  for (const char* word : {"", "apps/", "apps/v1/", "v1/", "v1/Pod,", "a/b/C/d", "apps//Deployment", "v1/Pod,v1/Secret",
                           "apps,batch", "apps/v1,v2"}) {
    const auto checked = check_api_selector(word);
    ASSERT_FALSE(checked) << word;
    EXPECT_NE(checked.error().message.find(std::string{"\""} + word + "\""), std::string::npos);
  }
}

TEST(BinderRules, WhatIsSkippedStaysAsItIsUntilItsPolicyGoes_D_3_D_38) {
  History history = bound_with();
  history.accept({OptionsSet{{{"skipped-propagating-apis", {"apps/v1/Deployment"}}}}});
  history.edit(kWeb, [](Value& web) { web.edit("spec").set("replicas", 9); });
  EXPECT_EQ(history.settle(decide, kWeb), 0);
  EXPECT_EQ(spec_of(history)["replicas"], Value{3}) << "later changes do not reach the members";
  EXPECT_TRUE(claim_of(history.state().value_of(kWeb)));
  EXPECT_EQ(policy_for(history.state(), kWeb), State::Name{});
  EXPECT_TRUE(selected_by(history.state(), history.state().policies().at({"default", "p"})).empty());

  history.accept({OptionsSet{}});
  EXPECT_EQ(history.settle(decide, kWeb), 1);
  EXPECT_EQ(spec_of(history)["replicas"], Value{9});

  history.accept({OptionsSet{{{"skipped-propagating-namespaces", {"default"}}}}});
  history.remove(kPolicy);
  history.settle(decide, kWeb);
  history.settle(decide, kPolicy);
  EXPECT_FALSE(claim_of(history.state().value_of(kWeb)));
  EXPECT_EQ(history.state().find(kPolicy), nullptr) << "a policy waits for the templates that carry its claim";
}

TEST(BinderRules, APolicyThatGoesIsNoCandidate_D_11) {
  History history;
  history.object(kWeb, kThreeReplicas).object(kPolicy, policy_with());
  history.settle(decide, kPolicy);
  history.edit(kPolicy, [](Value& policy) { policy.edit("metadata").edit("finalizers").push_back("someone/else"); });
  history.remove(kPolicy);
  ASSERT_NE(history.state().find(kPolicy), nullptr);
  EXPECT_FALSE(decision_of(decide(history.state(), kWeb, history.now())));
}

TEST(BinderRules, APriorityBelowNoneIsLast_D_12) {
  History history;
  history.object(kWeb, kThreeReplicas);
  for (const char* name : {"a", "z"}) {
    const ObjectKey below{type::kPropagationPolicy, "default", name};
    history.object(below, policy_with(R"(, "priority": -2147483648)"));
    history.settle(decide, below);
  }
  history.object(kPolicy, policy_with());
  history.settle(decide, kPolicy);
  history.settle(decide, kWeb);
  EXPECT_EQ(claim_of(history.state().value_of(kWeb))->policy.name, "p");
}

TEST(BinderRules, APolicyOfANamespaceNeverTakesWhatHasNone_D_11_D_20) {
  const ObjectKey role{"clusterroles.rbac.authorization.k8s.io", "", "r"};
  History history;
  history.object(role, R"({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole"})");
  history.object(kPolicy, R"({"spec": {"resourceSelectors": [{"apiVersion": "rbac.authorization.k8s.io/v1",
      "kind": "ClusterRole"}], "placement": {}}})");
  history.settle(decide, kPolicy);
  EXPECT_EQ(history.settle(decide, role), 0);
  EXPECT_FALSE(claim_of(history.state().value_of(role)));
}

TEST(BinderRules, DependentOverridesAreCheckedEachTime_D_13) {
  const ObjectKey override_key{"overridepolicies.policy.karmada.io", "default", "op"};
  History history;
  history.object(override_key, R"({"kind": "OverridePolicy"})");
  history.object(kWeb, kThreeReplicas).object(kPolicy, policy_with(R"(, "dependentOverrides": ["op"])"));
  history.settle(decide, kPolicy);
  EXPECT_EQ(history.settle(decide, kWeb), 1);
  history.remove(override_key).edit(kWeb, [](Value& web) { web.edit("spec").set("replicas", 4); });
  const auto again = decide(history.state(), kWeb, history.now());
  ASSERT_FALSE(again) << "claimed, and yet";
  EXPECT_NE(again.error().message.find("waiting for dependent overrides"), std::string::npos);

  // Of a ClusterPropagationPolicy they are ClusterOverridePolicies.
  History clustered;
  clustered.object(kWeb, kThreeReplicas).object(kClusterPolicy, policy_with(R"(, "dependentOverrides": ["op"])"));
  clustered.object(override_key, R"({"kind": "OverridePolicy"})");
  clustered.settle(decide, kClusterPolicy);
  EXPECT_FALSE(decide(clustered.state(), kWeb, clustered.now()));
  clustered.object({"clusteroverridepolicies.policy.karmada.io", "", "op"}, R"({"kind": "ClusterOverridePolicy"})");
  EXPECT_EQ(clustered.settle(decide, kWeb), 1);
}

TEST(BinderRules, WhatNoPolicySelectsIsLeftAlone_D_14) {
  History history;
  history.object(kWeb, kThreeReplicas);
  const Value before = history.state().value_of(kWeb);
  EXPECT_EQ(history.settle(decide, kWeb), 0);
  EXPECT_EQ(history.state().value_of(kWeb), before);
}

TEST(BinderRules, AClusterPolicyGetsItsPermanentIdAndFinalizer_D_15) {
  History history;
  history.object(kClusterPolicy, policy_with());
  EXPECT_EQ(history.settle(decide, kClusterPolicy), 1);
  const Value& policy = history.state().value_of(kClusterPolicy);
  EXPECT_EQ(label_of(policy, "clusterpropagationpolicy.karmada.io/permanent-id").size(), 36U);
  EXPECT_TRUE(has_finalizer(policy, "karmada.io/cluster-propagation-policy-controller"));
}

TEST(BinderRules, AClaimReplacesTheOtherKinds_D_16_D_31) {
  History history = bound_with();
  history.object(kClusterPolicy, policy_with());
  history.settle(decide, kClusterPolicy);
  const std::string cluster_id{
      label_of(history.state().value_of(kClusterPolicy), "clusterpropagationpolicy.karmada.io/permanent-id")};
  history.remove(kPolicy);
  history.settle(decide, kWeb);
  for (const ObjectKey& key : {kWeb, kBinding}) {
    const Value& object = history.state().value_of(key);
    EXPECT_EQ(label_of(object, "clusterpropagationpolicy.karmada.io/permanent-id"), cluster_id);
    EXPECT_EQ(annotation_of(object, "clusterpropagationpolicy.karmada.io/name"), "cp");
    EXPECT_EQ(label_of(object, "propagationpolicy.karmada.io/permanent-id"), "");
    EXPECT_EQ(annotation_of(object, "propagationpolicy.karmada.io/name"), "");
    EXPECT_EQ(annotation_of(object, "propagationpolicy.karmada.io/namespace"), "");
  }
  history.settle(decide, kPolicy);
  history.object(kPolicy, policy_with());
  history.settle(decide, kPolicy);
  history.remove(kClusterPolicy);
  history.settle(decide, kWeb);
  for (const ObjectKey& key : {kWeb, kBinding}) {
    const Value& object = history.state().value_of(key);
    EXPECT_EQ(annotation_of(object, "propagationpolicy.karmada.io/name"), "p");
    EXPECT_EQ(label_of(object, "clusterpropagationpolicy.karmada.io/permanent-id"), "");
    EXPECT_EQ(annotation_of(object, "clusterpropagationpolicy.karmada.io/name"), "");
  }
}

TEST(BinderRules, AClaimNeedsAllOfItsParts_D_18) {
  const Value whole = json(R"({"metadata": {"labels": {"propagationpolicy.karmada.io/permanent-id": "id",
        "clusterpropagationpolicy.karmada.io/permanent-id": "cid"},
      "annotations": {"propagationpolicy.karmada.io/namespace": "ns", "propagationpolicy.karmada.io/name": "p",
        "clusterpropagationpolicy.karmada.io/name": "cp"}}})");
  EXPECT_EQ(claim_of(whole)->policy, (State::Name{"ns", "p"})) << "tested first";
  const auto without = [&](const char* map, const char* key) {
    Value object = whole;
    object.edit("metadata").edit(map).erase(key);
    return claim_of(object)->policy;
  };
  const State::Name cluster_policy{"", "cp"};
  EXPECT_EQ(without("labels", "propagationpolicy.karmada.io/permanent-id"), cluster_policy);
  EXPECT_EQ(without("annotations", "propagationpolicy.karmada.io/namespace"), cluster_policy);
  EXPECT_EQ(without("annotations", "propagationpolicy.karmada.io/name"), cluster_policy);
  EXPECT_FALSE(claim_of(json(R"({"metadata": {"annotations": {"clusterpropagationpolicy.karmada.io/name": "cp"}}})")));
}

TEST(BinderRules, CopiesOfThePolicy_D_23) {
  const std::string copied = R"("propagateDeps": true, "schedulerName": "other", "failover": {"cluster": {}},
      "conflictResolution": "Overwrite", "preserveResourcesOnDeletion": true, "suspension": {"dispatching": true})";
  History history = bound_with(", " + copied);
  Value wanted = json("{" + copied + "}");
  for (const auto& field : wanted.members()) EXPECT_EQ(spec_of(history)[field.key()], field.value) << field.key();
  EXPECT_EQ(spec_of(history)["placement"], json(R"({"clusterAffinity": {"clusterNames": ["m1"]}})"));
  history.edit(kPolicy, [](Value& policy) {
    for (const char* field : {"propagateDeps", "failover", "preserveResourcesOnDeletion", "suspension"}) {
      policy.edit("spec").erase(field);
    }
  });
  history.settle(decide, kWeb);
  for (const char* field : {"propagateDeps", "failover", "preserveResourcesOnDeletion", "suspension"}) {
    EXPECT_TRUE(spec_of(history)[field].is_null()) << field;
  }
}

TEST(BinderRules, AClusterScopedBindingFollowsItsPolicyToo_D_25) {
  const ObjectKey role{"clusterroles.rbac.authorization.k8s.io", "", "r"};
  const ObjectKey key{type::kClusterResourceBinding, "", "r-clusterrole"};
  History history;
  history.object({"priorityclasses.scheduling.k8s.io", "", "high"}, R"({"kind": "PriorityClass", "value": 1000})");
  history.object(role, R"({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole",
      "metadata": {"labels": {"app": "a"}}})");
  history.object(kWeb, R"({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"labels": {"app": "a"}},
      "spec": {"replicas": 3}})");
  history.object(kClusterPolicy, R"({"spec": {"resourceSelectors": [{"apiVersion": "rbac.authorization.k8s.io/v1",
      "kind": "ClusterRole"}, {"apiVersion": "apps/v1", "kind": "Deployment"}],
      "placement": {"workloadAffinity": {"affinity": {"groupByLabelKey": "app"}}},
      "schedulePriority": {"priorityClassSource": "KubePriorityClass", "priorityClassName": "high"}}})");
  history.settle(decide, kClusterPolicy);
  history.settle(decide, role);
  history.settle(decide, kWeb);
  const auto fields = [&](const ObjectKey& binding) {
    const Value& spec = history.state().value_of(binding)["spec"];
    std::string found;
    for (const char* field : {"propagateDeps", "schedulePriority", "workloadAffinityGroups"}) {
      if (spec.contains(field)) found += std::string{field} + " ";
    }
    return found;
  };
  EXPECT_EQ(fields(kBinding), "schedulePriority workloadAffinityGroups ") << "the policy has both";
  EXPECT_EQ(fields(key), "") << "never of this scope";
  history.edit(kClusterPolicy, [](Value& policy) { policy.edit("spec").set("propagateDeps", true); });
  history.settle(decide, role);
  EXPECT_EQ(fields(key), "propagateDeps ");
  EXPECT_EQ(history.state().value_of(key)["spec"]["propagateDeps"], Value{true});
  history.edit(kClusterPolicy, [](Value& policy) { policy.edit("spec").erase("propagateDeps"); });
  history.settle(decide, role);
  EXPECT_EQ(fields(key), "") << "what leaves the policy leaves the binding";
}

TEST(BinderRules, SuspensionGoesWithThePolicys_D_26) {
  History history = bound_with(R"(, "suspension": {"dispatchingOnClusters": {"clusterNames": ["m1"]}})");
  history.edit(kBinding, [](Value& binding) { binding.edit("spec").edit("suspension").set("scheduling", true); });
  history.edit(kPolicy, [](Value& policy) { policy.edit("spec").erase("suspension"); });
  history.settle(decide, kWeb);
  EXPECT_EQ(spec_of(history)["suspension"], json(R"({"scheduling": true})"));
  history.edit(kBinding, [](Value& binding) { binding.edit("spec").edit("suspension").erase("scheduling"); });
  history.settle(decide, kWeb);
  EXPECT_TRUE(spec_of(history)["suspension"].is_null());
}

TEST(BinderRules, ATemplateWhoseReplicasAreUnknownIsNotBound_D_27) {
  History history;
  history.object(kWeb, R"({"apiVersion": "apps/v1", "kind": "Deployment", "spec": {"replicas": 3, "template": {"spec":
      {"containers": [{"name": "c", "resources": {"requests": {"cpu": "lots"}}}]}}}})");
  history.object(kPolicy, policy_with());
  history.settle(decide, kPolicy);
  const auto decided = decide(history.state(), kWeb, history.now());
  ASSERT_FALSE(decided);
  EXPECT_NE(decided.error().message.find("container c"), std::string::npos) << decided.error().message;
  EXPECT_EQ(history.state().find(kBinding), nullptr);
}

TEST(BinderRules, APriorityClassGivesTheBindingItsPriority_D_29) {
  const std::string wanted = R"(, "schedulePriority": {"priorityClassSource": "KubePriorityClass",
                                                        "priorityClassName": "high"})";
  History history;
  history.object(kWeb, kThreeReplicas).object(kPolicy, policy_with(wanted));
  history.settle(decide, kPolicy);
  const auto missing = decide(history.state(), kWeb, history.now());
  ASSERT_FALSE(missing);
  EXPECT_NE(missing.error().message.find("PriorityClass \"high\""), std::string::npos) << missing.error().message;
  history.object({"priorityclasses.scheduling.k8s.io", "", "high"}, R"({"kind": "PriorityClass", "value": 1000})");
  history.settle(decide, kWeb);
  EXPECT_EQ(spec_of(history)["schedulePriority"], json(R"({"priority": 1000})"));
  history.edit(kPolicy, [](Value& policy) {
    policy.edit("spec").edit("schedulePriority").set("priorityClassSource", "PodPriorityClass");
  });
  const auto other = decide(history.state(), kWeb, history.now());
  ASSERT_FALSE(other);
  EXPECT_NE(other.error().message.find("PodPriorityClass"), std::string::npos) << other.error().message;
}

}  // namespace
}  // namespace shiplog::binder
