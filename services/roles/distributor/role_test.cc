#include "services/roles/distributor/role.h"

#include <gtest/gtest.h>

#include "events/state/binding.h"
#include "events/state/claim.h"
#include "events/state/policy_author.h"
#include "events/state/rbac.h"
#include "events/state/work.h"
#include "services/roles/distributor/attached.h"
#include "tests/support/literals.h"
#include "tests/support/stage.h"

namespace shiplog {
namespace {

using namespace testing;
using test::json;

/// The distributor alone: what binder and scheduler would write is written by the test.
class Distributor : public ::testing::Test {
 protected:
  Distributor() {
    stage.put({type::kNamespace, "", "default"}, namespace_object("default"));
    stage.add(make_distributor_role());
  }

  void run() { stage.run(Millis{5000}); }

  static Value workload(const std::string& name, const std::vector<std::string>& config_maps) {
    Value object = deployment("default", name, 2);
    Value& pod = object.edit("spec").edit("template").edit("spec");
    for (const std::string& one : config_maps) {
      pod.edit("volumes").push_back(Value::object({{"name", one}, {"configMap", Value::object({{"name", one}})}}));
    }
    return object;
  }
  ObjectKey place(const Value& object, const std::vector<Target>& targets, const Value& more = Value::object()) {
    stage.put({"deployments.apps", "default", object["metadata"]["name"].str()}, object);
    Value made = binding(object, targets);
    made.edit("spec").set("propagateDeps", true);
    for (const auto& member : more.members()) made.edit("spec").set(member.key(), member.value);
    const ObjectKey key = testing::binding_key(made);
    if (const Object* before = stage.state().find(key)) {
      Value after = before->value;
      after.set("spec", made["spec"]);
      made = after;
    }
    stage.put(key, made);
    run();
    return key;
  }
  void config(const std::string& name, const std::string& text = "x") {
    stage.put({"configmaps", "default", name}, config_map("default", name, text));
    run();
  }
  void remove(const ObjectKey& key) {
    stage.write({DeletionRequested{.object = key}});
    run();
  }
  static ObjectKey attached_key(const std::string& name) {
    return {type::kResourceBinding, "default", name + "-configmap"};
  }
  const Value& attached(const std::string& name) { return stage.state().value_of(attached_key(name)); }
  /// "web-deployment:m1,m2 ..." of spec.requiredBy.
  std::string followed(const std::string& name) {
    std::string text;
    for (const Value& one : attached(name)["spec"]["requiredBy"].items()) {
      text += (text.empty() ? "" : " ") + one["name"].str() + ":";
      std::string clusters;
      for (const Value& cluster : one["clusters"].items())
        clusters += (clusters.empty() ? "" : ",") + cluster["name"].str();
      text += clusters;
    }
    return text;
  }
  const Value& value(const ObjectKey& key) { return stage.state().value_of(key); }

  Stage stage;
};

TEST_F(Distributor, RecordsWhatTheTemplateRefersTo_B_29) {
  config("settings");
  const ObjectKey web = place(workload("web", {"settings", "later"}), {{"m1", 2}});
  EXPECT_EQ(json(annotation_of(value(web), "resourcebinding.karmada.io/dependencies")),
            json(R"([{"apiVersion": "v1", "kind": "ConfigMap", "namespace": "default", "name": "later"},
                     {"apiVersion": "v1", "kind": "ConfigMap", "namespace": "default", "name": "settings"}])"));
  EXPECT_TRUE(has_finalizer(value(web), "karmada.io/binding-dependencies-distributor"));
  const int64_t generation = value(web)["metadata"]["generation"].as_int();
  EXPECT_EQ(generation, 1) << "nobody else is to look at it again";
}

TEST_F(Distributor, WhatIsInAnotherNamespaceIsNotFollowed) {
  stage.put({type::kNamespace, "", "victim"}, namespace_object("victim"));
  stage.put({"configmaps", "victim", "settings"}, config_map("victim", "settings", "theirs"));
  const ObjectKey web = place(workload("web", {}), {{"m1", 2}});
  Value changed = value(web);
  changed.edit("metadata")
      .edit("annotations")
      .set(kDependenciesAnnotation,
           R"([{"apiVersion":"v1","kind":"ConfigMap","namespace":"victim","name":"settings"}])");
  stage.put(web, changed);
  run();
  EXPECT_TRUE(attached("settings").is_null());
  EXPECT_TRUE(value({type::kResourceBinding, "victim", "settings-configmap"}).is_null());
}

TEST_F(Distributor, NothingBeforeItIsPlacedOrWithoutTheFlag_B_28) {
  config("settings");
  const ObjectKey web = place(workload("web", {"settings"}), {});
  EXPECT_FALSE(has_finalizer(value(web), kDistributorFinalizer));
  place(workload("web", {"settings"}), {{"m1", 2}}, Value::object({{"propagateDeps", false}}));
  EXPECT_TRUE(attached("settings").is_null());
  place(workload("web", {"settings"}), {{"m1", 2}});
  EXPECT_EQ(followed("settings"), "web-deployment:m1");
}

TEST_F(Distributor, AttachesABindingToEachDependency_B_32) {  // B-33, N-6
  config("settings");
  const ObjectKey web = place(workload("web", {"settings"}), {{"m1", 1}, {"m2", 1}});
  const Value& made = attached("settings");
  EXPECT_EQ(made["spec"]["requiredBy"], json(R"([{"namespace": "default", "name": "web-deployment",
      "clusters": [{"name": "m1", "replicas": 1}, {"name": "m2", "replicas": 1}]}])"));
  EXPECT_EQ(made["spec"]["resource"]["kind"], Value{"ConfigMap"});
  EXPECT_EQ(made["spec"]["resource"]["name"], Value{"settings"});
  EXPECT_EQ(made["spec"]["conflictResolution"], Value{"Abort"});
  EXPECT_EQ(made["spec"]["preserveResourcesOnDeletion"], Value{false});
  EXPECT_TRUE(made["spec"]["placement"].is_null());
  EXPECT_EQ(label_of(made, "resourcebinding.karmada.io/depended-by-" + safe_hash("default/web-deployment")),
            label_of(value(web), label::kBindingId));
  EXPECT_EQ(label_of(made, label::kBindingId).size(), 36U);
  EXPECT_TRUE(has_finalizer(made, "karmada.io/binding-controller"));
  EXPECT_EQ(made["metadata"]["ownerReferences"][0]["kind"], Value{"ConfigMap"});
  EXPECT_TRUE(made["metadata"]["ownerReferences"][0]["controller"].as_bool());
}

// Decision 0028.
TEST_F(Distributor, FollowsOnlyWhatTheAuthorOfThePolicyMayGet) {
  stage.write({OptionsSet{{{"enable-policy-author-check", {"true"}}}}});
  Value policy = json(R"({"metadata":{"name":"p","namespace":"default"}})");
  policy.edit("metadata").edit("annotations").set(kPolicyAuthorAnnotation, author_text({"mallory", {}, "", {}}));
  stage.put({type::kPropagationPolicy, "default", "p"}, policy);
  config("settings");
  const ObjectKey web = place(workload("web", {"settings"}), {{"m1", 2}});
  EXPECT_TRUE(attached("settings").is_null()) << "no policy, and so no author";
  Value claimed = value(web);
  claimed.edit("metadata").edit("labels").set(label::kPolicyId, "id");
  claimed.edit("metadata").edit("annotations").set(shiplog::annotation::kPolicyNamespace, "default");
  claimed.edit("metadata").edit("annotations").set(shiplog::annotation::kPolicyName, "p");
  stage.put(web, claimed);
  run();
  EXPECT_TRUE(attached("settings").is_null()) << "mallory may not get it";

  const ObjectKey role{rbac::kRole, "default", "reader"};
  stage.put(role, json(R"({"metadata":{"name":"reader","namespace":"default"},
      "rules":[{"apiGroups":[""],"resources":["configmaps"],"verbs":["get"]}]})"));
  stage.put({rbac::kRoleBinding, "default", "reader"}, json(R"({"metadata":{"name":"reader","namespace":"default"},
      "roleRef":{"kind":"Role","name":"reader"},"subjects":[{"kind":"User","name":"mallory"}]})"));
  run();
  EXPECT_EQ(followed("settings"), "web-deployment:m1");
  remove(role);
  EXPECT_EQ(followed("settings"), "web-deployment:m1") << "what is in members is not taken away";
}

TEST_F(Distributor, FollowsToOtherClusters_B_32) {
  config("settings");
  place(workload("web", {"settings"}), {{"m1", 2}});
  place(workload("web", {"settings"}), {{"m2", 1}, {"m3", 1}});
  EXPECT_EQ(followed("settings"), "web-deployment:m2,m3");
}

TEST_F(Distributor, PicksUpWhatAppearsLater_B_32) {  // B-28
  place(workload("web", {"settings"}), {{"m1", 2}});
  EXPECT_TRUE(attached("settings").is_null());
  config("settings");
  EXPECT_EQ(followed("settings"), "web-deployment:m1");
}

TEST_F(Distributor, AChangedDependencyMakesANewGeneration_D_22) {
  config("settings");
  place(workload("web", {"settings"}), {{"m1", 2}});
  const int64_t generation = attached("settings")["metadata"]["generation"].as_int();
  config("settings", "new text");
  EXPECT_EQ(attached("settings")["metadata"]["generation"].as_int(), generation + 1);
  Value touched = value({"configmaps", "default", "settings"});
  touched.set("status", Value::object({{"phase", "Bound"}}));
  stage.put({"configmaps", "default", "settings"}, touched);
  run();
  EXPECT_EQ(attached("settings")["metadata"]["generation"].as_int(), generation + 1) << "the status says nothing";
}

TEST_F(Distributor, ADependencyIsShared_B_32) {
  config("settings");
  place(workload("web", {"settings"}), {{"m1", 2}});
  const ObjectKey api = place(workload("api", {"settings"}), {{"m2", 2}});
  EXPECT_EQ(followed("settings"), "web-deployment:m1 api-deployment:m2");
  remove(api);
  EXPECT_EQ(followed("settings"), "web-deployment:m1");
  EXPECT_TRUE(label_of(attached("settings"), distributor::depended_by_label(api)).empty());
}

TEST_F(Distributor, ManyReferrersAtOnceTakeFewSteps) {
  config("settings");
  for (int i = 0; i < 50; ++i) {
    const Value object = workload("web" + std::to_string(i), {"settings"});
    stage.put({"deployments.apps", "default", object["metadata"]["name"].str()}, object);
    Value made = binding(object, {{"m1", 1}});
    made.edit("spec").set("propagateDeps", true);
    stage.put(testing::binding_key(made), made);
  }
  run();
  EXPECT_EQ(attached("settings")["spec"]["requiredBy"].size(), 50U);
  EXPECT_LE(stage.count<AttachedBindingPut>(), 5U) << "all that wait are taken at once";
  for (const auto& one : stage.history()) EXPECT_FALSE(one.folded.refusal) << one.folded.refusal->reason;
}

TEST_F(Distributor, ReleasesWhatIsNoLongerReferredTo_B_35) {
  config("settings");
  config("other");
  place(workload("web", {"settings", "other"}), {{"m1", 2}});
  EXPECT_EQ(followed("other"), "web-deployment:m1");
  place(workload("web", {"settings"}), {{"m1", 2}}, Value::object({{"replicas", 3}}));
  EXPECT_EQ(followed("settings"), "web-deployment:m1");
  EXPECT_EQ(followed("other"), "");
  const Value& stays = attached("other");
  EXPECT_FALSE(stays.is_null()) << "until the dependency goes";
  EXPECT_TRUE(stays["spec"]["requiredBy"].is_null());
  EXPECT_TRUE(stays["spec"]["conflictResolution"].is_null());
  EXPECT_TRUE(stays["spec"]["preserveResourcesOnDeletion"].is_null());
}

TEST_F(Distributor, ReleasesWhenTheFlagIsTurnedOff_B_35) {
  config("settings");
  const ObjectKey web = place(workload("web", {"settings"}), {{"m1", 2}});
  place(workload("web", {"settings"}), {{"m1", 2}}, Value::object({{"propagateDeps", false}}));
  EXPECT_EQ(followed("settings"), "");
  EXPECT_FALSE(has_finalizer(value(web), kDistributorFinalizer));
}

TEST_F(Distributor, AReferrerThatGoesReleasesFirst_B_35) {
  config("settings");
  const ObjectKey web = place(workload("web", {"settings"}), {{"m1", 2}});
  remove(web);
  EXPECT_EQ(followed("settings"), "");
  ASSERT_FALSE(value(web).is_null()) << "the dispatcher's finalizer is still there";
  EXPECT_FALSE(has_finalizer(value(web), kDistributorFinalizer));
}

TEST_F(Distributor, ReportsReferrersThatDisagree_B_34) {
  config("settings");
  place(workload("web", {"settings"}), {{"m1", 2}},
        Value::object({{"conflictResolution", "Overwrite"}, {"preserveResourcesOnDeletion", true}}));
  EXPECT_EQ(attached("settings")["spec"]["conflictResolution"], Value{"Overwrite"});
  const ObjectKey api =
      place(workload("api", {"settings"}), {{"m2", 2}}, Value::object({{"conflictResolution", "Abort"}}));
  EXPECT_EQ(attached("settings")["spec"]["conflictResolution"], Value{"Overwrite"}) << "if any says so";
  EXPECT_EQ(attached("settings")["spec"]["preserveResourcesOnDeletion"], Value{true});
  Fact said;
  for (const auto& one : stage.history()) {
    for (const Event& event : one.entry.events) {
      if (const auto* put = std::get_if<AttachedBindingPut>(&event)) said = put->why.steps.back();
    }
  }
  EXPECT_EQ(said, (Fact{DependencyPolicyConflict{true, true}}));
  remove({type::kResourceBinding, "default", "web-deployment"});
  EXPECT_EQ(attached("settings")["spec"]["conflictResolution"], Value{"Abort"}) << "told anew from the rest";
  EXPECT_EQ(attached("settings")["spec"]["preserveResourcesOnDeletion"], Value{false});
}

TEST(DistributorConflicts, AreReportedWithEachCycleThoughNothingIsChanged_B_34) {
  std::vector<std::string> reported;
  Stage stage;
  stage.add(make_distributor_role(
      nullptr, [&](const State&, const ObjectKey& attached, const DependencyPolicyConflict& conflict, UtcMillis) {
        reported.push_back(attached.name + (conflict.conflict_resolution ? " resolution" : ""));
      }));
  const ObjectKey map{"configmaps", "default", "settings"};
  stage.put({type::kNamespace, "", "default"}, namespace_object("default"));
  stage.put(map, config_map("default", "settings", "x"));
  const auto place = [&](const char* name, const char* resolution) {
    Value object = deployment("default", name, 2);
    object.edit("spec")
        .edit("template")
        .edit("spec")
        .edit("volumes")
        .push_back(Value::object({{"name", "v"}, {"configMap", Value::object({{"name", "settings"}})}}));
    stage.put({"deployments.apps", "default", name}, object);
    Value made = binding(object, {{"m1", 2}});
    made.edit("spec").set("propagateDeps", true);
    made.edit("spec").set("conflictResolution", resolution);
    stage.put(testing::binding_key(made), made);
    stage.run(Millis{5000});
    return testing::binding_key(made);
  };
  const ObjectKey web = place("web", "Overwrite");
  const ObjectKey other = place("other", "Abort");
  EXPECT_EQ(reported, std::vector<std::string>{}) << "the entry that attaches the second one reports it";
  const size_t entries = stage.history().size();

  const auto touch = [&] {
    Value changed = stage.state().value_of(web);
    changed.edit("metadata").edit("annotations").set("touched", std::to_string(stage.history().size()));
    stage.write({ObjectUpdated{web, std::move(changed)}});
    stage.run(Millis{5000});
  };
  touch();
  EXPECT_EQ(reported, std::vector<std::string>{"settings-configmap resolution"});
  EXPECT_EQ(stage.history().size(), entries + 1) << "only the change itself";
  touch();
  EXPECT_EQ(reported.size(), 2U);

  stage.write({DeletionRequested{.object = other}});
  stage.run(Millis{5000});
  touch();
  EXPECT_EQ(reported.size(), 2U) << "they agree";
}

TEST_F(Distributor, SharesTheBindingWithAPolicy_B_33_B_34) {
  config("settings");
  const Value object = value({"configmaps", "default", "settings"});
  Value own = binding(object, {{"m3", 0}});
  own.edit("spec").set("placement", Value::object());
  own.edit("spec").set("conflictResolution", "Abort");
  own.edit("spec").edit("resource").set("uid", object["metadata"]["uid"]);
  stage.put(attached_key("settings"), own);
  place(workload("web", {"settings"}), {{"m1", 2}}, Value::object({{"conflictResolution", "Overwrite"}}));
  EXPECT_EQ(followed("settings"), "web-deployment:m1");
  EXPECT_EQ(attached("settings")["spec"]["conflictResolution"], Value{"Abort"}) << "the policy says it";
  EXPECT_EQ(attached("settings")["spec"]["clusters"][0]["name"], Value{"m3"});
  EXPECT_EQ(label_of(attached("settings"), label::kBindingId), "id-defaultsettings");
  remove({type::kResourceBinding, "default", "web-deployment"});
  EXPECT_EQ(followed("settings"), "");
  EXPECT_EQ(attached("settings")["spec"]["conflictResolution"], Value{"Abort"});
}

TEST_F(Distributor, ADependencyMadeAnewIsAttachedAnew_B_32) {
  config("settings");
  const ObjectKey web = place(workload("web", {"settings"}), {{"m1", 2}});
  remove({"configmaps", "default", "settings"});
  remove(attached_key("settings"));  // as garbage collection does; held by the dispatcher's finalizer
  config("settings", "again");
  EXPECT_TRUE(deleting(attached("settings")));
  Value freed = attached("settings");
  freed.edit("metadata").erase("finalizers");
  stage.put(attached_key("settings"), freed);
  run();
  EXPECT_EQ(followed("settings"), "web-deployment:m1");
  EXPECT_FALSE(deleting(attached("settings")));
  EXPECT_EQ(attached("settings")["spec"]["resource"]["uid"],
            value({"configmaps", "default", "settings"})["metadata"]["uid"]);
}

TEST_F(Distributor, ADependencyMadeAnewTakesTheBindingOfOneThatWasDeletedWithoutItsDependents_B_32) {
  config("settings");
  place(workload("web", {"settings"}), {{"m1", 2}});
  remove({"configmaps", "default", "settings"});
  config("settings", "again");
  const Value& uid = value({"configmaps", "default", "settings"})["metadata"]["uid"];
  EXPECT_NE(attached("settings")["spec"]["resource"]["uid"], uid) << "its owner is gone: garbage collection removes it";

  Value orphaned = attached("settings");
  orphaned.edit("metadata").erase("ownerReferences");
  stage.put(attached_key("settings"), orphaned);
  config("settings", "changed");
  EXPECT_EQ(attached("settings")["spec"]["resource"]["uid"], uid);
  EXPECT_EQ(attached("settings")["metadata"]["ownerReferences"][0]["uid"], uid);
  EXPECT_EQ(followed("settings"), "web-deployment:m1");
}

TEST_F(Distributor, FollowsWhatLabelsSelect_B_30) {
  const Value service_import = json(R"({"apiVersion": "multicluster.x-k8s.io/v1alpha1", "kind": "ServiceImport",
      "metadata": {"name": "shop", "namespace": "default"}, "spec": {"type": "ClusterSetIP"}})");
  stage.put({"serviceimports.multicluster.x-k8s.io", "default", "shop"}, service_import);
  const auto slice = [&](const std::string& name, const std::string& service) {
    stage.put({"endpointslices.discovery.k8s.io", "default", name},
              Value::object({{"apiVersion", "discovery.k8s.io/v1"},
                             {"kind", "EndpointSlice"},
                             {"metadata",
                              Value::object({{"name", name},
                                             {"namespace", "default"},
                                             {"labels", Value::object({{"kubernetes.io/service-name", service}})}})}}));
    run();
  };
  slice("before", "derived-shop");
  slice("foreign", "derived-other");
  Value made = binding(service_import, {{"m1", 0}});
  made.edit("spec").set("propagateDeps", true);
  stage.put(testing::binding_key(made), made);
  run();
  slice("after", "derived-shop");
  const auto followed_slice = [&](const std::string& name) {
    return value({type::kResourceBinding, "default", name + "-endpointslice"})["spec"]["requiredBy"].size();
  };
  EXPECT_EQ(followed_slice("before"), 1U);
  EXPECT_EQ(followed_slice("after"), 1U) << "picked up when it appears";
  EXPECT_EQ(followed_slice("foreign"), 0U);
  slice("before", "derived-other");
  EXPECT_EQ(followed_slice("before"), 0U) << "no longer selected";
  remove(testing::binding_key(made));
  EXPECT_EQ(followed_slice("after"), 0U);
}

TEST_F(Distributor, AnotherReplicaGoesOnWhereOneStopped) {
  stage.stop("distributor");
  config("settings");
  const ObjectKey web = place(workload("web", {"settings"}), {{"m1", 2}});
  EXPECT_TRUE(attached("settings").is_null());
  stage.add(make_distributor_role());
  run();
  EXPECT_EQ(followed("settings"), "web-deployment:m1");
  stage.stop("distributor");
  remove(web);
  stage.add(make_distributor_role());
  run();
  EXPECT_EQ(followed("settings"), "");
  EXPECT_FALSE(has_finalizer(value(web), kDistributorFinalizer));
}

}  // namespace
}  // namespace shiplog
