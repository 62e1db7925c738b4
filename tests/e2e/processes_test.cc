// A control plane of several processes that share only the journal's file.
#include <array>
#include <barrier>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/fleet.h"

namespace shiplog::e2e {
namespace {

const std::string kStoredMaps = "/api/v1/namespaces/default/configmaps";

class Processes : public ::testing::Test {
 protected:
  std::string journal() const { return "sqlite:" + fleet_.path("shared/journal.db"); }
  void serve(const std::string& name, const std::string& roles) {
    const bool api = roles.find("api") != std::string::npos;
    fleet_.serve(name, {"--roles=" + roles, "--journal=" + journal()}, api);
  }
  bool has_caught_up(const std::string& name) const {
    return fleet_.log_tail(name, 1 << 20).find("journal.caught_up") != std::string::npos;
  }

  Fleet fleet_;
  std::unique_ptr<ApiClient> api_;
};

TEST_F(Processes, RolesInSeparateProcessesDoWhatOneProcessDoes) {
  serve("plane", "api");
  serve("deciding", "binder,scheduler,quota,taint");
  serve("acting", "dispatcher,collector");
  serve("keeping", "lifecycle,control");
  api_ = std::make_unique<ApiClient>(fleet_.kubeconfig("plane"));
  for (const char* name : {"member1", "member2", "member3"}) fleet_.join(name);
  fleet_.kubectl_ok({"apply", "-f", SHIPLOG_EXAMPLES "/nginx"});
  expect_placed(*api_, "nginx", "member1:1 member2:2 member3:3");
  EXPECT_TRUE(fleet_.kubectl({"rollout", "status", "deployment/nginx", "--timeout=50s"}).ok());
  const Value replay = expect_replay_equals(fleet_, *api_, journal());
  EXPECT_GT(replay["decisions"].as_int(), 0);

  fleet_.kubectl_ok({"delete", "deployment", "nginx", "--timeout=50s"});
  EXPECT_TRUE(eventually(
      [&] { return fleet_.api("member2").get("/apis/apps/v1/namespaces/default/deployments/nginx").status == 404; }));
  expect_replay_equals(fleet_, *api_, journal());
  for (const char* name : {"plane", "deciding", "acting", "keeping"}) {
    EXPECT_EQ(fleet_.process(name).terminate(), 0) << name;
  }
}

TEST_F(Processes, StatusHasTheLeadersOfAllRolesAndTheQueuesOfItsOwnProcess) {
  serve("plane", "api,binder,lifecycle");
  serve("other", "scheduler,dispatcher,collector,quota,taint,control");
  api_ = std::make_unique<ApiClient>(fleet_.kubeconfig("plane"));
  fleet_.kubectl_ok({"create", "configmap", "games"});
  const auto status = [&] { return api_->get("/shiplog/v1/status").json; };
  const auto role = [&](const std::string& name) -> Value {
    const Value answer = status();
    for (const Value& each : answer["roles"].items()) {
      if (each["role"].as_string() == name) return each;
    }
    return {};
  };
  ASSERT_TRUE(eventually([&] { return role("binder")["here"].as_bool() && role("scheduler")["led"].as_bool(); }))
      << api_->get("/shiplog/v1/status");
  EXPECT_TRUE(role("binder")["queue"].is_object());
  EXPECT_EQ(role("binder")["holder"], status()["apiServer"]["identity"]);
  EXPECT_TRUE(role("scheduler")["queue"].is_null()) << "known only to the process that leads it";
  EXPECT_NE(role("scheduler")["holder"], role("binder")["holder"]);
  EXPECT_EQ(status()["journal"]["kind"].as_string(), "sqlite");
  EXPECT_GT(status()["journal"]["bytes"].as_int(), 0);
  EXPECT_GT(status()["projection"]["bytes"].as_int(), 0);
  EXPECT_GT(status()["state"]["objects"]["configmaps"].as_int(), 0);
  const Value state = api_->get("/shiplog/v1/state").json;
  EXPECT_EQ(status()["state"]["hash"].as_string().size(), state["stateHash"].as_string().size());

  fleet_.kill("other");
  ASSERT_TRUE(eventually([&] { return !role("scheduler")["led"].as_bool(true); }));
  const std::string text = fleet_.shiplogctl_ok({"status"});
  EXPECT_NE(text.find("does not answer"), std::string::npos) << text;
  EXPECT_NE(text.find("entries/s"), std::string::npos) << text;
  const Value document = json(fleet_.shiplogctl_ok({"status", "-o", "json"}));
  EXPECT_GT(document["counts"]["no-leader"].as_int(), 0);
  EXPECT_EQ(document["controlPlane"]["kind"].as_string(), "ControlPlaneStatus");
}

TEST_F(Processes, AStandbySchedulerReplacesAKilledOne) {
  serve("plane", "api,binder,lifecycle,collector,dispatcher");
  serve("first", "scheduler");
  api_ = std::make_unique<ApiClient>(fleet_.kubeconfig("plane"));
  ASSERT_TRUE(eventually([&] { return !leader(*api_, "scheduler").empty(); }));
  const std::string before = leader(*api_, "scheduler");
  serve("second", "scheduler");
  ASSERT_TRUE(eventually([&] { return has_caught_up("second"); }));
  for (const char* name : {"member1", "member2", "member3"}) fleet_.join(name);
  fleet_.kubectl_ok({"apply", "-f", SHIPLOG_EXAMPLES "/nginx"});
  expect_placed(*api_, "nginx", "member1:1 member2:2 member3:3");
  EXPECT_EQ(leader(*api_, "scheduler"), before);

  fleet_.kill("first");
  fleet_.kubectl_ok({"scale", "deployment", "nginx", "--replicas=12"});
  expect_placed(*api_, "nginx", "member1:2 member2:4 member3:6");
  EXPECT_NE(leader(*api_, "scheduler"), before);
  expect_replay_equals(fleet_, *api_, journal());
}

TEST_F(Processes, AWriteAcknowledgedByOneApiServerIsReadFromTheOther) {
  serve("plane", "api");
  serve("other", "api,lifecycle");
  const ApiClient first_server = fleet_.api("plane");
  const ApiClient second_server = fleet_.api("other");
  for (int number = 0; number < 50; ++number) {
    const std::string path = kStoredMaps + "/object-" + std::to_string(number);
    const ApiClient& writer = number % 2 == 0 ? first_server : second_server;
    const ApiClient& reader = number % 2 == 0 ? second_server : first_server;
    const Answer made = writer.post(
        kStoredMaps, Value::object({{"metadata", Value::object({{"name", "object-" + std::to_string(number)}})}}));
    ASSERT_EQ(made.status, 201) << made;
    const Answer read = reader.get(path);
    ASSERT_EQ(read.status, 200) << read;
    EXPECT_EQ(read.json, made.json);
    ASSERT_EQ(reader.get(kStoredMaps).json["items"].size(), static_cast<size_t>(number) + 1);
    // The same version, changed through both servers: the second write is a conflict.
    Value changed = read.json;
    changed.set("data", Value::object({{"by", "writer"}}));
    EXPECT_EQ(writer.put(path, changed).status, 200);
    changed.set("data", Value::object({{"by", "reader"}}));
    EXPECT_EQ(reader.put(path, changed).status, 409);
  }
}

TEST_F(Processes, TwoApiServersRegisterAMemberOnce_1_3_2) {
  serve("plane", "api");
  serve("other", "api,lifecycle");
  const std::string clusters = "/apis/cluster.karmada.io/v1alpha1/clusters";
  const std::vector<std::string> servers = {"plane", "other"};
  for (int round = 0; round < 30; ++round) {
    const std::string id = "id-" + std::to_string(round);
    // At the same moment, as far as threads can.
    std::barrier together{2};
    std::array<Answer, 2> answers;
    std::vector<std::thread> joining;
    for (size_t which = 0; which < servers.size(); ++which) {
      joining.emplace_back([&, which] {
        const ApiClient api = fleet_.api(servers[which]);
        const std::string name = servers[which] + "-" + std::to_string(round);
        const Value cluster = Value::object({{"metadata", Value::object({{"name", name}})},
                                             {"spec", Value::object({{"syncMode", "Pull"}, {"id", id}})}});
        api.get(clusters);  // the connection is there
        together.arrive_and_wait();
        answers[which] = api.post(clusters, cluster);
      });
    }
    for (std::thread& thread : joining) thread.join();
    const bool first = answers[0].status == 201;
    EXPECT_EQ(answers[first ? 0 : 1].status, 201) << answers[first ? 0 : 1];
    EXPECT_EQ(answers[first ? 1 : 0].status, 422) << answers[first ? 1 : 0];
    EXPECT_NE(answers[first ? 1 : 0].message().find("the member is registered as the cluster"), std::string::npos);
  }
  EXPECT_EQ(fleet_.api("other").get(clusters).json["items"].size(), 30U);
}

}  // namespace
}  // namespace shiplog::e2e
