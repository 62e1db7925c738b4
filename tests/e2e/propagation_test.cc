// What determines the object in a member besides the template: overrides, suspension, dependencies. All requests use
// kubectl, with three real members.
#include <map>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "tests/e2e/three_members.h"

namespace shiplog::e2e {
namespace {

class Propagation : public ThreeMembers {
 protected:
  /// Events of "KIND/NAME" with this reason, as "type|component|message".
  std::string events_of(const std::string& object, const std::string& reason, const std::string& ns = "default") {
    const auto slash = object.find('/');
    const Ran events = fleet_.kubectl({"get", "events", "-n", ns, "--field-selector",
                                       "involvedObject.kind=" + object.substr(0, slash) +
                                           ",involvedObject.name=" + object.substr(slash + 1) + ",reason=" + reason,
                                       "-o", "jsonpath={range .items[*]}{.type}|{.source.component}|{.message}{end}"});
    return events.out;
  }
  void expect_event(const std::string& object, const std::string& reason, const std::string& text,
                    const std::string& ns = "default") {
    EXPECT_TRUE(eventually([&] { return events_of(object, reason, ns).find(text) != std::string::npos; }))
        << object << " " << reason << ": \"" << events_of(object, reason, ns) << "\" has no \"" << text << "\"";
  }
  std::string image(const std::string& member, const std::string& name = "web") {
    return fleet_.api(member).get(kDeployment + name).json["spec"]["template"]["spec"]["containers"][0]["image"].str();
  }
  std::map<std::string, std::string> images() {
    std::map<std::string, std::string> all;
    for (const std::string& member : kMembers) all[member] = image(member);
    return all;
  }
  void expect_images(const std::map<std::string, std::string>& wanted) {
    EXPECT_TRUE(eventually([&] { return images() == wanted; }))
        << ::testing::PrintToString(images()) << " instead of " << ::testing::PrintToString(wanted);
  }
};

TEST_F(Propagation, OverridesReachTheClustersTheyAreFor_B_16_to_B_21) {
  apply(deployment("web") + policy("web", "web", "member1, member2, member3"));
  expect_images({{"member1", "nginx:1.27"}, {"member2", "nginx:1.27"}, {"member3", "nginx:1.27"}});
  apply(R"(
apiVersion: policy.karmada.io/v1alpha1
kind: OverridePolicy
metadata: {name: registry}
spec:
  resourceSelectors: [{apiVersion: apps/v1, kind: Deployment, name: web}]
  overrideRules:
  - targetCluster: {clusterNames: [member1]}
    overriders:
      imageOverrider: [{component: Registry, operator: add, value: one.example}]
  - targetCluster: {clusterNames: [member1, member2]}
    overriders:
      imageOverrider: [{component: Tag, operator: replace, value: "1.28"}]
      labelsOverrider: [{operator: add, value: {team: blue}}]
---
apiVersion: policy.karmada.io/v1alpha1
kind: ClusterOverridePolicy
metadata: {name: third}
spec:
  overrideRules:
  - targetCluster: {clusterNames: [member3]}
    overriders:
      argsOverrider: [{containerName: main, operator: add, value: ["-v"]}]
)");
  expect_images({{"member1", "one.example/nginx:1.28"}, {"member2", "nginx:1.28"}, {"member3", "nginx:1.27"}});
  EXPECT_TRUE(eventually([&] {
    return fleet_.api("member3")
               .get(kDeployment + "web")
               .json["spec"]["template"]["spec"]["containers"][0]["args"][0] == Value{"-v"};
  }));
  EXPECT_EQ(fleet_.kubectl_ok({"get", "deployment", "web", "-o", "jsonpath={.metadata.labels.team}"}), "")
      << "the template is not changed";
  const std::string applied = fleet_.kubectl_ok(
      {"get", "works", "-n", "karmada-es-member2", "-o",
       R"(jsonpath={.items[?(@.metadata.annotations.resourcebinding\.karmada\.io/name=="web-deployment")].metadata.annotations.policy\.karmada\.io/applied-overrides})"});
  EXPECT_NE(applied.find(R"("policyName":"registry")"), std::string::npos) << applied;

  // An override that cannot be applied affects only its cluster, and the binding reports it.
  fleet_.kubectl_ok({"patch", "clusteroverridepolicy", "third", "--type=json", "-p",
                     R"([{"op": "replace", "path": "/spec/overrideRules/0/overriders",
                          "value": {"plaintext": [{"path": "/spec/none", "operator": "remove"}]}}])"});
  EXPECT_TRUE(
      fleet_.kubectl({"wait", "resourcebinding/web-deployment", "--for=condition=WorksSynced=false", "--timeout=50s"})
          .ok());
  fleet_.kubectl_ok({"set", "image", "deployment/web", "main=nginx:1.29"});
  fleet_.kubectl_ok({"delete", "overridepolicy", "registry"});
  expect_images({{"member1", "nginx:1.29"}, {"member2", "nginx:1.29"}, {"member3", "nginx:1.27"}});
  fleet_.kubectl_ok({"delete", "clusteroverridepolicy", "third"});
  expect_images({{"member1", "nginx:1.29"}, {"member2", "nginx:1.29"}, {"member3", "nginx:1.29"}});
  EXPECT_TRUE(
      fleet_.kubectl({"wait", "resourcebinding/web-deployment", "--for=condition=WorksSynced", "--timeout=50s"}).ok());
}

TEST_F(Propagation, AnUpgradeGoesFromClusterToClusterAsTheSuspendedListShrinks_B_24_E_3_E_4) {  // 5.1.6
  apply(deployment("web") + policy("web", "web", "member1, member2, member3"));
  expect_images({{"member1", "nginx:1.27"}, {"member2", "nginx:1.27"}, {"member3", "nginx:1.27"}});
  const auto suspend = [&](const std::string& clusters) {
    fleet_.kubectl_ok({"patch", "propagationpolicy", "web", "--type=merge", "-p",
                       R"({"spec":{"suspension":{"dispatchingOnClusters":{"clusterNames":[)" + clusters + "]}}}}"});
  };
  /// All Works contain the new image, and those of these clusters are suspended.
  const auto expect_suspended = [&](const std::set<std::string>& clusters) {
    for (const std::string& member : kMembers) {
      const std::string path = "/apis/work.karmada.io/v1alpha1/namespaces/karmada-es-" + member + "/works";
      EXPECT_TRUE(eventually([&] {
        const Value works = api_->get(path).json;
        for (const Value& work : works["items"].items()) {
          const Value& manifest = work["spec"]["workload"]["manifests"][0];
          if (manifest["kind"].as_string() != "Deployment") continue;
          bool suspended = false;
          for (const Value& condition : work["status"]["conditions"].items()) {
            suspended = suspended || (condition["type"].as_string() == "Dispatching" &&
                                      condition["reason"].as_string() == "SuspendDispatching" &&
                                      condition["message"].as_string() == "Work dispatching is in a suspended state.");
          }
          return manifest["spec"]["template"]["spec"]["containers"][0]["image"].as_string() == "nginx:1.28" &&
                 work["spec"]["suspendDispatching"].as_bool() == clusters.contains(member) &&
                 suspended == clusters.contains(member);
        }
        return false;
      })) << api_->get(path);
    }
  };
  suspend(R"("member1","member2","member3")");
  EXPECT_TRUE(eventually([&] {
    return fleet_.kubectl_ok({"get", "resourcebinding", "web-deployment", "-o",
                              "jsonpath={.spec.suspension.dispatchingOnClusters.clusterNames}"}) ==
           R"(["member1","member2","member3"])";
  }));
  fleet_.kubectl_ok({"set", "image", "deployment/web", "main=nginx:1.28"});
  expect_suspended({"member1", "member2", "member3"});
  expect_images({{"member1", "nginx:1.27"}, {"member2", "nginx:1.27"}, {"member3", "nginx:1.27"}});

  suspend(R"("member1","member3")");
  expect_images({{"member1", "nginx:1.27"}, {"member2", "nginx:1.28"}, {"member3", "nginx:1.27"}});
  expect_suspended({"member1", "member3"});
  suspend(R"("member3")");
  expect_images({{"member1", "nginx:1.28"}, {"member2", "nginx:1.28"}, {"member3", "nginx:1.27"}});
  expect_suspended({"member3"});
  EXPECT_EQ(image("member3"), "nginx:1.27");
  fleet_.kubectl_ok(
      {"patch", "propagationpolicy", "web", "--type=json", "-p", R"([{"op": "remove", "path": "/spec/suspension"}])"});
  expect_images({{"member1", "nginx:1.28"}, {"member2", "nginx:1.28"}, {"member3", "nginx:1.28"}});

  // E-4: suspension does not stop deletion.
  suspend(R"("member1","member2","member3")");
  fleet_.kubectl_ok({"delete", "deployment", "web", "--timeout=50s"});
  expect_holders(kDeployment + "web", "");
}

const std::string kPod =
    "      serviceAccountName: runner\n"
    "      imagePullSecrets: [{name: pull}]\n"
    "      volumes:\n"
    "      - {name: settings, configMap: {name: settings}}\n"
    "      - {name: data, persistentVolumeClaim: {claimName: data}}\n";
const std::string kNeeded = R"(
apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
data: {text: first}
---
apiVersion: v1
kind: Secret
metadata: {name: pull}
stringData: {token: secret}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: runner}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data}
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
---
)";
const std::vector<std::string> kPaths = {
    "/api/v1/namespaces/default/configmaps/settings", "/api/v1/namespaces/default/secrets/pull",
    "/api/v1/namespaces/default/serviceaccounts/runner", "/api/v1/namespaces/default/persistentvolumeclaims/data"};

TEST_F(Propagation, APolicyPreemptsAnotherAndIsPreemptedWhenItsPriorityFalls_D_42_to_D_45) {
  const std::string path = kDeployment + "web";
  apply(R"(
apiVersion: policy.karmada.io/v1alpha1
kind: ClusterPropagationPolicy
metadata: {name: everything}
spec:
  resourceSelectors: [{apiVersion: apps/v1, kind: Deployment, namespace: default}]
  placement: {clusterAffinity: {clusterNames: [member1]}}
  priority: 100
---
)" + deployment("web"));
  expect_holders(path, "member1");
  apply(policy("patient", "web", "member2", "  priority: 5\n"));
  // No warning is printed: the field has an effect.
  const Ran created = fleet_.kubectl({"apply", "-f", "-"}, policy("taker", "web", "member3", "  preemption: Always\n"));
  EXPECT_TRUE(created.ok());
  EXPECT_EQ(created.err.find("Warning"), std::string::npos) << created.err;
  expect_holders(path, "member3");
  EXPECT_EQ(fleet_.kubectl_ok({"get", "deployment", "web", "-o",
                               R"(jsonpath={.metadata.annotations.propagationpolicy\.karmada\.io/name})"}),
            "taker");
  fleet_.kubectl_ok(
      {"patch", "propagationpolicy", "patient", "--type=merge", "-p", R"({"spec":{"preemption":"Always"}})"});
  expect_holders(path, "member2");
  const std::string history = fleet_.shiplogctl_ok({"why", "resourcebinding/web-deployment"});
  EXPECT_NE(history.find("preempts"), std::string::npos) << history;
  fleet_.kubectl_ok({"patch", "propagationpolicy", "taker", "--type=merge", "-p", R"({"spec":{"priority":3}})"});
  fleet_.kubectl_ok({"patch", "propagationpolicy", "patient", "--type=merge", "-p", R"({"spec":{"priority":1}})"});
  expect_holders(path, "member3");
}

TEST_F(Propagation, ALazyPolicyWaitsForTheUsersNextChangeOfTheTemplate_D_47_D_48) {
  const std::string path = kDeployment + "web";
  const std::string lazy = "  activationPreference: Lazy\n";
  const auto claimed_by = [&] {
    return fleet_.kubectl_ok(
        {"get", "deployment", "web", "-o", R"(jsonpath={.metadata.annotations.propagationpolicy\.karmada\.io/name})"});
  };
  apply(deployment("web"));
  apply(policy("web", "web", "member1", lazy));
  EXPECT_TRUE(eventually([&] { return claimed_by() == "web"; }));
  EXPECT_EQ(api_->get(kBindings + "web-deployment").status, 404) << "(a) claimed, not propagated";
  fleet_.kubectl_ok({"scale", "deployment", "web", "--replicas=2"});
  expect_holders(path, "member1");

  // (b) A template that is created after the policy is propagated immediately; earlier edits of the policy have been
  // processed by then.
  apply(policy("web", "web", "member2", lazy));
  apply(policy("late", "late", "member3", lazy) + deployment("late"));
  expect_holders(kDeployment + "late", "member3");
  EXPECT_EQ(holders(path), "member1") << "(c) an edit waits";
  fleet_.kubectl_ok({"label", "deployment", "web", "team=blue"});
  expect_holders(path, "member2");  // (d)

  fleet_.kubectl_ok({"delete", "propagationpolicy", "web"});  // (e)
  EXPECT_TRUE(eventually([&] { return claimed_by().empty(); }));
  EXPECT_EQ(holders(path), "member2");
}

TEST_F(Propagation, EventsReportEachStep_D_32_D_46_S_78_B_6_B_21_B_29_E_6_T_3_T_10) {  // B-36
  apply(deployment("web", "      volumes: [{name: v, configMap: {name: settings}}]\n") +
        policy("web", "web", "member1, member2", "  propagateDeps: true\n  dependentOverrides: [tag]\n"));
  expect_event("Deployment/web", "ApplyPolicyFailed",
               "Warning|resource-detector|Apply policy(default/web) failed: waiting for dependent overrides");
  apply(R"(
apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
---
apiVersion: policy.karmada.io/v1alpha1
kind: OverridePolicy
metadata: {name: tag}
spec:
  resourceSelectors: [{apiVersion: apps/v1, kind: Deployment, name: web}]
  overrideRules:
  - targetCluster: {clusterNames: [member1]}
    overriders:
      imageOverrider: [{component: Tag, operator: replace, value: "1.28"}]
)");
  expect_images({{"member1", "nginx:1.28"}, {"member2", "nginx:1.27"}, {"member3", ""}});
  expect_event("Deployment/web", "ApplyPolicySucceed", "Normal|resource-detector|Apply policy(default/web) succeed");
  expect_event("Deployment/web", "GetReplicasSucceed", "Get replicas of resource template successfully.");
  for (const char* object : {"Deployment/web", "ResourceBinding/web-deployment"}) {
    expect_event(object, "ScheduleBindingSucceed",
                 "Normal|default-scheduler|Binding has been scheduled successfully. Result: {member1:1, member2:1}");
    expect_event(object, "SyncWorkSucceed",
                 "Normal|binding-controller|Sync work of ResourceBinding(default/web-deployment) successful.");
  }
  expect_event("Deployment/web", "ApplyOverridePolicySucceed",
               "Normal|override-manager|Apply override policy(default/tag) for cluster(member1) succeed.");
  expect_event("Deployment/web", "SyncSucceed",
               "Normal|execution-controller|Successfully applied resource(default/web) to cluster member2");
  expect_event("Deployment/web", "GetDependenciesSucceed", "Kind:ConfigMap Namespace:default Name:settings");
  expect_event("ResourceBinding/web-deployment", "SyncScheduleResultToDependenciesSucceed", "dependencies-distributor");
  expect_event("ResourceBinding/web-deployment", "AggregateStatusSucceed",
               "Update ResourceBinding(default/web-deployment) with AggregatedStatus successfully.");
  expect_event("Deployment/web", "AggregateStatusSucceed", "Update Resource with AggregatedStatus successfully.");
  const std::string work = fleet_.kubectl_ok(
      {"get", "works", "-n", "karmada-es-member1", "-o",
       R"(jsonpath={.items[?(@.metadata.annotations.resourcebinding\.karmada\.io/name=="web-deployment")].metadata.name})"});
  expect_event("Work/" + work, "SyncSucceed", "to cluster(member1) successful.", "karmada-es-member1");
  expect_event("Work/" + work, "ReflectStatusSucceed", "object(Deployment/default/web) succeed.", "karmada-es-member1");
  expect_event("Work/" + work, "InterpretHealthSucceed", "as healthy.", "karmada-es-member1");
  expect_event("Work/" + work, "WorkDispatching", "Work is being dispatched to member clusters.", "karmada-es-member1");
  expect_event("Cluster/member1", "CreateExecutionSpaceSucceed",
               "Created execution space(karmada-es-member1) for cluster(member1).");

  apply(policy("other", "web", "member3", "  preemption: Always\n  priority: 1\n"));
  expect_event("Deployment/web", "PreemptPolicySucceed",
               "Propagation policy(default/other) preempted propagation policy(default/web) successfully");
  // With the field selectors of users; a repeated Event increases its count.
  const std::string described = fleet_.kubectl_ok({"describe", "deployment", "web"});
  EXPECT_NE(described.find("PreemptPolicySucceed"), std::string::npos) << described;
  EXPECT_NE(described.find("resource-detector"), std::string::npos) << described;
  EXPECT_TRUE(eventually([&] {
    return fleet_.kubectl_ok({"get", "events", "--field-selector", "involvedObject.name=web,reason=GetReplicasSucceed",
                              "-o", "jsonpath={.items[0].count}"}) > "1";
  }));
}

TEST_F(Propagation, FailuresWithoutAnEntryAreReported_D_27_D_46_T_3) {
  const auto customized = [](const std::string& operation, const std::string& function) {
    return "apiVersion: config.karmada.io/v1alpha1\nkind: ResourceInterpreterCustomization\nmetadata: {name: broken}\n"
           "spec:\n  target: {apiVersion: apps/v1, kind: Deployment}\n  customizations:\n    " +
           operation + ": {luaScript: \"function " + function + "(o) error('no idea') end\"}\n";
  };
  apply(deployment("web") + policy("web", "web", "member1"));
  expect_holders(kDeployment + "web", "member1");
  apply(policy("other", "web", "member3", "  preemption: Always\n  priority: 1\n  dependentOverrides: [none]\n"));
  expect_event("Deployment/web", "PreemptPolicyFailed",
               "Warning|resource-detector|Propagation policy(default/other) failed to preempt propagation "
               "policy(default/web): waiting for dependent overrides");
  fleet_.kubectl_ok({"delete", "propagationpolicy", "other"});

  apply(customized("statusReflection", "ReflectStatus"));
  fleet_.kubectl_ok({"scale", "deployment/web", "--replicas=2"});
  const std::string work = fleet_.kubectl_ok(
      {"get", "works", "-n", "karmada-es-member1", "-o",
       R"(jsonpath={.items[?(@.metadata.annotations.resourcebinding\.karmada\.io/name=="web-deployment")].metadata.name})"});
  expect_event("Work/" + work, "ReflectStatusFailed",
               "Warning|work-status-controller|Reflect status for object(Deployment/default/web) failed, err: ",
               "karmada-es-member1");
  fleet_.kubectl_ok({"delete", "resourceinterpretercustomization", "broken"});

  apply(customized("replicaResource", "GetReplicas"));
  fleet_.kubectl_ok({"scale", "deployment/web", "--replicas=3"});
  expect_event("Deployment/web", "GetReplicasFailed", "no idea");
  expect_event("Deployment/web", "ApplyPolicyFailed", "no idea");
}

TEST_F(Propagation, DependenciesFollowTheirWorkload_B_28_to_B_35) {
  apply(kNeeded + deployment("web", kPod) + policy("web", "web", "member1, member2", "  propagateDeps: true\n"));
  expect_holders(kDeployment + "web", "member1 member2");
  for (const std::string& path : kPaths) expect_holders(path, "member1 member2");
  const Value attached = api_->get(kBindings + "settings-configmap").json;
  EXPECT_EQ(attached["spec"]["requiredBy"][0]["name"], Value{"web-deployment"})
      << api_->get(kBindings + "settings-configmap");

  // The dependencies move with the workload, and their changes are propagated.
  fleet_.kubectl_ok({"patch", "propagationpolicy", "web", "--type=merge", "-p",
                     R"({"spec":{"placement":{"clusterAffinity":{"clusterNames":["member2","member3"]}}}})"});
  for (const std::string& path : kPaths) expect_holders(path, "member2 member3");
  fleet_.kubectl_ok({"patch", "configmap", "settings", "--type=merge", "-p", R"({"data":{"text":"second"}})"});
  for (const char* member : {"member2", "member3"}) {
    EXPECT_TRUE(eventually([&] { return fleet_.api(member).get(kPaths[0]).json["data"]["text"] == Value{"second"}; }))
        << member;
  }

  // A dependency of two workloads, of which first one and then the other is deleted.
  apply(deployment("api", kPod) + policy("api", "api", "member1, member2", "  propagateDeps: true\n"));
  for (const std::string& path : kPaths) expect_holders(path, "member1 member2 member3");
  fleet_.kubectl_ok({"delete", "deployment", "web", "--timeout=50s"});
  for (const std::string& path : kPaths) expect_holders(path, "member1 member2");
  fleet_.kubectl_ok({"delete", "deployment", "api", "--timeout=50s"});
  for (const std::string& path : kPaths) {
    expect_holders(path, "");
    EXPECT_EQ(api_->get(path).status, 200) << path << ": the user's object stays in the control plane";
  }
  EXPECT_TRUE(eventually([&] { return api_->get(kBindings + "api-deployment").status == 404; }));
}

TEST_F(Propagation, AMissingDependencyFollowsOnceItExists_B_32) {
  apply(deployment("web", kPod) + policy("web", "web", "member1", "  propagateDeps: true\n"));
  expect_holders(kDeployment + "web", "member1");
  apply(kNeeded);
  for (const std::string& path : kPaths) expect_holders(path, "member1");
  fleet_.kubectl_ok({"patch", "propagationpolicy", "web", "--type=merge", "-p", R"({"spec":{"propagateDeps":false}})"});
  for (const std::string& path : kPaths) expect_holders(path, "");
  expect_holders(kDeployment + "web", "member1");
}

}  // namespace
}  // namespace shiplog::e2e
