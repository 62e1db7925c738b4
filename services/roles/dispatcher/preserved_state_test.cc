// Labels with the state that a failover has preserved: rules 3.4.5 to 3.4.7.
#include <gtest/gtest.h>

#include "events/base/json.h"
#include "events/state/work.h"
#include "services/roles/dispatcher/role.h"
#include "tests/support/literals.h"
#include "tests/support/stage.h"

namespace shiplog {
namespace {

using namespace testing;
using test::json;

constexpr const char* kTask = R"({"fromCluster": "m9", "purgeMode": "Directly", "reason": "ApplicationFailure",
    "producer": "resource-binding-application-failover-controller", "creationTimestamp": "2026-01-01T00:00:00Z",
    "preservedLabelState": {"job-id": "a1", "app": "preserved"}, "clustersBeforeFailover": ["m9"]})";

class PreservedState : public ::testing::Test {
 protected:
  PreservedState() {
    stage.write({FoldVersionActivated{kFoldVersion}});
    stage.write({FeatureGatesSet{{"StatefulFailoverInjection"}}});
    for (const char* name : {"m1", "m2"}) {
      stage.put(cluster_key(name), cluster_object(name));
      stage.put({type::kNamespace, "", execution_space(name)}, namespace_object(execution_space(name)));
      stage.members().member(name);
      stage.write({ClusterConditionChanged{cluster_key(name), "Ready", "True", "ClusterReady", ""}});
    }
    stage.add(make_dispatcher_role(stage.members()));
    web.edit("metadata").set("labels", json(R"({"app": "template"})"));
    stage.put(web_key, web);
    bound = binding(web, {{"m1", 1}});
  }
  void put(const std::vector<const char*>& tasks) {
    Value list = Value::array();
    for (const char* task : tasks) list.push_back(json(task));
    bound.edit("spec").set("gracefulEvictionTasks", std::move(list));
    stage.put(testing::binding_key(bound), bound);
    stage.run(Millis{5000});
  }
  Value edited(const std::function<void(Value&)>& change) {
    Value task = json(kTask);
    change(task);
    return task;
  }
  const Value& manifest(const char* cluster = "m1") {
    return stage.state().value_of(work_key(cluster, web))["spec"]["workload"]["manifests"][0];
  }
  std::string injected(const char* cluster = "m1") { return std::string{label_of(manifest(cluster), "job-id")}; }
  const Value& on_member() { return stage.members().member("m1").find(web_key); }

  Stage stage;
  Value web = deployment("default", "web", 1);
  Value bound;
  const ObjectKey web_key{"deployments.apps", "default", "web"};
};

TEST_F(PreservedState, BecomesLabelsOfTheManifestAndGoesWithTheTask_3_4_6) {  // B-22
  put({kTask});
  EXPECT_EQ(injected(), "a1");
  EXPECT_EQ(label_of(manifest(), "app"), "preserved") << "an equal key is overwritten";
  EXPECT_TRUE(manifest()["spec"]["template"]["metadata"]["labels"]["job-id"].is_null()) << "not in the pod template";
  EXPECT_NE(annotation_of(manifest(), annotation::kManagedLabels).find("job-id"), std::string::npos);
  EXPECT_EQ(label_of(on_member(), "job-id"), "a1");
  put({});
  EXPECT_EQ(injected(), "");
  EXPECT_EQ(label_of(manifest(), "app"), "template");
  EXPECT_EQ(label_of(on_member(), "job-id"), "") << "it was a managed label";
  EXPECT_EQ(label_of(on_member(), "app"), "template");
}

TEST_F(PreservedState, IsInjectedAfterOverrides_3_4_6) {  // B-22
  stage.put(
      {type::kOverridePolicy, "default", "p"},
      Value::object({{"metadata", json(R"({"name": "p", "namespace": "default"})")}, {"spec", json(R"({"overrideRules":
                [{"overriders": {"labelsOverrider": [{"operator": "add", "value": {"job-id": "override"}}]}}]})")}}));
  put({kTask});
  EXPECT_EQ(injected(), "a1");
}

TEST_F(PreservedState, NeedsTheGate_3_4_5) {  // B-22
  stage.write({FeatureGatesSet{{}}});
  put({kTask});
  EXPECT_EQ(injected(), "");
  EXPECT_FALSE(on_member().is_null());
}

TEST_F(PreservedState, NeedsExactlyOneTarget_3_4_5) {  // B-22
  bound = binding(web, {{"m1", 1}, {"m2", 1}});
  put({kTask});
  EXPECT_EQ(injected() + injected("m2"), "");
  bound = binding(web, {{"m1", 1}});
  bound.edit("spec").set("requiredBy", json(R"([{"name": "other", "clusters": [{"name": "m2"}]}])"));
  put({kTask});
  EXPECT_EQ(injected() + injected("m2"), "") << "clusters that other bindings require count, too";
  bound.edit("spec").set("requiredBy", json(R"([{"name": "other", "clusters": [{"name": "m1"}]}])"));
  put({kTask});
  EXPECT_EQ(injected(), "a1");
}

TEST_F(PreservedState, NeedsTheLastTaskToPurgeDirectly_3_4_5) {  // B-22
  const std::string graceful = to_json(edited([](Value& task) {
    task.set("fromCluster", "m8");
    task.set("purgeMode", "Gracefully");
  }));
  put({kTask, graceful.c_str()});
  EXPECT_EQ(injected(), "") << "the last one counts";
  put({graceful.c_str(), kTask});
  EXPECT_EQ(injected(), "a1");
}

TEST_F(PreservedState, NotWhereTheWorkloadWasBefore_3_4_5) {  // B-22
  put({to_json(edited([](Value& task) { task.set("clustersBeforeFailover", json(R"(["m9", "m1"])")); })).c_str()});
  EXPECT_EQ(injected(), "");
}

TEST_F(PreservedState, NotWhereThereIsNone_3_4_5) {  // B-22
  put({to_json(edited([](Value& task) { task.erase("preservedLabelState"); })).c_str()});
  EXPECT_EQ(label_of(manifest(), "app"), "template");
}

TEST_F(PreservedState, CannotChangeLabelsOfTheControlPlane) {
  const std::vector<const char*> own = {"karmada.io/managed",
                                        "karmada.io/system",
                                        "resourcebinding.karmada.io/permanent-id",
                                        "clusterresourcebinding.karmada.io/permanent-id",
                                        "propagationpolicy.karmada.io/permanent-id",
                                        "work.karmada.io/permanent-id",
                                        "shiplog.io/x",
                                        "a.shiplog.io/x",
                                        "resourcetemplate.karmada.io/retain-replicas"};
  put({});
  const Value before = manifest()["metadata"]["labels"];
  put({to_json(edited([&](Value& task) {
         task.set("preservedLabelState", Value::object({{"job-id", "a1"}}));
         for (const char* label : own) task.edit("preservedLabelState").set(label, "stolen");
       })).c_str()});
  EXPECT_EQ(injected(), "a1");
  Value after = manifest()["metadata"]["labels"];
  after.erase("job-id");
  EXPECT_EQ(after, before);
}

TEST_F(PreservedState, AValueThatIsNoLabelValueIsReportedByTheBinding_3_4_7) {
  put({to_json(edited([](Value& task) { task.edit("preservedLabelState").set("job-id", "a b"); })).c_str()});
  EXPECT_TRUE(manifest().is_null()) << "the member would refuse it";
  const Value& synced = condition_of(stage.state().value_of(testing::binding_key(bound)), kWorksSyncedCondition);
  EXPECT_EQ(synced["status"].as_string(), "False");
  EXPECT_NE(synced["message"].str().find("\"a b\" is no value for label job-id"), std::string::npos) << to_json(synced);
}

TEST_F(PreservedState, GrantsNoRights) {
  const Value role = json(R"({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role",
      "metadata": {"name": "r", "namespace": "default"}, "rules": []})");
  stage.put({"roles.rbac.authorization.k8s.io", "default", "r"}, role);
  Value role_binding = binding(role, {{"m1", 0}});
  role_binding.edit("spec").set("gracefulEvictionTasks", Value::array({edited([](Value& task) {
                                  task.set("preservedLabelState",
                                           json(R"({"rbac.authorization.k8s.io/aggregate-to-admin": "true"})"));
                                })}));
  stage.put(testing::binding_key(role_binding), role_binding);
  stage.run(Millis{5000});
  EXPECT_TRUE(stage.state().value_of(work_key("m1", role)).is_null());
}

}  // namespace
}  // namespace shiplog
