#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "events/base/json.h"
#include "tests/support/fold_history.h"
#include "tests/support/literals.h"

// What objects have in common is in memory once.
namespace shiplog {
namespace {

using namespace testing;
using test::json;

Value deployment(const std::string& name, const std::string& image) {
  return json(R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":")" + name + R"(","namespace":"default",
    "managedFields":[{"manager":"helm","fieldsV1":{"f:spec":{"f:replicas":{},"f:template":{}}}}]},
    "spec":{"replicas":2,"strategy":{"rollingUpdate":{"maxSurge":"25%"}},
            "template":{"spec":{"containers":[{"image":")" +
              image + R"(","name":"web"}]}}}})");
}

ObjectKey key_of(const std::string& name) { return {"deployments.apps", "default", name}; }

bool same(const Value& one, const Value& other) {
  return !one.members().empty() && one.members().data() == other.members().data();
}

TEST(Sharing, ANewObjectSharesPartsWithTheOneWrittenLast) {
  FoldHistory history = FoldHistory::with_namespace();
  for (const char* name : {"b", "a", "c"}) {
    history.put({ObjectCreated{key_of(name), deployment(name, "web:" + std::string{name})}});
  }
  const auto value_of = [&](const char* name) -> const Value& { return history.state.value_of(key_of(name)); };
  for (const char* name : {"a", "c"}) {
    EXPECT_TRUE(same(value_of(name)["spec"]["strategy"], value_of("b")["spec"]["strategy"])) << name;
    EXPECT_TRUE(same(value_of(name)["metadata"]["managedFields"][0], value_of("b")["metadata"]["managedFields"][0]));
    EXPECT_EQ(value_of(name)["metadata"]["name"].as_string(), name);
    EXPECT_EQ(value_of(name)["spec"]["template"]["spec"]["containers"][0]["image"].str(), "web:" + std::string{name});
  }
  history.put({DeletionRequested{.object = key_of("b")}});
  EXPECT_TRUE(value_of("b").is_null());
  EXPECT_EQ(value_of("a")["spec"]["strategy"], json(R"({"rollingUpdate":{"maxSurge":"25%"}})"));
}

TEST(Sharing, ARemovedObjectIsNotKeptAsTheLatest) {
  FoldHistory history = FoldHistory::with_namespace();
  history.put({ObjectCreated{key_of("a"), deployment("a", "web:1")}});
  history.put({ObjectCreated{key_of("b"), deployment("b", "web:1")}});
  history.put({DeletionRequested{.object = key_of("a")}});
  EXPECT_EQ(history.state.latest("deployments.apps")["metadata"]["name"].str(), "b") << "another one was removed";
  history.put({DeletionRequested{.object = key_of("b")}});
  EXPECT_TRUE(history.state.latest("deployments.apps").is_null());
}

TEST(Sharing, AnUpdatedStatusSharesPartsWithTheOneWrittenLast) {
  FoldHistory history = FoldHistory::with_namespace();
  for (const char* name : {"a", "b"}) history.put({ObjectCreated{key_of(name), deployment(name, "web:1")}});
  for (const char* name : {"a", "b"}) {
    Value update = history.state.value_of(key_of(name));
    const std::string replicas{name[0] == 'a' ? "1" : "2"};
    update.set("status", json(R"({"replicas":)" + replicas +
                              R"(,"conditions":[{"type":"Available","lastTransitionTime":"2026-01-01T00:00:10Z"}]})"));
    ASSERT_FALSE(history.put({StatusUpdated{key_of(name), std::move(update)}}).refusal);
  }
  const Value& a = history.state.value_of(key_of("a"));
  const Value& b = history.state.value_of(key_of("b"));
  EXPECT_TRUE(same(a["status"]["conditions"][0], b["status"]["conditions"][0]));
  EXPECT_EQ(a["status"]["replicas"], Value{1});
  EXPECT_EQ(b["status"]["replicas"], Value{2});
  EXPECT_EQ(a["metadata"]["name"].str(), "a");
  EXPECT_EQ(b["metadata"]["name"].str(), "b");
}

TEST(Sharing, AManifestStaysSharedWithItsTemplate) {
  FoldHistory history = FoldHistory::with_namespace();
  history.put({ObjectCreated{{type::kNamespace, "", "karmada-es-m1"}, json(R"({"metadata":{}})")}});
  history.put({ObjectCreated{key_of("b"), deployment("b", "web:1")}});
  const auto render = [&](const char* name, const Value& spec) -> const Value& {
    const Value manifest = Value::object({{"kind", "Deployment"}, {"spec", spec}});
    Value work = json(R"({"metadata":{},"spec":{"workload":{}}})");
    work.edit("metadata").set("name", name);
    work.edit("spec").edit("workload").set("manifests", Value::array({manifest}));
    const ObjectKey key{type::kWork, "karmada-es-m1", name};
    EXPECT_FALSE(history.put({WorkRendered{.work = key, .value = std::move(work), .why = {}}}).refusal);
    return history.state.value_of(key)["spec"]["workload"]["manifests"][0]["spec"];
  };
  const Value& of_template = history.state.value_of(key_of("b"))["spec"];
  const Value& other = render("a", deployment("a", "web:2")["spec"]);
  EXPECT_EQ(other["strategy"], of_template["strategy"]);
  EXPECT_FALSE(same(other["strategy"], of_template["strategy"]));
  EXPECT_TRUE(same(render("b", of_template), of_template))
      << "a copy of it would share the strategy with the other Work";
}

TEST(Sharing, AnUpdatedObjectSharesPartsWithWhatItWas) {
  FoldHistory history = FoldHistory::with_namespace();
  history.put({ObjectCreated{key_of("a"), deployment("a", "web:1")}});
  const Value before = history.state.value_of(key_of("a"));
  const std::string text = to_json(before);
  Value update = json(text);
  update.edit("spec").set("replicas", 3);
  const Folded folded = history.put({ObjectUpdated{key_of("a"), update}});
  ASSERT_EQ(folded.changes.size(), 1U);
  const Value& after = history.state.value_of(key_of("a"));
  EXPECT_EQ(after["spec"]["replicas"], Value{3});
  EXPECT_TRUE(same(after["spec"]["template"], before["spec"]["template"]));
  EXPECT_TRUE(same(after, folded.changes[0].after)) << "what is reported is what is kept";
  EXPECT_EQ(to_json(before), text);
  EXPECT_FALSE(same(update["spec"]["template"], before["spec"]["template"])) << "an event stays as it is";
}

TEST(Sharing, AKeyHasItsTextsFromTheMetadataOfItsObject) {
  const char* const kName = "a-name-of-more-than-14-bytes";
  FoldHistory history = FoldHistory::with_namespace();
  const auto expect_shared = [&](const Folded& folded, const State& state) {
    const auto& [name, object] = *state.objects("deployments.apps").begin();
    const auto text = object.value["metadata"]["name"].as_string();
    EXPECT_EQ(text, kName);
    EXPECT_EQ(static_cast<const void*>(name.name.view().data()), static_cast<const void*>(text.data()));
    for (const Change& change : folded.changes) {
      EXPECT_EQ(static_cast<const void*>(change.object.name.view().data()), static_cast<const void*>(text.data()));
    }
  };
  expect_shared(history.put({ObjectCreated{key_of(kName), deployment(kName, "web:1")}}), history.state);
  Value update = history.state.value_of(key_of(kName));
  update.edit("spec").set("replicas", 3);
  expect_shared(history.put({ObjectUpdated{key_of(kName), json(to_json(update))}}), history.state);

  State restored;
  std::vector<std::pair<ObjectKey, Object>> objects;
  objects.emplace_back(key_of(kName), *history.state.find(key_of(kName)));
  State::restore(StateMeta{}, std::move(objects), {}, restored);
  expect_shared({}, restored);
  // An object that says that it has another name keeps its key.
  ObjectKey key = key_of(kName);
  share_texts(key, json(R"({"metadata":{"name":"another-name-of-more-than-14-bytes","namespace":7}})"));
  EXPECT_EQ(key, key_of(kName));
}

TEST(Sharing, TheWorksOfABindingSharePartsOfWhatTheirMembersReport) {
  FoldHistory history;
  const auto status_at = [](const char* time, const char* name) {
    return json(R"([{"health":"Healthy","identifier":{"kind":"Deployment","ordinal":0,"name":")" + std::string{name} +
                R"("},
      "status":{"readyReplicas":2,"conditions":[{"type":"Available","reason":"MinimumReplicasAvailable","lastTransitionTime":")" +
                std::string{time} + R"("}]}}])");
  };
  const auto work_of = [](const char* cluster) {
    return ObjectKey{type::kWork, "karmada-es-" + std::string{cluster}, "web-1"};
  };
  for (const char* cluster : {"m1", "m2", "m3"}) {
    history.put({ObjectCreated{{type::kNamespace, "", work_of(cluster).ns}, json(R"({"metadata":{}})")}});
    Value work = json(R"({"metadata":{"name":"web-1"},"spec":{}})");
    const char* binding = std::string_view{cluster} == "m3" ? "another" : "one";
    work.edit("metadata").edit("labels").set(label::kBindingId, binding);
    history.put({WorkRendered{.work = work_of(cluster), .value = std::move(work), .why = {}}});
  }
  const auto reported = [&](const char* cluster) -> const Value& {
    return history.state.value_of(work_of(cluster))["status"]["manifestStatuses"][0];
  };
  int second = 10;
  for (const char* cluster : {"m2", "m3", "m1"}) {
    const std::string time = "2026-01-01T00:00:" + std::to_string(second++) + "Z";
    const char* name = std::string_view{cluster} == "m3" ? "other" : "web";
    ASSERT_FALSE(history.put({WorkStatusObserved{work_of(cluster), status_at(time.c_str(), name), 1}}).refusal);
    EXPECT_EQ(reported(cluster)["status"]["conditions"][0]["lastTransitionTime"].str(), time);
  }
  EXPECT_TRUE(same(reported("m1")["identifier"], reported("m2")["identifier"]));
  EXPECT_EQ(reported("m1")["status"]["conditions"][0]["reason"].as_string().data(),
            reported("m2")["status"]["conditions"][0]["reason"].as_string().data());
}

}  // namespace
}  // namespace shiplog
