// A control plane whose roles are processes that share only topics of a real broker and, for some roles, the fleet key.
#include "tests/support/fleet.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <future>
#include <map>

#include <gtest/gtest.h>

#include "tests/journal_contract/journal_contract.h"
#include "tests/kafka/cluster.h"

namespace shiplog {
// Only the functions of the contract that append and read are used here.
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(JournalContract);
}  // namespace shiplog

namespace shiplog::e2e {
namespace {

class OnKafka : public ::testing::Test {
 protected:
  std::string journal() const { return "kafka:" + kafka_test::shared_cluster().bootstrap() + "/" + name_; }
  void serve(const std::string& name, const std::string& roles) {
    const bool api = roles.find("api") != std::string::npos;
    fleet_.serve(name, {"--roles=" + roles, "--journal=" + journal(), "--keys-dir=" + keys_of(name)}, api);
    if (!api) {
      EXPECT_TRUE(eventually([&] { return log_of(name).find("journal.caught_up") != std::string::npos; })) << name;
    }
  }
  std::string keys_of(const std::string& name) const { return fleet_.path(name + "-keys"); }
  /// Copies the fleet key, like an operator to another machine.
  void copy_fleet_key(const std::string& from, const std::string& to) const {
    std::filesystem::create_directories(keys_of(to));
    std::filesystem::copy_file(keys_of(from) + "/fleet.key", keys_of(to) + "/fleet.key");
  }
  std::string log_of(const std::string& name) const { return fleet_.log_tail(name, 1 << 20); }
  void expect_decisions_and_their_replay() {
    EXPECT_GT(expect_replay_equals(fleet_, *api_, journal())["decisions"].as_int(), 0);
  }

  std::string name_ = kafka_test::new_fleet();
  Fleet fleet_;
  std::unique_ptr<ApiClient> api_;
};

TEST_F(OnKafka, RolesInSeparateProcessesSurviveAKilledSchedulerAndAKilledBroker) {
  serve("plane", "api");
  serve("deciding", "binder,quota,taint");
  serve("first", "scheduler");
  EXPECT_FALSE(std::filesystem::exists(keys_of("first") + "/fleet.key"))
      << "a process that opens no Secret needs no key";
  copy_fleet_key("plane", "acting");
  serve("acting", "dispatcher,collector,lifecycle,control");
  api_ = std::make_unique<ApiClient>(fleet_.kubeconfig("plane"));
  for (const char* name : {"member1", "member2", "member3"}) fleet_.join(name);
  fleet_.kubectl_ok({"apply", "-f", SHIPLOG_EXAMPLES "/nginx"});
  expect_placed(*api_, "nginx", "member1:1 member2:2 member3:3");
  EXPECT_TRUE(fleet_.kubectl({"rollout", "status", "deployment/nginx", "--timeout=50s"}).ok());
  expect_decisions_and_their_replay();

  const std::string before = leader(*api_, "scheduler");
  serve("second", "scheduler");
  EXPECT_EQ(leader(*api_, "scheduler"), before);
  fleet_.kill("first");
  fleet_.kubectl_ok({"scale", "deployment", "nginx", "--replicas=12"});
  expect_placed(*api_, "nginx", "member1:2 member2:4 member3:6");
  EXPECT_NE(leader(*api_, "scheduler"), before);

  kafka_test::shared_cluster().kill(0);
  kafka_test::shared_cluster().start(0);
  fleet_.kubectl_ok({"scale", "deployment", "nginx", "--replicas=6"});
  expect_placed(*api_, "nginx", "member1:1 member2:2 member3:3");
  expect_decisions_and_their_replay();
  for (const char* name : {"plane", "deciding", "second", "acting"}) {
    EXPECT_EQ(fleet_.process(name).terminate(), 0) << name;
  }
}

TEST_F(OnKafka, ReadsWaitForAFrozenBrokerAndHoldUpNoOtherRequest) {
  serve("plane", "api");
  api_ = std::make_unique<ApiClient>(fleet_.kubeconfig("plane"));
  EXPECT_EQ(api_->get("/api/v1/namespaces/default").status, 200);
  std::vector<std::unique_ptr<ApiClient>> clients(16);  // more than the server has threads
  for (auto& client : clients) client = std::make_unique<ApiClient>(fleet_.kubeconfig("plane"));
  ASSERT_TRUE(kafka_test::shared_cluster().freeze(0));
  std::vector<std::future<int>> reads;
  for (const auto& client : clients) {
    reads.push_back(std::async(std::launch::async, [&] { return client->get("/api/v1/namespaces/default").status; }));
  }
  // All of them are there, and wait; `/metrics` is answered meanwhile, and counts itself.
  EXPECT_TRUE(eventually([&] {
    return api_->get("/metrics").body.find("apiserver_current_inflight_requests{request_kind=\"readOnly\"} 17\n") !=
           std::string::npos;
  }));
  kafka_test::shared_cluster().thaw(0);
  for (auto& read : reads) EXPECT_EQ(read.get(), 200);
}

TEST_F(OnKafka, WaitingForAFrozenBrokerAUserHoldsNoMoreThanItsShareOfTheRequests) {
  fleet_.serve("plane", {"--roles=api", "--journal=" + journal(), "--keys-dir=" + keys_of("plane"),
                         "--max-requests-inflight=8"});
  api_ = std::make_unique<ApiClient>(fleet_.kubeconfig("plane"));
  const Answer bound = api_->post("/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", json(R"({
      "metadata":{"name":"readers"},
      "roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"cluster-admin"},
      "subjects":[{"apiGroup":"rbac.authorization.k8s.io","kind":"User","name":"flood"},
                  {"apiGroup":"rbac.authorization.k8s.io","kind":"User","name":"alice"}]})"));
  ASSERT_EQ(bound.status, 201) << bound;
  std::vector<std::unique_ptr<ApiClient>> clients(10);
  for (auto& client : clients) client = std::make_unique<ApiClient>(fleet_.kubeconfig("plane"));
  const auto read_as = [&](const ApiClient& client, const char* user) {
    return std::async(std::launch::async, [&client, user] {
      return client.call("GET", "/api/v1/namespaces/default", {}, {{"Impersonate-User", user}}).status;
    });
  };
  const auto answered = [](const std::vector<std::future<int>>& reads) {
    return std::ranges::count_if(
        reads, [](const auto& read) { return read.wait_for(std::chrono::seconds{0}) == std::future_status::ready; });
  };
  EXPECT_EQ(read_as(*clients[0], "flood").get(), 200);
  ASSERT_TRUE(kafka_test::shared_cluster().freeze(0));
  std::vector<std::future<int>> reads;
  for (const auto& client : clients) reads.push_back(read_as(*client, "flood"));
  EXPECT_TRUE(eventually([&] { return answered(reads) == 6; })) << answered(reads);
  const ApiClient own{fleet_.kubeconfig("plane")};
  std::future<int> of_another = read_as(own, "alice");
  EXPECT_EQ(api_->get("/metrics").status, 200);
  EXPECT_EQ(answered(reads), 6) << "half of the eight wait";
  kafka_test::shared_cluster().thaw(0);
  std::map<int, int> statuses;
  for (auto& read : reads) ++statuses[read.get()];
  EXPECT_EQ(statuses, (std::map<int, int>{{200, 4}, {429, 6}}));
  EXPECT_EQ(of_another.get(), 200);
}

TEST_F(OnKafka, AProcessWithoutTheFleetKeyDoesNotStartAndNamesTheFileToCopy) {
  serve("plane", "api");
  fleet_.serve("stranger", {"--roles=dispatcher", "--journal=" + journal(), "--keys-dir=" + keys_of("stranger")},
               false);
  EXPECT_TRUE(eventually([&] { return !fleet_.process("stranger").running(); }));
  EXPECT_NE(log_of("stranger").find("copy fleet.key"), std::string::npos) << log_of("stranger");
}

TEST_F(OnKafka, ASecretSurvivesARestartAndItsKeyIsDeletedWithIt) {
  serve("plane", "api");
  api_ = std::make_unique<ApiClient>(fleet_.kubeconfig("plane"));
  fleet_.kubectl_ok({"create", "secret", "generic", "password", "--from-literal=word=hunter2"});
  const auto data = [&] { return fleet_.kubectl({"get", "secret", "password", "-o", "jsonpath={.data.word}"}).out; };
  EXPECT_EQ(data(), "aHVudGVyMg==");
  fleet_.kill("plane");
  serve("plane", "api");
  EXPECT_TRUE(eventually([&] { return data() == "aHVudGVyMg=="; })) << data();
  EXPECT_FALSE(std::filesystem::exists(keys_of("plane") + "/keys.db"));
  fleet_.kubectl_ok({"delete", "secret", "password"});
  // The last record of the key in the topic is a tombstone.
  KafkaJournalOptions keys;
  keys.brokers = kafka_test::shared_cluster().bootstrap();
  keys.topic = name_ + ".keys";
  keys.keyed = true;
  const auto log = open_kafka_journal(keys).value();
  EXPECT_TRUE(eventually([&] {
    std::map<std::string, std::string> last;
    for (const auto& record : read_all(*log)) last[record.bytes.substr(0, record.bytes.find('\n'))] = record.bytes;
    return std::ranges::any_of(
               last,
               [](const auto& record) { return record.first.starts_with("key/") && record.first == record.second; }) &&
           std::ranges::none_of(
               last, [](const auto& record) { return record.second.find("default/password") != std::string::npos; });
  }));
}

TEST_F(OnKafka, ATopicThatWasCreatedAgainIsRefusedUntilItsIdentityIsForgotten) {
  serve("plane", "api");
  fleet_.kubectl_ok({"create", "secret", "generic", "password", "--from-literal=word=hunter2"});
  fleet_.kill("plane");
  serve("plane", "api");  // which records what the topics hold now
  EXPECT_EQ(fleet_.process("plane").terminate(), 0);
  kafka_test::shared_cluster().delete_topic(name_ + ".keys");
  fleet_.serve("plane", {"--roles=api", "--journal=" + journal(), "--keys-dir=" + keys_of("plane")}, false);
  EXPECT_TRUE(eventually([&] { return !fleet_.process("plane").running(); }));
  for (const std::string& text :
       {name_ + ".keys is not the topic that this fleet has used", std::string{"it ends at offset 0"},
        "delete the topic of kafka:" + kafka_test::shared_cluster().bootstrap() + "/" + name_ + ".identity"}) {
    EXPECT_NE(log_of("plane").find(text), std::string::npos) << text << " is not in: " << log_of("plane");
  }
  kafka_test::shared_cluster().delete_topic(name_ + ".identity");
  serve("plane", "api");
  const auto read = fleet_.kubectl({"get", "secret", "password", "-o", "jsonpath={.data.word}"});
  EXPECT_FALSE(read.ok()) << "its key is lost, which is an error and no empty value: " << read.out;
}

}  // namespace
}  // namespace shiplog::e2e
