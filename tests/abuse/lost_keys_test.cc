// The keys of Secrets are lost: this is reported, no Secret is returned empty, and no empty Secret reaches a member.
#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "events/sqlite/connection.h"
#include "tests/support/fleet.h"
#include "tests/support/stored_text.h"

namespace shiplog::e2e {
namespace {

const std::string kSecrets = "/api/v1/namespaces/default/secrets";
const std::string kEncoded = "aHVudGVyMg==";

Value secret(const std::string& name, const std::string& encoded = kEncoded) {
  return json(R"({"apiVersion":"v1","kind":"Secret","metadata":{"name":")" + name + R"("},"data":{"word":")" + encoded +
              R"("}})");
}

class LostKeys : public ::testing::Test {
 protected:
  void SetUp() override { start(); }
  void start() {
    fleet_.serve();
    ASSERT_TRUE(eventually([&] { return fleet_.api().get("/api/v1/namespaces/default").status == 200; }));
  }
  void stop() { ASSERT_EQ(fleet_.process("plane").terminate(), 0) << fleet_.log_tail("plane"); }
  std::string file(const std::string& name) const { return fleet_.path("plane/" + name); }
  void remove_keys() {
    for (const char* name : {"keys.db", "keys.db-wal", "keys.db-shm"}) std::filesystem::remove(file(name));
  }
  bool appears_in_log(const std::string& text) {
    return eventually([&] { return read_file(fleet_.path("plane.log")).find(text) != std::string::npos; });
  }
  /// A Secret "spread" and a policy that propagates it to m1.
  void propagate_secret() {
    const ApiClient api = fleet_.api();
    ASSERT_EQ(api.post(kSecrets, secret("spread")).status, 201);
    ASSERT_EQ(api.post("/apis/policy.karmada.io/v1alpha1/namespaces/default/propagationpolicies",
                       json(R"({"metadata":{"name":"spread"},
        "spec":{"resourceSelectors":[{"apiVersion":"v1","kind":"Secret","name":"spread"}],
        "placement":{"clusterAffinity":{"clusterNames":["m1"]}}}})"))
                  .status,
              201);
  }

  Fleet fleet_;
};

void expect_lost(const Answer& answer, const std::string& name) {
  EXPECT_EQ(answer.status, 500) << answer;
  EXPECT_EQ(answer.reason(), "InternalError") << answer;
  EXPECT_NE(answer.message().find("Secret default/" + name + " cannot be read: its key is missing"), std::string::npos)
      << answer;
}

TEST_F(LostKeys, ASecretWithoutItsKeyIsAnErrorAndCanBeReplacedOrDeleted) {
  ASSERT_EQ(fleet_.api().post(kSecrets, secret("replaced")).status, 201);
  ASSERT_EQ(fleet_.api().post(kSecrets, secret("removed")).status, 201);
  const std::string revision = fleet_.api().get(kSecrets).json["metadata"]["resourceVersion"].str();
  stop();
  remove_keys();
  start();
  const ApiClient api = fleet_.api();
  expect_lost(api.get(kSecrets + "/replaced"), "replaced");
  expect_lost(api.get(kSecrets), "removed");
  expect_lost(api.get(kSecrets + "?resourceVersion=" + revision + "&resourceVersionMatch=Exact"), "removed");
  expect_lost(api.patch(kSecrets + "/replaced", "merge", json(R"({"metadata":{"labels":{"a":"b"}}})")), "replaced");
  const auto watch = api.watch(kSecrets + "?watch=true");
  ASSERT_TRUE(watch->wait_for(1));
  EXPECT_EQ(watch->events()[0]["type"].str(), "ERROR");
  EXPECT_TRUE(appears_in_log("event=vault.key_lost object=secrets/default/replaced"));
  EXPECT_TRUE(appears_in_log("event=vault.key_lost object=secrets/default/removed"));
  EXPECT_NE(api.get("/metrics").body.find("shiplog_objects_without_key 2"), std::string::npos);
  EXPECT_TRUE(eventually(
      [&] { return api.get("/api/v1/namespaces/default/events").body.find("\"KeyLost\"") != std::string::npos; }));

  // Ways to recover.
  const Answer put = api.put(kSecrets + "/replaced", secret("replaced", "YW5ldw=="));
  EXPECT_EQ(put.status, 200) << put;
  EXPECT_EQ(api.get(kSecrets + "/replaced").json["data"]["word"].str(), "YW5ldw==");
  EXPECT_EQ(api.remove(kSecrets + "/removed").status, 200);
  EXPECT_EQ(api.get(kSecrets).status, 200);
  EXPECT_TRUE(
      eventually([&] { return api.get("/metrics").body.find("shiplog_objects_without_key 0") != std::string::npos; }));
}

TEST_F(LostKeys, NoEmptySecretReachesAMemberAndTheWorkReportsTheCause) {
  fleet_.join("m1");
  propagate_secret();
  const ApiClient member = fleet_.api("m1");
  const auto on_member = [&] { return member.get(kSecrets + "/spread").json["data"]["word"].str(); };
  ASSERT_TRUE(eventually([&] { return on_member() == kEncoded; })) << member.get(kSecrets + "/spread");
  stop();
  {
    auto keys = sqlite::Connection::open(file("keys.db"), {});
    ASSERT_TRUE(keys.has_value());
    ASSERT_TRUE(keys.value()->execute("DELETE FROM key WHERE object = 'secrets/default/spread'").has_value());
  }
  start();
  // A Secret that is removed in the member is normally restored; without its key it cannot be.
  ASSERT_EQ(member.remove(kSecrets + "/spread").status, 200);
  const ApiClient again = fleet_.api();
  const std::string works = "/apis/work.karmada.io/v1alpha1/namespaces/karmada-es-m1/works";
  const std::string bindings = "/apis/work.karmada.io/v1alpha2/namespaces/default/resourcebindings";
  for (const std::string& where : {works, bindings}) {
    EXPECT_TRUE(eventually([&] { return again.get(where).body.find("its key is missing") != std::string::npos; }))
        << again.get(where);
  }
  EXPECT_EQ(member.get(kSecrets + "/spread").status, 404) << "no empty Secret either";
  EXPECT_EQ(again.put(kSecrets + "/spread", secret("spread", "YW5ldw==")).status, 200);
  EXPECT_TRUE(eventually([&] { return on_member() == "YW5ldw=="; })) << "it is propagated when it is written again";
}

TEST_F(LostKeys, AClusterReportsLostCredentials) {
  fleet_.join("m1");
  stop();
  remove_keys();
  start();
  const std::string cluster = "/apis/cluster.karmada.io/v1alpha1/clusters/m1";
  const ApiClient api = fleet_.api();
  EXPECT_TRUE(eventually([&] { return api.get(cluster).body.find("its key is missing") != std::string::npos; }))
      << api.get(cluster);
}

TEST_F(LostKeys, SecretsInAWorkStaySealedWhenAClientWritesTheWork) {
  fleet_.join("m1");
  propagate_secret();
  const ApiClient api = fleet_.api();
  const std::string works = "/apis/work.karmada.io/v1alpha1/namespaces/karmada-es-m1/works";
  std::string name;
  ASSERT_TRUE(eventually([&] {
    const Answer listed = api.get(works);
    for (const Value& work : listed.json["items"].items()) {
      if (work["spec"]["workload"]["manifests"][0]["kind"].as_string() == "Secret")
        name = work["metadata"]["name"].str();
    }
    return !name.empty();
  }));
  const auto noted = [&] {
    return api.patch(works + "/" + name, "merge", json(R"({"metadata":{"labels":{"seen":"yes"}}})")).status == 200;
  };
  EXPECT_TRUE(eventually(noted));
  EXPECT_EQ(api.get(works + "/" + name).json["spec"]["workload"]["manifests"][0]["data"]["word"].str(), kEncoded);
  for (const char* journal : {"journal.db", "journal.db-wal", "projection.db", "projection.db-wal"}) {
    EXPECT_EQ(stored_text(file(journal)).find(kEncoded), std::string::npos) << journal;
  }
}

TEST_F(LostKeys, ARemovedKeyStoreIsDetectedAndRestoredWhileTheProcessRuns) {
  const ApiClient api = fleet_.api();
  ASSERT_EQ(api.post(kSecrets, secret("kept")).status, 201);
  remove_keys();
  EXPECT_TRUE(appears_in_log("event=vault.key_restored object=secrets/default/kept"));
  EXPECT_EQ(api.get(kSecrets + "/kept").json["data"]["word"].str(), kEncoded);
  stop();
  start();
  EXPECT_EQ(fleet_.api().get(kSecrets + "/kept").json["data"]["word"].str(), kEncoded) << "also after a restart";
}

TEST_F(LostKeys, WithoutTheFleetsKeyTheProcessDoesNotStart) {
  ASSERT_EQ(fleet_.api().post(kSecrets, secret("kept")).status, 201);
  stop();
  std::filesystem::rename(file("fleet.key"), file("elsewhere"));
  for (const bool another : {false, true}) {
    if (another) write_file(file("fleet.key"), std::string(32, 'k'));
    fleet_.serve("plane", {}, false);
    EXPECT_TRUE(eventually([&] { return !fleet_.process("plane").running(); }));
    EXPECT_TRUE(appears_in_log(another ? "is not the key that wrapped those in" : "restore fleet.key from a backup"));
  }
  std::filesystem::rename(file("elsewhere"), file("fleet.key"));
  start();
  EXPECT_EQ(fleet_.api().get(kSecrets + "/kept").json["data"]["word"].str(), kEncoded);
}

TEST_F(LostKeys, ACopyOfSealedTextIsNotOpenedForItsWriter) {
  const ApiClient api = fleet_.api();
  ASSERT_EQ(api.post(kSecrets, secret("victim")).status, 201);
  const std::string history = api.get("/shiplog/v1/history?kind=secret&name=victim").body;
  const size_t position = history.find("shiplog:sealed:v1:");
  const std::string sealed = position == std::string::npos
                                 ? "shiplog:sealed:v1:00:AAAA"
                                 : history.substr(position, history.find('"', position) - position);
  const Answer refused = api.post(
      "/api/v1/namespaces/default/configmaps",
      Value::object({{"metadata", Value::object({{"name", "thief"}})}, {"data", Value::object({{"stolen", sealed}})}}));
  EXPECT_EQ(refused.status, 422) << refused;
  EXPECT_EQ(refused.body.find(kEncoded), std::string::npos);
}

}  // namespace
}  // namespace shiplog::e2e
