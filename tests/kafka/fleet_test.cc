// A control plane whose roles are processes that share nothing but topics of a real broker, and the folder of keys.
#include "tests/support/fleet.h"

#include <gtest/gtest.h>

#include "tests/kafka/cluster.h"

namespace shiplog::e2e {
namespace {

class OnKafka : public ::testing::Test {
 protected:
  std::string journal() const { return "kafka:" + kafka_test::shared_cluster().bootstrap() + "/" + name_; }
  void serve(const std::string& name, const std::string& roles) {
    const bool api = roles.find("api") != std::string::npos;
    fleet_.serve(name, {"--roles=" + roles, "--journal=" + journal(), "--keys-dir=" + fleet_.path("keys")}, api);
    if (!api) {
      EXPECT_TRUE(eventually([&] { return log_of(name).find("journal.caught_up") != std::string::npos; })) << name;
    }
  }
  std::string log_of(const std::string& name) const { return fleet_.log_tail(name, 1 << 20); }
  std::string placed(const std::string& deployment) {
    const Value binding =
        api_->get("/apis/work.karmada.io/v1alpha2/namespaces/default/resourcebindings/" + deployment + "-deployment")
            .json;
    std::string clusters;
    for (const Value& target : binding["spec"]["clusters"].items()) {
      clusters += target["name"].str() + ":" + std::to_string(target["replicas"].as_int()) + " ";
    }
    return clusters;
  }
  std::string leader(const std::string& service) const {
    return api_->get("/shiplog/v1/state").json["leases"][service]["holder"].str();
  }
  /// The server's state is what the topic folds to, and every recorded decision comes out the same again.
  void expect_replay_equals() {
    Value state, replay;
    EXPECT_TRUE(eventually([&] {
      state = api_->get("/shiplog/v1/state").json;
      const Ran ran = fleet_.shiplogctl({"replay", "--verify", "--journal=" + journal(), "-o", "json"});
      EXPECT_TRUE(ran.ok()) << ran;
      replay = ran.ok() ? json(ran.out) : Value{};
      return HasFailure() || api_->get("/shiplog/v1/state").json["nextOffset"] == state["nextOffset"];
    })) << "the journal never comes to rest";
    EXPECT_EQ(replay["revision"], state["revision"]);
    EXPECT_EQ(replay["stateHash"].str(), state["stateHash"].str());
    EXPECT_EQ(replay["differences"].as_int(-1), 0);
    EXPECT_GT(replay["decisions"].as_int(), 0);
  }

  std::string name_ = kafka_test::new_fleet();
  Fleet fleet_;
  std::unique_ptr<ApiClient> api_;
};

TEST_F(OnKafka, RolesInSeparateProcessesOutliveAKilledSchedulerAndAKilledBroker) {
  serve("plane", "api");
  serve("deciding", "binder,quota,taint");
  serve("first", "scheduler");
  serve("acting", "dispatcher,collector,lifecycle,control");
  api_ = std::make_unique<ApiClient>(fleet_.kubeconfig("plane"));
  for (const char* name : {"member1", "member2", "member3"}) fleet_.join(name);
  fleet_.kubectl_ok({"apply", "-f", SHIPLOG_EXAMPLES "/nginx"});
  EXPECT_TRUE(eventually([&] { return placed("nginx") == "member1:1 member2:2 member3:3 "; })) << placed("nginx");
  EXPECT_TRUE(fleet_.kubectl({"rollout", "status", "deployment/nginx", "--timeout=50s"}).ok());
  expect_replay_equals();

  const std::string before = leader("scheduler");
  serve("second", "scheduler");
  EXPECT_EQ(leader("scheduler"), before);
  fleet_.kill("first");
  fleet_.kubectl_ok({"scale", "deployment", "nginx", "--replicas=12"});
  EXPECT_TRUE(eventually([&] { return placed("nginx") == "member1:2 member2:4 member3:6 "; })) << placed("nginx");
  EXPECT_NE(leader("scheduler"), before);

  kafka_test::shared_cluster().kill(0);
  kafka_test::shared_cluster().start(0);
  kafka_test::shared_cluster().wait_ready(1);
  EXPECT_TRUE(eventually([&] { return fleet_.kubectl({"scale", "deployment", "nginx", "--replicas=6"}).ok(); }));
  EXPECT_TRUE(eventually([&] { return placed("nginx") == "member1:1 member2:2 member3:3 "; })) << placed("nginx");
  expect_replay_equals();
  for (const char* name : {"plane", "deciding", "second", "acting"}) {
    EXPECT_EQ(fleet_.process(name).terminate(), 0) << name;
  }
}

TEST_F(OnKafka, AProcessWithAKeyStoreOfItsOwnStopsAndSaysWhy) {
  serve("plane", "api");
  api_ = std::make_unique<ApiClient>(fleet_.kubeconfig("plane"));
  fleet_.serve("stranger", {"--roles=dispatcher", "--journal=" + journal()}, false);
  EXPECT_TRUE(eventually([&] { return !fleet_.process("stranger").running(); }));
  EXPECT_NE(log_of("stranger").find("give all processes of a fleet the same --keys-dir"), std::string::npos)
      << log_of("stranger");
  EXPECT_TRUE(fleet_.process("plane").running()) << "who was there first stays";
}

}  // namespace
}  // namespace shiplog::e2e
