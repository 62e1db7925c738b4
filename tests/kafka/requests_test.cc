// Produced requests on a real broker: API servers are killed and frozen, and each request is carried out and answered
// once.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <set>

#include <gtest/gtest.h>
#include <shiplog/client.h>

#include "tests/journal_contract/journal_contract.h"
#include "tests/kafka/cluster.h"
#include "tests/support/fleet.h"

namespace shiplog {
// Only the functions of the contract that read are used here.
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(JournalContract);
}  // namespace shiplog

namespace shiplog::e2e {
namespace {

/// Aborted transactions and dead members are noticed as soon as the protocol permits.
kafka_test::KafkaCluster& cluster() {
  static kafka_test::KafkaCluster made{1, {"transaction.abort.timed.out.transaction.cleanup.interval.ms=500"}};
  return made;
}

class RequestsOnKafka : public ::testing::Test {
 protected:
  void serve(const std::string& name, const std::vector<std::string>& more = {}) {
    std::vector<std::string> options = {"--roles=api", "--journal=kafka:" + cluster().bootstrap() + "/" + fleet_name_,
                                        "--keys-dir=" + fleet_.path("keys"), "--requests-partitions=" + partitions_};
    options.insert(options.end(), more.begin(), more.end());
    fleet_.serve(name, options);
  }
  std::string log_of(const std::string& name) const { return fleet_.log_tail(name, 1 << 20); }
  std::string token(const std::string& account, const std::string& role, const std::string& on) {
    fleet_.kubectl_ok({"create", "serviceaccount", account}, "", on);
    if (!role.empty()) {
      fleet_.kubectl_ok(
          {"create", "rolebinding", account, "--clusterrole=" + role, "--serviceaccount=default:" + account}, "", on);
    }
    std::string made = fleet_.kubectl_ok({"create", "token", account}, "", on);
    while (!made.empty() && made.back() == '\n') made.pop_back();
    return made;
  }
  std::unique_ptr<client::Client> open(const std::string& requests_topic = "") {
    std::string error;
    client::Config config{cluster().bootstrap(), fleet_name_, {}, requests_topic, ""};
    auto made = client::Client::open(config, true, error);
    EXPECT_NE(made, nullptr) << error;
    return made;
  }
  static void send(client::Client& client, const client::Request& request) {
    std::string error;
    EXPECT_TRUE(client.send(request, error)) << error;
  }
  static void flush(client::Client& client) {
    std::string error;
    EXPECT_TRUE(client.flush(std::chrono::seconds{60}, error)) << error;
  }
  /// Results by id, until so many have come or none has come for a while; then those that come although nothing is
  /// awaited any more.
  static std::map<std::string, std::vector<client::Result>> results(client::Client& client, size_t count) {
    std::map<std::string, std::vector<client::Result>> all;
    while (all.size() < count) {
      auto result = client.result(kPatience);
      if (!result) break;
      all[result->id].push_back(*result);
    }
    while (auto result = client.result(std::chrono::milliseconds{300})) all[result->id].push_back(*result);
    return all;
  }

  std::string fleet_name_ = kafka_test::new_fleet();
  std::string partitions_ = "4";
  Fleet fleet_;
};

client::Request config_map(const std::string& id, const std::string& name, const std::string& token,
                           const std::string& ns = "default") {
  client::Request request;
  request.id = id;
  request.verb = "create";
  request.name_space = ns;
  request.name = name;
  request.manifest = R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":")" + name + R"(","namespace":")" +
                     ns + R"("},"data":{}})";
  request.token = token;
  return request;
}

/// Appends an argument: carried out twice, it would be there twice.
client::Request append_argument(const std::string& id, const std::string& deployment, const std::string& token) {
  client::Request request;
  request.id = id;
  request.verb = "patch";
  request.patch_type = "json";
  request.api_version = "apps/v1";
  request.kind = "Deployment";
  request.name_space = "default";
  request.name = deployment;
  request.manifest = R"([{"op":"add","path":"/spec/template/spec/containers/0/args/-","value":")" + id + R"("}])";
  request.token = token;
  return request;
}

TEST_F(RequestsOnKafka, KilledAndFrozenServersCarryOutAndAnswerEachRequestOnce) {
  constexpr int kDeployments = 12;
  constexpr int kEach = 45;
  serve("a");
  serve("b");
  const std::string robot = token("robot", "edit", "a");
  const ApiClient api = fleet_.api("b");
  for (int at = 0; at < kDeployments; ++at) {
    const std::string name = "web" + std::to_string(at);
    const Answer made =
        api.post("/apis/apps/v1/namespaces/default/deployments",
                 json(R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":")" + name +
                      R"("},"spec":{"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},)"
                      R"("spec":{"containers":[{"name":"c","image":"i","args":["first"]}]}}}})"));
    ASSERT_EQ(made.status, 201) << made;
  }
  const auto producer = open();
  ASSERT_NE(producer, nullptr);
  const auto produce = [&](int from, int to) {
    for (int number = from; number < to; ++number) {
      for (int at = 0; at < kDeployments; ++at) {
        const std::string name = "web" + std::to_string(at);
        send(*producer, append_argument(name + "-" + std::to_string(number), name, robot));
      }
    }
    flush(*producer);
  };
  const auto some_answered = [&](const std::string& server) {
    return eventually([&] {
      return fleet_.api(server).get("/metrics", "text/plain").body.find("shiplog_requests_results_total{") !=
             std::string::npos;
    });
  };
  produce(0, kEach / 3);
  EXPECT_TRUE(some_answered("a"));
  fleet_.kill("a");
  produce(kEach / 3, 2 * kEach / 3);
  serve("a");
  // Longer than a session lasts: others take its partitions over, and it goes on where it stood.
  EXPECT_TRUE(fleet_.process("b").freeze());
  produce(2 * kEach / 3, kEach);
  EXPECT_TRUE(eventually([&] { return log_of("a").find("requests.assigned partitions=4") != std::string::npos; }));
  fleet_.process("b").thaw();

  const auto all = results(*producer, size_t{kDeployments} * kEach);
  EXPECT_EQ(all.size(), size_t{kDeployments} * kEach);
  for (const auto& [id, answers] : all) {
    ASSERT_EQ(answers.size(), 1u) << id;
    EXPECT_EQ(answers[0].outcome, "applied") << answers[0].json;
    EXPECT_EQ(answers[0].code, 200) << answers[0].json;
    EXPECT_FALSE(answers[0].duplicate) << "one record, one request: " << answers[0].json;
  }
  for (int at = 0; at < kDeployments; ++at) {
    const std::string name = "web" + std::to_string(at);
    const Value stored = fleet_.api("a").get("/apis/apps/v1/namespaces/default/deployments/" + name).json;
    std::vector<std::string> arguments;
    for (const Value& argument : stored["spec"]["template"]["spec"]["containers"][0]["args"].items()) {
      arguments.push_back(argument.str());
    }
    std::vector<std::string> expected = {"first"};
    for (int number = 0; number < kEach; ++number) expected.push_back(name + "-" + std::to_string(number));
    EXPECT_EQ(arguments, expected) << "each once, in the order of the records";
  }
}

/// A new object each time it is carried out.
client::Request generated(int number, const std::string& token) {
  client::Request request = config_map("generated-" + std::to_string(number), "", token);
  request.name.clear();
  request.key = std::to_string(number % 16);  // few keys: each partition has a backlog
  request.manifest = R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"generateName":"generated-",)"
                     R"("namespace":"default"},"data":{"request":")" +
                     request.id + R"("}})";
  return request;
}

TEST_F(RequestsOnKafka, AServerWithoutAPartitionTakesOverThatOfAKilledOne) {
  partitions_ = "1";
  const std::array<std::string, 2> servers = {"a", "b"};
  for (const std::string& server : servers) serve(server);
  const std::string robot = token("robot", "edit", "a");
  const auto producer = open();
  ASSERT_NE(producer, nullptr);
  int number = 0;
  for (const std::string killed : {"a", "b", "a", "b"}) {
    for (const std::string& server : servers) {
      EXPECT_TRUE(eventually([&] { return log_of(server).find("requests.assigned") != std::string::npos; }))
          << log_of(server);
    }
    for (int end = number + 20; number < end; ++number) send(*producer, generated(number, robot));
    flush(*producer);
    ASSERT_EQ(results(*producer, 20).size(), 20U) << "before " << killed << " is killed\n"
                                                  << log_of("a") << log_of("b");
    fleet_.kill(killed);
    serve(killed);
  }
}

// SHIPLOG_PRODUCED=100000 for as many as that, SHIPLOG_PRODUCED_PARTITIONS=1 for a single partition, which moves as a
// whole from a killed server to the other one.
TEST_F(RequestsOnKafka, ManyRequestsWhileServersAreKilledAreInTheFeedsOnce) {
  const char* given = std::getenv("SHIPLOG_PRODUCED");
  const int count = given == nullptr ? 4'000 : std::atoi(given);
  if (const char* partitions = std::getenv("SHIPLOG_PRODUCED_PARTITIONS")) partitions_ = partitions;
  const std::array<std::string, 2> servers = {"a", "b"};
  for (const std::string& server : servers) serve(server);
  const std::string robot = token("robot", "edit", "a");
  const auto producer = open();
  ASSERT_NE(producer, nullptr);
  for (int number = 0; number < count; ++number) send(*producer, generated(number, robot));
  flush(*producer);

  std::map<std::string, int> answers;
  size_t kills = 0;
  while (answers.size() < static_cast<size_t>(count)) {
    const auto result = producer->result(kPatience);
    if (!result) break;
    EXPECT_EQ(result->outcome, "applied") << result->json;
    EXPECT_EQ(++answers[result->id], 1) << result->json;
    if (kills < 4 && answers.size() > (kills + 1) * static_cast<size_t>(count) / 6) {
      const std::string& server = servers.at(kills++ % servers.size());
      fleet_.kill(server);
      serve(server);
    }
  }
  EXPECT_EQ(answers.size(), static_cast<size_t>(count)) << "after " << kills << " kills";
  EXPECT_EQ(kills, 4U);
  EXPECT_FALSE(producer->result(std::chrono::seconds{2})) << "a second answer";

  // Each is in the fleet once, and a consumer of the feeds has the same objects and hash.
  std::map<std::string, int> created;
  std::string next;
  do {
    const Value page = fleet_.api("a").get("/api/v1/namespaces/default/configmaps?limit=5000" + next).json;
    for (const Value& item : page["items"].items()) {
      if (item["data"].contains("request")) ++created[item["data"]["request"].str()];
    }
    next = page["metadata"]["continue"].is_empty() ? "" : "&continue=" + page["metadata"]["continue"].str();
  } while (!next.empty());
  EXPECT_EQ(created, answers);
  const std::string script = SHIPLOG_EXAMPLES "/feeds/rebuild.py";
  const Ran rebuilt =
      run({"python3", "-B", script, "--kubeconfig", fleet_.kubeconfig("b"), "--store", fleet_.path("rebuilt.json")},
          {{"HOME", fleet_.path("home")}}, "", kPatience * (1 + count / 5'000));
  EXPECT_TRUE(rebuilt.says("equal to the fleet at revision ")) << rebuilt;
}

TEST_F(RequestsOnKafka, AServerThatIsStoppedDuringAnOutageEndsAndItsSuccessorCarriesOutTheRest) {
  constexpr int kRequests = 400;
  serve("plane");
  const std::string robot = token("robot", "edit", "plane");
  const auto producer = open();
  ASSERT_NE(producer, nullptr);
  for (int number = 0; number < kRequests; ++number) send(*producer, generated(number, robot));
  flush(*producer);
  // In the middle: transactions are open.
  ASSERT_TRUE(producer->result(kPatience));
  ASSERT_TRUE(cluster().freeze(0));
  EXPECT_GE(fleet_.process("plane").terminate(kPatience), 0) << "it had to be killed: " << log_of("plane");
  cluster().thaw(0);
  serve("plane");
  EXPECT_EQ(results(*producer, kRequests - 1).size(), size_t{kRequests} - 1) << log_of("plane");
}

TEST_F(RequestsOnKafka, ResultsSayWhatHttpWouldSayAndNothingHoldsTheToken) {
  serve("plane");
  const std::string robot = token("robot", "edit", "plane");
  const std::string guest = token("guest", "view", "plane");
  const auto producer = open();
  ASSERT_NE(producer, nullptr);
  send(*producer, config_map("made", "c1", robot));
  send(*producer, config_map("forbidden", "c2", guest));
  send(*producer, config_map("elsewhere", "c3", robot, "kube-system"));
  send(*producer, config_map("nobody", "c4", "not-a-token"));
  client::Request late = config_map("late", "c5", robot);
  late.deadline = "2020-01-01T00:00:00Z";
  send(*producer, late);
  client::Request nonsense = config_map("nonsense", "c6", robot);
  nonsense.verb = "frobnicate";
  send(*producer, nonsense);
  client::Request lease = config_map("lease", "l", robot);
  lease.manifest =
      R"({"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":"l","namespace":"default"}})";
  send(*producer, lease);
  flush(*producer);
  auto all = results(*producer, 7);
  const auto expect = [&](const std::string& id, const std::string& outcome, int code) {
    ASSERT_EQ(all[id].size(), 1u) << id;
    EXPECT_EQ(all[id][0].outcome, outcome) << all[id][0].json;
    EXPECT_EQ(all[id][0].code, code) << all[id][0].json;
  };
  expect("made", "applied", 201);
  expect("forbidden", "refused", 403);
  expect("elsewhere", "refused", 403);
  expect("nobody", "refused", 401);
  expect("late", "expired", 504);
  expect("nonsense", "invalid", 400);
  expect("lease", "refused", 405);
  const Value stored = fleet_.api().get("/api/v1/namespaces/default/configmaps/c1").json;
  EXPECT_EQ(all["made"][0].uid, stored["metadata"]["uid"].str());
  EXPECT_EQ(all["made"][0].resource_version, stored["metadata"]["resourceVersion"].str());

  // The same again, in records of their own: what was carried out is answered again, what was refused is judged again.
  send(*producer, config_map("made", "c1", robot));
  send(*producer, config_map("forbidden", "c2", guest));
  flush(*producer);
  all = results(*producer, 2);
  expect("made", "applied", 201);
  EXPECT_TRUE(all["made"][0].duplicate);
  EXPECT_EQ(all["made"][0].uid, stored["metadata"]["uid"].str());
  expect("forbidden", "refused", 403);

  KafkaJournalOptions reading;
  reading.brokers = cluster().bootstrap();
  reading.check_settings = false;
  reading.topic = fleet_name_ + ".journal";
  const auto journal = open_kafka_journal(reading).value();
  for (const auto& record : read_all(*journal)) EXPECT_EQ(record.bytes.find(robot), std::string::npos);
  EXPECT_EQ(log_of("plane").find(robot), std::string::npos);
  client::Config dead{cluster().bootstrap(), fleet_name_, {}, "", fleet_name_ + ".requests.dead"};
  std::string error;
  const auto letters = client::Client::open(dead, true, error);
  ASSERT_NE(letters, nullptr) << error;
  send(*producer, nonsense);
  flush(*producer);
  const auto letter = letters->result(kPatience);
  ASSERT_TRUE(letter);
  EXPECT_EQ(letter->json.find(robot), std::string::npos);
  EXPECT_NE(letter->json.find("frobnicate"), std::string::npos) << letter->json;
  EXPECT_NE(letter->json.find("\"offset\":"), std::string::npos) << letter->json;
  EXPECT_NE(letter->json.find("default/c6"), std::string::npos) << "its key: " << letter->json;
}

TEST_F(RequestsOnKafka, ATopicThatWasCreatedAgainIsRefusedAndANewNameHelps) {
  serve("plane");
  const std::string robot = token("robot", "edit", "plane");
  {
    const auto producer = open();
    ASSERT_NE(producer, nullptr);
    for (int number = 0; number < 20; ++number) {
      send(*producer, config_map("r" + std::to_string(number), "c" + std::to_string(number), robot));
    }
    flush(*producer);
    EXPECT_EQ(results(*producer, 20).size(), 20u);
  }
  EXPECT_EQ(fleet_.process("plane").terminate(), 0);
  cluster().delete_topic(fleet_name_ + ".requests");
  serve("plane");
  EXPECT_TRUE(eventually([&] { return log_of("plane").find("requests.not_consumed") != std::string::npos; }));
  EXPECT_NE(log_of("plane").find("--requests-topic"), std::string::npos);
  EXPECT_EQ(fleet_.process("plane").terminate(), 0);
  const std::string fresh = fleet_name_ + ".requests2";
  serve("plane", {"--requests-topic=" + fresh});
  const auto producer = open(fresh);
  ASSERT_NE(producer, nullptr);
  send(*producer, config_map("after", "after", robot));
  flush(*producer);
  auto all = results(*producer, 1);
  ASSERT_EQ(all["after"].size(), 1u);
  EXPECT_EQ(all["after"][0].outcome, "applied") << all["after"][0].json;
}

}  // namespace
}  // namespace shiplog::e2e
