#include <algorithm>

#include <gtest/gtest.h>

#include "events/state/work.h"
#include "services/roles/dispatcher/role.h"
#include "services/roles/dispatcher/triggers.h"
#include "tests/support/literals.h"
#include "tests/support/stage.h"

namespace shiplog {
namespace {

using namespace testing;
using test::json;

/// The dispatcher with two members and a Deployment on both.
class DispatchOverridden : public ::testing::Test {
 protected:
  DispatchOverridden() {
    for (const char* name : {"m1", "m2"}) {
      stage.put(cluster_key(name), cluster_object(name));
      stage.put({type::kNamespace, "", execution_space(name)}, namespace_object(execution_space(name)));
      stage.members().member(name);
      stage.write({ClusterConditionChanged{cluster_key(name), "Ready", "True", "ClusterReady", ""}});
    }
    stage.add(make_dispatcher_role(stage.members()));
    stage.put(web_key, web);
    const Value made = binding(web, {{"m1", 1}, {"m2", 2}});
    bound = testing::binding_key(made);
    stage.put(bound, made);
    run();
  }

  void run() { stage.run(Millis{5000}); }
  void policy(const std::string& ns, const std::string& name, const Value& spec) {
    Value object = Value::object({{"metadata", Value::object({{"name", name}})}, {"spec", spec}});
    if (!ns.empty()) object.edit("metadata").set("namespace", ns);
    stage.put({ns.empty() ? type::kClusterOverridePolicy : type::kOverridePolicy, ns, name}, object);
    run();
  }
  static Value rule(const std::string& target, const std::string& overriders) {
    return Value::object(
        {{"overrideRules",
          Value::array({Value::object({{"targetCluster", json(target)}, {"overriders", json(overriders)}})})}});
  }
  const Value& on_member(const std::string& cluster, const ObjectKey& key) {
    return stage.members().member(cluster).find(key);
  }
  std::string image_on(const std::string& cluster) {
    return on_member(cluster, web_key)["spec"]["template"]["spec"]["containers"][0]["image"].str();
  }
  const Value& work(const std::string& cluster) { return stage.state().value_of(work_key(cluster, web)); }
  const Value& synced(const ObjectKey& key) { return condition_of(stage.state().value_of(key), kWorksSyncedCondition); }
  /// The newest WorkRendered of a Work.
  Explanation why_rendered(const ObjectKey& key) {
    Explanation why;
    for (const auto& one : stage.history()) {
      for (const Event& event : one.entry.events) {
        const auto* rendered = std::get_if<WorkRendered>(&event);
        if (rendered != nullptr && rendered->work == key) why = rendered->why;
      }
    }
    return why;
  }

  Stage stage;
  const Value web = deployment("default", "web", 3);
  const ObjectKey web_key{"deployments.apps", "default", "web"};
  ObjectKey bound;
  const std::string kAll = "null";
  const std::string kOnM1 = R"({"clusterNames": ["m1"]})";
  const std::string kOtherRegistry =
      R"({"imageOverrider": [{"component": "Registry", "operator": "replace", "value": "r.io"}]})";
  const std::string kImpossible = R"({"plaintext": [{"path": "/spec/none", "operator": "remove"}]})";
};

TEST_F(DispatchOverridden, APolicyReachesTheMembersAndItsEndToo_B_1_B_11) {
  policy("default", "registry", rule(kOnM1, kOtherRegistry));
  EXPECT_EQ(image_on("m1"), "r.io/nginx:1");
  EXPECT_EQ(image_on("m2"), "nginx:1");
  policy("default", "registry", rule(R"({"clusterNames": ["m2"]})", kOtherRegistry));
  EXPECT_EQ(image_on("m1"), "nginx:1") << "what it matched before";
  EXPECT_EQ(image_on("m2"), "r.io/nginx:1") << "what it matches now";
  stage.write({DeletionRequested{.object = {type::kOverridePolicy, "default", "registry"}}});
  run();
  EXPECT_EQ(image_on("m2"), "nginx:1");
}

// What is rendered from the cluster as it was has no Work yet that would name the binding.
TEST_F(DispatchOverridden, AClusterThatChangesWhileAWorkIsBeingRenderedIsSeen_B_1) {
  policy("default", "prod", rule(R"({"labelSelector": {"matchLabels": {"env": "prod"}}})", kOtherRegistry));
  const Value other = deployment("default", "other", 1);
  stage.put({"deployments.apps", "default", "other"}, other);
  const Value made = binding(other, {{"m1", 1}});
  stage.set_append_latency(Millis{50});
  stage.put(testing::binding_key(made), made);
  stage.run(Millis{10});  // decided, and not folded yet
  Value labelled = stage.state().value_of(cluster_key("m1"));
  labelled.edit("metadata").edit("labels").set("env", "prod");
  stage.put(cluster_key("m1"), labelled);
  run();
  const Value& manifest = stage.state().value_of(work_key("m1", other))["spec"]["workload"]["manifests"][0];
  EXPECT_EQ(manifest["spec"]["template"]["spec"]["containers"][0]["image"].str(), "r.io/nginx:1");
}

TEST_F(DispatchOverridden, WinsOverReplicaRevision_B_11) {  // TRAP-7
  policy("", "one", rule(kOnM1, R"({"plaintext": [{"path": "/spec/replicas", "operator": "replace", "value": 9}]})"));
  EXPECT_EQ(on_member("m1", web_key)["spec"]["replicas"], Value{9});
  EXPECT_EQ(on_member("m2", web_key)["spec"]["replicas"], Value{2});
}

TEST_F(DispatchOverridden, TheWorkRecordsWhatWasAppliedAndWhy_B_21) {
  policy("default", "registry", rule(kOnM1, kOtherRegistry));
  policy("", "label", rule(kOnM1, R"({"labelsOverrider": [{"operator": "add", "value": {"team": "blue"}}]})"));
  const auto applied = [&](const char* key) { return json(annotation_of(work("m1"), key)); };
  EXPECT_EQ(applied("policy.karmada.io/applied-overrides"),
            Value::array({Value::object({{"policyName", "registry"}, {"overriders", json(kOtherRegistry)}})}));
  EXPECT_EQ(applied("policy.karmada.io/applied-cluster-overrides")[0]["policyName"], Value{"label"});
  EXPECT_EQ(
      why_rendered(work_key("m1", web)).steps,
      (std::vector<Fact>{OverrideApplied{"", "label", 1, R"(/metadata/labels: nothing -> {"team":"blue"})"},
                         OverrideApplied{"default", "registry", 1,
                                         R"(/spec/template/spec/containers/0/image: "nginx:1" -> "r.io/nginx:1")"}}));
  EXPECT_NE(annotation_of(work("m1")["spec"]["workload"]["manifests"][0], "resourcetemplate.karmada.io/managed-labels")
                .find("team"),
            std::string_view::npos);
  EXPECT_TRUE(annotation_of(work("m2"), "policy.karmada.io/applied-overrides").empty());

  stage.write({DeletionRequested{.object = {type::kOverridePolicy, "default", "registry"}}});
  run();
  EXPECT_EQ(image_on("m1"), "nginx:1");
  EXPECT_FALSE(annotation_of(work("m1"), "policy.karmada.io/applied-overrides").empty()) << "stays, as upstream";
}

TEST_F(DispatchOverridden, AnErrorStopsItsTargetOnlyAndTheBindingReportsIt_B_6_B_21) {
  policy("default", "bad", rule(kOnM1, kImpossible));
  EXPECT_TRUE(stage.state().find(bound) != nullptr);
  EXPECT_EQ(synced(bound)["status"], Value{"False"});
  EXPECT_EQ(synced(bound)["reason"], Value{"SyncWorkFailed"});
  EXPECT_TRUE(synced(bound)["message"].as_string().starts_with(
      "Apply override policy(default/bad) for cluster(m1) failed: rule 1: plaintext: the JSON patch cannot be applied"))
      << synced(bound)["message"].as_string();
  const size_t told = stage.count<WorksSynced>();
  EXPECT_EQ(told, 1U);

  Value newer = web;
  newer.edit("spec").edit("template").edit("spec").edit("containers").edit_items()[0].set("image", "nginx:2");
  stage.put(web_key, newer);
  Value rebound = stage.state().value_of(bound);
  rebound.edit("spec").edit("resource").set("resourceVersion", "2");
  stage.put(bound, rebound);
  run();
  EXPECT_EQ(image_on("m2"), "nginx:2") << "the other target goes on";
  EXPECT_EQ(image_on("m1"), "nginx:1") << "nothing is written for the failing one";
  EXPECT_EQ(stage.count<WorksSynced>(), told) << "the same is not said twice";

  stage.write({DeletionRequested{.object = {type::kOverridePolicy, "default", "bad"}}});
  run();
  EXPECT_EQ(image_on("m1"), "nginx:2");
  EXPECT_EQ(synced(bound)["status"], Value{"True"});
  EXPECT_EQ(synced(bound)["reason"], Value{"SyncWorkSucceed"});
  EXPECT_EQ(synced(bound)["message"], Value{"Sync work of ResourceBinding(default/web-deployment) successful."});
}

TEST_F(DispatchOverridden, WithoutFailuresNothingIsReported) {
  EXPECT_EQ(stage.count<WorksSynced>(), 0U);
  EXPECT_TRUE(synced(bound).is_null());
}

TEST_F(DispatchOverridden, AnotherIdentityFailsItsTarget) {  // B-26
  const auto refused = [&](const std::string& operations) {
    policy("default", "other", rule(kOnM1, R"({"plaintext": [)" + operations + "]}"));
    EXPECT_EQ(synced(bound)["status"], Value{"False"}) << operations;
    EXPECT_EQ(on_member("m1", web_key)["spec"]["replicas"], Value{1}) << "what was rendered before stays";
    return synced(bound)["message"].str();
  };
  const std::string failed = "Apply override policy(default/other) for cluster(m1) failed: rule 1: ";
  const std::string another = "the result is another object than Deployment web: it changes ";
  EXPECT_EQ(refused(R"({"path": "/metadata/namespace", "operator": "replace", "value": "kube-system"})"),
            failed + another + "metadata.namespace");
  EXPECT_EQ(refused(R"({"path": "/apiVersion", "operator": "replace", "value": "rbac.authorization.k8s.io/v1"},
                       {"path": "/kind", "operator": "replace", "value": "ClusterRoleBinding"},
                       {"path": "/metadata/namespace", "operator": "remove"})"),
            failed + another + "apiVersion, kind, metadata.namespace");
  EXPECT_EQ(refused(R"({"path": "/metadata/name", "operator": "replace", "value": "web-one"})"),
            failed + another + "metadata.name");
  EXPECT_EQ(image_on("m2"), "nginx:1");

  stage.write({DeletionRequested{.object = {type::kOverridePolicy, "default", "other"}}});
  run();
  EXPECT_EQ(synced(bound)["status"], Value{"True"});
}

TEST_F(DispatchOverridden, RightsOfAnRbacObjectAreThoseOfItsTemplate) {
  const Value granting = json(R"({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding",
      "metadata": {"name": "own", "namespace": "default"}, "subjects": [{"kind": "User", "name": "ann"}],
      "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "reader"}})");
  const ObjectKey granting_key{"rolebindings.rbac.authorization.k8s.io", "default", "own"};
  policy("default", "more", rule(kOnM1, R"({"plaintext": [
      {"path": "/roleRef", "operator": "replace", "value": {"kind": "ClusterRole", "name": "cluster-admin"}}]})"));
  stage.put(granting_key, granting);
  const Value made = binding(granting, {{"m1", 0}, {"m2", 0}});
  stage.put(testing::binding_key(made), made);
  run();
  EXPECT_TRUE(on_member("m1", granting_key).is_null());
  EXPECT_FALSE(on_member("m2", granting_key).is_null());
  EXPECT_EQ(
      synced(testing::binding_key(made))["message"].str(),
      "Apply override policy(default/more) for cluster(m1) failed: rule 1: /roleRef of a RoleBinding must stay as "
      "in the template: the rights it grants were checked there");
}

TEST_F(DispatchOverridden, AWorkThatAnEarlierBuildRenderedUnderAnotherNameGoes) {
  Value former = work("m1");
  former.edit("metadata").set("name", "web-one-former");
  stage.put({type::kWork, execution_space("m1"), "web-one-former"}, former);
  policy("default", "registry", rule(kOnM1, kOtherRegistry));
  EXPECT_TRUE(stage.state().value_of({type::kWork, execution_space("m1"), "web-one-former"}).is_null());
  EXPECT_FALSE(work("m1").is_null());
}

TEST_F(DispatchOverridden, PrunesWhatAnOverrideBringsIn_B_14) {
  policy("default", "status", rule(kAll, R"({"plaintext": [
      {"path": "/metadata/finalizers", "operator": "add", "value": ["a"]},
      {"path": "/status", "operator": "add", "value": {"replicas": 1}}]})"));
  const Value& manifest = work("m1")["spec"]["workload"]["manifests"][0];
  EXPECT_TRUE(manifest["metadata"]["finalizers"].is_null());
  EXPECT_TRUE(manifest["status"].is_null());
}

TEST_F(DispatchOverridden, ConflictResolutionIsReadAfterOverrides_B_15) {
  policy("default", "over", rule(kOnM1, R"({"annotationsOverrider": [
      {"operator": "add", "value": {"work.karmada.io/conflict-resolution": "overwrite"}}]})"));
  EXPECT_EQ(annotation_of(work("m1"), annotation::kConflictResolution), "overwrite");
  EXPECT_EQ(annotation_of(work("m2"), annotation::kConflictResolution), "abort");
}

TEST_F(DispatchOverridden, NamespacesGetClusterPoliciesOnly_B_27) {
  const ObjectKey shop{type::kNamespace, "", "shop"};
  stage.put(shop, namespace_object("shop"));
  run();
  const std::string label = R"({"labelsOverrider": [{"operator": "add", "value": {"team": "blue"}}]})";
  Value spec = rule(kOnM1, label);
  spec.set("resourceSelectors", json(R"([{"apiVersion": "v1", "kind": "Namespace", "name": "shop"}])"));
  policy("", "teams", spec);
  EXPECT_EQ(label_of(on_member("m1", shop), "team"), "blue");
  EXPECT_EQ(label_of(on_member("m2", shop), "team"), "");
  spec = rule(kAll, kImpossible);
  spec.set("resourceSelectors", json(R"([{"apiVersion": "v1", "kind": "Namespace", "name": "shop"}])"));
  policy("", "teams", spec);
  EXPECT_EQ(synced(shop)["status"], Value{"False"});
}

TEST_F(DispatchOverridden, AWorkReportsThatItsNamespaceIsExcluded_B_27_E_5) {
  Value spec = rule(kOnM1, kImpossible);
  spec.set("resourceSelectors", json(R"([{"apiVersion": "v1", "kind": "Namespace"}])"));
  policy("", "no-namespaces", spec);
  stage.put({type::kNamespace, "", "shop"}, namespace_object("shop"));
  const Value map = config_map("shop", "settings", "x");
  stage.put({"configmaps", "shop", "settings"}, map);
  stage.put(testing::binding_key(binding(map, {{"m1", 0}})), binding(map, {{"m1", 0}}));
  run();
  const Value& condition = condition_of(stage.state().value_of(work_key("m1", map)), "Applied");
  EXPECT_EQ(condition["status"], Value{"False"});
  EXPECT_NE(condition["message"].as_string().find("shop"), std::string_view::npos) << condition["message"].as_string();
  stage.write({DeletionRequested{.object = {type::kClusterOverridePolicy, "", "no-namespaces"}}});
  run();
  EXPECT_EQ(condition_of(stage.state().value_of(work_key("m1", map)), "Applied")["status"], Value{"True"});
}

TEST_F(DispatchOverridden, AClusterThatChangesItsLabelsGetsItsOverrides_B_18) {
  policy("default", "prod", rule(R"({"labelSelector": {"matchLabels": {"tier": "prod"}}})", kOtherRegistry));
  EXPECT_EQ(image_on("m2"), "nginx:1");
  Value cluster = stage.state().value_of(cluster_key("m2"));
  cluster.edit("metadata").edit("labels").set("tier", "prod");
  stage.put(cluster_key("m2"), cluster);
  run();
  EXPECT_EQ(image_on("m2"), "r.io/nginx:1");
}

TEST_F(DispatchOverridden, AClusterWhereNothingCouldBeRenderedIsTriedAgain_B_18) {
  policy("default", "bad", rule(R"({"labelSelector": {"matchLabels": {"tier": "prod"}}})", kImpossible));
  Value cluster = stage.state().value_of(cluster_key("m2"));
  cluster.edit("metadata").edit("labels").set("tier", "prod");
  stage.put(cluster_key("m2"), cluster);
  const Value map = config_map("default", "late", "x");
  stage.put({"configmaps", "default", "late"}, map);
  stage.put(testing::binding_key(binding(map, {{"m2", 0}})), binding(map, {{"m2", 0}}));
  run();
  EXPECT_TRUE(stage.state().value_of(work_key("m2", map)).is_null());
  cluster.edit("metadata").edit("labels").set("tier", "test");
  stage.put(cluster_key("m2"), cluster);
  run();
  EXPECT_FALSE(stage.state().value_of(work_key("m2", map)).is_null());
}

TEST_F(DispatchOverridden, APolicyTriggersWhatItSelectsAndNothingElse_B_1) {
  for (const char* name : {"a", "b"}) {
    const Value object = config_map("default", name, "x");
    stage.put({"configmaps", "default", name}, object);
    stage.put(testing::binding_key(binding(object, {})), binding(object, {}));
  }
  const auto woken = [&](const std::string& ns, std::string_view selectors, std::string_view before = "null") {
    const auto object = [&](std::string_view list) {
      if (list == "null") return Value{};
      Value made = Value::object(
          {{"metadata", Value::object({{"name", "p"}})}, {"spec", Value::object({{"resourceSelectors", json(list)}})}});
      if (!ns.empty()) made.edit("metadata").set("namespace", ns);
      return made;
    };
    std::vector<ObjectKey> wake;
    dispatcher::trigger_overridden(stage.state(), Change{{}, {}, object(before), object(selectors), nullptr}, wake);
    std::string names;
    for (const ObjectKey& key : wake) {
      if (key.type == type::kResourceBinding) names += key.name + " ";
    }
    return names;
  };
  EXPECT_EQ(woken("default", R"([{"apiVersion": "v1", "kind": "ConfigMap", "name": "a"}])"), "a-configmap ");
  EXPECT_EQ(woken("", R"([{"apiVersion": "v1", "kind": "ConfigMap", "name": "a"}])"), "a-configmap ");
  EXPECT_EQ(woken("default", R"([{"apiVersion": "v1", "kind": "ConfigMap"}])"), "a-configmap b-configmap ");
  EXPECT_EQ(woken("other", R"([{"apiVersion": "v1", "kind": "ConfigMap"}])"), "");
  EXPECT_EQ(woken("default", "[]"), "a-configmap b-configmap web-deployment ");
  EXPECT_EQ(woken("", "[]"), "a-configmap b-configmap web-deployment ");
  EXPECT_EQ(woken("", R"([{"apiVersion": "v1", "kind": "ConfigMap", "name": "a"}])",
                  R"([{"apiVersion": "apps/v1", "kind": "Deployment"}])"),
            "a-configmap web-deployment ");
}

}  // namespace
}  // namespace shiplog
