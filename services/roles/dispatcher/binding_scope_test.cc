#include <gtest/gtest.h>

#include "events/state/work.h"
#include "services/roles/dispatcher/decide.h"
#include "tests/support/decided.h"
#include "tests/support/stage.h"

// What a binding may take to members: its own template, in its own scope, in Works of its own.

namespace shiplog {
namespace {

using namespace testing;

class BindingScope : public ::testing::Test {
 protected:
  BindingScope() {
    stage.put(cluster_key("m1"), cluster_object("m1"));
    stage.put({type::kNamespace, "", execution_space("m1")}, namespace_object(execution_space("m1")));
    stage.put({type::kNamespace, "", "victim"}, namespace_object("victim"));
  }

  ObjectKey put_config(const std::string& ns, const std::string& name) {
    stage.put({"configmaps", ns, name}, config_map(ns, name, "x"));
    const Value made = binding(config_map(ns, name, "x"), {{"m1", 0}});
    stage.put(testing::binding_key(made), made);
    return testing::binding_key(made);
  }
  void refer(const ObjectKey& key, const Value& resource) {
    Value changed = stage.state().value_of(key);
    changed.edit("spec").set("resource", resource);
    stage.put(key, changed);
  }
  std::vector<Event> decide(const ObjectKey& key) {
    const auto decided = dispatcher::decide(stage.state(), key, stage.now());
    EXPECT_TRUE(decided) << decided.error().message;
    if (!decided || !decision_of(decided)) return {};
    EXPECT_FALSE(stage.write(decision_of(decided)->events, decision_of(decided)->expects).refusal);
    return decision_of(decided)->events;
  }
  /// Nothing is rendered, and the binding's condition reports why.
  void expect_refused(const ObjectKey& key, const std::string& words) {
    const auto events = decide(key);
    ASSERT_EQ(events.size(), 1U);
    const auto* synced = std::get_if<WorksSynced>(&events[0]);
    ASSERT_NE(synced, nullptr);
    EXPECT_FALSE(synced->succeeded);
    EXPECT_NE(synced->message.find(words), std::string::npos) << synced->message;
    EXPECT_TRUE(decide(key).empty()) << "it is reported once";
  }

  Stage stage;
};

TEST_F(BindingScope, NothingOfAnotherNamespace) {
  const ObjectKey key = put_config("default", "own");
  stage.put({"secrets", "victim", "password"},
            Value::object({{"apiVersion", "v1"},
                           {"kind", "Secret"},
                           {"metadata", Value::object({{"name", "password"}, {"namespace", "victim"}})}}));
  refer(key, Value::object({{"apiVersion", "v1"}, {"kind", "Secret"}, {"namespace", "victim"}, {"name", "password"}}));
  expect_refused(key,
                 "spec.resource refers to Secret victim/password: a ResourceBinding may refer to objects of its "
                 "own namespace only");
}

TEST_F(BindingScope, NothingClusterScopedThroughANamespace) {
  const ObjectKey key = put_config("default", "own");
  const char* group = "rbac.authorization.k8s.io/v1";
  stage.put(
      {"clusterroles.rbac.authorization.k8s.io", "", "all"},
      Value::object({{"apiVersion", group}, {"kind", "ClusterRole"}, {"metadata", Value::object({{"name", "all"}})}}));
  Value resource = Value::object({{"apiVersion", group}, {"kind", "ClusterRole"}, {"name", "all"}});
  refer(key, resource);
  expect_refused(key, "spec.resource refers to ClusterRole all");
  resource.set("namespace", "default");
  refer(key, resource);
  expect_refused(key, "spec.resource refers to ClusterRole default/all");
}

TEST_F(BindingScope, NothingNamespacedThroughAClusterResourceBinding) {
  Value role = Value::object({{"apiVersion", "rbac.authorization.k8s.io/v1"},
                              {"kind", "ClusterRole"},
                              {"metadata", Value::object({{"name", "all"}})}});
  stage.put({"clusterroles.rbac.authorization.k8s.io", "", "all"}, role);
  const Value made = binding(role, {{"m1", 0}});
  const ObjectKey key = testing::binding_key(made);
  stage.put(key, made);
  stage.put({"configmaps", "victim", "settings"}, config_map("victim", "settings", "x"));
  refer(key,
        Value::object({{"apiVersion", "v1"}, {"kind", "ConfigMap"}, {"namespace", "victim"}, {"name", "settings"}}));
  expect_refused(key, "spec.resource refers to ConfigMap victim/settings");
}

TEST_F(BindingScope, NothingOfReservedNamespaces) {
  expect_refused(put_config("karmada-cluster", "credentials"), "namespaces reserved for the control plane");
}

TEST_F(BindingScope, NothingOfAnObjectThatWasDeletedAndMadeAnew) {
  const ObjectKey key = put_config("default", "own");
  Value changed = stage.state().value_of(key);
  changed.edit("spec").edit("resource").set("uid", "of-the-former-object");
  stage.put(key, changed);
  EXPECT_TRUE(decide(key).empty());
  changed.edit("spec").edit("resource").set("uid", uid_of(stage.state().value_of({"configmaps", "default", "own"})));
  stage.put(key, changed);
  EXPECT_EQ(decide(key).size(), 1U);
}

TEST_F(BindingScope, WorksOfOtherBindingsAreNeitherDeletedNorReplaced) {
  const ObjectKey theirs = put_config("victim", "settings");
  decide(theirs);
  const ObjectKey work = work_key("m1", config_map("victim", "settings", "x"));
  const Value before = stage.state().value_of(work);
  ASSERT_FALSE(before.is_null());

  // With the other's permanent id, and no target of its own.
  const ObjectKey ours = put_config("default", "own");
  Value changed = stage.state().value_of(ours);
  changed.edit("metadata")
      .edit("labels")
      .set(label::kBindingId, label_of(stage.state().value_of(theirs), label::kBindingId));
  changed.edit("spec").set("clusters", Value::array());
  stage.put(ours, changed);
  EXPECT_TRUE(decide(ours).empty());
  EXPECT_EQ(stage.state().value_of(work), before);

  // A Work of the name that ours would have, but rendered for the other binding.
  const ObjectKey second = put_config("default", "second");
  Value taken = before;
  taken.edit("metadata").set("name", work_key("m1", config_map("default", "second", "x")).name);
  stage.put(work_key("m1", config_map("default", "second", "x")), taken);
  expect_refused(second, "belongs to another binding");
}

TEST_F(BindingScope, TemplatesDoNotDetermineTheirBinding) {
  Value object = config_map("default", "own", "x");
  object.edit("metadata").edit("labels").set(label::kClusterBindingId, "another");
  object.edit("metadata").edit("annotations").set(annotation::kClusterBindingName, "another");
  const ObjectKey key = put_config("default", "own");
  stage.put({"configmaps", "default", "own"}, object);
  decide(key);
  const Value& made = stage.state().value_of(work_key("m1", object));
  for (const Value* one : {&made, &made["spec"]["workload"]["manifests"][0]}) {
    EXPECT_TRUE(label_of(*one, label::kClusterBindingId).empty());
    EXPECT_TRUE(annotation_of(*one, annotation::kClusterBindingName).empty());
    EXPECT_EQ(annotation_of(*one, annotation::kBindingName), "own-configmap");
  }
}

}  // namespace
}  // namespace shiplog
