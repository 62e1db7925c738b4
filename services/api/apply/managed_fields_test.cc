#include "services/api/apply/managed_fields.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "events/base/json.h"
#include "tests/support/literals.h"

namespace shiplog::api {
namespace {

using test::json;

const Kind& config_maps() { return *Kinds::compiled().find_type("configmaps"); }
const Kind& deployments() { return *Kinds::compiled().find_type("deployments.apps"); }

FieldWriter writer(const std::string& manager, int64_t seconds = 0, const std::string& subresource = "") {
  return {manager, "v1", subresource, UtcMillis{1767355200000 + seconds * 1000}};
}

Value config_map(std::string_view data, std::string_view metadata = R"("name":"c")") {
  return json(R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{)" + std::string{metadata} + R"(},"data":)" +
              std::string{data} + "}");
}

/// "manager operation fields" of each entry.
std::vector<std::string> managers(const Value& object) {
  std::vector<std::string> lines;
  for (const Value& entry : object["metadata"]["managedFields"].items()) {
    lines.push_back(entry["manager"].str() + " " + entry["operation"].str() + " " + to_json(entry["fieldsV1"]));
  }
  return lines;
}
using Lines = std::vector<std::string>;

Value applied(const std::string& manager, const Value& live, const Value& patch, bool force = false) {
  auto result = apply_fields(writer(manager, 60), config_maps(), live, patch, force);
  if (!result) {
    ADD_FAILURE() << result.error().message;
    return {};
  }
  for (const auto& conflict : result.value().conflicts) ADD_FAILURE() << conflict.manager << " " << conflict.field;
  return result.value().object;
}

TEST(ManagedFields, ACreateOwnsWhatItSets) {  // SSA-6, SSA-7
  const Value object =
      track_update(writer("kubectl"), config_maps(), Value{}, config_map(R"({"a":"1"})", R"("name":"c","uid":"u")"));
  EXPECT_EQ(managers(object), (Lines{R"(kubectl Update {"f:data":{".":{},"f:a":{}}})"}));
  const Value& entry = object["metadata"]["managedFields"][0];
  EXPECT_EQ(entry["apiVersion"].as_string(), "v1");
  EXPECT_EQ(entry["fieldsType"].as_string(), "FieldsV1");
  EXPECT_EQ(entry["time"].as_string(), "2026-01-02T12:00:00Z");
}

TEST(ManagedFields, AnUpdateTakesWhatItChangesAndNothingElse) {  // SSA-7
  const Value made = track_update(writer("one"), config_maps(), Value{}, config_map(R"({"a":"1","b":"1","c":"1"})"));
  Value next = made;
  next.set("data", json(R"({"a":"1","b":"2"})"));
  const Value object = track_update(writer("two", 5), config_maps(), made, next);
  EXPECT_EQ(managers(object),
            (Lines{R"(one Update {"f:data":{".":{},"f:a":{}}})", R"(two Update {"f:data":{"f:b":{}}})"}));
}

TEST(ManagedFields, AWriteThatChangesNothingChangesNoTime) {  // SSA-7, META-3
  const Value made = track_update(writer("one"), config_maps(), Value{}, config_map(R"({"a":"1"})"));
  EXPECT_EQ(track_update(writer("one", 50), config_maps(), made, made), made);
}

TEST(ManagedFields, AnEmptyListStartsOver) {  // META-15
  const Value made = track_update(writer("one"), config_maps(), Value{}, config_map(R"({"a":"1"})"));
  for (const char* list : {"[]", "[{}]"}) {
    Value next = made;
    next.edit("metadata").set("managedFields", json(list));
    EXPECT_FALSE(track_update(writer("two"), config_maps(), made, next)["metadata"].contains("managedFields"));
  }
  Value silent = made;
  silent.edit("metadata").erase("managedFields");
  EXPECT_EQ(track_update(writer("two"), config_maps(), made, silent), made);
}

TEST(ManagedFields, AnObjectWithoutManagersIsNotTracked) {  // META-15, SSA-11
  Value next = config_map(R"({"a":"1"})");
  next.edit("metadata").edit("labels").set("l", "1");
  EXPECT_FALSE(track_update(writer("one"), config_maps(), config_map(R"({"a":"1"})"), next)["metadata"].contains(
      "managedFields"));
}

TEST(ManagedFields, AStatusBelongsToTheWriterOfTheSubresource) {  // SUB-1
  const Value made = track_update(
      writer("maker"), deployments(), Value{},
      json(R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d"},"spec":{"replicas":1}})"));
  Value next = made;
  next.set("status", json(R"({"replicas":1})"));
  next.edit("metadata").set("annotations", json(R"({"a":"1"})"));
  next.edit("metadata").set("managedFields", json(R"([{"manager":"other","operation":"Update","apiVersion":"v1",
      "fieldsType":"FieldsV1","fieldsV1":{"f:spec":{"f:replicas":{}}}}])"));
  const Value object = track_update(writer("controller", 0, "status"), deployments(), made, next);
  const Lines lines = managers(object);
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[0], R"(controller Update {"f:metadata":{"f:annotations":{".":{},"f:a":{}}},)"
                      R"("f:status":{"f:replicas":{}}})");
  EXPECT_TRUE(lines[1].starts_with("maker Update ")) << "a list that is sent to a subresource is ignored: " << lines[1];
  EXPECT_EQ(object["metadata"]["managedFields"][0]["subresource"].as_string(), "status");
}

TEST(ManagedFields, OfManagersThatARenamingMakesOneTheLastCounts) {  // META-15
  const Value first = track_update(writer("one"), config_maps(), Value{}, config_map(R"({"a":"1"})"));
  Value next = first;
  next.edit("data").set("b", "1");
  next = track_update(writer("two", 5), config_maps(), first, next);
  Value renamed = next;
  for (Value& entry : renamed.edit("metadata").edit("managedFields").edit_items()) entry.set("manager", "all");
  EXPECT_EQ(managers(track_update(writer("two", 5), config_maps(), next, renamed)),
            (Lines{R"(all Update {"f:data":{"f:b":{}}})"}));
}

TEST(ManagedFields, OldUpdatesAreFoldedIntoOne) {  // SSA-7
  Value object = track_update(writer("maker"), config_maps(), Value{}, config_map(R"({"made":"1"})"));
  for (int i = 0; i < 14; ++i) {
    Value next = object;
    next.edit("data").set("k" + std::to_string(i), "v");
    object = track_update(writer("m" + std::to_string(i), i), config_maps(), object, next);
  }
  EXPECT_EQ(managers(object).size(), 10U);
  EXPECT_TRUE(managers(object)[0].starts_with("ancient-changes Update ")) << managers(object)[0];
  EXPECT_NE(managers(object)[0].find("f:k0"), std::string::npos);
}

TEST(Apply, MakesWhatIsNotThere) {  // SSA-3
  const Value object = applied("one", Value{}, config_map(R"({"a":"1"})"));
  EXPECT_EQ(object["data"], json(R"({"a":"1"})"));
  EXPECT_EQ(managers(object), (Lines{R"(one Apply {"f:data":{"f:a":{}}})"}));
}

TEST(Apply, RemovesWhatTheManagerNoLongerNames) {  // SSA-8
  const Value first = applied("one", Value{}, config_map(R"({"a":"1","b":"1"})"));
  const Value second = applied("one", first, config_map(R"({"b":"2"})"));
  EXPECT_EQ(second["data"], json(R"({"b":"2"})"));
  EXPECT_EQ(managers(second), (Lines{R"(one Apply {"f:data":{"f:b":{}}})"}));
}

TEST(Apply, LeavesWhatAnotherOwnsToo) {  // SSA-8
  const Value first = applied("one", Value{}, config_map(R"({"a":"1","b":"1"})"));
  const Value both = applied("two", first, config_map(R"({"a":"1"})"));
  const Value after = applied("one", both, config_map(R"({"b":"1"})"));
  EXPECT_EQ(after["data"], json(R"({"a":"1","b":"1"})"));
  EXPECT_EQ(managers(after), (Lines{R"(one Apply {"f:data":{"f:b":{}}})", R"(two Apply {"f:data":{"f:a":{}}})"}));
}

Value deployment(std::string_view containers) {
  return json(R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d"},"spec":{"template":{"spec":)"
              R"({"containers":)" +
              std::string{containers} + "}}}}");
}

TEST(Apply, AnElementThatItsApplierDropsIsRemovedThoughAnotherChangedAFieldOfIt) {  // SSA-8
  const auto apply = [](const Value& live, std::string_view containers) {
    const FieldWriter git{"git", "apps/v1", "", UtcMillis{1767355200000}};
    auto result = apply_fields(git, deployments(), live, deployment(containers), false);
    return result ? std::move(result).value().object : Value{};
  };
  const Value made = apply(Value{}, R"([{"name":"c","env":[{"name":"A","value":"1"},{"name":"B","value":"1"}]},)"
                                    R"({"name":"proxy","image":"p:1"}])");
  Value edited = made;
  edited.set("spec", deployment(R"([{"name":"c","env":[{"name":"A","value":"2"},{"name":"B","value":"1"}]},)"
                                R"({"name":"proxy","image":"p:2"}])")["spec"]);
  edited = track_update({"editor", "apps/v1", "", UtcMillis{1767355260000}}, deployments(), made, edited);
  const Value after = apply(edited, R"([{"name":"c","env":[{"name":"B","value":"1"}]}])");
  EXPECT_EQ(after["spec"], deployment(R"([{"name":"c","env":[{"name":"B","value":"1"}]}])")["spec"]);
  ASSERT_EQ(managers(after).size(), 1U) << "nothing is left that the editor could own";
  EXPECT_TRUE(managers(after)[0].starts_with("git Apply "));
}

TEST(Apply, ANullThatTwoManagersNameIsNoConflict) {  // as kubectl writes creationTimestamp of a template
  const Value patch = json(R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d"},)"
                           R"("spec":{"template":{"metadata":{"creationTimestamp":null}}}})");
  const auto apply = [&](const std::string& manager, const Value& live) {
    auto result = apply_fields(writer(manager), deployments(), live, patch, false);
    EXPECT_TRUE(result.value().conflicts.empty()) << manager;
    return std::move(result).value().object;
  };
  Value stored = apply("one", Value{});
  stored.edit("spec").edit("template").edit("metadata").erase("creationTimestamp");  // no write stores it
  EXPECT_EQ(managers(apply("two", stored)).size(), 2U);
}

TEST(Apply, FindsConflictsAndNamesTheManagers) {  // SSA-8, SSA-9
  const Value live = applied("one", Value{}, config_map(R"({"a":"1","b":"1"})"));
  const auto single = apply_fields(writer("two"), config_maps(), live, config_map(R"({"a":"2"})"), false);
  ASSERT_TRUE(single);
  const Error one = conflict_error(single.value().conflicts);
  EXPECT_EQ(one.message, R"(Apply failed with 1 conflict: conflict with "one": .data.a)");
  ASSERT_EQ(one.causes.size(), 1U);
  EXPECT_EQ(one.causes[0].field, ".data.a");
  EXPECT_EQ(one.causes[0].reason, "FieldManagerConflict");
  const auto twice = apply_fields(writer("two"), config_maps(), live, config_map(R"({"a":"2","b":"2"})"), false);
  EXPECT_EQ(conflict_error(twice.value().conflicts).message,
            "Apply failed with 2 conflicts: conflicts with \"one\":\n- .data.a\n- .data.b");
}

TEST(Apply, ForceTakesTheFieldsAway) {  // SSA-8
  const Value live = applied("one", Value{}, config_map(R"({"a":"1","b":"1"})"));
  const Value after = applied("two", live, config_map(R"({"a":"2"})"), true);
  EXPECT_EQ(after["data"], json(R"({"a":"2","b":"1"})"));
  EXPECT_EQ(managers(after), (Lines{R"(one Apply {"f:data":{"f:b":{}}})", R"(two Apply {"f:data":{"f:a":{}}})"}));
}

TEST(Apply, OfTheSameAgainIsNoWrite) {  // SSA-10
  const Value live = applied("one", Value{}, config_map(R"({"a":"1"})"));
  const auto again = apply_fields(writer("one", 900), config_maps(), live, config_map(R"({"a":"1"})"), false);
  ASSERT_TRUE(again);
  EXPECT_EQ(again.value().object, live);
}

TEST(Apply, SameButForTimesLooksAtEverythingElse) {  // SSA-10
  const Value live = applied("two", applied("one", Value{}, config_map(R"({"a":"1"})")), config_map(R"({"b":"1"})"));
  Value later = live;
  Value& entries = later.edit("metadata").edit("managedFields");
  entries.edit_items()[0].set("time", "2026-01-03T00:00:00Z");
  std::ranges::reverse(entries.edit_items());  // they are stored in the order of their times
  EXPECT_TRUE(same_but_for_times(live, later));
  Value of_another = later;
  of_another.edit("metadata").edit("managedFields").edit_items()[0].set("manager", "three");
  EXPECT_FALSE(same_but_for_times(live, of_another));
  Value with_more = later;
  with_more.edit("data").set("c", "1");
  EXPECT_FALSE(same_but_for_times(live, with_more));
  EXPECT_FALSE(same_but_for_times(Value{}, live)) << "an object is created";
}

TEST(Apply, WhatWasThereBeforeTheFirstHasAnOwner) {  // SSA-11
  const auto result =
      apply_fields(writer("one"), config_maps(), config_map(R"({"a":"1"})"), config_map(R"({"a":"2"})"), false);
  ASSERT_TRUE(result);
  ASSERT_EQ(result.value().conflicts.size(), 1U);
  EXPECT_EQ(result.value().conflicts[0].manager, R"("before-first-apply" using v1)");
}

TEST(Apply, TakesOverFromClientSideApplyWithoutConflict) {  // SSA-12
  Value made = config_map(
      R"({"a":"1","b":"1"})",
      R"("name":"c","annotations":{"kubectl.kubernetes.io/last-applied-configuration":"{\"data\":{\"a\":\"1\"}}"})");
  made = track_update(writer("kubectl-client-side-apply"), config_maps(), Value{}, made);
  const Value after = applied("kubectl", made, config_map(R"({"a":"2"})"));
  EXPECT_EQ(after["data"], json(R"({"a":"2","b":"1"})"));
  const char* annotation = "kubectl.kubernetes.io/last-applied-configuration";
  EXPECT_NE(after["metadata"]["annotations"][annotation].str().find(R"("a":"2")"), std::string::npos);
  EXPECT_NE(managers(after)[1].find(annotation), std::string::npos)
      << "kubectl looks for the owner of the annotation, to take over its fields: " << managers(after)[1];
  EXPECT_EQ(applied("kubectl", after, config_map(R"({"a":"2"})")), after) << "SSA-10";
  const Value kept = applied("kubectl-last-applied", after,
                             json(R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c","annotations":)" +
                                  to_json(after["metadata"]["annotations"]) + "}}"));
  EXPECT_EQ(managers(applied("kubectl", kept, config_map(R"({"a":"3"})"))).size(), 3U)
      << "the annotation changes with the configuration, and stays with its owners";
  const auto other = apply_fields(writer("kubectl"), config_maps(), made, config_map(R"({"b":"2"})"), false);
  ASSERT_EQ(other.value().conflicts.size(), 1U) << "b was not applied by the client";
}

TEST(Apply, RefusesABodyWithManagedFields) {  // SSA-2
  const auto result = apply_fields(writer("one"), config_maps(), Value{},
                                   config_map("{}", R"("name":"c","managedFields":[{"manager":"x"}])"), false);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().message, "metadata.managedFields must be nil");
}

TEST(Apply, TheManagerIsNamedByTheUserAgentWhereNothingElseDoes) {
  EXPECT_EQ(manager_of("", "kubectl/v1.30.0 (linux/amd64)"), "kubectl");
  EXPECT_EQ(manager_of("flux", "kubectl/v1.30.0"), "flux");
  EXPECT_EQ(manager_of("", ""), "unknown");
  EXPECT_EQ(manager_of("", "\xff"), "\uFFFD") << "it is stored in the object";
  EXPECT_EQ(manager_of("", std::string(127, 'a') + "é/1"), std::string(127, 'a') + "\uFFFD")
      << "cut within a character";
}

}  // namespace
}  // namespace shiplog::api
