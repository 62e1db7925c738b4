#include "tests/crash/kill_suite.h"

#include <filesystem>
#include <set>
#include <thread>
#include <utility>

namespace shiplog::crash {
namespace {

using e2e::eventually;
using e2e::json;
using std::chrono::microseconds;

constexpr int kClients = 4;
// Often, so that kills meet both.
const std::vector<std::string> kOptions = {"--hash-every=50", "--snapshot-every=150"};

/// Where and when faults happen. Prints its seed when a test fails.
class Fate {
 public:
  explicit Fate(uint64_t fallback)
      : seed_{seed_or(fallback)},
        random_{seed_},
        trace_{__FILE__, __LINE__, "SHIPLOG_CRASH_SEED=" + std::to_string(seed_)} {}
  uint64_t seed() const { return seed_; }
  uint64_t below(uint64_t bound) { return random_() % bound; }
  /// How long a fault lasts, or until it comes: a moment that no event marks.
  void pass(uint64_t at_most_us) { std::this_thread::sleep_for(microseconds{below(at_most_us)}); }

 private:
  uint64_t seed_;
  std::mt19937_64 random_;
  ::testing::ScopedTrace trace_;
};

/// Every ConfigMap goes to member1.
void propagate_to_a_member(Plane& plane) {
  plane.fleet().join("member1");
  const e2e::Answer made =
      plane.fleet().api().post("/apis/policy.karmada.io/v1alpha1/namespaces/default/propagationpolicies",
                               json(R"({"metadata": {"name": "everything"}, "spec": {
               "resourceSelectors": [{"apiVersion": "v1", "kind": "ConfigMap"}],
               "placement": {"clusterAffinity": {"clusterNames": ["member1"]}}}})"));
  EXPECT_EQ(made.status, 201) << made;
}

/// What was decided and acted on in between is made good as well.
void expect_the_member_has_it_all(Plane& plane) {
  const e2e::ApiClient api = plane.fleet().api();
  const e2e::ApiClient member = plane.fleet().api("member1");
  EXPECT_TRUE(eventually([&] { return Workload::values_at(api) == Workload::values_at(member); }))
      << Workload::values_at(api).size() << " ConfigMaps in the control plane, " << Workload::values_at(member).size()
      << " in the member";
}

/// A control plane in one process with a member that gets every ConfigMap, and clients that load it.
struct OneProcess {
  OneProcess(const JournalBackend& backend, uint64_t seed, std::vector<std::string> options = kOptions)
      : plane{backend, Plane::one_process(), std::move(options)}, load{seed, kClients} {
    plane.start_all(nullptr);
    propagate_to_a_member(plane);
    plane.kill("plane", nullptr);
    plane.start_all(&load);
  }
  Plane plane;
  Workload load;
};

/// Freezes or kills a process under load, and brings it back.
void strike(Plane& plane, Workload& load, const std::string& victim, Fate& fate) {
  const auto what = fate.below(10);
  if (what < 4) {
    plane.freeze(victim);
    fate.pass(300'000);
    if (what < 3) return plane.thaw(victim);
  }
  plane.kill(victim, &load);  // for one in ten out of its sleep
  plane.start(victim, &load);
}

void end(Plane& plane, Workload& load, size_t enough = 50) {
  const auto operations = load.finish();
  for (const std::string& strange : load.strange_answers()) ADD_FAILURE() << strange;
  EXPECT_EQ(load.last_server_error(), "");
  EXPECT_GT(load.acknowledged(), enough) << "there was no load";
  expect_the_member_has_it_all(plane);
  plane.check(operations);
}

TEST_P(Kill, OneProcessIsKilledAndFrozenUnderLoad) {
  Fate fate{1};
  OneProcess one{GetParam(), fate.seed()};
  auto& [plane, load] = one;
  for (int round = 0; round < 8 * soak() && !HasFailure(); ++round) {
    ASSERT_TRUE(load.wait_for(5 + fate.below(120))) << plane.fleet().log_tail("plane");
    fate.pass(5'000);
    strike(plane, load, "plane", fate);
  }
  end(plane, load);
}

TEST_P(Kill, AnyOfTheProcessesOfASplitControlPlaneIsKilledAndFrozenUnderLoad) {
  Fate fate{2};
  Plane plane{GetParam(), Plane::a_process_a_role(), kOptions};
  plane.start_all(nullptr);
  propagate_to_a_member(plane);
  for (const char* name : {"plane", "other"}) plane.kill(name, nullptr);
  Workload load{fate.seed(), kClients};
  for (const char* name : {"plane", "other"}) plane.start(name, &load);
  const auto names = plane.names();
  for (int round = 0; round < 12 * soak() && !HasFailure(); ++round) {
    ASSERT_TRUE(load.wait_for(5 + fate.below(60)));
    fate.pass(5'000);
    strike(plane, load, names[fate.below(names.size())], fate);
  }
  end(plane, load);
  for (const std::string& name : names) EXPECT_TRUE(plane.fleet().process(name).running()) << name;
}

TEST_P(Kill, AProcessIsKilledAgainAndAgainWhileItStarts) {
  Fate fate{3};
  OneProcess one{GetParam(), fate.seed()};
  auto& [plane, load] = one;
  for (int round = 0; round < 5 * soak() && !HasFailure(); ++round) {
    ASSERT_TRUE(load.wait_for(20 + fate.below(60))) << plane.fleet().log_tail("plane");
    plane.kill("plane", &load);
    for (int again = 0; again < 2; ++again) {
      plane.start("plane", nullptr, false);
      fate.pass(150'000);
      plane.fleet().kill("plane");
      // The projection is derived: a recovery that was killed must do without it, too.
      if (fate.below(4) == 0) {
        for (const char* suffix : {"-wal", "-shm", ""}) {
          std::filesystem::remove(plane.fleet().path("plane/projection.db") + suffix);
        }
      }
    }
    plane.start("plane", &load);
  }
  end(plane, load);
}

TEST_P(Kill, AProcessIsKilledWhileItWritesASnapshot) {
  Fate fate{4};
  OneProcess one{GetParam(), fate.seed(), {"--hash-every=50", "--snapshot-every=20"}};
  auto& [plane, load] = one;
  namespace fs = std::filesystem;
  const std::string snapshots = plane.fleet().path("plane/snapshots");
  const auto being_written = [&] {
    return fs::exists(snapshots + "/draft.db.unfinished") || fs::exists(snapshots + "/draft.db");
  };
  int caught = 0;
  for (int round = 0; round < 60 * soak() && caught < 5 * soak() && !HasFailure(); ++round) {
    ASSERT_TRUE(load.wait_for(20)) << plane.fleet().log_tail("plane");
    const auto deadline = std::chrono::steady_clock::now() + e2e::kPatience;
    while (!being_written() && std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
    fate.pass(2'000);
    plane.kill("plane", &load);
    caught += being_written() ? 1 : 0;
    // Now and then what is left of the snapshots is all there is to start from.
    if (fate.below(2) == 0) {
      for (const char* suffix : {"-wal", "-shm", ""}) fs::remove(plane.fleet().path("plane/projection.db") + suffix);
    }
    plane.start("plane", &load);
  }
  EXPECT_GE(caught, 5 * soak()) << "no kill met a snapshot that was being written";
  end(plane, load, 20);
}

}  // namespace
}  // namespace shiplog::crash
