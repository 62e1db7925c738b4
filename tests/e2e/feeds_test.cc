// Feeds over HTTP, as programs outside the fleet read them.
#include <thread>

#include <gtest/gtest.h>

#include "events/base/json.h"
#include "tests/support/feed_consumer.h"
#include "tests/support/fleet.h"

namespace shiplog::e2e {
namespace {

const std::string kMaps = "/api/v1/namespaces/default/configmaps";
constexpr int kRestarts = 3;
constexpr int kClients = 3;

/// Creates, changes and deletes ConfigMaps until the server is killed.
void churn(const ApiClient& api, int client, int round) {
  for (int step = 0;; ++step) {
    const std::string name =
        "map-" + std::to_string(client) + "-" + std::to_string(round) + "-" + std::to_string(step / 3);
    const Value map = Value::object({{"metadata", Value::object({{"name", name}})},
                                     {"data", Value::object({{"step", std::to_string(step)}, {"ratio", "1e3 ü"}})}});
    const Answer answer = step % 3 == 0   ? api.post(kMaps, map)
                          : step % 3 == 1 ? api.put(kMaps + "/" + name, map)
                                          : api.remove(kMaps + "/" + name);
    if (answer.status == 0) return;
  }
}

/// Takes what a feed has until the fleet's hash is reached: nothing is missing and nothing was there twice.
void expect_rebuilds(const ApiClient& api, test::FeedConsumer& consumer) {
  const Value state = api.get("/shiplog/v1/state").json;
  EXPECT_EQ(consumer.complete_to(), state["revision"].as_int());
  EXPECT_EQ(consumer.hash(), state["stateHash"].str());
}

TEST(Feeds, AConsumerThatResumesMissesAndRepeatsNothingThoughTheServerIsKilled) {
  Fleet fleet;
  test::FeedConsumer consumer;
  std::string after;
  const auto take_all = [&](const std::vector<Value>& events) {
    for (const Value& event : events) {
      EXPECT_TRUE(consumer.take(event)) << to_json(event) << " is there twice";
      EXPECT_LT(after, event["sequence"].str());
      after = event["sequence"].str();
    }
  };
  for (int round = 0; round < kRestarts; ++round) {
    fleet.serve("plane", {"--hash-every=50"});
    const ApiClient api = fleet.api();
    const auto feed = api.watch("/feeds/all" + (after.empty() ? "" : "?after=" + after));
    std::vector<std::thread> clients;
    for (int client = 0; client < kClients; ++client) clients.emplace_back([&, client] { churn(api, client, round); });
    EXPECT_TRUE(feed->wait_for(150));
    fleet.kill("plane");
    for (std::thread& client : clients) client.join();
    EXPECT_TRUE(eventually([&] { return feed->ended(); }));
    take_all(feed->events());
  }
  fleet.serve();
  const ApiClient api = fleet.api();
  const Value state = api.get("/shiplog/v1/state").json;
  const auto rest = api.watch("/feeds/all?follow=false&after=" + after);
  EXPECT_TRUE(eventually([&] { return rest->ended(); }));
  take_all(rest->events());
  expect_rebuilds(api, consumer);
  EXPECT_GT(consumer.of_type().at("io.shiplog.control.StateHashed.v1"), 2);

  // The example of the guide does the same with nothing but Python, and compares the content of every object.
  const std::string script = SHIPLOG_EXAMPLES "/feeds/rebuild.py";
  const std::vector<std::string> example = {
      "python3", "-B", script, "--kubeconfig", fleet.kubeconfig("plane"), "--store", fleet.path("rebuilt.json")};
  const Ran first = run(example, {{"HOME", fleet.path("home")}}, "", std::chrono::seconds{60});
  EXPECT_TRUE(first.says("equal to the fleet at revision ")) << first;
  fleet.kubectl_ok({"create", "configmap", "one-more"});
  const Ran again = run(example, {{"HOME", fleet.path("home")}}, "", std::chrono::seconds{60});
  EXPECT_TRUE(again.says("equal to the fleet at revision ")) << again;
  EXPECT_TRUE(again.says(", 1 events, ")) << again;
}

TEST(Feeds, NeedARightOfTheirOwnAndContainNoSecretNotEvenInAWork) {
  Fleet fleet;
  fleet.serve();
  const auto as_siem = [&](const std::string& path) { return fleet.kubectl({"get", "--raw", path, "--as=siem"}); };
  EXPECT_TRUE(as_siem("/feeds/api?follow=false").says("Forbidden"));
  // What a namespace's users have does not include it.
  fleet.kubectl_ok({"create", "clusterrolebinding", "siem-admin", "--clusterrole=admin", "--user=siem"});
  EXPECT_TRUE(as_siem("/feeds/api?follow=false").says("Forbidden"));
  fleet.kubectl_ok({"create", "clusterrolebinding", "siem", "--clusterrole=shiplog:feed-reader", "--user=siem"});
  EXPECT_TRUE(as_siem("/feeds/api?follow=false").ok());
  EXPECT_TRUE(as_siem("/feeds/schemas/ObjectCreated.json").ok());
  EXPECT_FALSE(as_siem("/shiplog/v1/state").ok());

  fleet.join("member1");
  fleet.kubectl_ok({"apply", "-f", "-"}, R"(apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: login}
spec:
  resourceSelectors: [{apiVersion: v1, kind: Secret}]
  placement: {clusterAffinity: {clusterNames: [member1]}}
---
apiVersion: v1
kind: Secret
metadata: {name: login}
stringData: {password: hunter2-was-here}
)");
  const std::string secret = "/api/v1/namespaces/default/secrets/login";
  EXPECT_TRUE(eventually([&] { return fleet.api("member1").get(secret).status == 200; }));
  fleet.kubectl_ok({"patch", "secret", "login", "-p", R"({"stringData":{"password":"hunter3-was-here"}})"});
  EXPECT_TRUE(eventually(
      [&] { return fleet.api("member1").get(secret).json["data"]["password"].str() == "aHVudGVyMy13YXMtaGVyZQ=="; }));
  const ApiClient api = fleet.api();
  const auto feed = api.watch("/feeds/all?follow=false");
  EXPECT_TRUE(eventually([&] { return feed->ended(); }));
  test::FeedConsumer consumer;
  std::map<std::string, int> redacted;
  for (const Value& event : feed->events()) {
    consumer.take(event);
    const std::string text = to_json(event);
    for (const char* payload : {"hunter2", "hunter3", "aHVudGVy", "shiplog:sealed"}) {
      EXPECT_EQ(text.find(payload), std::string::npos) << text;
    }
    const Value& change = event["data"]["change"];
    if (change["redacted"].as_bool()) ++redacted[change["type"].str()];
  }
  EXPECT_GE(redacted["secrets"], 2);
  EXPECT_GE(redacted["works.work.karmada.io"], 2);
  EXPECT_EQ(consumer.hash().size(), 32U);
  EXPECT_EQ(consumer.complete_to() > 0, true) << "what was left out of an object does not hide that it changed";
}

}  // namespace
}  // namespace shiplog::e2e
