#include "services/roles/dispatcher/role.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "events/base/json.h"
#include "events/state/new_binding.h"
#include "events/state/work.h"
#include "services/interpreter/customizations.h"
#include "services/roles/dispatcher/member_object.h"
#include "tests/support/dispatcher_fixture.h"
#include "tests/support/fake_task.h"
#include "tests/support/literals.h"
#include "tests/support/stage.h"

namespace shiplog {
namespace {

using namespace testing;

TEST_F(Dispatcher, CreatesOnTheMembersAndReportsApplied_E_5_E_10) {  // E-9, E-14
  place("deployments.apps", web, {{"m1", 1}, {"m2", 2}});
  EXPECT_EQ(on_member("m1", web_key)["spec"]["replicas"], Value{1});
  EXPECT_EQ(on_member("m2", web_key)["spec"]["replicas"], Value{2});
  EXPECT_EQ(label_of(on_member("m1", web_key), "karmada.io/managed"), "true");
  EXPECT_EQ(applied_condition("m1", web)["status"], "True");
  EXPECT_EQ(applied_condition("m1", web)["reason"], "AppliedSuccessful");
  EXPECT_EQ(applied_condition("m1", web)["message"], "Manifest has been successfully applied");
  EXPECT_EQ(stage.count<WorkApplied>(), 2U);
  EXPECT_EQ(stage.members().log.size(), 2U) << "one request each, and none afterwards";
}

TEST_F(Dispatcher, UpdatesWhenTheWorkChanges_E_13) {  // E-1, E-9, TRAP-12
  place("deployments.apps", web, {{"m1", 1}});
  Value there = on_member("m1", web_key);
  there.edit("metadata").edit("labels").set("members-own", "kept");
  there.edit("metadata").set("finalizers", Value::array({"example.com/mine"}));
  stage.members().member("m1").put(web_key, there);
  place("deployments.apps", web, {{"m1", 7}});
  EXPECT_EQ(on_member("m1", web_key)["spec"]["replicas"], Value{7});
  EXPECT_EQ(label_of(on_member("m1", web_key), "members-own"), "kept");
  EXPECT_TRUE(has_finalizer(on_member("m1", web_key), "example.com/mine"));
  EXPECT_EQ(applied_condition("m1", web)["observedGeneration"], Value{2});
}

// A Role may be called anything but "." and "..", without / and %.
TEST_F(Dispatcher, NamesAreEscapedInPaths) {
  const ObjectKey key{"roles.rbac.authorization.k8s.io", "default", "a b?dryRun=All#x"};
  Value role = test::json(R"({"apiVersion":"rbac.authorization.k8s.io/v1","kind":"Role",
      "metadata":{"name":"a b?dryRun=All#x","namespace":"default","uid":"u"},"rules":[]})");
  place(key.type.str(), role, {{"m1", 0}});
  EXPECT_FALSE(on_member("m1", key).is_null());
  role.set("rules", test::json(R"([{"apiGroups":[""],"resources":["pods"],"verbs":["get"]}])"));
  role.edit("metadata").set("generation", 2);
  stage.put(key, role);
  Value touched = binding(role, {{"m1", 0}});
  touched.edit("spec").edit("resource").set("resourceVersion", "2");
  stage.put(testing::binding_key(touched), touched);
  stage.run(Millis{5000});
  EXPECT_EQ(on_member("m1", key)["rules"].size(), 1U);
  EXPECT_EQ(stage.members().log.back(),
            "m1 PUT /apis/rbac.authorization.k8s.io/v1/namespaces/default/roles/a%20b%3FdryRun=All%23x");
}

TEST_F(Dispatcher, KeysNoLongerWantedAreRemoved_E_13) {  // TRAP-12
  Value labelled = map;
  labelled.edit("metadata").edit("labels").set("colour", "blue");
  place("configmaps", labelled, {{"m1", 0}});
  EXPECT_EQ(label_of(on_member("m1", map_key), "colour"), "blue");
  stage.put(map_key, map);
  Value touched = binding(map, {{"m1", 0}});
  touched.edit("spec").edit("resource").set("resourceVersion", "2");
  stage.put(testing::binding_key(touched), touched);
  stage.run(Millis{1000});
  EXPECT_FALSE(on_member("m1", map_key)["metadata"]["labels"].contains("colour"));
}

TEST_F(Dispatcher, LeavesAForeignObjectAlone_E_12) {  // E-5
  stage.members().member("m1").put(map_key, config_map("default", "settings", "theirs"));
  place("configmaps", map, {{"m1", 0}});
  EXPECT_EQ(on_member("m1", map_key)["data"]["text"], "theirs");
  EXPECT_EQ(applied_condition("m1", map)["status"], "False");
  EXPECT_EQ(applied_condition("m1", map)["reason"], "AppliedFailed");
  EXPECT_EQ(
      applied_condition("m1", map)["message"],
      "Failed to apply all manifests (0/1): resource(kind=ConfigMap, default/settings) already exists in the cluster "
      "m1 and the work.karmada.io/conflict-resolution strategy value is empty, Karmada will not manage this resource");
  EXPECT_EQ(stage.count<WorkApplyFailed>(), 1U) << "said once, however often it is tried";
}

TEST_F(Dispatcher, AdoptsWithConflictResolutionOverwrite_E_12) {
  stage.members().member("m1").put(map_key, config_map("default", "settings", "theirs"));
  Value overwriting = map;
  overwriting.edit("metadata").edit("annotations").set(annotation::kConflictResolution, "overwrite");
  place("configmaps", overwriting, {{"m1", 0}});
  EXPECT_EQ(on_member("m1", map_key)["data"]["text"], "x");
}

TEST_F(Dispatcher, AdoptsWhatIsMarkedAsManaged_E_11) {
  Value marked = config_map("default", "settings", "old");
  marked.edit("metadata").edit("labels").set(label::kManaged, "true");
  stage.members().member("m1").put(map_key, marked);
  place("configmaps", map, {{"m1", 0}});
  EXPECT_EQ(on_member("m1", map_key)["data"]["text"], "x");
}

TEST_F(Dispatcher, NamespaceIsDispatchedFirst_B_27) {
  stage.put({type::kNamespace, "", "shop"}, namespace_object("shop"));
  const Value shop_map = config_map("shop", "settings", "x");
  place("configmaps", shop_map, {{"m1", 0}});
  EXPECT_FALSE(on_member("m1", {"namespaces", "", "shop"}).is_null());
  EXPECT_FALSE(on_member("m1", {"configmaps", "shop", "settings"}).is_null());
  EXPECT_EQ(stage.count<WorkApplyFailed>(), 0U);
}

TEST_F(Dispatcher, AMemberGetsEarlierNamespacesAlsoIfItsExecutionSpaceIsOlderThanItsCluster_B_27) {
  stage.put({type::kNamespace, "", "shop"}, namespace_object("shop"));
  const auto add_cluster = [&](const std::string& name) {
    stage.members().member(name);
    stage.put(cluster_key(name), cluster_object(name));
  };
  const auto add_space = [&](const std::string& name) {
    stage.put({type::kNamespace, "", execution_space(name)}, namespace_object(execution_space(name)));
  };
  const auto has_work = [&](const std::string& name) {
    stage.run(Millis{1000});
    return stage.state().find(work_key(name, namespace_object("shop"))) != nullptr;
  };
  add_space("early");
  EXPECT_FALSE(has_work("early"));
  add_cluster("early");
  EXPECT_TRUE(has_work("early"));
  add_cluster("late");
  EXPECT_FALSE(has_work("late"));
  add_space("late");
  EXPECT_TRUE(has_work("late"));
}

TEST_F(Dispatcher, ObjectsGoIntoANamespaceThatTheMemberAlreadyHas) {
  const ObjectKey shop{"namespaces", "", "shop"};
  stage.members().member("m1").put(shop, namespace_object("shop"));
  stage.put({type::kNamespace, "", "shop"}, namespace_object("shop"));
  const Value shop_map = config_map("shop", "settings", "x");
  place("configmaps", shop_map, {{"m1", 0}});
  EXPECT_FALSE(on_member("m1", {"configmaps", "shop", "settings"}).is_null());
  EXPECT_EQ(label_of(on_member("m1", shop), label::kManaged), "") << "the namespace itself stays the member's";
  const Value& refused = applied_condition("m1", namespace_object("shop"));
  EXPECT_EQ(refused["status"], "False");
  EXPECT_NE(refused["message"].as_string().find("resource(kind=Namespace, shop) already exists in the cluster m1"),
            std::string_view::npos);
}

TEST_F(Dispatcher, AnAnnotatedNamespaceIsTakenOver) {
  const ObjectKey shop{"namespaces", "", "shop"};
  Value theirs = namespace_object("shop");
  theirs.edit("metadata").edit("labels").set("team", "blue");
  stage.members().member("m1").put(shop, theirs);
  Value ours = namespace_object("shop");
  ours.edit("metadata").edit("annotations").set(annotation::kConflictResolution, "overwrite");
  stage.put({type::kNamespace, "", "shop"}, ours);
  stage.run(Millis{5000});
  EXPECT_EQ(label_of(on_member("m1", shop), label::kManaged), "true");
  EXPECT_EQ(label_of(on_member("m1", shop), "team"), "blue");
  EXPECT_EQ(applied_condition("m1", ours)["status"], "True");
}

TEST_F(Dispatcher, WaitsForAClusterThatIsNotReady_E_2) {
  ready("m1", "False");
  place("configmaps", map, {{"m1", 0}});
  EXPECT_TRUE(on_member("m1", map_key).is_null());
  EXPECT_TRUE(applied_condition("m1", map).is_null()) << "nothing is said while not ready (E-5)";
  ready("m1", "True");
  stage.run(Millis{100});
  EXPECT_FALSE(on_member("m1", map_key).is_null());
}

TEST_F(Dispatcher, ReportsTheCauseAndRetriesWhenTheMemberIsUnreachable) {  // E-7
  stage.members().set_down("m1", true);
  place("configmaps", map, {{"m1", 0}});
  EXPECT_EQ(applied_condition("m1", map)["status"], "False");
  EXPECT_EQ(applied_condition("m1", map)["reason"], "AppliedFailed");
  const std::string message = applied_condition("m1", map)["message"].str();
  EXPECT_TRUE(message.starts_with("Failed to apply all manifests (0/1): ")) << message;
  EXPECT_NE(message.find("m1"), std::string::npos) << "the cluster is named: " << message;
  stage.run(Millis{120'000});
  EXPECT_EQ(applied_condition("m1", map)["status"], "False") << "as long as it lasts";
  EXPECT_TRUE(on_member("m1", map_key).is_null());
  stage.members().log.clear();
  stage.members().set_down("m1", false);
  stage.run(Millis{60'000});
  EXPECT_EQ(applied_condition("m1", map)["status"], "True");
  EXPECT_EQ(on_member("m1", map_key)["data"]["text"], "x") << "the condition is of what the member has";
  EXPECT_EQ(stage.members().count("POST"), 1U) << "it is retried until it is there, and no longer";
}

TEST_F(Dispatcher, SuspendedWorkIsNotSent_E_3_E_4) {  // E-2
  stage.put(map_key, map);
  Value made = binding(map, {{"m1", 0}});
  made.edit("spec").edit("suspension").set("dispatching", true);
  stage.put(testing::binding_key(made), made);
  stage.run(Millis{1000});
  EXPECT_TRUE(on_member("m1", map_key).is_null());
  const Value& work = stage.state().value_of(work_key("m1", map));
  EXPECT_EQ(condition_of(work, "Dispatching")["reason"], "SuspendDispatching");
  made.edit("spec").erase("suspension");
  stage.put(testing::binding_key(made), made);
  stage.run(Millis{1000});
  EXPECT_FALSE(on_member("m1", map_key).is_null());
  EXPECT_EQ(condition_of(stage.state().value_of(work_key("m1", map)), "Dispatching")["status"], "True");
}

TEST_F(Dispatcher, RewritesWhatTheCollectorFoundDeleted) {
  place("configmaps", map, {{"m1", 0}});
  const Value seen = Value::array({Value::object({{"health", "Healthy"}})});
  stage.write({WorkStatusObserved{work_key("m1", map), seen}});
  stage.members().member("m1").erase(map_key);
  stage.run(Millis{1000});
  EXPECT_TRUE(on_member("m1", map_key).is_null()) << "nobody has told yet";
  stage.write({WorkStatusObserved{work_key("m1", map), Value::array()}});
  stage.run(Millis{1000});
  EXPECT_FALSE(on_member("m1", map_key).is_null());
}

TEST_F(Dispatcher, NeverReplacesWhatWasWrittenFromANewerRevision) {
  place("configmaps", map, {{"m1", 0}});
  Value newer = on_member("m1", map_key);
  newer.edit("metadata").edit("annotations").set("shiplog.io/revision", "999999");
  newer.edit("data").set("text", "from the future");
  stage.members().member("m1").put(map_key, newer);
  Value changed = config_map("default", "settings", "y");
  stage.put(map_key, changed);
  Value touched = binding(map, {{"m1", 0}});
  touched.edit("spec").edit("resource").set("resourceVersion", "2");
  stage.put(testing::binding_key(touched), touched);
  stage.run(Millis{5000});
  EXPECT_EQ(on_member("m1", map_key)["data"]["text"], "from the future");
}

TEST_F(Dispatcher, AStatusOfABindingTriggersNothing_B_1) {
  given::History history;
  const auto service = make_dispatcher_role(stage.members());
  Value made = binding(map, {{"m1", 0}});
  const ObjectKey key = testing::binding_key(made);
  history.put(key, made);
  made = history.state().value_of(key);
  made.edit("status").set("aggregatedStatus", Value::array({Value::object({{"clusterName", "m1"}})}));
  EXPECT_EQ(given::woken(*service, history, {StatusUpdated{key, made}}), std::vector<ObjectKey>{});
  made.edit("spec").set("preserveResourcesOnDeletion", true);
  EXPECT_EQ(given::woken(*service, history, {ObjectUpdated{key, made}}), std::vector<ObjectKey>{key});
  EXPECT_EQ(given::woken(*service, history, {DeletionRequested{key}}), std::vector<ObjectKey>{key});
}

// Its binding stays as it is, so nothing else leads to its Works.
TEST_F(Dispatcher, ATemplateThatIsChangedBackReachesItsMembersWithItsGeneration_B_1) {
  stage.put(web_key, web);
  Value made = binding(web, {{"m1", 3}});
  made.edit("metadata")
      .edit("annotations")
      .set(kTemplateDigestAnnotation, template_digest(stage.state().value_of(web_key)));
  stage.put(testing::binding_key(made), made);
  stage.run(Millis{5000});
  Value changed = web;
  changed.edit("spec").set("paused", true);
  stage.put(web_key, changed);
  stage.run(Millis{5000});
  EXPECT_FALSE(on_member("m1", web_key)["spec"].contains("paused")) << "the binder has not seen it yet";
  stage.put(web_key, web);
  stage.run(Millis{5000});
  EXPECT_EQ(stage.state().value_of(web_key)["metadata"]["generation"], Value{3});
  EXPECT_EQ(annotation_of(on_member("m1", web_key), annotation::kTemplateGeneration), "3");
}

TEST_F(Dispatcher, SuspensionStopsRepairButNotDeletion_E_4) {
  place("configmaps", map, {{"m1", 0}});
  Value made = stage.state().value_of(testing::binding_key(binding(map, {})));
  made.edit("spec").edit("suspension").set("dispatching", true);
  stage.put(testing::binding_key(made), made);
  stage.run(Millis{1000});
  stage.members().member("m1").erase(map_key);
  stage.write({WorkStatusObserved{work_key("m1", map), Value::array()}});
  stage.run(Millis{1000});
  EXPECT_TRUE(on_member("m1", map_key).is_null()) << "what is gone is not made anew";
  stage.members().member("m1").put(map_key, [&] {
    Value there = config_map("default", "settings", "x");
    there.edit("metadata").edit("labels").set(label::kManaged, "true");
    return there;
  }());
  stage.write({DeletionRequested{.object = testing::binding_key(made)}});
  stage.run(Millis{1000});
  EXPECT_TRUE(on_member("m1", map_key).is_null());
  EXPECT_EQ(stage.state().find(work_key("m1", map)), nullptr);
}

TEST_F(Dispatcher, AConflictIsTriedAgainInPlace_E_7) {
  place("configmaps", map, {{"m1", 0}});
  const auto somebody_writes_for = [&](int64_t millis) {
    for (int64_t at = 0; at < millis; ++at) {
      stage.after(Millis{at}, [&, at] {
        Value there = on_member("m1", map_key);
        there.edit("metadata").edit("annotations").set("somebody", std::to_string(at));
        stage.members().member("m1").put(map_key, there);
      });
    }
  };
  const auto change = [&](const char* text) {
    stage.put(map_key, config_map("default", "settings", text));
    Value touched = binding(map, {{"m1", 0}});
    touched.edit("spec").edit("resource").set("resourceVersion", text);
    stage.put(testing::binding_key(touched), touched);
  };
  somebody_writes_for(8);
  change("y");
  stage.run(Millis{1000});
  EXPECT_EQ(on_member("m1", map_key)["data"]["text"], "y");
  EXPECT_GT(stage.members().count("PUT"), 1U) << "there was a conflict";
  EXPECT_EQ(stage.count<WorkApplyFailed>(), 0U);
  somebody_writes_for(200);
  change("z");
  stage.run(Millis{100});
  EXPECT_NE(applied_condition("m1", map)["message"].as_string().find("the object keeps changing on the member"),
            std::string_view::npos)
      << applied_condition("m1", map)["message"].as_string();
  stage.run(Millis{60'000});
  EXPECT_EQ(on_member("m1", map_key)["data"]["text"], "z");
}

TEST_F(Dispatcher, AKindThatTheMemberDoesNotServeCannotBeApplied_E_8) {
  const Value gadget = Value::object({{"apiVersion", "example.com/v1"},
                                      {"kind", "Gadget"},
                                      {"metadata", Value::object({{"name", "g"}, {"namespace", "default"}})}});
  const Value workload = Value::object({{"manifests", Value::array({gadget})}});
  stage.put(work_key("m1", gadget),
            Value::object({{"apiVersion", "work.karmada.io/v1alpha1"},
                           {"kind", "Work"},
                           {"metadata", Value::object({{"name", work_key("m1", gadget).name},
                                                       {"namespace", "karmada-es-m1"},
                                                       {"generation", 1},
                                                       {"finalizers", Value::array({finalizer::kWork})}})},
                           {"spec", Value::object({{"workload", workload}})}}));
  stage.run(Millis{1000});
  EXPECT_EQ(applied_condition("m1", gadget)["reason"], "AppliedFailed");
  EXPECT_EQ(applied_condition("m1", gadget)["message"],
            "Failed to apply all manifests (0/1): no kind Gadget is served in version example.com/v1");
  stage.write({DeletionRequested{.object = work_key("m1", gadget)}});
  stage.run(Millis{60'000});
  EXPECT_EQ(stage.state().find(work_key("m1", gadget)), nullptr) << "it never reached the member";
}

TEST_F(Dispatcher, RestartSendsNoRequestForWhatIsApplied) {  // E-16
  place("configmaps", map, {{"m1", 0}});
  stage.stop("dispatcher");
  stage.members().log.clear();
  stage.add(make_dispatcher_role(stage.members()));
  stage.run(Millis{5000});
  EXPECT_TRUE(stage.members().log.empty());
}

TEST_F(Dispatcher, CrashBetweenEffectAndItsRecordIsHealed) {  // E-14
  stage.set_append_latency(Millis{50});
  stage.put(map_key, map);
  const Value made = binding(map, {{"m1", 0}});
  stage.put(testing::binding_key(made), made);
  stage.run(Millis{70});  // rendered and written, but Applied is not yet in the journal
  ASSERT_FALSE(on_member("m1", map_key).is_null());
  ASSERT_TRUE(applied_condition("m1", map).is_null());
  stage.stop("dispatcher");
  stage.add(make_dispatcher_role(stage.members()));
  stage.run(Millis{5000});
  EXPECT_EQ(applied_condition("m1", map)["status"], "True");
  EXPECT_EQ(stage.members().count("PUT"), 0U) << "the member already holds it";
}

/// Each time that the Work is applied, the member's object is looked at, and written only if something of it differs.
TEST_F(Dispatcher, WhatTheMemberHasAlreadyIsNotSent_E_14) {
  place("configmaps", map, {{"m1", 0}});
  const ObjectKey key = testing::binding_key(binding(map, {}));
  const auto apply_again = [&](bool preserving) {  // a new generation of the Work, with the same manifest
    const int64_t before = stage.state().value_of(work_key("m1", map))["metadata"]["generation"].as_int();
    Value made = stage.state().value_of(key);
    made.edit("spec").set("preserveResourcesOnDeletion", preserving);
    stage.members().log.clear();
    stage.put(key, made);
    stage.run(Millis{5000});
    EXPECT_EQ(stage.state().value_of(work_key("m1", map))["metadata"]["generation"].as_int(), before + 1);
    EXPECT_EQ(applied_condition("m1", map)["observedGeneration"], Value{before + 1});
    EXPECT_EQ(stage.members().count("GET"), 1U) << "it is looked at";
  };
  apply_again(true);
  EXPECT_EQ(stage.members().log.size(), 1U) << "and nothing is sent";
  // A field that the member fills in is no difference; another value of one that is set here is.
  Value there = on_member("m1", map_key);
  there.edit("data").set("filled-in", "by the member");
  stage.members().member("m1").put(map_key, there);
  apply_again(false);
  EXPECT_EQ(stage.members().log.size(), 1U) << "nothing is sent";
  EXPECT_EQ(on_member("m1", map_key)["data"]["filled-in"], "by the member");
  there.edit("data").set("text", "edited");
  stage.members().member("m1").put(map_key, there);
  apply_again(true);
  EXPECT_EQ(stage.members().count("PUT"), 1U);
  EXPECT_EQ(on_member("m1", map_key)["data"]["text"], "x");
}

// No collector is here: what is held for its report is appended a moment later.
TEST_F(Dispatcher, ReportsThatArriveDuringAnAppendAreAppendedTogether) {
  stage.set_append_latency(Millis{50});
  for (int i = 0; i < 10; ++i) {
    const Value one = config_map("default", "settings-" + std::to_string(i), "x");
    stage.put({"configmaps", "default", one["metadata"]["name"].str()}, one);
    const Value made = binding(one, {{"m1", 0}, {"m2", 0}});
    stage.put(testing::binding_key(made), made);
  }
  stage.run(Millis{1000});
  EXPECT_EQ(stage.count<WorkApplied>(), 20U);
  size_t entries = 0;
  for (const auto& [entry, folded] : stage.history()) {
    entries += std::holds_alternative<WorkApplied>(entry.events.front()) ? 1U : 0U;
  }
  EXPECT_LE(entries, 4U);
}

TEST_F(Dispatcher, AReportThatIsHeldIsOfTheWorkAsItWasWritten) {
  stage.set_append_latency(Millis{50});
  std::vector<Value> maps;
  for (int i = 0; i < 30; ++i) {
    maps.push_back(config_map("default", "settings-" + std::to_string(i), "x"));
    stage.put({"configmaps", "default", maps.back()["metadata"]["name"].str()}, maps.back());
    stage.put(testing::binding_key(binding(maps.back(), {{"m1", 0}})), binding(maps.back(), {{"m1", 0}}));
  }
  const auto written = [&] {
    return std::ranges::all_of(maps, [&](const Value& one) {
      return on_member("m1", {"configmaps", "default", one["metadata"]["name"].str()}).is_object();
    });
  };
  for (int i = 0; i < 200 && !written(); ++i) stage.run(Millis{1});
  ASSERT_TRUE(written());
  stage.run(Millis{5});
  const auto applied_count = [&] {
    return std::ranges::count_if(
        maps, [&](const Value& one) { return applied_condition("m1", one)["status"].as_string() == "True"; });
  };
  ASSERT_LT(applied_count(), 8) << "most are held";
  // All are changed meanwhile, but one, which is deleted and made again.
  for (size_t i = 0; i + 1 < maps.size(); ++i) {
    Value edited = stage.state().value_of(work_key("m1", maps[i]));
    edited.edit("spec").set("preserveResourcesOnDeletion", true);
    stage.write({ObjectUpdated{work_key("m1", maps[i]), edited}});
  }
  const ObjectKey remade = work_key("m1", maps[29]);
  Value again = stage.state().value_of(remade);
  again.erase("status");
  again.edit("metadata").erase("finalizers");
  stage.write({WorkRemoved{remade}});
  stage.members().member("m1").erase({"configmaps", "default", "settings-29"});
  stage.members().set_down("m1", true);
  stage.write({WorkRendered{remade, again, {}}});
  stage.run(Millis{1000});
  for (const Value& one : maps) EXPECT_FALSE(applied(stage.state().value_of(work_key("m1", one)))) << to_json(one);
  for (const auto& [entry, folded] : stage.history()) {
    for (const Event& event : entry.events) {
      const auto* report = std::get_if<WorkApplied>(&event);
      EXPECT_TRUE(report == nullptr || report->generation == 1) << "also if it is refused";
    }
  }
  stage.members().set_down("m1", false);
  stage.run(Millis{60'000});
  EXPECT_EQ(applied_count(), 30);
}

TEST_F(Dispatcher, OneWorkThatMovedOnKeepsBackNoOtherOfItsReport) {
  stage.set_append_latency(Millis{50});
  stage.put(map_key, map);
  stage.put(testing::binding_key(binding(map, {{"m1", 0}, {"m2", 0}})), binding(map, {{"m1", 0}, {"m2", 0}}));
  const Value other = config_map("default", "other", "x");
  stage.put({"configmaps", "default", "other"}, other);
  stage.put(testing::binding_key(binding(other, {{"m1", 0}})), binding(other, {{"m1", 0}}));
  stage.run(Millis{110});  // two of the three wait for the entry of the first
  Value edited = stage.state().value_of(work_key("m2", map));
  ASSERT_TRUE(edited.is_object());
  edited.edit("spec").set("preserveResourcesOnDeletion", true);
  stage.write({ObjectUpdated{work_key("m2", map), edited}});
  stage.run(Millis{5000});
  const auto refused = std::ranges::count_if(stage.history(), [](const Stage::Folding& one) {
    return one.entry.events.size() == 2 && std::holds_alternative<WorkApplied>(one.entry.events.front()) &&
           one.folded.refusal.has_value();
  });
  EXPECT_EQ(refused, 1);
  for (const auto& [cluster, object] : {std::pair{"m1", map}, std::pair{"m2", map}, std::pair{"m1", other}}) {
    EXPECT_EQ(applied_condition(cluster, object)["status"], "True");
  }
}

TEST_F(Dispatcher, SealedStringsAreOpenedOnTheWayOut) {
  stage.stop("dispatcher");
  stage.add(make_dispatcher_role(stage.members(), [](const Value& manifest) -> Result<Value> {
    Value open = manifest;
    if (open["data"]["text"].as_string() == "sealed:x") open.edit("data").set("text", "x");
    return open;
  }));
  Value secret = config_map("default", "settings", "sealed:x");
  secret.set("kind", "Secret");
  place("secrets", secret, {{"m1", 0}});
  EXPECT_EQ(on_member("m1", {"secrets", "default", "settings"})["data"]["text"], "x");
  const Value& work = stage.state().value_of(work_key("m1", secret));
  EXPECT_EQ(to_json(work).find("\"x\""), std::string::npos);

  place("configmaps", config_map("default", "settings", "sealed:x"), {{"m1", 0}});
  EXPECT_EQ(on_member("m1", map_key)["data"]["text"], "sealed:x")
      << "of a kind that is not sealed: somebody's own text";
}

// It was sent the data in clear text, and what it answers is stored.
TEST_F(Dispatcher, TextOfAMemberAboutASecretIsNotStored) {
  stage.members().member("m1").refuse = 422;
  Value secret = config_map("default", "settings", "x");
  secret.set("kind", "Secret");
  place("secrets", secret, {{"m1", 0}});
  EXPECT_EQ(applied_condition("m1", secret)["message"],
            "Failed to apply all manifests (0/1): HTTP status 422; the member's message is not shown, as it may quote "
            "data of the Secret");
}

TEST_F(Dispatcher, RetainsWhatTheMemberAllocated_E_21) {
  const Value port = Value::object({{"port", 80}, {"name", "http"}});
  Value service = Value::object({{"apiVersion", "v1"},
                                 {"kind", "Service"},
                                 {"metadata", Value::object({{"name", "web"}, {"namespace", "default"}})},
                                 {"spec", Value::object({{"type", "NodePort"}, {"ports", Value::array({port})}})}});
  place("services", service, {{"m1", 0}});
  const ObjectKey key{"services", "default", "web"};
  Value there = on_member("m1", key);
  there.edit("spec").set("clusterIP", "10.0.0.7");
  there.edit("spec").edit("ports").edit_items()[0].set("nodePort", 30007);
  stage.members().member("m1").put(key, there);
  service.edit("spec").edit("ports").push_back(Value::object({{"port", 443}, {"name", "https"}}));
  stage.put(key, service);
  Value touched = binding(service, {{"m1", 0}});
  touched.edit("spec").edit("resource").set("resourceVersion", "2");
  stage.put(testing::binding_key(touched), touched);
  stage.run(Millis{1000});
  EXPECT_EQ(on_member("m1", key)["spec"]["clusterIP"], "10.0.0.7");
  EXPECT_EQ(on_member("m1", key)["spec"]["ports"][0]["nodePort"], Value{30007});
  EXPECT_EQ(on_member("m1", key)["spec"]["ports"][1]["port"], Value{443});
}

TEST_F(Dispatcher, RetainsAccordingToACustomization_L_12) {
  const char* script =
      "function Retain(desired, observed) desired.data.theirs = observed.data.theirs return desired end";
  stage.put({interpreter::kCustomizationType, "", "c"},
            Value::object(
                {{"spec", Value::object({{"target", Value::object({{"apiVersion", "v1"}, {"kind", "ConfigMap"}})},
                                         {"customizations",
                                          Value::object({{"retention", Value::object({{"luaScript", script}})}})}})}}));
  Value settings = testing::config_map("default", "settings", "x");
  place("configmaps", settings, {{"m1", 0}});
  const ObjectKey key{"configmaps", "default", "settings"};
  Value there = on_member("m1", key);
  there.edit("data").set("theirs", "kept");
  stage.members().member("m1").put(key, there);
  settings.edit("data").set("ours", "new");
  stage.put(key, settings);
  Value touched = binding(settings, {{"m1", 0}});
  touched.edit("spec").edit("resource").set("resourceVersion", "2");
  stage.put(testing::binding_key(touched), touched);
  stage.run(Millis{1000});
  EXPECT_EQ(on_member("m1", key)["data"]["theirs"], "kept");
  EXPECT_EQ(on_member("m1", key)["data"]["ours"], "new");
}

}  // namespace
}  // namespace shiplog
