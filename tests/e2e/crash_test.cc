// kill -9 during a stream of creates: acknowledged objects exist exactly once, and a replay of the journal has the same
// state.
#include <atomic>
#include <filesystem>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include <gtest/gtest.h>

#include "tests/support/fleet.h"

namespace shiplog::e2e {
namespace {

const std::string kConfigMaps = "/api/v1/namespaces/default/configmaps";
constexpr int kKills = 20;
constexpr int kWriters = 4;

/// The outcomes of all writers, over all rounds.
class Ledger {
 public:
  std::string next_name() {
    const std::lock_guard lock{mutex_};
    if (!unanswered_.empty()) {
      const std::string name = *unanswered_.begin();
      unanswered_.erase(unanswered_.begin());
      return name;
    }
    return "object-" + std::to_string(count_++);
  }
  void acknowledged(const std::string& name, const std::string& uid) {
    const std::lock_guard lock{mutex_};
    acknowledged_[name] = uid;
  }
  /// An attempt without a response may have been applied or not.
  void unanswered(const std::string& name) {
    const std::lock_guard lock{mutex_};
    unanswered_.insert(name);
    uncertain_.insert(name);
  }
  bool was_uncertain(const std::string& name) const {
    const std::lock_guard lock{mutex_};
    return uncertain_.count(name) > 0;
  }
  size_t size() const {
    const std::lock_guard lock{mutex_};
    return acknowledged_.size();
  }
  std::map<std::string, std::string> all() const {
    const std::lock_guard lock{mutex_};
    return acknowledged_;
  }
  std::set<std::string> open() const {
    const std::lock_guard lock{mutex_};
    return unanswered_;
  }

 private:
  mutable std::mutex mutex_;
  int count_ = 0;
  std::map<std::string, std::string> acknowledged_;  // name to uid
  std::set<std::string> unanswered_, uncertain_;
};

/// Creates objects until the server is killed.
void write_until_it_dies(const ApiClient& api, Ledger& ledger) {
  for (;;) {
    const std::string name = ledger.next_name();
    const Answer answer =
        api.post(kConfigMaps, Value::object({{"metadata", Value::object({{"name", name}})},
                                             {"data", Value::object({{"filler", std::string(500, 'x')}})}}));
    if (answer.status == 0) return ledger.unanswered(name);
    if (answer.status == 201) {
      ledger.acknowledged(name, answer.json["metadata"]["uid"].str());
    } else if (answer.status == 409 && ledger.was_uncertain(name)) {
      const Answer existing = api.get(kConfigMaps + "/" + name);  // the attempt without a response was applied
      if (existing.status == 0) return ledger.unanswered(name);
      EXPECT_EQ(existing.status, 200) << existing;
      ledger.acknowledged(name, existing.json["metadata"]["uid"].str());
    } else {
      ADD_FAILURE() << "creating " << name << ": " << answer;
      return;
    }
  }
}

TEST(Crash, NothingAcknowledgedIsLostOrDoubledByTwentyKillsInAStreamOfCreates) {
  Fleet fleet;
  Ledger ledger;
  for (int round = 0; round < kKills; ++round) {
    fleet.serve("plane", {"--hash-every=50", "--snapshot-every=400"});
    const ApiClient api = fleet.api();
    const size_t before = ledger.size();
    std::vector<std::thread> writers;
    for (int writer = 0; writer < kWriters; ++writer) {
      writers.emplace_back([&] { write_until_it_dies(api, ledger); });
    }
    // Later in each round, so that the kills occur in different states of the journal.
    const size_t enough = before + 3 + static_cast<size_t>(round) * 5;
    EXPECT_TRUE(eventually([&] { return ledger.size() >= enough || ::testing::Test::HasFailure(); }));
    fleet.kill("plane");
    for (std::thread& writer : writers) writer.join();
    if (::testing::Test::HasFailure()) return;
  }

  Process& last = fleet.serve();
  const Value list = fleet.api().get(kConfigMaps).json;
  std::map<std::string, std::string> listed;
  std::set<std::string> uids;
  for (const Value& item : list["items"].items()) {
    const std::string name = item["metadata"]["name"].str();
    EXPECT_TRUE(listed.emplace(name, item["metadata"]["uid"].str()).second) << name << " is listed twice";
    EXPECT_TRUE(uids.insert(item["metadata"]["uid"].str()).second) << name;
  }
  const std::map<std::string, std::string> acknowledged = ledger.all();
  const std::set<std::string> open = ledger.open();
  for (const auto& [name, uid] : acknowledged) {
    ASSERT_TRUE(listed.count(name)) << name << " was acknowledged and is lost";
    EXPECT_EQ(listed[name], uid) << name;
  }
  for (const auto& [name, uid] : listed) {
    if (!name.starts_with("object-")) continue;
    EXPECT_TRUE(acknowledged.count(name) || open.count(name)) << name;
  }
  expect_replay_equals(fleet, fleet.api(), "sqlite:" + fleet.path("plane/journal.db"));
  EXPECT_EQ(last.terminate(), 0) << fleet.log_tail("plane");
}

TEST(Crash, AMemberThatIsKilledLeavesNothingBesideItsDataFolderAndStartsAgainInIt) {
  Fleet fleet;
  fleet.member("member1");
  const std::string kube_system = "/api/v1/namespaces/kube-system";
  const Value uid = fleet.api("member1").get(kube_system).json["metadata"]["uid"];
  fleet.kill("member1");
  EXPECT_TRUE(std::filesystem::is_empty(fleet.temporary()));
  EXPECT_TRUE(std::filesystem::exists(fleet.path("member1/working")));
  Process& again = fleet.member("member1");
  EXPECT_EQ(fleet.api("member1").get(kube_system).json["metadata"]["uid"], uid);
  EXPECT_EQ(again.terminate(), 0);
  EXPECT_FALSE(std::filesystem::exists(fleet.path("member1/working")));
}

}  // namespace
}  // namespace shiplog::e2e
