#include "services/roles/recorder/event_drafts.h"

#include <gtest/gtest.h>

#include "events/state/claim.h"
#include "events/state/impersonation.h"
#include "events/state/work.h"
#include "services/interpreter/interpreter.h"
#include "tests/support/given.h"

// One test a reason, with upstream's words (KIND-19).

namespace shiplog::recorder {
namespace {

using given::json;

const ObjectKey kWeb{"deployments.apps", "default", "web"};
const ObjectKey kRole{"clusterroles.rbac.authorization.k8s.io", "", "admin"};
const ObjectKey kBinding{type::kResourceBinding, "default", "web-deployment"};
const ObjectKey kRoleBinding{type::kClusterResourceBinding, "", "admin-clusterrole"};
const ObjectKey kWork{type::kWork, "karmada-es-m1", "web-1"};
const ObjectKey kCluster{type::kCluster, "", "m1"};

class EventDrafts : public ::testing::Test {
 protected:
  EventDrafts() {
    history.object({type::kNamespace, "", "karmada-es-m1"}, R"({"apiVersion": "v1", "kind": "Namespace"})");
    history.object(kCluster, R"({"apiVersion": "cluster.karmada.io/v1alpha1", "kind": "Cluster", "spec": {}})");
    history.object(kWeb, R"({"apiVersion": "apps/v1", "kind": "Deployment", "spec": {"replicas": 1}})");
    history.object(kRole, R"({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole"})");
    history.object(kBinding, R"({"apiVersion": "work.karmada.io/v1alpha2", "kind": "ResourceBinding",
        "spec": {"resource": {"apiVersion": "apps/v1", "kind": "Deployment", "namespace": "default", "name": "web"},
                 "placement": {"clusterAffinities": [{"affinityName": "near"}, {"affinityName": "far"}]}}})");
    history.object(kRoleBinding, R"({"apiVersion": "work.karmada.io/v1alpha2", "kind": "ClusterResourceBinding",
        "spec": {"resource": {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "name": "admin"}}})");
    history.object(kWork, kWorkText);
  }

  static constexpr const char* kWorkText = R"({"apiVersion": "work.karmada.io/v1alpha1", "kind": "Work",
      "metadata": {"annotations": {"resourcebinding.karmada.io/namespace": "default",
                                   "resourcebinding.karmada.io/name": "web-deployment"}},
      "spec": {"workload": {"manifests": [{"apiVersion": "apps/v1", "kind": "Deployment",
               "metadata": {"namespace": "default", "name": "web"}}]}}})";

  /// The Event of an entry: "Deployment/web Normal component Reason: message".
  std::vector<std::string> told(std::vector<Event> events, const std::string& service = "") {
    Entry entry;
    entry.id.bytes[15] = ++entries_;
    entry.time = history.now();
    entry.actor.service = service;
    entry.events = std::move(events);
    State state = history.state();
    const Folded folded = fold(state, entry);
    EXPECT_FALSE(folded.refusal) << folded.refusal->reason;
    return lines(event_drafts_of(state, entry, folded));
  }
  static std::vector<std::string> lines(const std::vector<EventDraft>& reports) {
    std::vector<std::string> all;
    for (const EventDraft& one : reports) {
      all.push_back(one.object["kind"].str() + "/" + one.object["metadata"]["name"].str() +
                    (one.warning ? " Warning " : " Normal ") + one.component + " " + one.reason + ": " + one.message);
    }
    return all;
  }
  /// The same of a binding and of its template.
  static std::vector<std::string> both(const std::string& text) {
    return {"ResourceBinding/web-deployment " + text, "Deployment/web " + text};
  }

  given::History history;
  uint8_t entries_ = 0;
};

using Lines = std::vector<std::string>;

TEST_F(EventDrafts, ApplyPolicySucceedAndGetReplicasSucceed_D_27_D_32) {
  Value binding = history.state().value_of(kBinding);
  binding.edit("metadata").edit("annotations").set(annotation::kPolicyNamespace, "default");
  binding.edit("metadata").edit("annotations").set(annotation::kPolicyName, "p");
  binding.edit("metadata").edit("labels").set(label::kPolicyId, "id");
  EXPECT_EQ(told({BindingPut{kBinding, binding, {}}}),
            (Lines{"Deployment/web Normal resource-detector GetReplicasSucceed: Get replicas of resource template "
                   "successfully.",
                   "Deployment/web Normal resource-detector ApplyPolicySucceed: Apply policy(default/p) succeed"}));
  Value role = history.state().value_of(kRoleBinding);
  role.edit("metadata").edit("annotations").set(annotation::kClusterPolicyName, "cp");
  role.edit("metadata").edit("labels").set(label::kClusterPolicyId, "id");
  Explanation why;
  why.steps = {ReplicasUnknown{"ClusterRole"}};
  EXPECT_EQ(told({BindingPut{kRoleBinding, role, why}}),
            (Lines{"ClusterRole/admin Normal resource-detector ApplyPolicySucceed: Apply cluster policy(cp) succeed"}));
}

TEST_F(EventDrafts, GetComponentsSucceed_D_28) {
  Value binding = history.state().value_of(kBinding);
  binding.edit("spec").set("components", json(R"([{"name": "head", "replicas": 1}])"));
  EXPECT_EQ(told({BindingPut{kBinding, binding, {}}}),
            (Lines{"Deployment/web Normal resource-detector GetComponentsSucceed: Get components of resource template "
                   "successfully."}));
}

TEST_F(EventDrafts, ApplyPolicyFailed_D_32) {
  const State& state = history.state();
  EXPECT_EQ(
      lines(event_drafts_of_failure(state, {"binder", kWeb, "waiting for dependent overrides", {"default", "p"}})),
      (Lines{"Deployment/web Warning resource-detector ApplyPolicyFailed: Apply policy(default/p) failed: waiting "
             "for dependent overrides"}));
  EXPECT_EQ(lines(event_drafts_of_failure(state, {"binder", kWeb, "no", {"", "cp"}})),
            (Lines{"Deployment/web Warning resource-detector ApplyPolicyFailed: Apply cluster policy(cp) failed: no"}));
  EXPECT_TRUE(event_drafts_of_failure(state, {"binder", kWeb, "no"}).empty());
}

/// A customization of Deployments; its script fails.
void break_operation(given::History& history, const char* operation, const std::string& function) {
  const Value script = Value::object({{"luaScript", "function " + function + "(o) error('no idea') end"}});
  history.put(
      {"resourceinterpretercustomizations.config.karmada.io", "", operation},
      given::History::named(
          {"", "", operation},
          Value::object({{"spec", Value::object({{"target", json(R"({"apiVersion": "apps/v1",
                                                                             "kind": "Deployment"})")},
                                                 {"customizations", Value::object({{operation, script}})}})}})));
}

TEST_F(EventDrafts, GetReplicasFailedAndGetComponentsFailed_D_27_D_28) {
  const std::string begin = "Deployment/web Warning resource-detector ";
  const auto told_of = [&](const std::string& error) {
    return lines(event_drafts_of_failure(history.state(), {"binder", kWeb, error, {"default", "p"}}));
  };
  break_operation(history, "replicaResource", "GetReplicas");
  const std::string why =
      interpreter::replicas(history.state(), history.state().value_of(kWeb), history.now()).error().message;
  EXPECT_EQ(told_of(why), (Lines{begin + "GetReplicasFailed: " + why,
                                 begin + "ApplyPolicyFailed: Apply policy(default/p) failed: " + why}));
  EXPECT_EQ(told_of("waiting for dependent overrides").size(), 1U) << "it has not come to the replicas";
  break_operation(history, "componentResource", "GetComponents");
  EXPECT_EQ(told_of(why).front(), begin + "GetReplicasFailed: " + why) << "the gate is off";
  history.accept({FeatureGatesSet{{"MultiplePodTemplatesScheduling"}}});
  const std::string parts =
      interpreter::components(history.state(), history.state().value_of(kWeb), history.now()).error().message;
  EXPECT_EQ(told_of(parts).front(), begin + "GetComponentsFailed: " + parts);
}

TEST_F(EventDrafts, GetReplicasFailedOfAWebhook_D_27_L_21) {
  history.object({"resourceinterpreterwebhookconfigurations.config.karmada.io", "", "a"}, R"({"webhooks": [{
      "name": "a.example.com", "clientConfig": {"url": "https://a.example.com"}, "interpreterContextVersions": ["v1alpha1"],
      "rules": [{"operations": ["*"], "apiGroups": ["apps"], "apiVersions": ["v1"], "kinds": ["Deployment"]}]}]})");
  const std::string why = "interpreter webhook a/a.example.com: no answer";
  const auto questions =
      interpreter::replicas(history.state(), history.state().value_of(kWeb), history.now()).error().questions;
  ASSERT_EQ(questions.size(), 1U);
  EXPECT_EQ(lines(event_drafts_of_failure(history.state(), {"binder", kWeb, why, {"default", "p"}, questions})).front(),
            "Deployment/web Warning resource-detector GetReplicasFailed: " + why);
  EXPECT_EQ(event_drafts_of_failure(history.state(), {"binder", kWeb, why, {"default", "p"}}).size(), 1U)
      << "the step has not come to the replicas, whatever its error reads like";
}

TEST_F(EventDrafts, ReflectStatusFailedAndInterpretHealthFailed_T_3_T_4) {
  using interpreter::InterpreterOperation;
  const auto told_of = [&](InterpreterOperation operation, const std::string& error) {
    return lines(event_drafts_of_unread(history.state(), kWork, operation, error));
  };
  const std::string begin = "Work/web-1 Warning work-status-controller ";
  const std::string status = "Reflect status for object(Deployment/default/web) failed, err: no idea";
  const std::string health = "Interpret health of object(Deployment/default/web) failed, err: no idea";
  EXPECT_EQ(told_of(InterpreterOperation::kStatus, status), (Lines{begin + "ReflectStatusFailed: " + status + "."}));
  EXPECT_EQ(told_of(InterpreterOperation::kHealth, health), (Lines{begin + "InterpretHealthFailed: " + health + "."}));
}

TEST_F(EventDrafts, GetDependenciesFailedAndAggregateStatusFailed_B_29_T_10_T_11) {
  const State& state = history.state();
  EXPECT_EQ(lines(event_drafts_of_failure(state, {"distributor", kBinding, "no"})),
            (Lines{"Deployment/web Warning dependencies-distributor GetDependenciesFailed: no"}));
  EXPECT_EQ(
      lines(event_drafts_of_failure(state, {"collector", kBinding, "no"})),
      (Lines{"ResourceBinding/web-deployment Warning resource-binding-status-controller AggregateStatusFailed: no",
             "Deployment/web Warning resource-binding-status-controller AggregateStatusFailed: no"}));
}

TEST_F(EventDrafts, PreemptPolicySucceed_D_46) {
  const auto claimed = [&](const std::string& ns, const std::string& name) {
    Value web = history.state().value_of(kWeb);
    Value& metadata = web.edit("metadata");
    metadata.erase("labels");
    metadata.erase("annotations");
    if (ns.empty()) {
      metadata.edit("annotations").set(annotation::kClusterPolicyName, name);
      metadata.edit("labels").set(label::kClusterPolicyId, name);
    } else {
      metadata.edit("annotations").set(annotation::kPolicyNamespace, ns);
      metadata.edit("annotations").set(annotation::kPolicyName, name);
      metadata.edit("labels").set(label::kPolicyId, name);
    }
    return web;
  };
  constexpr const char* kSelects =
      R"({"spec": {"resourceSelectors": [{"apiVersion": "apps/v1", "kind": "Deployment"}]}})";
  history.object({type::kPropagationPolicy, "default", "p"}, kSelects);
  history.object({type::kClusterPropagationPolicy, "", "c"}, kSelects);
  history.put(kWeb, claimed("default", "p"));
  const std::string begin = "Deployment/web Normal resource-detector PreemptPolicySucceed: ";
  EXPECT_EQ(told({ObjectUpdated{kWeb, claimed("default", "q")}}, "binder"),
            (Lines{begin + "Propagation policy(default/q) preempted propagation policy(default/p) successfully"}));
  history.put(kWeb, claimed("", "c"));
  EXPECT_EQ(told({ObjectUpdated{kWeb, claimed("default", "q")}}, "binder"),
            (Lines{begin + "Propagation policy(default/q) preempted cluster propagation policy(c) successfully"}));
  EXPECT_EQ(told({ObjectUpdated{kWeb, claimed("", "d")}}, "binder"),
            (Lines{begin + "Cluster propagation policy(d) preempted cluster propagation policy(c) successfully"}));
  history.put(kWeb, claimed("default", "gone"));
  EXPECT_EQ(told({ObjectUpdated{kWeb, claimed("default", "q")}}, "binder"), Lines{}) << "nobody was preempted";
}

TEST_F(EventDrafts, PreemptPolicyFailed_D_46) {
  constexpr const char* kSelects =
      R"({"spec": {"resourceSelectors": [{"apiVersion": "apps/v1", "kind": "Deployment"}]}})";
  history.object({type::kPropagationPolicy, "default", "p"}, kSelects);
  history.edit(kWeb, [](Value& web) {
    web.edit("metadata").edit("annotations").set(annotation::kPolicyNamespace, "default");
    web.edit("metadata").edit("annotations").set(annotation::kPolicyName, "p");
    web.edit("metadata").edit("labels").set(label::kPolicyId, "p");
  });
  const auto told_of = [&](const State::Name& policy) {
    return lines(event_drafts_of_failure(history.state(),
                                         {.role = "binder", .key = kWeb, .error = "no", .policy = policy}))
        .front();
  };
  const std::string begin = "Deployment/web Warning resource-detector PreemptPolicyFailed: ";
  EXPECT_EQ(told_of({"default", "q"}),
            begin + "Propagation policy(default/q) failed to preempt propagation policy(default/p): no");
  EXPECT_EQ(told_of({"", "c"}),
            begin + "Cluster propagation policy(c) failed to preempt propagation policy(default/p): no");
  EXPECT_NE(told_of({"default", "p"}).substr(0, begin.size()), begin) << "it has it already";
  history.remove({type::kPropagationPolicy, "default", "p"});
  EXPECT_NE(told_of({"default", "q"}).substr(0, begin.size()), begin) << "nobody is preempted";
}

TEST_F(EventDrafts, ScheduleBindingSucceed_S_78) {
  EXPECT_EQ(told({PlacementDecided{kBinding, {{"m1", 2}, {"m2", 1}}, 1, "{}", "", {}}}),
            both("Normal default-scheduler ScheduleBindingSucceed: Binding has been scheduled successfully. Result: "
                 "{m1:2, m2:1}"));
  EXPECT_EQ(
      told({PlacementDecided{kRoleBinding, {{"m1", 0}}, 1, "{}", "", {}}}).front(),
      "ClusterResourceBinding/admin-clusterrole Normal default-scheduler ScheduleBindingSucceed: Binding has been "
      "scheduled successfully. Result {m1:0}");
}

TEST_F(EventDrafts, ScheduleBindingFailed_S_78_Q_19) {
  EXPECT_EQ(told({PlacementRefused{kBinding, "NoClusterFit", "0/1 clusters are available", 1, "", false, {}}}),
            both("Warning default-scheduler ScheduleBindingFailed: 0/1 clusters are available"));
  EXPECT_EQ(told({QuotaRefused{kBinding, {}, "quota(x) exceeded", 1}}),
            both("Warning default-scheduler ScheduleBindingFailed: quota(x) exceeded"));
}

TEST_F(EventDrafts, ScheduleBindingFailedOfATerm_S_25) {
  Explanation why;
  why.steps = {Triggered{PlacementTrigger::kPlacementChanged},
               AffinityFailed{0, "near", {NoClusterFits{1, {ApiNotEnabled{}}, {1}}}}, AffinityApplied{1, "far"}};
  const Lines lines = told({PlacementDecided{kBinding, {{"m1", 2}}, 1, "{}", "far", why}});
  ASSERT_EQ(lines.size(), 4U);
  EXPECT_EQ(lines[1],
            "Deployment/web Warning default-scheduler ScheduleBindingFailed: failed to schedule "
            "ResourceBinding(default/web-deployment) with clusterAffiliates index(0): 0/1 clusters are available: 1 "
            "cluster(s) did not have the API resource.");
}

TEST_F(EventDrafts, ScheduleBindingFailedOfABindingThatIsDeleted_S_9) {
  history.edit(kBinding, [](Value& value) { value.edit("metadata").edit("finalizers").push_back("x"); });
  EXPECT_EQ(told({DeletionRequested{kBinding}}),
            both("Warning default-scheduler ScheduleBindingFailed: skip schedule deleting resourceBinding: "
                 "default/web-deployment"));
}

TEST_F(EventDrafts, SyncWorkSucceedOnceForAllTargets_B_6) {
  const ObjectKey second{type::kWork, "karmada-es-m2", "web-1"};
  history.object({type::kNamespace, "", "karmada-es-m2"}, R"({"apiVersion": "v1", "kind": "Namespace"})");
  EXPECT_EQ(told({WorkRendered{kWork, history.state().value_of(kWork), {}},
                  WorkRendered{second, given::History::named(second, json(kWorkText)), {}}}),
            both("Normal binding-controller SyncWorkSucceed: Sync work of ResourceBinding(default/web-deployment) "
                 "successful."));
}

TEST_F(EventDrafts, SyncWorkFailedAndApplyOverridePolicyFailed_B_6_B_21) {
  const std::string cause = "Apply override policy(default/tag) for cluster(m1) failed: rule 1: no such path";
  Explanation why;
  why.add({"m1"}, {{{"Override", false, OverrideFailed{"default", "tag", "m1", 1, "no such path"}}}, {}});
  Lines wanted = both("Warning binding-controller SyncWorkFailed: " + cause);
  wanted.insert(wanted.begin(),
                "Deployment/web Warning override-manager ApplyOverridePolicyFailed: Apply override policy(default/tag) "
                "for cluster(m1) failed.");
  EXPECT_EQ(told({WorksSynced{kBinding, false, "SyncWorkFailed", cause, why}}), wanted);
  // Another target that could be rendered does not make it a success.
  wanted.erase(wanted.begin());
  EXPECT_EQ(told({WorkRendered{kWork, history.state().value_of(kWork), {}},
                  WorksSynced{kBinding, false, "SyncWorkFailed", cause, {}}}),
            wanted);
}

TEST_F(EventDrafts, ApplyOverridePolicySucceed_B_21) {
  Value work = history.state().value_of(kWork);
  work.edit("metadata").edit("annotations").set("policy.karmada.io/applied-overrides", R"([{"policyName": "tag"}])");
  work.edit("metadata")
      .edit("annotations")
      .set("policy.karmada.io/applied-cluster-overrides", R"([{"policyName": "all"}])");
  const Lines lines = told({WorkRendered{kWork, work, {}}});
  ASSERT_EQ(lines.size(), 4U);
  EXPECT_EQ(lines[0],
            "Deployment/web Normal override-manager ApplyOverridePolicySucceed: Apply cluster override policy(all) for "
            "cluster(m1) succeed.");
  EXPECT_EQ(lines[1],
            "Deployment/web Normal override-manager ApplyOverridePolicySucceed: Apply override policy(default/tag) for "
            "cluster(m1) succeed.");
}

TEST_F(EventDrafts, GetDependenciesSucceed_B_29) {
  EXPECT_EQ(told({DependenciesResolved{
                kBinding,
                json(R"([{"apiVersion": "v1", "kind": "ConfigMap", "namespace": "default", "name": "a"},
                                   {"apiVersion": "v1", "kind": "Secret", "namespace": "default",
                                    "labelSelector": {"matchLabels": {"x": "y"}}}])"),
                {}}}),
            (Lines{"Deployment/web Normal dependencies-distributor GetDependenciesSucceed: Get "
                   "dependencies([{APIVersion:v1 Kind:ConfigMap Namespace:default Name:a LabelSelector:nil} "
                   "{APIVersion:v1 Kind:Secret Namespace:default Name: LabelSelector:&LabelSelector{MatchLabels:map"
                   "[string]string{x: y,},MatchExpressions:[]LabelSelectorRequirement{},}}]) succeed."}));
}

TEST_F(EventDrafts, SyncScheduleResultToDependenciesSucceedAndDependencyPolicyConflict_B_34_B_36) {
  const ObjectKey attached{type::kResourceBinding, "default", "a-configmap"};
  Value value = given::History::named(attached, json(R"({"kind": "ResourceBinding", "spec": {}})"));
  Explanation why;
  why.steps = {DependencyPolicyConflict{true, false}};
  EXPECT_EQ(told({AttachedBindingPut{attached, {kBinding}, value, why}}),
            (Lines{"ResourceBinding/a-configmap Warning dependencies-distributor DependencyPolicyConflict: Dependency "
                   "policy conflict detected: ConflictResolution conflicted (Overwrite vs Abort).",
                   "ResourceBinding/web-deployment Normal dependencies-distributor "
                   "SyncScheduleResultToDependenciesSucceed: Sync schedule results to dependencies succeed."}));
}

TEST_F(EventDrafts, WorkDispatchingOnlyWhenItFlips_E_3) {
  Value work = history.state().value_of(kWork);
  work.edit("status").set("conditions", json(R"([{"type": "Dispatching", "status": "False",
      "message": "Work dispatching is in a suspended state."}])"));
  EXPECT_EQ(told({StatusUpdated{kWork, work}}),
            (Lines{"Work/web-1 Normal execution-controller WorkDispatching: Work dispatching is in a suspended "
                   "state."}));
  history.put(kWork, work);
  work.edit("status").set("manifestStatuses", json(R"([{}])"));
  EXPECT_EQ(told({StatusUpdated{kWork, work}}), Lines{});
}

TEST_F(EventDrafts, OfACronFederatedHpaEachFailedRunIsToldOnce_5_9_5) {
  const ObjectKey key{"cronfederatedhpas.autoscaling.karmada.io", "default", "hours"};
  history.object(key, R"({"apiVersion": "autoscaling.karmada.io/v1alpha1", "kind": "CronFederatedHPA"})");
  Value object = history.state().value_of(key);
  object.edit("status").set("executionHistories", json(R"([
      {"ruleName": "odd", "failedExecutions": [{"message": "unknown time zone Mars/X"}]},
      {"ruleName": "often", "nextExecutionTime": "2026-01-01T00:00:00Z",
       "failedExecutions": [{"message": "deployments.apps \"web\" not found"}]}])"));
  EXPECT_EQ(told({StatusUpdated{key, object}}),
            (Lines{"CronFederatedHPA/hours Warning cronfederatedhpa-controller StartRuleFailed: rule odd: unknown time "
                   "zone Mars/X",
                   "CronFederatedHPA/hours Warning cronfederatedhpa-controller ScaleFailed: rule often: "
                   "deployments.apps \"web\" not found"}));
  history.put(key, object);
  object.edit("status").edit("executionHistories").edit_items()[1].set("nextExecutionTime", "2026-01-02T00:00:00Z");
  EXPECT_EQ(told({StatusUpdated{key, object}}), Lines{});
}

TEST_F(EventDrafts, SyncSucceed_E_6) {
  EXPECT_EQ(told({WorkApplied{kWork, 1, "applied"}}),
            (Lines{"Work/web-1 Normal execution-controller SyncSucceed: Sync work(karmada-es-m1/web-1) to cluster(m1) "
                   "successful.",
                   "Deployment/web Normal execution-controller SyncSucceed: Successfully applied resource(default/web) "
                   "to cluster m1"}));
}

TEST_F(EventDrafts, SyncFailed_E_6) {
  const std::string message = "Failed to apply all manifests (0/1): connection refused";
  EXPECT_EQ(told({WorkApplyFailed{kWork, 1, "AppliedFailed", message, "connection refused"}}),
            (Lines{"Work/web-1 Warning execution-controller SyncFailed: Failed to sync work(karmada-es-m1/web-1) to "
                   "cluster(m1), err: " +
                       message,
                   "Deployment/web Warning execution-controller SyncFailed: Failed to create or update "
                   "resource(default/web) in member cluster(m1): connection refused"}));
}

TEST_F(EventDrafts, ReflectStatusSucceedAndInterpretHealth_T_3_T_4) {
  const auto observed = [&](const std::string& health) {
    return told({WorkStatusObserved{
        kWork, json(R"([{"identifier": {"kind": "Deployment", "namespace": "default", "name": "web"}, "health": ")" +
                    health + "\"}]")}});
  };
  const std::string who = "Work/web-1 Normal work-status-controller ";
  EXPECT_EQ(observed("Healthy"),
            (Lines{who + "ReflectStatusSucceed: Reflect status for object(Deployment/default/web) succeed.",
                   who + "InterpretHealthSucceed: Interpret health of object(Deployment/default/web) as healthy."}));
  EXPECT_EQ(observed("Unhealthy").back(),
            who + "InterpretHealthSucceed: Interpret health of object(Deployment/default/web) as unhealthy.");
  EXPECT_EQ(observed("Unknown").size(), 1U) << "somebody may have altered the object (E-15)";
}

TEST_F(EventDrafts, AggregateStatusSucceedOfWhatHasChanged_T_10_T_11) {
  StatusAggregated aggregated{
      kBinding, Value::array(), true, "FullyAppliedSuccess", "", kWeb, json(R"({"replicas": 1})")};
  const Lines all = told({aggregated});
  EXPECT_EQ(all, (Lines{"ResourceBinding/web-deployment Normal resource-binding-status-controller "
                        "AggregateStatusSucceed: Update ResourceBinding(default/web-deployment) with AggregatedStatus "
                        "successfully.",
                        "Deployment/web Normal resource-binding-status-controller AggregateStatusSucceed: Update "
                        "Resource with AggregatedStatus successfully."}));
  aggregated.template_object = {};
  EXPECT_EQ(told({aggregated}), Lines{all.front()});
}

TEST_F(EventDrafts, EvictWorkloadFromClusterSucceed_TN_30) {
  history.edit(kBinding, [](Value& binding) {
    binding.edit("spec").set("gracefulEvictionTasks", json(R"([{"fromCluster": "m1"}])"));
  });
  EXPECT_EQ(told({EvictionFinished{kBinding, "m1", ""}}),
            both("Normal resource-binding-graceful-eviction-controller EvictWorkloadFromClusterSucceed: Evict from "
                 "cluster m1 succeed."));
}

TEST_F(EventDrafts, EvictWorkloadFromClusterFailed_TN_24_TN_30) {
  history.edit(kBinding, [](Value& binding) {
    binding.edit("spec").set("gracefulEvictionTasks", json(R"([{"fromCluster": "m1"}])"));
  });
  EXPECT_EQ(lines(event_drafts_of_failure(history.state(), {"taint", kBinding, "the placement cannot be read"})),
            both("Warning resource-binding-graceful-eviction-controller EvictWorkloadFromClusterFailed: Evict from "
                 "cluster m1 failed."));
  EXPECT_TRUE(event_drafts_of_failure(history.state(), {"taint", kCluster, "x"}).empty());
}

TEST_F(EventDrafts, EvictionsPausedAndResumed_TN_37) {
  EXPECT_EQ(told({EvictionsPaused{kCluster, "ObservationLost", "most clusters are unreachable"}}),
            (Lines{"Cluster/m1 Warning taint-manager EvictionsPaused: Evictions from the cluster wait: most clusters "
                   "are unreachable."}));
  EXPECT_EQ(told({EvictionsResumed{kCluster, "Released", "no eviction from the cluster waits any more"}}),
            (Lines{"Cluster/m1 Normal taint-manager EvictionsResumed: Evictions from the cluster continue: no eviction "
                   "from the cluster waits any more."}));
}

TEST_F(EventDrafts, EvictWorkloadFromClusterFailed_TN_24_3_4_3) {
  const std::string error = "Evict from cluster m1 failed: spec.failover.application: id is not found";
  EXPECT_EQ(lines(event_drafts_of_failure(history.state(), {"application-failover", kBinding, error})),
            both("Warning resource-binding-application-failover-controller EvictWorkloadFromClusterFailed: " + error));
  EXPECT_TRUE(event_drafts_of_failure(history.state(), {"taint", kBinding, error}).empty())
      << "it is on no cluster that it has to leave";
}

TEST_F(EventDrafts, TaintClusterFailed_TN_13_TN_15) {
  const std::string error = "Update Cluster(m1) with taints failed: ClusterTaintPolicy p: taint {a:PreferNoSchedule}";
  const ObjectKey policies{kCluster.type, "taint-policies", kCluster.name};
  EXPECT_EQ(lines(event_drafts_of_failure(history.state(), {"taint", policies, error})),
            Lines{"Cluster/m1 Warning cluster-taint-policy-controller TaintClusterFailed: " + error});
}

TEST_F(EventDrafts, TaintClusterSucceed_TN_2_TN_13) {
  EXPECT_EQ(told({TaintAdded{kCluster, {"a", "", "NoSchedule"}, "condition Ready is False"},
                  TaintAdded{kCluster, {"b", "c", "NoExecute"}, "condition Ready is False"}}),
            (Lines{"Cluster/m1 Normal cluster-controller TaintClusterSucceed: Taint cluster succeed: cluster now has "
                   "taints([{Key:a,Effect:NoSchedule},{Key:b,Value:c,Effect:NoExecute}])."}));
  history.accept({TaintAdded{kCluster, {"a", "", "NoSchedule"}, ""}});
  EXPECT_EQ(told({TaintRemoved{kCluster, {"a", "", "NoSchedule"}, "ClusterTaintPolicy x", "x"}}),
            (Lines{"Cluster/m1 Normal cluster-taint-policy-controller TaintClusterSucceed: Update Cluster(m1) with "
                   "taints(cluster now does not have taints) succeed"}));
}

TEST_F(EventDrafts, ExecutionSpaces) {  // CL-12
  const ObjectKey cluster{type::kCluster, "", "m2"};
  const ObjectKey space{type::kNamespace, "", "karmada-es-m2"};
  history.object(cluster, R"({"kind": "Cluster", "spec": {}})");
  EXPECT_EQ(told({ObjectCreated{space, given::History::named(space, json(R"({"kind": "Namespace"})"))}}),
            (Lines{"Cluster/m2 Normal cluster-controller CreateExecutionSpaceSucceed: Created execution "
                   "space(karmada-es-m2) for cluster(m2)."}));
  history.object(space, R"({"kind": "Namespace"})");
  EXPECT_EQ(told({ObjectRemoved{space}}), (Lines{"Cluster/m2 Normal cluster-controller RemoveExecutionSpaceSucceed: "
                                                 "Removed execution space for cluster(m2)."}));
}

TEST_F(EventDrafts, ExecutionSpacesThatCannotBeMadeOrRemoved_CL_12_CL_13) {
  const ObjectKey cluster{type::kCluster, "", "m2"};
  const ObjectKey space{type::kNamespace, "", "karmada-es-m2"};
  history.object(cluster,
                 R"({"kind": "Cluster", "spec": {}, "metadata": {"finalizers": ["karmada.io/cluster-controller"]}})");
  const FailedStep step{"lifecycle", cluster, "the journal is full"};
  EXPECT_EQ(lines(event_drafts_of_failure(history.state(), step)),
            (Lines{"Cluster/m2 Warning cluster-controller CreateExecutionSpaceFailed: the journal is full"}));
  history.object(space, R"({"kind": "Namespace"})");
  EXPECT_TRUE(event_drafts_of_failure(history.state(), step).empty()) << "something else failed";
  history.accept({DeletionRequested{.object = cluster}});
  EXPECT_EQ(lines(event_drafts_of_failure(history.state(), step)),
            (Lines{"Cluster/m2 Warning cluster-controller RemoveExecutionSpaceFailed: the journal is full"}));
  history.accept({ObjectRemoved{space}});
  EXPECT_TRUE(event_drafts_of_failure(history.state(), step).empty()) << "something else failed";
}

TEST_F(EventDrafts, RightsOfTheImpersonator_1_17_3) {
  const auto written = [](const char* kind) {
    const ObjectKey work = impersonation_work(kind, "m1");
    return WorkRendered{.work = work,
                        .value = given::History::named(work, json(R"({"kind": "Work", "metadata": {
        "ownerReferences": [{"apiVersion": "cluster.karmada.io/v1alpha1", "kind": "Cluster", "name": "m1"}]}})")),
                        .why = {}};
  };
  EXPECT_EQ(
      told({written("ClusterRole"), written("ClusterRoleBinding")}),
      (Lines{"Cluster/m1 Normal unified-auth-controller SyncImpersonationConfigSucceed: Sync impersonation config "
             "succeed."}))
      << "once for both";
  EXPECT_EQ(lines(event_drafts_of_failure(history.state(), {"unified-auth", kCluster, "it is taken"})),
            (Lines{"Cluster/m1 Warning unified-auth-controller SyncImpersonationConfigFailed: it is taken"}));
}

TEST_F(EventDrafts, AQuotaWhoseStatusCannotBeWritten_Q_17_Q_24) {
  history.accept({FoldVersionActivated{7}});
  const ObjectKey quota{type::kFederatedResourceQuota, "default", "q"};
  history.object(quota, R"({"kind": "FederatedResourceQuota", "spec": {"overall": {"cpu": "1"}}})");
  const FailedStep step{"quota", quota, "the journal is full"};
  EXPECT_EQ(lines(event_drafts_of_failure(history.state(), step)),
            (Lines{"FederatedResourceQuota/q Warning federated-resource-quota-status-controller AggregateStatusFailed: "
                   "the journal is full"}));
  history.accept({FeatureGatesSet{{"FederatedQuotaEnforcement"}}});
  EXPECT_EQ(lines(event_drafts_of_failure(history.state(), step)),
            (Lines{"FederatedResourceQuota/q Warning federated-resource-quota-enforcement-controller "
                   "CollectOverallStatusFailed: the journal is full"}));
}

TEST_F(EventDrafts, AQuotaWhoseAssignmentsAreWritten_Q_23) {
  const ObjectKey quota{type::kFederatedResourceQuota, "default", "q"};
  history.object(quota, R"({"kind": "FederatedResourceQuota", "spec": {"overall": {"cpu": "1"}}})");
  Value work = json(R"({"metadata": {"finalizers": ["karmada.io/execution-controller"], "labels": {
      "federatedresourcequota.karmada.io/namespace": "default", "federatedresourcequota.karmada.io/name": "q"}},
      "spec": {"workload": {"manifests": [{"kind": "ResourceQuota"}]}}})");
  const Lines synced{
      "FederatedResourceQuota/q Normal federated-resource-quota-sync-controller SyncWorkSucceed: Sync works for "
      "FederatedResourceQuota(default/q) succeed."};
  const ObjectKey m1{type::kWork, "karmada-es-m1", "q"}, other{type::kWork, "karmada-es-m1", "q-2"};
  EXPECT_EQ(told({ObjectCreated{m1, work}, ObjectCreated{other, work}}, "dispatcher"), synced) << "once for both";
  EXPECT_EQ(told({ObjectCreated{m1, work}}, "api"), Lines{}) << "a label that an agent or a user has written";
  history.object(m1, to_json(work));
  work.edit("metadata").edit("labels").set("other", "label");
  EXPECT_EQ(told({ObjectUpdated{m1, work}}, "dispatcher"), Lines{}) << "its manifest is as it was";
  EXPECT_EQ(told({DeletionRequested{m1}}, "dispatcher"), synced);
  EXPECT_EQ(lines(event_drafts_of_failure(history.state(), {"dispatcher", quota, "it is taken"})),
            (Lines{"FederatedResourceQuota/q Warning federated-resource-quota-sync-controller SyncWorkFailed: it is "
                   "taken"}));
}

TEST_F(EventDrafts, CollectOverallStatusSucceed_Q_17) {
  const ObjectKey quota{type::kFederatedResourceQuota, "default", "q"};
  history.object(quota, R"({"kind": "FederatedResourceQuota", "spec": {"overall": {"cpu": "1"}}})");
  EXPECT_EQ(told({QuotaUsageChanged{quota, json(R"({"cpu": "1"})"), json(R"({"cpu": "0"})")}}),
            (Lines{"FederatedResourceQuota/q Normal federated-resource-quota-enforcement-controller "
                   "CollectOverallStatusSucceed: Collect status of FederatedResourceQuota(default/q) succeed."}));
  const Lines aggregated{
      "FederatedResourceQuota/q Normal federated-resource-quota-status-controller "
      "AggregateStatusSucceed: Collect status of FederatedResourceQuota(default/q) succeed."};
  EXPECT_EQ(told({QuotaUsageChanged{quota, json(R"({"cpu": "1"})"), json(R"({"cpu": "0"})"), json("[]")}}), aggregated);
  history.accept({FoldVersionActivated{7}});
  EXPECT_EQ(told({QuotaUsageChanged{quota, json(R"({"cpu": "1"})"), json(R"({"cpu": "0"})")}}), aggregated)
      << "without enforcement";
}

TEST_F(EventDrafts, DescheduleBindingSucceed_5_4_4) {
  EXPECT_EQ(told({ReplicasDescheduled{kBinding, {{"m1", 2}}, "Binding has been descheduled, 1 total"}}),
            both("Normal karmada-descheduler DescheduleBindingSucceed: Binding has been descheduled, 1 total"));
}

TEST_F(EventDrafts, DescheduleBindingFailedNamesEstimatorsWithoutAnAnswer_5_4_4) {
  const auto answered = [](const char* operation, const char* answer) {
    return QuestionAnswered{kBinding, operation, "estimators", "basis",
                            json(std::string{R"({"-":{"answer":)"} + answer + "}}")};
  };
  EXPECT_EQ(told({answered("GetUnschedulableReplicas",
                           R"({"m1":{"failure":"timeout"},"m2":{"replicas":1},"m3":{"failure":"no route"}})")}),
            both("Warning karmada-descheduler DescheduleBindingFailed: the estimator of cluster m1 gave no answer: "
                 "timeout; the estimator of cluster m3 gave no answer: no route"));
  EXPECT_EQ(told({answered("GetUnschedulableReplicas", R"({"m1":{"replicas":1}})")}), Lines{});
  EXPECT_EQ(told({answered("MaxAvailableReplicas", R"({"m1":{"failure":"timeout"}})")}), Lines{});
}

TEST_F(EventDrafts, DescheduleBindingFailedStep_5_4_4) {
  EXPECT_EQ(lines(event_drafts_of_failure(history.state(), {"descheduler", kBinding, "the journal is full"})),
            both("Warning karmada-descheduler DescheduleBindingFailed: the journal is full"));
}

TEST_F(EventDrafts, ARefusedEntryHasNoEvents) {
  Entry entry;
  entry.events = {WorkApplied{kWork, 1, "applied"}};
  Folded folded;
  folded.refusal = Refusal{};
  EXPECT_TRUE(event_drafts_of(history.state(), entry, folded).empty());
}

}  // namespace
}  // namespace shiplog::recorder
