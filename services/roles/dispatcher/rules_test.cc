// Rules of docs/reference that the other tests of decide() pass by.
#include <gtest/gtest.h>

#include "events/state/work.h"
#include "services/roles/dispatcher/decide.h"
#include "services/roles/dispatcher/render.h"
#include "tests/support/decided.h"
#include "tests/support/literals.h"
#include "tests/support/stage.h"

namespace shiplog {
namespace {

using namespace testing;
using test::json;

class DispatcherRules : public ::testing::Test {
 protected:
  DispatcherRules() {
    for (const char* name : {"m1", "m2", "m3"}) {
      stage.put(cluster_key(name), cluster_object(name));
      stage.put({type::kNamespace, "", execution_space(name)}, namespace_object(execution_space(name)));
    }
  }

  /// Puts template and binding; `change` edits the binding first.
  ObjectKey place(const ObjectKey& key, const Value& object, const std::vector<Target>& targets,
                  const std::function<void(Value&)>& change = {}) {
    if (!object.is_null()) stage.put(key, object);
    Value made = binding(object, targets);
    if (change) change(made);
    stage.put(testing::binding_key(made), made);
    return testing::binding_key(made);
  }
  std::vector<Event> decide(const ObjectKey& key) {
    auto decided = dispatcher::decide(stage.state(), key, stage.now());
    EXPECT_TRUE(decided) << decided.error().message;
    if (!decided || !decision_of(decided)) return {};
    const Folded folded = stage.write(decision_of(decided)->events, decision_of(decided)->expects);
    EXPECT_FALSE(folded.refusal) << folded.refusal->reason;
    return decision_of(decided)->events;
  }
  const Value& work(const std::string& cluster, const Value& object) {
    return stage.state().value_of(work_key(cluster, object));
  }
  const Value& manifest(const std::string& cluster, const Value& object) {
    return work(cluster, object)["spec"]["workload"]["manifests"][0];
  }

  Stage stage;
  const Value web = deployment("default", "web", 5);
  const ObjectKey web_key{"deployments.apps", "default", "web"};
};

TEST_F(DispatcherRules, ExecutionSpacesAreNamedAfterTheirCluster_N_3) {
  EXPECT_EQ(execution_space("m1"), "karmada-es-m1");
  EXPECT_EQ(cluster_of_space("karmada-es-m1"), "m1");
  for (const char* other : {"default", "karmada-system", "karmada-e", "es-m1"}) EXPECT_EQ(cluster_of_space(other), "");
}

TEST_F(DispatcherRules, WithoutItsTemplateNothingIsRendered_B_2) {
  const ObjectKey key = place(web_key, web, {{"m1", 5}});
  stage.write({DeletionRequested{.object = web_key}});
  EXPECT_TRUE(decide(key).empty());
  stage.put(web_key, web);
  decide(key);
  stage.write({DeletionRequested{.object = web_key}});
  EXPECT_TRUE(decide(key).empty());
  EXPECT_FALSE(deleting(work("m1", web))) << "what is there stays until the binding goes";
}

TEST_F(DispatcherRules, ClusterScopedBindingsHaveLabelsOfTheirOwn_B_3_B_13) {
  const Value role = Value::object({{"apiVersion", "rbac.authorization.k8s.io/v1"},
                                    {"kind", "ClusterRole"},
                                    {"metadata", Value::object({{"name", "viewer"}})}});
  const ObjectKey key = place({"clusterroles.rbac.authorization.k8s.io", "", "viewer"}, role, {{"m1", 0}, {"m2", 0}});
  decide(key);
  for (const Value* object : {&work("m1", role), &manifest("m1", role)}) {
    EXPECT_EQ(label_of(*object, "clusterresourcebinding.karmada.io/permanent-id"), "id-viewer");
    EXPECT_EQ(label_of(*object, "resourcebinding.karmada.io/permanent-id"), "");
    EXPECT_EQ(annotation_of(*object, "clusterresourcebinding.karmada.io/name"), "viewer-clusterrole");
    EXPECT_EQ(annotation_of(*object, "resourcebinding.karmada.io/name"), "");
  }
  Value moved = stage.state().value_of(key);
  moved.edit("spec").set("clusters", json(R"([{"name": "m2"}])"));
  stage.put(key, moved);
  decide(key);
  EXPECT_TRUE(deleting(work("m1", role))) << "found by that label";
}

TEST_F(DispatcherRules, GoesWhereItIsNeededToo_B_4_B_5) {
  const ObjectKey key = place(web_key, web, {{"m1", 5}}, [](Value& made) {
    made.edit("spec").set("requiredBy", json(R"([
        {"namespace": "default", "name": "a", "clusters": [{"name": "m1", "replicas": 7}, {"name": "m2", "replicas": 2}]},
        {"namespace": "default", "name": "b", "clusters": [{"name": "m2", "replicas": 9}]}])"));
  });
  decide(key);
  EXPECT_EQ(manifest("m1", web)["spec"]["replicas"], Value{5}) << "its own target comes first";
  EXPECT_EQ(manifest("m2", web)["spec"]["replicas"], Value{2}) << "the first that needs it";
  Value released = stage.state().value_of(key);
  released.edit("spec").erase("requiredBy");
  stage.put(key, released);
  decide(key);
  EXPECT_TRUE(deleting(work("m2", web)));
  EXPECT_FALSE(deleting(work("m1", web)));
}

TEST_F(DispatcherRules, RendersTheTemplateAsItIsNow_B_8) {
  const ObjectKey key = place(web_key, web, {{"m1", 5}});
  Value newer = web;
  newer.edit("spec").set("paused", true);
  stage.put(web_key, newer);
  decide(key);
  EXPECT_EQ(manifest("m1", web)["spec"]["paused"], Value{true});
}

TEST_F(DispatcherRules, WhenCompletionsAreLeftAlone_B_10) {
  const auto rendered = [&](const char* spec, const char* scheduling, std::vector<Target> targets) {
    Stage fresh;
    Value job = Value::object({{"apiVersion", "batch/v1"},
                               {"kind", "Job"},
                               {"metadata", Value::object({{"name", "sum"}, {"namespace", "default"}})},
                               {"spec", json(spec)}});
    Value made = binding(job, targets);
    made.edit("spec").set("replicas", 6);
    made.edit("spec").edit("placement").set("replicaScheduling", json(scheduling));
    const Binding view = binding_from(testing::binding_key(made), made);
    return dispatcher::revised(fresh.state(), job, view, targets, targets.front(), fresh.now()).value()["spec"];
  };
  const char* divided = R"({"replicaSchedulingType": "Divided"})";
  const char* both = R"({"parallelism": 6, "completions": 10})";
  EXPECT_EQ(rendered(both, divided, {{"m1", 2}, {"m2", 4}}), json(R"({"parallelism": 2, "completions": 3})"));
  EXPECT_EQ(rendered(R"({"parallelism": 6})", divided, {{"m1", 2}, {"m2", 4}}), json(R"({"parallelism": 2})"));
  EXPECT_EQ(rendered(both, divided, {{"m1", 0}, {"m2", 0}}), json(R"({"parallelism": 0, "completions": 10})"));
  EXPECT_EQ(rendered(both, R"({"replicaSchedulingType": "Duplicated"})", {{"m1", 6}, {"m2", 6}}), json(both));
}

TEST_F(DispatcherRules, PrunesTheOtherKinds_B_14) {
  const Value token = dispatcher::pruned(json(R"({"kind": "Secret", "type": "kubernetes.io/service-account-token",
      "metadata": {"annotations": {"kubernetes.io/service-account.uid": "u", "kubernetes.io/service-account.name": "n"}},
      "data": {"token": "dA=="}})"));
  EXPECT_TRUE(token["data"].is_null());
  EXPECT_EQ(token["metadata"]["annotations"], json(R"({"kubernetes.io/service-account.name": "n"})"));
  EXPECT_EQ(dispatcher::pruned(json(R"({"kind": "Secret", "type": "Opaque", "data": {"a": "Yg=="}})"))["data"],
            json(R"({"a": "Yg=="})"));
  const Value claim = dispatcher::pruned(json(R"({"kind": "PersistentVolumeClaim",
      "metadata": {"annotations": {"volume.kubernetes.io/selected-node": "n1", "note": "x"}}})"));
  EXPECT_EQ(claim["metadata"]["annotations"], json(R"({"note": "x"})"));
  const Value debugged = dispatcher::pruned(json(R"({"kind": "Pod", "spec": {"containers": [{"name": "c"}],
      "ephemeralContainers": [{"name": "d"}]}})"));
  EXPECT_EQ(debugged["spec"], json(R"({"containers": [{"name": "c"}]})"));
  const Value manual = json(R"({"kind": "Job", "spec": {"manualSelector": true,
      "selector": {"matchLabels": {"controller-uid": "u"}},
      "template": {"metadata": {"labels": {"controller-uid": "u", "job-name": "j"}}}}})");
  EXPECT_EQ(dispatcher::pruned(manual), manual) << "its selector is the user's";
  const Value server_made = dispatcher::pruned(json(R"({"kind": "ConfigMap", "metadata": {"name": "c",
      "creationTimestamp": "t", "deletionTimestamp": "t", "deletionGracePeriodSeconds": 1, "generation": 1,
      "managedFields": [], "resourceVersion": "1", "selfLink": "/", "uid": "u", "ownerReferences": [],
      "finalizers": []}, "status": {}})"));
  EXPECT_EQ(server_made, json(R"({"kind": "ConfigMap", "metadata": {"name": "c"}})"));
}

TEST_F(DispatcherRules, OverwriteOfThePolicyReachesTheManifest_B_15) {
  decide(
      place(web_key, web, {{"m1", 5}}, [](Value& made) { made.edit("spec").set("conflictResolution", "Overwrite"); }));
  EXPECT_EQ(annotation_of(work("m1", web), annotation::kConflictResolution), "overwrite");
  EXPECT_EQ(annotation_of(manifest("m1", web), annotation::kConflictResolution), "overwrite");
  Value map = config_map("default", "own", "x");
  map.edit("metadata").edit("annotations").set(annotation::kConflictResolution, "abort");
  decide(place({"configmaps", "default", "own"}, map, {{"m1", 0}},
               [](Value& made) { made.edit("spec").set("conflictResolution", "Overwrite"); }));
  EXPECT_EQ(annotation_of(work("m1", map), annotation::kConflictResolution), "abort")
      << "the template's own comes first";
}

}  // namespace
}  // namespace shiplog
