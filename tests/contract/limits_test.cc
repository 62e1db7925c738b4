// Clients that exceed their limits are refused, and others are served (docs/guide/limits.md).
#include <atomic>
#include <thread>
#include <vector>

#include "tests/contract/contract.h"
#include "tests/contract/raw_connection.h"

namespace shiplog::e2e {
namespace {

/// A separate control plane with limits that a few requests reach.
class ClientLimits : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    fleet_ = new Fleet;
    fleet_->serve("plane", {"--max-requests-inflight=4", "--max-watches=4"});
    const ApiClient admin = fleet_->api();
    EXPECT_TRUE(eventually([&] { return admin.get("/api/v1/namespaces/default").status == 200; }));
    const Answer bound = admin.post("/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", json(R"({
        "metadata":{"name":"limits"},
        "roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"cluster-admin"},
        "subjects":[{"apiGroup":"rbac.authorization.k8s.io","kind":"User","name":"flood"},
                    {"apiGroup":"rbac.authorization.k8s.io","kind":"User","name":"alice"}]})"));
    EXPECT_EQ(bound.status, 201) << bound;
    // Far more than the kernel buffers for a connection that the client does not read.
    for (int number = 0; number < 28; ++number) {
      Value large = config_map("large-" + std::to_string(number));
      large.edit("data").set("a", std::string(900'000, 'x'));
      EXPECT_EQ(admin.post(kConfigMaps, large).status, 201);
    }
  }
  static void TearDownTestSuite() {
    EXPECT_EQ(fleet_->process("plane").terminate(), 0) << "it did not stop cleanly";
    delete fleet_;
    fleet_ = nullptr;
  }

  static Answer get_as(const std::string& user, const std::string& target) {
    return fleet_->api().call("GET", target, {}, {{"Impersonate-User", user}});
  }
  /// A request of which only the header of the response is read.
  static std::unique_ptr<RawConnection> send_as(const std::string& user, const std::string& target) {
    auto raw = std::make_unique<RawConnection>(fleet_->kubeconfig("plane"));
    EXPECT_TRUE(raw->send("GET " + target + " HTTP/1.1\r\nHost: x\r\nImpersonate-User: " + user + "\r\n\r\n"));
    const std::string response = raw->read_until("\r\n\r\n");
    EXPECT_TRUE(response.starts_with("HTTP/1.1 200")) << response.substr(0, 200);
    return raw;
  }
  static void expect_refused(const Answer& answer) {
    expect_failure(answer, 429, "TooManyRequests", "try again later");
    EXPECT_EQ(answer.headers.get("Retry-After"), "1") << answer;
  }

  static inline Fleet* fleet_ = nullptr;
};

const std::string kNamespace = "/api/v1/namespaces/default";

TEST_F(ClientLimits, AUserWhoDoesNotReadResponsesIsRefusedWhileOthersAreServed) {
  std::vector<std::unique_ptr<RawConnection>> unread;
  for (int number = 0; number < 2; ++number) unread.push_back(send_as("flood", kConfigMaps));
  expect_refused(get_as("flood", kNamespace));
  EXPECT_EQ(get_as("alice", kNamespace).status, 200);
  EXPECT_EQ(fleet_->api().get(kNamespace).status, 200);
  unread.clear();
  EXPECT_TRUE(eventually([] { return get_as("flood", kNamespace).status == 200; }));
}

TEST_F(ClientLimits, AUserGetsHalfOfTheWatches) {
  const std::string target = kNamespace + "/secrets?watch=1";
  std::vector<std::unique_ptr<RawConnection>> watches;
  for (int number = 0; number < 2; ++number) watches.push_back(send_as("flood", target));
  expect_refused(get_as("flood", target));
  EXPECT_EQ(get_as("flood", kNamespace).status, 200) << "it can still read";
  watches.push_back(send_as("alice", target));
  watches.erase(watches.begin());
  EXPECT_TRUE(eventually([&] { return get_as("flood", target + "&timeoutSeconds=1").status == 200; }));
}

TEST_F(ClientLimits, AFloodOfOneUserDoesNotAffectOthers) {
  std::atomic<bool> over{false};
  std::atomic<int> served{0}, refused{0}, other{0};
  std::vector<std::thread> flood;
  for (int number = 0; number < 8; ++number) {
    flood.emplace_back([&] {
      const ApiClient client = fleet_->api();
      while (!over) {
        const int status = client.call("GET", kConfigMaps + "?limit=1", {}, {{"Impersonate-User", "flood"}}).status;
        ++(status == 200 ? served : status == 429 ? refused : other);
      }
    });
  }
  EXPECT_TRUE(eventually([&] { return refused > 0 && served > 0; }));
  for (int number = 0; number < 20; ++number) EXPECT_EQ(get_as("alice", kNamespace).status, 200);
  over = true;
  for (std::thread& thread : flood) thread.join();
  EXPECT_EQ(other, 0);
}

}  // namespace
}  // namespace shiplog::e2e
