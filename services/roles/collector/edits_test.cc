#include <set>
#include <string>

#include <gtest/gtest.h>

#include "events/state/work.h"
#include "services/roles/collector/role.h"
#include "services/roles/dispatcher/role.h"
#include "services/roles/lifecycle/role.h"
#include "tests/support/stage.h"

namespace shiplog {
namespace {

using namespace testing;

TEST(EditsInMembers, ArePutRightWhetherTheyCountAsAGenerationOrNot_E_15) {
  const Value web = deployment("default", "web", 3);
  const ObjectKey key{"deployments.apps", "default", "web"};
  Stage stage;
  stage.add(make_lifecycle_role());
  stage.add(make_dispatcher_role(stage.members()));
  stage.add(make_collector_role(stage.members()));
  FakeMember& member = stage.members().member("m1");
  stage.put(cluster_key("m1"), cluster_object("m1"));
  stage.run(Millis{500});
  stage.put(key, web);
  const Value bound = binding(web, {{"m1", 3}});
  stage.put(binding_key(bound), bound);
  stage.run(Millis{3'000});

  const auto writes_after = [&](auto edit) {
    stage.members().log.clear();
    Value edited = member.find(key);
    edit(edited);
    member.put(key, edited);
    stage.run(Millis{3'000});
    return stage.members().count("PUT") + stage.members().count("PATCH");
  };
  ASSERT_GT(member.find(key)["metadata"]["generation"].as_int(), 0);
  EXPECT_EQ(writes_after([](Value& object) { object.edit("status").set("readyReplicas", 2); }), 0U);
  EXPECT_GT(writes_after([](Value& object) { object.edit("spec").set("replicas", 7); }), 0U);
  EXPECT_EQ(member.find(key)["spec"]["replicas"], Value{3});
  EXPECT_GT(writes_after([](Value& object) { object.edit("metadata").edit("labels").erase(label::kWorkId); }), 0U);
  EXPECT_FALSE(label_of(member.find(key), label::kWorkId).empty());

  // Another object of that name, whose generations begin with the same number.
  Value other = member.find(key);
  member.erase(key);
  other.edit("spec").set("replicas", 9);
  member.put(key, other);
  stage.run(Millis{5'000});
  EXPECT_EQ(member.find(key)["spec"]["replicas"], Value{3});
}

/// Two placed objects in a member, and what a user of the member does with them.
class CollectorEdits : public ::testing::Test {
 protected:
  CollectorEdits() {
    stage.add(make_lifecycle_role());
    stage.add(make_dispatcher_role(stage.members()));
    stage.add(make_collector_role(stage.members()));
    stage.put(cluster_key("m1"), cluster_object("m1"));
    member().ready_after = Millis{50};
    stage.run(Millis{500});
  }
  FakeMember& member() { return stage.members().member("m1"); }
  void place(const ObjectKey& key, const Value& object) {
    stage.put(key, object);
    const Value bound = binding(object, {{"m1", 0}});
    stage.put(binding_key(bound), bound);
    stage.run(Millis{3'000});
  }
  template <class Edit>
  void edit(const ObjectKey& key, Edit edit) {
    Value edited = member().find(key);
    edit(edited);
    member().put(key, edited);
  }
  const Value& data() { return member().find(map_key)["data"]; }

  Stage stage;
  const Value map = config_map("default", "settings", "x");
  const ObjectKey map_key{"configmaps", "default", "settings"};
};

TEST_F(CollectorEdits, AreRevertedThoughTheObjectNamesNoWorkAnyMore_E_15) {
  place(map_key, map);
  const Value written = member().find(map_key);
  const auto reverted_without = [&](auto take_off) {
    edit(map_key, [&](Value& object) { take_off(object.edit("metadata")); });
    edit(map_key, [](Value& object) { object.edit("data").set("text", "somebody else's"); });
    stage.run(Millis{3'000});
    const bool reverted =
        data()["text"] == Value{"x"} && !annotation_of(member().find(map_key), annotation::kWorkName).empty();
    stage.run(Millis{900'000});  // it counts as left alone again
    return reverted;
  };
  EXPECT_TRUE(reverted_without([](Value& metadata) { metadata.edit("annotations").erase(annotation::kWorkName); }));
  EXPECT_TRUE(
      reverted_without([](Value& metadata) { metadata.edit("annotations").erase(annotation::kWorkNamespace); }));
  EXPECT_TRUE(
      reverted_without([](Value& metadata) { metadata.edit("annotations").set(annotation::kWorkName, "other"); }));
  EXPECT_TRUE(reverted_without([](Value& metadata) {
    metadata.erase("annotations");
    metadata.set("labels", Value::object({{label::kManaged, "true"}}));
  })) << "as kubectl replace does";
}

TEST_F(CollectorEdits, AnObjectIsCreatedAgainThoughItNamedNoWorkWhenItWasDeleted_E_15) {
  place(map_key, map);
  edit(map_key, [](Value& object) {
    object.edit("metadata").edit("annotations").erase(annotation::kWorkName);
    object.edit("metadata").edit("annotations").erase(annotation::kWorkNamespace);
  });
  member().erase(map_key);
  stage.run(Millis{3'000});
  EXPECT_EQ(data()["text"], Value{"x"});
}

TEST_F(CollectorEdits, WithoutACollectorAreRevertedByTheNextThoughTheObjectNamesNoWork_E_15) {
  place(map_key, map);
  stage.stop("collector");
  edit(map_key, [](Value& object) {
    object.edit("metadata").edit("annotations").erase(annotation::kWorkName);
    object.edit("data").set("text", "somebody else's");
  });
  stage.add(make_collector_role(stage.members()));
  stage.run(Millis{5'000});
  EXPECT_EQ(data()["text"], Value{"x"});
}

TEST_F(CollectorEdits, OfRetainedFieldsAreNone_E_14_E_21) {
  Value web = deployment("default", "web", 2);
  web.edit("metadata").edit("labels").set("resourcetemplate.karmada.io/retain-replicas", "true");
  const ObjectKey web_key{"deployments.apps", "default", "web"};
  place(web_key, web);
  stage.members().log.clear();
  std::set<std::string> healths;
  for (int replicas = 3; replicas < 9; ++replicas) {
    edit(web_key, [&](Value& object) { object.edit("spec").set("replicas", replicas); });
    for (int i = 0; i < 50; ++i) {
      stage.run(Millis{20});
      healths.insert(stage.state().value_of(work_key("m1", web))["status"]["manifestStatuses"][0]["health"].str());
    }
  }
  EXPECT_EQ(stage.members().count("PUT"), 0U);
  EXPECT_FALSE(healths.contains("Unknown")) << "nobody has changed what the control plane determines";
  edit(web_key, [&](Value& object) {
    object.edit("spec").edit("template").edit("spec").edit("containers").edit_items()[0].set("image", "evil");
  });
  stage.run(Millis{1'000});
  const Value& spec = member().find(web_key)["spec"];
  EXPECT_EQ(spec["template"]["spec"]["containers"][0]["image"],
            web["spec"]["template"]["spec"]["containers"][0]["image"]);
  EXPECT_EQ(spec["replicas"], Value{8});
}

TEST_F(CollectorEdits, OfAServiceAccountsOwnPullSecretsAreNone_E_14_E_21) {
  const auto names = [](const char* first, const char* second) {
    Value list = Value::array({Value::object({{"name", first}})});
    if (second != nullptr) list.push_back(Value::object({{"name", second}}));
    return list;
  };
  const ObjectKey key{"serviceaccounts", "default", "robot"};
  place(key,
        Value::object({{"apiVersion", "v1"},
                       {"kind", "ServiceAccount"},
                       {"metadata", Value::object({{"name", "robot"}, {"namespace", "default"}, {"uid", "u-robot"}})},
                       {"imagePullSecrets", names("a", nullptr)}}));
  ASSERT_FALSE(member().find(key).is_null());
  stage.members().log.clear();
  edit(key, [&](Value& object) { object.set("imagePullSecrets", names("a", "b")); });
  stage.run(Millis{3'000});
  EXPECT_EQ(stage.members().count("PUT"), 0U);
  edit(key, [&](Value& object) { object.set("imagePullSecrets", names("b", nullptr)); });
  stage.run(Millis{3'000});
  EXPECT_EQ(member().find(key)["imagePullSecrets"], names("a", "b"));
}

}  // namespace
}  // namespace shiplog
