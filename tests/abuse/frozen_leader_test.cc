// A frozen leader (SIGSTOP) keeps its locks but loses its role: another process becomes leader as after a kill, and the
// frozen process does no harm when it continues.
#include <atomic>
#include <chrono>
#include <memory>
#include <random>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "tests/support/fleet.h"

namespace shiplog::e2e {
namespace {

const std::string kPolicies = "/apis/policy.karmada.io/v1alpha1/namespaces/default/propagationpolicies";
const std::string kConfigMaps = "/api/v1/namespaces/default/configmaps";
const std::string kBindings = "/apis/work.karmada.io/v1alpha2/namespaces/default/resourcebindings/";

class FrozenLeader : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string journal = "--journal=sqlite:" + fleet_.path("shared/journal.db");
    fleet_.serve("first", {journal});
    ASSERT_TRUE(eventually([&] { return fleet_.api("first").get("/api/v1/namespaces/default").status == 200; }));
    fleet_.serve("second", {journal});
    ASSERT_TRUE(eventually([&] { return fleet_.api("second").get("/api/v1/namespaces/default").status == 200; }));
  }
  pid_t pid(const std::string& name) { return fleet_.process(name).pid(); }

  Fleet fleet_;
};

TEST_F(FrozenLeader, IsReplacedAndDoesNoHarmWhenItContinues) {
  ASSERT_TRUE(eventually([&] { return !leader(fleet_.api("second"), "binder").empty(); }));
  const std::string before = leader(fleet_.api("second"), "binder");
  ASSERT_TRUE(before.find(std::to_string(pid("first"))) != std::string::npos) << before;
  // Frozen under load: it may be in the middle of a commit and keep the journal locked.
  std::atomic<bool> stopped{false};
  std::thread load{[&, client = std::make_unique<ApiClient>(fleet_.kubeconfig("first"))] {
    while (!stopped) {
      client->call("POST", kConfigMaps, R"({"metadata":{"generateName":"load-"}})",
                   {{"Content-Type", "application/json"}}, std::chrono::milliseconds{500});
    }
  }};
  std::this_thread::sleep_for(std::chrono::milliseconds{200 + std::random_device{}() % 50});
  EXPECT_TRUE(fleet_.process("first").freeze());
  stopped = true;
  load.join();
  const ApiClient api = fleet_.api("second");
  EXPECT_TRUE(eventually([&] { return leader(api, "binder") != before; })) << fleet_.log_tail("second");
  // Propagation continues.
  ASSERT_EQ(api.post(kPolicies, json(R"({"metadata":{"name":"all"},
      "spec":{"resourceSelectors":[{"apiVersion":"v1","kind":"ConfigMap","name":"after"}],"placement":{}}})"))
                .status,
            201);
  ASSERT_EQ(api.post(kConfigMaps, json(R"({"metadata":{"name":"after"}})")).status, 201);
  EXPECT_TRUE(eventually([&] { return api.get(kBindings + "after-configmap").status == 200; }));
  const std::string new_leader = leader(api, "binder");

  if (!fleet_.process("first").running()) {
    EXPECT_NE(read_file(fleet_.path("second.log")).find("event=journal.killed_frozen_writer"), std::string::npos)
        << "it was killed only because it kept the journal locked";
    return;
  }
  fleet_.process("first").thaw();
  EXPECT_TRUE(eventually([&] {
    return read_file(fleet_.path("first.log")).find("event=lease.lost service=binder") != std::string::npos ||
           read_file(fleet_.path("first.log")).find("event=lease.released service=binder") != std::string::npos;
  })) << fleet_.log_tail("first");
  // It follows the journal again, and its responses include what happened meanwhile.
  EXPECT_EQ(fleet_.api("first").get(kBindings + "after-configmap").status, 200);
  ASSERT_EQ(fleet_.api("first").post(kConfigMaps, json(R"({"metadata":{"name":"later"}})")).status, 201);
  EXPECT_EQ(leader(api, "binder"), new_leader) << "the new leader stays";
  fleet_.kill("second");
  EXPECT_TRUE(eventually([&] { return leader(fleet_.api("first"), "binder") != new_leader; }))
      << "it is a candidate again";
  expect_replay_equals(fleet_, fleet_.api("first"), "sqlite:" + fleet_.path("shared/journal.db"));
}

}  // namespace
}  // namespace shiplog::e2e
