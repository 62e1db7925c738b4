#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>

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
  EXPECT_FALSE(healths.contains("Unknown")) << "only a retained field has changed";
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

TEST_F(CollectorEdits, ThatAddSomethingAreReverted_E_13_E_15) {
  place(map_key, map);
  const Value web = deployment("default", "web", 2);
  const ObjectKey web_key{"deployments.apps", "default", "web"};
  place(web_key, web);
  const Value written = member().find(web_key)["spec"];
  edit(map_key, [](Value& object) { object.edit("data").set("extra", "1"); });
  edit(web_key, [](Value& object) {
    object.edit("spec").set("paused", true);
    Value& pod = object.edit("spec").edit("template").edit("spec");
    pod.set("hostNetwork", true);
    pod.edit("containers").edit_items()[0].set("command", Value::array({"evil"}));
  });
  stage.run(Millis{1'000});
  EXPECT_EQ(data(), Value::object({{"text", "x"}}));
  EXPECT_EQ(member().find(web_key)["spec"], written);
  const auto health = [&](const Value& object) {
    return stage.state().value_of(work_key("m1", object))["status"]["manifestStatuses"][0]["health"];
  };
  EXPECT_EQ(health(map), Value{"Healthy"});
  EXPECT_EQ(health(web), Value{"Healthy"});
}

// Defaulting of the member, on each write.
TEST_F(CollectorEdits, AreNoneThatTheMembersServerMakesWithEachWrite_E_14) {
  member().on_write = [](Value& object) {
    if (object["kind"].as_string() == "ConfigMap") object.edit("data").set("defaulted", "yes");
  };
  place(map_key, map);
  stage.members().log.clear();
  stage.run(Millis{60'000});
  EXPECT_EQ(stage.members().count("PUT"), 0U);
  edit(map_key, [](Value& object) { object.edit("data").set("extra", "1"); });
  edit(map_key, [](Value& object) { object.edit("metadata").edit("labels").set("own", "1"); });
  stage.run(Millis{60'000});
  EXPECT_EQ(data(), Value::object({{"text", "x"}, {"defaulted", "yes"}}));
  EXPECT_EQ(label_of(member().find(map_key), "own"), "1");
  EXPECT_LE(stage.members().count("PUT"), 2U);
}

TEST_F(CollectorEdits, AreNoneThatGiveAServiceItsAddressesLate_E_14) {
  const ObjectKey key{"services", "default", "front"};
  place(key,
        Value::object({{"apiVersion", "v1"},
                       {"kind", "Service"},
                       {"metadata", Value::object({{"name", "front"}, {"namespace", "default"}, {"uid", "u-front"}})},
                       {"spec", Value::object({{"type", "ClusterIP"}})}}));
  ASSERT_FALSE(member().find(key).is_null());
  stage.members().log.clear();
  edit(key, [](Value& object) {
    object.edit("spec").set("clusterIP", "10.0.0.1");
    object.edit("spec").set("clusterIPs", Value::array({"10.0.0.1"}));
  });
  stage.run(Millis{3'000});
  EXPECT_EQ(stage.members().count("PUT"), 0U);
  edit(key, [](Value& object) { object.edit("spec").set("externalIPs", Value::array({"192.0.2.1"})); });
  stage.run(Millis{3'000});
  EXPECT_FALSE(member().find(key)["spec"].contains("externalIPs"));
}

// One that injects certificates into what it finds, for example.
TEST_F(CollectorEdits, OfAControllerThatRepeatsThemAreLeftInTheEnd) {
  member().on_write = [&](Value& object) {
    if (object["kind"].as_string() != "ConfigMap" || object["data"].contains("injected")) return;
    stage.after(Millis{20}, [&] {
      if (!member().find(map_key).is_null()) {
        edit(map_key, [](Value& found) { found.edit("data").set("injected", "certificate"); });
      }
    });
  };
  place(map_key, map);
  stage.run(Millis{60'000});
  EXPECT_TRUE(data().contains("injected"));
  EXPECT_EQ(stage.members().count("PUT"), 3U);
  const auto health = [&] {
    return stage.state().value_of(work_key("m1", map))["status"]["manifestStatuses"][0]["health"];
  };
  EXPECT_EQ(health(), Value{"Healthy"});
  // What else is added is reverted all the same.
  stage.run(Millis{300'000});
  edit(map_key, [](Value& object) { object.edit("data").set("extra", "1"); });
  stage.run(Millis{600'000});
  EXPECT_FALSE(data().contains("extra"));
  EXPECT_TRUE(data().contains("injected"));
  const size_t writes = stage.members().count("PUT");
  stage.run(Millis{3'600'000});
  EXPECT_EQ(stage.members().count("PUT"), writes);
  EXPECT_EQ(health(), Value{"Healthy"});
}

/// Members whose server does not permit updates that leave out a field.
class MembersThatKeep final : public Members {
 public:
  MembersThatKeep(Members& members, std::string field) : members_{members}, field_{std::move(field)} {}
  void request(const std::string& cluster, MemberRequest request,
               std::function<void(Result<MemberResponse>)> done) override {
    const bool refused = request.method == "PUT" && !request.body["data"].contains(field_);
    if (refused) request.method = "GET";
    members_.request(cluster, std::move(request), [refused, done = std::move(done)](Result<MemberResponse> response) {
      done(refused ? Result<MemberResponse>{MemberResponse{422, Value::object({{"message", "field is immutable"}})}}
                   : std::move(response));
    });
  }
  std::unique_ptr<MemberWatch> watch(const std::string& cluster, std::string path,
                                     std::function<void(const Value&)> on_event,
                                     std::function<void(Result<void>)> on_end) override {
    return members_.watch(cluster, std::move(path), std::move(on_event), std::move(on_end));
  }

 private:
  Members& members_;
  const std::string field_;
};

// The default storage class of a claim, for example, which is filled in late.
TEST_F(CollectorEdits, ThatTheMemberDoesNotPermitToRevertAreLeft) {
  place(map_key, map);
  MembersThatKeep keeping{stage.members(), "immutable"};
  stage.stop("dispatcher");
  stage.add(make_dispatcher_role(keeping));
  edit(map_key, [](Value& object) { object.edit("data").set("immutable", "yes"); });
  stage.run(Millis{5'000});
  const auto work = [&] { return stage.state().value_of(work_key("m1", map)); };
  EXPECT_TRUE(applied(work()));
  EXPECT_EQ(work()["status"]["manifestStatuses"][0]["health"], Value{"Healthy"});
  const size_t writes = stage.members().count("PUT");
  stage.run(Millis{3'600'000});
  EXPECT_EQ(stage.members().count("PUT"), writes);
  EXPECT_TRUE(data().contains("immutable"));
  stage.stop("dispatcher");
}

}  // namespace
}  // namespace shiplog
