#include <gtest/gtest.h>

#include "events/state/work.h"
#include "services/roles/dispatcher/member_object.h"
#include "tests/support/dispatcher_fixture.h"
#include "tests/support/literals.h"
#include "tests/support/stage.h"

// What a member loses when a Work is deleted, and what it keeps.
namespace shiplog {
namespace {

using namespace testing;

TEST_F(Dispatcher, DeletesFromTheMemberBeforeTheWorkGoes_E_17_E_18) {  // D-40
  place("configmaps", map, {{"m1", 0}, {"m2", 0}});
  stage.write({DeletionRequested{.object = {type::kResourceBinding, "default", "settings-configmap"}}});
  stage.run(Millis{1000});
  EXPECT_TRUE(on_member("m1", map_key).is_null());
  EXPECT_TRUE(on_member("m2", map_key).is_null());
  EXPECT_EQ(stage.state().find(work_key("m1", map)), nullptr);
  EXPECT_EQ(stage.state().find({type::kResourceBinding, "default", "settings-configmap"}), nullptr);
}

MemberResponse not_found_of(const std::string& name) {
  return {404, Value::object({{"kind", "Status"},
                              {"reason", "NotFound"},
                              {"message", name + " not found"},
                              {"details", Value::object({{"name", name}})}})};
}

/// Members of which some answers are others' than their own.
class AnsweredByOthers final : public Members {
 public:
  using Answer = std::optional<MemberResponse>;
  explicit AnsweredByOthers(FakeMembers& members) : members_{members} {}

  std::function<Answer(const MemberRequest&)> intercept;

  void request(const std::string& cluster, MemberRequest request,
               std::function<void(Result<MemberResponse>)> done) override {
    if (auto answer = intercept ? intercept(request) : Answer{}) {
      request.method = "GET";  // nothing happens in the member; the answer takes its time all the same
      done = [done = std::move(done), answer](const Result<MemberResponse>&) { done(*answer); };
    }
    members_.request(cluster, std::move(request), std::move(done));
  }
  std::unique_ptr<MemberWatch> watch(const std::string& cluster, std::string path,
                                     std::function<void(const Value&)> on_event,
                                     std::function<void(Result<void>)> on_end) override {
    return members_.watch(cluster, std::move(path), std::move(on_event), std::move(on_end));
  }

 private:
  FakeMembers& members_;
};

class DispatcherAnsweredByOthers : public ::testing::Test {
 protected:
  DispatcherAnsweredByOthers() {
    stage.put(cluster_key("m1"), cluster_object("m1"));
    stage.put({type::kNamespace, "", execution_space("m1")}, namespace_object(execution_space("m1")));
    stage.members().member("m1");
    stage.write({ClusterConditionChanged{cluster_key("m1"), "Ready", "True", "ClusterReady", ""}});
    stage.add(make_dispatcher_role(members));
    stage.put(map_key, map);
    const Value made = binding(map, {{"m1", 0}});
    stage.put(testing::binding_key(made), made);
    stage.run(Millis{5000});
    EXPECT_FALSE(on_member().is_null());
  }
  const Value& on_member() { return stage.members().member("m1").find(map_key); }
  bool work_is_left() { return stage.state().find(work_key("m1", map)) != nullptr; }

  Stage stage;
  AnsweredByOthers members{stage.members()};
  const Value map = config_map("default", "settings", "x");
  const ObjectKey map_key{"configmaps", "default", "settings"};
};

TEST_F(DispatcherAnsweredByOthers, A404ToADeletionDoesNotMeanThatTheObjectIsGone_E_18) {
  int refused = 0;
  members.intercept = [&](const MemberRequest& request) -> std::optional<MemberResponse> {
    if (request.method != "DELETE" || refused == 2) return std::nullopt;
    ++refused;
    return not_found_of(refused == 1 ? "settings" : "of-another-kind");
  };
  stage.write({DeletionRequested{.object = {type::kResourceBinding, "default", "settings-configmap"}}});
  stage.run(Millis{1000});
  EXPECT_EQ(refused, 2);
  EXPECT_TRUE(on_member().is_null()) << "it is deleted again until it is gone";
  EXPECT_FALSE(work_is_left());
}

TEST_F(DispatcherAnsweredByOthers, WhatIsReleasedWhileItIsReadIsNotTakenBack_E_18) {
  Value changed = config_map("default", "settings", "y");
  changed.edit("metadata").edit("annotations").set("work.karmada.io/conflict-resolution", "overwrite");
  bool read = false;
  members.intercept = [&](const MemberRequest& request) -> std::optional<MemberResponse> {
    if (request.method != "GET" || std::exchange(read, true)) return std::nullopt;
    // Another process, which has the lease now, preserves the object before this read reaches the member.
    stage.write({DeletionRequested{.object = {type::kResourceBinding, "default", "settings-configmap"}},
                 DeletionRequested{.object = work_key("m1", map)}, WorkRemoved{work_key("m1", map)}});
    stage.members().member("m1").put(map_key, map);
    return std::nullopt;
  };
  stage.put(map_key, changed);
  Value touched = binding(changed, {{"m1", 0}});
  touched.edit("spec").edit("resource").set("resourceVersion", "2");
  stage.put(testing::binding_key(touched), touched);
  stage.run(Millis{5000});
  EXPECT_TRUE(read);
  EXPECT_FALSE(work_is_left());
  EXPECT_EQ(on_member()["data"]["text"], "x") << "nothing would ever delete what is written now";
}

TEST_F(DispatcherAnsweredByOthers, A404ThatIsNotAboutTheObjectIsRetried_E_18) {
  stage.write({ClusterObserved{
      cluster_key("m1"),
      test::json(
          R"({"apiEnablements": [{"groupVersion": "v1", "resources": [{"name": "configmaps", "kind": "ConfigMap"}]}]})")}});
  MemberResponse foreign = not_found_of("another");
  members.intercept = [&](const MemberRequest&) { return std::optional{foreign}; };
  stage.write({DeletionRequested{.object = {type::kResourceBinding, "default", "settings-configmap"}}});
  stage.run(Millis{1000});
  EXPECT_TRUE(work_is_left()) << "it is about something else";
  foreign = {404, "no route to host"};
  stage.run(Millis{60'000});
  EXPECT_TRUE(work_is_left()) << "it is of a proxy";
  EXPECT_FALSE(on_member().is_null());
  foreign = not_found_of("settings");
  stage.run(Millis{60'000});
  EXPECT_FALSE(work_is_left());
}

TEST_F(Dispatcher, UnmanagedObjectSurvivesTheWork_E_18) {
  place("configmaps", map, {{"m1", 0}});
  stage.members().member("m1").put(map_key, config_map("default", "settings", "released"));
  stage.members().log.clear();
  stage.write({DeletionRequested{.object = {type::kResourceBinding, "default", "settings-configmap"}}});
  stage.run(Millis{60'000});
  EXPECT_EQ(on_member("m1", map_key)["data"]["text"], "released");
  EXPECT_EQ(stage.members().count("DELETE"), 0U);
  EXPECT_EQ(stage.state().find(work_key("m1", map)), nullptr) << "what is not managed counts as deleted";
}

TEST_F(Dispatcher, AMissingObjectCountsAsDeleted_E_18) {
  place("configmaps", map, {{"m1", 0}});
  stage.members().member("m1").erase(map_key);
  stage.write({DeletionRequested{.object = {type::kResourceBinding, "default", "settings-configmap"}}});
  stage.run(Millis{1000});
  EXPECT_EQ(stage.state().find(work_key("m1", map)), nullptr);
}

TEST_F(Dispatcher, TheWorkDoesNotWaitForAnObjectThatIsBeingDeleted_E_18) {
  place("configmaps", map, {{"m1", 0}});
  Value held = on_member("m1", map_key);
  held.edit("metadata").set("finalizers", Value::array({"example.com/of-the-member"}));
  stage.members().member("m1").put(map_key, held);
  stage.write({DeletionRequested{.object = {type::kResourceBinding, "default", "settings-configmap"}}});
  stage.run(Millis{1000});
  EXPECT_FALSE(on_member("m1", map_key)["metadata"]["deletionTimestamp"].is_null()) << "its deletion has begun";
  EXPECT_EQ(stage.state().find(work_key("m1", map)), nullptr);
}

TEST_F(Dispatcher, PreservedObjectLosesOnlyOurMarks_E_19) {  // E-20, CL-14
  stage.put(map_key, map);
  Value made = binding(map, {{"m1", 0}});
  made.edit("spec").set("preserveResourcesOnDeletion", true);
  stage.put(testing::binding_key(made), made);
  stage.run(Millis{1000});
  stage.write({DeletionRequested{.object = testing::binding_key(made)}});
  stage.run(Millis{1000});
  const Value& left = on_member("m1", map_key);
  ASSERT_FALSE(left.is_null());
  EXPECT_EQ(left["data"]["text"], "x");
  EXPECT_FALSE(left["metadata"]["labels"].contains("karmada.io/managed"));
  EXPECT_FALSE(left["metadata"]["annotations"].contains("work.karmada.io/name"));
  EXPECT_FALSE(left["metadata"]["annotations"].contains("shiplog.io/revision"));
  EXPECT_TRUE(left["metadata"]["annotations"].contains("work.karmada.io/conflict-resolution"));  // as upstream
  EXPECT_EQ(stage.state().find(work_key("m1", map)), nullptr);
}

TEST_F(Dispatcher, WhatPreservationTakesOffDependsOnTheScope_E_19) {
  const std::vector<std::string> claims = {"propagationpolicy.karmada.io", "clusterpropagationpolicy.karmada.io"};
  const auto left = [&](const char* ns) {
    Value object = Value::object({{"metadata", Value::object({{"name", "x"}})}});
    Value& metadata = object.edit("metadata");
    if (*ns != 0) metadata.set("namespace", ns);
    for (const std::string& claim : claims) {
      metadata.edit("labels").set(claim + "/permanent-id", "id");
      metadata.edit("annotations").set(claim + "/name", "p");
    }
    for (const char* key : {"resourcebinding.karmada.io/permanent-id", "work.karmada.io/permanent-id",
                            "karmada.io/managed", "clusterresourcebinding.karmada.io/permanent-id"}) {
      metadata.edit("labels").set(key, "true");
    }
    for (const char* key :
         {"resourcetemplate.karmada.io/managed-annotations", "resourcetemplate.karmada.io/managed-labels",
          "resourcebinding.karmada.io/namespace", "resourcebinding.karmada.io/name", "resourcetemplate.karmada.io/uid",
          "resourcetemplate.karmada.io/generation", "work.karmada.io/name", "work.karmada.io/namespace",
          "propagationpolicy.karmada.io/namespace", "clusterresourcebinding.karmada.io/name",
          "work.karmada.io/conflict-resolution"}) {
      metadata.edit("annotations").set(key, "x");
    }
    std::string keys;
    const Value preserved = dispatcher::preserved(std::move(object));
    for (const char* list : {"labels", "annotations"}) {
      for (const auto& member : preserved["metadata"][list].members()) keys += std::string{member.key()} + " ";
    }
    return keys;
  };
  EXPECT_EQ(left("default"),
            "clusterpropagationpolicy.karmada.io/permanent-id clusterresourcebinding.karmada.io/permanent-id "
            "clusterpropagationpolicy.karmada.io/name clusterresourcebinding.karmada.io/name "
            "work.karmada.io/conflict-resolution ")
      << "as upstream";
  EXPECT_EQ(left(""),
            "clusterresourcebinding.karmada.io/permanent-id propagationpolicy.karmada.io/permanent-id "
            "clusterresourcebinding.karmada.io/name propagationpolicy.karmada.io/name "
            "propagationpolicy.karmada.io/namespace work.karmada.io/conflict-resolution ");
}

TEST_F(Dispatcher, WorkOfALeavingUnreadyClusterIsReleasedWithoutAsking_E_17) {  // TRAP-15, CL-14
  place("configmaps", map, {{"m1", 0}});
  Value held = stage.state().value_of(cluster_key("m1"));
  held.edit("metadata").set("finalizers", Value::array({finalizer::kCluster}));
  stage.put(cluster_key("m1"), held);
  ready("m1", "False");
  stage.write({DeletionRequested{.object = work_key("m1", map)}});
  stage.run(Millis{1000});
  ASSERT_NE(stage.state().find(work_key("m1", map)), nullptr) << "not ready and staying: the Work stays";
  stage.write({DeletionRequested{.object = cluster_key("m1")}});
  stage.run(Millis{1000});
  EXPECT_EQ(stage.state().find(work_key("m1", map)), nullptr);
  EXPECT_FALSE(on_member("m1", map_key).is_null());
}

TEST_F(Dispatcher, ObjectsOfADeletedDefinitionAreDeletedWhereAMemberServesThem_E_18) {
  const Value gadget = Value::object({{"apiVersion", "example.com/v1"},
                                      {"kind", "Gadget"},
                                      {"metadata", Value::object({{"name", "g"}, {"namespace", "default"}})}});
  Value cluster = stage.state().value_of(testing::cluster_key("m1"));
  const Value resource = Value::object({{"name", "gadgets"}, {"kind", "Gadget"}});
  cluster.edit("status").set(
      "apiEnablements",
      Value::array({Value::object({{"groupVersion", "example.com/v1"}, {"resources", Value::array({resource})}})}));
  stage.put(testing::cluster_key("m1"), cluster);
  stage.put(
      work_key("m1", gadget),
      Value::object({{"apiVersion", "work.karmada.io/v1alpha1"},
                     {"kind", "Work"},
                     {"metadata", Value::object({{"name", work_key("m1", gadget).name},
                                                 {"namespace", "karmada-es-m1"},
                                                 {"generation", 1},
                                                 {"finalizers", Value::array({finalizer::kWork})}})},
                     {"spec", Value::object({{"workload", Value::object({{"manifests", Value::array({gadget})}})}})}}));
  stage.write({DeletionRequested{.object = work_key("m1", gadget)}});
  stage.run(Millis{60'000});
  EXPECT_EQ(stage.state().find(work_key("m1", gadget)), nullptr);
  EXPECT_EQ(stage.members().count("GET /apis/example.com/v1/namespaces/default/gadgets/g"), 1U) << "it was looked for";
}

TEST_F(Dispatcher, AClusterThatIsNoTargetAnyMorePreservesToo_E_20) {
  stage.put(map_key, map);
  Value made = binding(map, {{"m1", 0}, {"m2", 0}});
  made.edit("spec").set("preserveResourcesOnDeletion", true);
  stage.put(testing::binding_key(made), made);
  stage.run(Millis{1000});
  made = stage.state().value_of(testing::binding_key(made));
  made.edit("spec").set("clusters", binding(map, {{"m2", 0}})["spec"]["clusters"]);
  stage.put(testing::binding_key(made), made);
  stage.run(Millis{1000});
  EXPECT_EQ(stage.state().find(work_key("m1", map)), nullptr);
  EXPECT_EQ(on_member("m1", map_key)["data"]["text"], "x");
  EXPECT_EQ(label_of(on_member("m1", map_key), label::kManaged), "");
  EXPECT_EQ(label_of(on_member("m2", map_key), label::kManaged), "true");
}

}  // namespace
}  // namespace shiplog
