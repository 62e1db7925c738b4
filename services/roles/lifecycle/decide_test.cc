#include "services/roles/lifecycle/decide.h"

#include <gtest/gtest.h>

#include "events/base/json.h"
#include "events/codec/codec.h"
#include "events/journal/journal.h"
#include "events/state/condition.h"
#include "events/state/pod_template.h"
#include "events/state/protection.h"
#include "events/state/work.h"
#include "services/interpreter/customizations.h"
#include "services/interpreter/quarantine.h"
#include "services/roles/lifecycle/role.h"
#include "tests/support/decided.h"
#include "tests/support/stage.h"

namespace shiplog {
namespace {

using testing::cluster_key;
using testing::cluster_object;
using testing::config_map;
using testing::deployment;
using testing::namespace_object;
using testing::Stage;

class Lifecycle : public ::testing::Test {
 protected:
  Lifecycle() { stage.add(make_lifecycle_role()); }

  ObjectKey space(const std::string& cluster) { return {type::kNamespace, "", execution_space(cluster)}; }
  bool exists(const ObjectKey& key) { return stage.state().find(key) != nullptr; }
  void remove(const ObjectKey& key, const std::string& propagation = "Background") {
    ASSERT_FALSE(stage.write({DeletionRequested{.object = key, .propagation = propagation}}).refusal);
    stage.run(Millis{1000});
  }
  Value owned(Value object, const ObjectKey& by, const char* kind, bool block) {
    object.edit("metadata")
        .edit("ownerReferences")
        .push_back(Value::object({{"apiVersion", "v1"},
                                  {"kind", kind},
                                  {"name", by.name},
                                  {"uid", uid_of(stage.state().value_of(by))},
                                  {"blockOwnerDeletion", block}}));
    return object;
  }

  const Value& pod_template_of(const ObjectKey& workload) {
    return stage.state().value_of(workload)["spec"]["template"];
  }

  Stage stage;
  const ObjectKey owner{"configmaps", "default", "owner"};
  const ObjectKey first{"configmaps", "default", "first"};
  const ObjectKey second{"configmaps", "default", "second"};
};

TEST_F(Lifecycle, MakesExecutionSpaceAndThenHoldsTheCluster_CL_12) {
  stage.put(cluster_key("m1"), cluster_object("m1"));
  stage.run(Millis{100});
  EXPECT_EQ(label_of(stage.state().value_of(space("m1")), "karmada.io/system"), "true");
  EXPECT_TRUE(has_finalizer(stage.state().value_of(cluster_key("m1")), "karmada.io/cluster-controller"));
}

TEST_F(Lifecycle, EndsTheQuarantineOfACustomizationWhoseSpecHasChanged) {
  const ObjectKey key{interpreter::kCustomizationType, "", "c"};
  const Value spec = Value::object({{"target", Value::object({{"apiVersion", "apps/v1"}, {"kind", "Deployment"}})}});
  stage.put(key, Value::object({{"metadata", Value::object({{"name", "c"}, {"generation", 1}})}, {"spec", spec}}));
  const interpreter::Overrun overrun{"InterpretReplica", "shop", "StepLimitExceeded", "stopped"};
  stage.write({StatusUpdated{key, interpreter::with_quarantine(stage.state().value_of(key), overrun, UtcMillis{1})}});
  stage.run(Millis{1000});
  EXPECT_TRUE(interpreter::quarantined(stage.state().value_of(key), "InterpretReplica", "shop"))
      << "it lasts as long as the spec";
  Value changed = stage.state().value_of(key);
  changed.edit("spec").edit("target").set("kind", "StatefulSet");
  changed.edit("metadata").set("generation", 2);
  stage.write({ObjectUpdated{key, std::move(changed)}});
  stage.run(Millis{1000});
  const Value& after = stage.state().value_of(key);
  EXPECT_EQ(after["status"]["quarantine"].size(), 0U) << to_json(after);
  EXPECT_EQ(condition_of(after, interpreter::kQuarantined)["status"].str(), "False");
}

TEST_F(Lifecycle, EndsPodsOfNodesThatAreNotThere) {  // DEL-9
  stage.write({FoldVersionActivated{kFoldVersion}});
  const ObjectKey node{"nodes", "", "n1"};
  stage.put(node, Value::object({{"metadata", Value::object({{"name", "n1"}})}}));
  const auto pod = [&](const char* name, const char* of_node) {
    const ObjectKey key{"pods", "default", name};
    stage.put(key, Value::object({{"metadata", Value::object({{"name", name}, {"namespace", "default"}})},
                                  {"spec", Value::object({{"nodeName", of_node}})}}));
    EXPECT_FALSE(stage.write({DeletionRequested{.object = key, .grace_seconds = 30}}).refusal);
    EXPECT_TRUE(exists(key));
    stage.run(Millis{1000});
    return key;
  };
  const ObjectKey runs = pod("runs", "n1");
  EXPECT_TRUE(exists(runs)) << "its node ends it";
  EXPECT_FALSE(exists(pod("lost", "n2")));
  remove(node);
  EXPECT_FALSE(exists(runs));
}

TEST_F(Lifecycle, NamespaceThatGoesDoesNotWaitForAPodsGrace) {  // DEL-9
  stage.write({FoldVersionActivated{kFoldVersion}});
  stage.put({"nodes", "", "n1"}, Value::object({{"metadata", Value::object({{"name", "n1"}})}}));
  const ObjectKey ns{type::kNamespace, "", "gone"};
  stage.put(ns, namespace_object("gone"));
  const ObjectKey pod{"pods", "gone", "a"};
  stage.put(pod, Value::object({{"metadata", Value::object({{"name", "a"}, {"namespace", "gone"}})},
                                {"spec", Value::object({{"nodeName", "n1"}})}}));
  stage.write({DeletionRequested{.object = pod, .grace_seconds = 30}});
  stage.run(Millis{1000});
  EXPECT_TRUE(exists(pod));
  remove(ns);
  stage.run(Millis{6000});
  EXPECT_FALSE(exists(pod));
  EXPECT_FALSE(exists(ns));
}

TEST_F(Lifecycle, ClusterLeavesOnlyAfterItsWorksAndTheBindingsThatNameIt_CL_13) {
  stage.put(cluster_key("m1"), cluster_object("m1"));
  stage.run(Millis{100});
  const Value binding = testing::binding(deployment("default", "web", 2), {{"m1", 2}});
  stage.put(testing::binding_key(binding), binding);
  const ObjectKey work{type::kWork, execution_space("m1"), "web"};
  stage.put(work, Value::object({{"metadata", Value::object({{"name", "web"},
                                                             {"namespace", work.ns},
                                                             {"finalizers", Value::array({finalizer::kWork})}})}}));
  remove(cluster_key("m1"));
  EXPECT_TRUE(deleting(stage.state().value_of(work)));
  EXPECT_TRUE(exists(space("m1"))) << "its content is still there";

  stage.write({WorkRemoved{work}});
  stage.run(Millis{1000});
  EXPECT_FALSE(exists(space("m1")));
  EXPECT_TRUE(exists(cluster_key("m1"))) << "a binding still names it";

  stage.put(testing::binding_key(binding), testing::binding(deployment("default", "web", 2), {}));
  stage.run(Millis{1000});
  EXPECT_FALSE(exists(cluster_key("m1")));
  EXPECT_EQ(stage.count<ClusterLeft>(), 1U);
}

TEST_F(Lifecycle, ClusterWithAForeignFinalizerLosesOnlyOurs) {
  Value cluster = cluster_object("m1");
  cluster.edit("metadata").set("finalizers", Value::array({"example.com/mine"}));
  stage.put(cluster_key("m1"), cluster);
  stage.run(Millis{100});
  remove(cluster_key("m1"));
  ASSERT_TRUE(exists(cluster_key("m1")));
  EXPECT_EQ(stage.state().value_of(cluster_key("m1"))["metadata"]["finalizers"], Value::array({"example.com/mine"}));
}

TEST_F(Lifecycle, TerminatingNamespaceIsEmptiedThenFinalized_NSP_5) {
  const ObjectKey ns{type::kNamespace, "", "shop"};
  stage.put(ns, namespace_object("shop"));
  for (int i = 0; i < 450; ++i) {  // more than one decision takes
    const std::string name = "item-" + std::to_string(i);
    stage.put({"configmaps", "shop", name}, config_map("shop", name, "x"));
  }
  Value held = config_map("shop", "held", "x");
  held.edit("metadata").set("finalizers", Value::array({"example.com/mine"}));
  stage.put({"configmaps", "shop", "held"}, held);
  remove(ns);
  EXPECT_EQ(std::ranges::distance(stage.state().objects("configmaps", "shop")), 1);
  ASSERT_TRUE(exists(ns));
  const Value& conditions = stage.state().value_of(ns)["status"]["conditions"];
  ASSERT_EQ(conditions.size(), 5U);
  EXPECT_EQ(conditions[3]["type"], "NamespaceContentRemaining");
  EXPECT_EQ(conditions[3]["status"], "True");
  EXPECT_EQ(conditions[3]["message"], "Some resources are remaining: configmaps has 1 resource instances");
  EXPECT_EQ(conditions[4]["message"],
            "Some content in the namespace has finalizers remaining: example.com/mine in 1 resource instances");

  stage.put({"configmaps", "shop", "held"}, config_map("shop", "held", "x"));
  stage.run(Millis{1000});
  EXPECT_FALSE(exists(ns));
}

TEST_F(Lifecycle, WhatRemainsOfTheCoreGroupIsNamedWithADot_NSP_5) {
  stage.write({FoldVersionActivated{kFoldVersion}});
  const ObjectKey ns{type::kNamespace, "", "shop"};
  stage.put(ns, namespace_object("shop"));
  Value held = config_map("shop", "held", "x");
  held.edit("metadata").set("finalizers", Value::array({"example.com/mine"}));
  stage.put({"configmaps", "shop", "held"}, held);
  Value web = deployment("shop", "web", 1);
  web.edit("metadata").set("finalizers", Value::array({"example.com/mine"}));
  stage.put({"deployments.apps", "shop", "web"}, web);
  stage.write({DeletionRequested{.object = ns}});
  stage.run(Millis{10'000});
  EXPECT_EQ(condition_of(stage.state().value_of(ns), "NamespaceContentRemaining")["message"],
            "Some resources are remaining: configmaps. has 1 resource instances, deployments.apps has 1 resource "
            "instances");
}

TEST_F(Lifecycle, ATerminatingNamespaceKeepsItsContentFor5Seconds_NSP_5) {
  stage.write({FoldVersionActivated{kFoldVersion}});
  const ObjectKey ns{type::kNamespace, "", "shop"};
  const ObjectKey map{"configmaps", "shop", "a"};
  stage.put(ns, namespace_object("shop"));
  stage.put(map, config_map("shop", "a", "x"));
  stage.write({DeletionRequested{.object = ns}});
  stage.run(Millis{4990});
  EXPECT_FALSE(deleting(stage.state().value_of(map)));
  Value changed = stage.state().value_of(map);
  changed.edit("data").set("text", "y");
  EXPECT_FALSE(stage.write({ObjectUpdated{map, changed}}).refusal) << "clients still update it";
  EXPECT_EQ(stage.state().value_of(ns)["status"]["phase"].str(), "Terminating");
  stage.run(Millis{1100});  // the timestamp of the deletion has whole seconds
  EXPECT_FALSE(exists(map));
  EXPECT_FALSE(exists(ns));
}

// It would wait for as long as the clocks differ.
TEST_F(Lifecycle, ANamespaceWhoseDeletionIsOfAClockThatIsAheadIsEmptiedAtOnce_NSP_5) {
  stage.write({FoldVersionActivated{kFoldVersion}});
  const ObjectKey ns{type::kNamespace, "", "shop"};
  stage.put(ns, namespace_object("shop"));
  stage.put({"configmaps", "shop", "a"}, config_map("shop", "a", "x"));
  stage.write({DeletionRequested{.object = ns}});
  const auto decided = lifecycle::decide(stage.state(), ns, UtcMillis{stage.state().time().value - 3'600'000});
  ASSERT_TRUE(decided.has_value());
  EXPECT_TRUE(std::holds_alternative<Decision>(decided.value()));
}

TEST_F(Lifecycle, AnEmptyNamespaceStaysAsLong_NSP_5) {
  stage.write({FoldVersionActivated{kFoldVersion}});
  const ObjectKey ns{type::kNamespace, "", "shop"};
  stage.put(ns, namespace_object("shop"));
  stage.write({DeletionRequested{.object = ns}});
  stage.run(Millis{4990});
  EXPECT_TRUE(exists(ns));
  stage.run(Millis{1100});
  EXPECT_FALSE(exists(ns));
}

TEST_F(Lifecycle, TheExecutionSpaceOfALeavingClusterIsNotWaitedFor_CL_13) {
  stage.write({FoldVersionActivated{kFoldVersion}});
  stage.put(cluster_key("m1"), cluster_object("m1"));
  stage.run(Millis{100});
  remove(cluster_key("m1"));
  EXPECT_FALSE(exists(space("m1")));
  EXPECT_FALSE(exists(cluster_key("m1")));
}

TEST(UnprotectedLifecycle, TheLabelHoldsNothingWhereNoWebhookReadsIt_D_41) {
  Stage stage;
  stage.add(make_lifecycle_role(false));
  const ObjectKey ns{type::kNamespace, "", "shop"};
  const ObjectKey map{"configmaps", "shop", "a"};
  const ObjectKey dependent{"configmaps", "default", "b"};
  const ObjectKey owner{"configmaps", "default", "owner"};
  const auto held = [](Value object) {
    object.edit("metadata").edit("labels").set(label::kDeletionProtected, "Always");
    return object;
  };
  stage.put(ns, namespace_object("shop"));
  stage.put(map, held(config_map("shop", "a", "x")));
  stage.put(owner, config_map("default", "owner", "x"));
  Value owned = held(config_map("default", "b", "x"));
  owned.edit("metadata")
      .edit("ownerReferences")
      .push_back(Value::object({{"apiVersion", "v1"},
                                {"kind", "ConfigMap"},
                                {"name", "owner"},
                                {"uid", uid_of(stage.state().value_of(owner))}}));
  stage.put(dependent, owned);
  stage.write({DeletionRequested{.object = ns}});
  stage.write({DeletionRequested{.object = owner}});
  stage.run(Millis{1000});
  EXPECT_EQ(stage.state().find(map), nullptr);
  EXPECT_EQ(stage.state().find(ns), nullptr);
  EXPECT_EQ(stage.state().find(dependent), nullptr);
}

TEST_F(Lifecycle, WhatIsProtectedStaysInANamespaceThatGoesAndItsBindingToo_D_41) {
  const ObjectKey ns{type::kNamespace, "", "shop"};
  const ObjectKey web{"deployments.apps", "shop", "web"};
  const ObjectKey bound{type::kResourceBinding, "shop", "web-deployment"};
  const auto labelled = [](const char* value) {
    Value object = deployment("shop", "web", 1);
    object.edit("metadata").set("labels", Value::object({{"resourcetemplate.karmada.io/deletion-protected", value}}));
    return object;
  };
  stage.put(ns, namespace_object("shop"));
  stage.put(web, labelled("Always"));
  Value binding = testing::binding(deployment("shop", "web", 1), {{"m1", 1}});
  binding.edit("metadata").erase("ownerReferences");
  stage.put(bound, binding);
  stage.put({"configmaps", "shop", "other"}, config_map("shop", "other", "x"));
  remove(ns);
  EXPECT_FALSE(exists({"configmaps", "shop", "other"}));
  EXPECT_TRUE(exists(web));
  EXPECT_FALSE(deleting(stage.state().value_of(bound))) << "what members run stays";
  const Value& failure = stage.state().value_of(ns)["status"]["conditions"][2];
  EXPECT_EQ(failure["status"], "True");
  EXPECT_EQ(failure["message"].str().find("Failed to delete deployments.apps web: admission webhook"), 0U);

  stage.put(web, labelled("Never"));
  stage.run(Millis{1000});
  EXPECT_FALSE(exists(web));
  EXPECT_TRUE(!exists(bound) || deleting(stage.state().value_of(bound)));
}

TEST_F(Lifecycle, ADependentThatIsProtectedOutlivesItsOwner_D_41) {
  stage.put(owner, config_map("default", "owner", "x"));
  Value held = owned(config_map("default", "first", "x"), owner, "ConfigMap", true);
  const Value free = held;
  held.edit("metadata").set("labels", Value::object({{"resourcetemplate.karmada.io/deletion-protected", "Always"}}));
  stage.put(first, held);
  remove(owner);
  EXPECT_FALSE(exists(owner));
  EXPECT_TRUE(exists(first));
  stage.put(first, free);
  stage.run(Millis{1000});
  EXPECT_FALSE(exists(first));
}

TEST_F(Lifecycle, ADeletionThatFollowsFromAnotherNamesIt) {
  stage.write({FoldVersionActivated{kFoldVersion}});
  const ObjectKey ns{type::kNamespace, "", "shop"};
  const ObjectKey inside{"configmaps", "shop", "inside"};
  stage.put(ns, namespace_object("shop"));
  stage.put(inside, config_map("shop", "inside", "x"));
  stage.put(owner, config_map("default", "owner", "x"));
  stage.put(first, owned(config_map("default", "first", "x"), owner, "ConfigMap", true));
  remove(ns);
  remove(owner);
  stage.run(Millis{6000});
  std::map<ObjectKey, ObjectKey> because;
  for (const auto& folding : stage.history()) {
    for (const Event& event : folding.entry.events) {
      const auto* deletion = std::get_if<DeletionRequested>(&event);
      if (deletion != nullptr && folding.entry.actor.service == "lifecycle")
        because[deletion->object] = deletion->because;
    }
  }
  EXPECT_EQ(because[inside], ns);
  EXPECT_EQ(because[first], owner);
}

TEST_F(Lifecycle, BackgroundDeletionTakesTheDependentsAndTheirs_DEL_12) {  // D-40
  stage.put(owner, config_map("default", "owner", "x"));
  stage.put(first, owned(config_map("default", "first", "x"), owner, "ConfigMap", true));
  stage.put(second, owned(config_map("default", "second", "x"), first, "ConfigMap", true));
  remove(owner);
  EXPECT_FALSE(exists(first));
  EXPECT_FALSE(exists(second));
}

TEST_F(Lifecycle, DependentWithAnotherOwnerOnlyLosesTheReference_DEL_12) {
  stage.put(owner, config_map("default", "owner", "x"));
  stage.put(first, config_map("default", "first", "x"));
  stage.put(second,
            owned(owned(config_map("default", "second", "x"), owner, "ConfigMap", true), first, "ConfigMap", true));
  remove(owner);
  ASSERT_TRUE(exists(second));
  const Value& references = stage.state().value_of(second)["metadata"]["ownerReferences"];
  ASSERT_EQ(references.size(), 1U);
  EXPECT_EQ(references[0]["name"], "first");
}

TEST_F(Lifecycle, OwnerOfTheSameNameButAnotherUidIsAbsent_DEL_12) {
  stage.put(owner, config_map("default", "owner", "x"));
  Value stray = owned(config_map("default", "first", "x"), owner, "ConfigMap", false);
  stray.edit("metadata").edit("ownerReferences").edit_items()[0].set("uid", "another");
  stage.put(first, stray);
  stage.run(Millis{1000});
  EXPECT_FALSE(exists(first));
}

TEST_F(Lifecycle, AnOwnerInTheEphemeraIsNotTakenForAbsent_DEL_12) {
  for (const char* api_version : {"coordination.k8s.io/v1", "v1", "events.k8s.io/v1"}) {
    const char* kind = std::string_view{api_version}.starts_with("coordination") ? "Lease" : "Event";
    Value object = config_map("default", "first", api_version);
    object.edit("metadata")
        .set("ownerReferences",
             Value::array(
                 {Value::object({{"apiVersion", api_version}, {"kind", kind}, {"name", "elsewhere"}, {"uid", "u"}})}));
    stage.put(first, object);
    stage.run(Millis{1000});
    EXPECT_TRUE(exists(first)) << api_version;
  }
}

TEST_F(Lifecycle, AViewOfARolloutHistoryIsAnOwnerAsLongAsItsWorkload_DEL_12) {
  const ObjectKey web{"deployments.apps", "default", "web"};
  stage.put(web, deployment("default", "web", 1));
  const auto owned_by_view = [&](const char* name, const std::string& uid) {
    Value object = config_map("default", name, "x");
    object.edit("metadata")
        .set("ownerReferences", Value::array({Value::object({{"apiVersion", "apps/v1"},
                                                             {"kind", "ReplicaSet"},
                                                             {"name", "web-" + template_hash(pod_template_of(web))},
                                                             {"uid", uid}})}));
    return object;
  };
  const Value& workload = stage.state().value_of(web);
  stage.put(first, owned_by_view("first", template_view_uid(uid_of(workload), template_hash(pod_template_of(web)))));
  stage.put(second, owned_by_view("second", "of no view"));
  stage.run(Millis{1000});
  EXPECT_TRUE(exists(first));
  EXPECT_FALSE(exists(second));
  remove(web);
  EXPECT_FALSE(exists(first));
}

TEST_F(Lifecycle, OwnerOfAnUnknownKindIsLeftAlone) {
  Value stray = config_map("default", "first", "x");
  stray.edit("metadata")
      .edit("ownerReferences")
      .push_back(Value::object({{"apiVersion", "example.com/v1"}, {"kind", "Thing"}, {"name", "t"}, {"uid", "u"}}));
  stage.put(first, stray);
  stage.run(Millis{1000});
  EXPECT_TRUE(exists(first));
}

TEST_F(Lifecycle, ABindingGoesWithTheDefinitionOfItsTemplateInAnyVersion_D_40) {
  const ObjectKey definition{type::kCustomResourceDefinition, "", "sofas.example.com"};
  const ObjectKey sofa{"sofas.example.com", "default", "red"};
  const ObjectKey bound{type::kResourceBinding, "default", "red-sofa"};
  const auto defined = [&](const char* version) {
    const Value one = Value::object({{"name", version}, {"served", true}});
    stage.put(definition,
              Value::object({{"metadata", Value::object({{"name", "sofas.example.com"}})},
                             {"spec", Value::object({{"group", "example.com"},
                                                     {"scope", "Namespaced"},
                                                     {"names", Value::object({{"kind", "Sofa"}, {"plural", "sofas"}})},
                                                     {"versions", Value::array({one})}})}}));
  };
  defined("v1");
  stage.put(sofa, Value::object({{"metadata", Value::object({{"name", "red"}, {"namespace", "default"}})}}));
  Value binding = config_map("default", "red-sofa", "x");
  binding.edit("metadata")
      .set("ownerReferences", Value::array({Value::object({{"apiVersion", "example.com/v1"},
                                                           {"kind", "Sofa"},
                                                           {"name", "red"},
                                                           {"uid", uid_of(stage.state().value_of(sofa))}})}));
  stage.put(bound, binding);
  stage.run(Millis{1000});
  EXPECT_TRUE(exists(bound));
  defined("v2");
  binding.edit("data").set("text", "y");
  stage.put(bound, binding);
  stage.run(Millis{1000});
  EXPECT_TRUE(exists(bound)) << "the template is there, in another version";
  // As the API deletes a definition: with all that it defines, at once.
  stage.write({ObjectRemoved{sofa}, ObjectRemoved{definition}});
  stage.run(Millis{1000});
  EXPECT_FALSE(exists(bound));
}

TEST_F(Lifecycle, ForegroundDeletionWaitsForBlockingDependents_DEL_13) {
  stage.put(owner, config_map("default", "owner", "x"));
  Value held = owned(config_map("default", "first", "x"), owner, "ConfigMap", true);
  held.edit("metadata").set("finalizers", Value::array({"example.com/mine"}));
  stage.put(first, held);
  remove(owner, "Foreground");
  EXPECT_TRUE(deleting(stage.state().value_of(first)));
  EXPECT_TRUE(exists(owner));

  Value let_go = stage.state().value_of(first);
  let_go.edit("metadata").erase("finalizers");
  stage.put(first, let_go);
  stage.run(Millis{1000});
  EXPECT_FALSE(exists(first));
  EXPECT_FALSE(exists(owner));
}

TEST_F(Lifecycle, ForegroundDeletionEndsWhereOwnersOwnEachOther_DEL_13) {
  const ObjectKey third{"configmaps", "default", "third"};
  stage.put(owner, config_map("default", "owner", "x"));
  stage.put(second, owned(config_map("default", "second", "x"), owner, "ConfigMap", true));
  stage.put(third, owned(config_map("default", "third", "x"), second, "ConfigMap", true));
  stage.put(owner, owned(config_map("default", "owner", "x"), third, "ConfigMap", true));
  remove(owner, "Foreground");
  EXPECT_FALSE(exists(owner));
  EXPECT_FALSE(exists(second));
  EXPECT_FALSE(exists(third));
}

TEST_F(Lifecycle, OrphanDeletionLeavesTheDependents_DEL_14) {
  stage.put(owner, config_map("default", "owner", "x"));
  for (int i = 0; i < 250; ++i) {
    const std::string name = "child-" + std::to_string(i);
    stage.put({"configmaps", "default", name}, owned(config_map("default", name, "x"), owner, "ConfigMap", true));
  }
  remove(owner, "Orphan");
  EXPECT_FALSE(exists(owner));
  ASSERT_TRUE(exists({"configmaps", "default", "child-249"}));
  EXPECT_TRUE(stage.state().value_of({"configmaps", "default", "child-249"})["metadata"]["ownerReferences"].is_null());
}

TEST_F(Lifecycle, DecidesTheSameAgain) {
  stage.put(cluster_key("m1"), cluster_object("m1"));
  const auto once = lifecycle::decide(stage.state(), cluster_key("m1"), stage.now());
  const auto twice = lifecycle::decide(stage.state(), cluster_key("m1"), stage.now() + Millis{5});
  ASSERT_TRUE(once && decision_of(once));
  EXPECT_EQ(decision_of(once)->events, decision_of(twice)->events);
  EXPECT_EQ(decision_of(once)->expects, decision_of(twice)->expects);
}

/// The decisions about one key until nothing is left to do, each folded; none may be larger than an entry can be.
std::vector<Decision> parts_of(Stage& stage, const ObjectKey& key) {
  std::vector<Decision> parts;
  for (int round = 0; round < 100; ++round) {
    const auto decided = lifecycle::decide(stage.state(), key, stage.now());
    const Decision* decision = decision_of(decided);
    if (decision == nullptr) return parts;
    Entry entry;
    entry.events = decision->events;
    entry.expects = decision->expects;
    EXPECT_LE(encode(entry).size(), kMaxEntryBytes);
    EXPECT_TRUE(decision->look_again);
    EXPECT_FALSE(stage.write(decision->events, decision->expects).refusal);
    parts.push_back(*decision);
  }
  ADD_FAILURE() << to_string(key) << " never settles";
  return parts;
}

TEST(LifecycleInParts, AllObjectsOfADefinition) {
  Stage stage;
  const ObjectKey definition{type::kCustomResourceDefinition, "", "things.example.com"};
  Value crd = Value::object({{"metadata", Value::object({{"name", definition.name}})}});
  crd.edit("metadata").set("finalizers", Value::array({"customresourcecleanup.apiextensions.k8s.io"}));
  stage.put(definition, crd);
  std::vector<Event> things;
  for (int number = 0; number < 5000; ++number) {
    const ObjectKey key{definition.name, "default", "t" + std::to_string(number)};
    things.emplace_back(
        ObjectCreated{key, Value::object({{"metadata", Value::object({{"name", key.name}, {"namespace", key.ns}})}})});
  }
  ASSERT_FALSE(stage.write(std::move(things)).refusal);
  ASSERT_FALSE(stage.write({DeletionRequested{definition}}).refusal);
  EXPECT_EQ(parts_of(stage, definition).size(), 26U) << "25 of 200 objects, and the definition";
  EXPECT_EQ(stage.state().find(definition), nullptr);
  EXPECT_TRUE(stage.state().objects(definition.name).empty());
}

TEST(LifecycleInParts, LargeDependentsOfAnOwnerThatIsOrphaned) {
  Stage stage;
  const ObjectKey owner{"configmaps", "default", "owner"};
  stage.put(owner, config_map("default", "owner", ""));
  for (int number = 0; number < 20; ++number) {
    Value dependent = config_map("default", "d" + std::to_string(number), std::string(size_t{1} << 20, 'x'));
    dependent.edit("metadata")
        .set("ownerReferences", Value::array({Value::object({{"apiVersion", "v1"},
                                                             {"kind", "ConfigMap"},
                                                             {"name", "owner"},
                                                             {"uid", uid_of(stage.state().value_of(owner))}})}));
    stage.put({"configmaps", "default", "d" + std::to_string(number)}, dependent);
  }
  ASSERT_FALSE(stage.write({DeletionRequested{.object = owner, .propagation = "Orphan"}}).refusal);
  EXPECT_EQ(parts_of(stage, owner).size(), 10U) << "2 MiB each";
  EXPECT_EQ(stage.state().find(owner), nullptr);
  EXPECT_TRUE(stage.state().value_of({"configmaps", "default", "d7"})["metadata"]["ownerReferences"].is_null());
}

}  // namespace
}  // namespace shiplog
