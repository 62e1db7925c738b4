#include "tests/crash/kill_suite.h"

#include <algorithm>
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
// Frequent, so that kills occur during both.
const std::vector<std::string> kOptions = {"--hash-every=50", "--snapshot-every=150"};

/// Random faults and their times. Prints the seed if a test fails.
class FaultSchedule {
 public:
  explicit FaultSchedule(uint64_t fallback)
      : seed_{seed_or(fallback)},
        random_{seed_},
        trace_{__FILE__, __LINE__, "SHIPLOG_CRASH_SEED=" + std::to_string(seed_)} {}
  uint64_t seed() const { return seed_; }
  uint64_t below(uint64_t bound) { return random_() % bound; }
  /// Waits for a random time: the duration of a fault, or the time until the next one.
  void wait(uint64_t at_most_us) { std::this_thread::sleep_for(microseconds{below(at_most_us)}); }

 private:
  uint64_t seed_;
  std::mt19937_64 random_;
  ::testing::ScopedTrace trace_;
};

/// Propagates every ConfigMap to member1.
void propagate_to_a_member(CrashControlPlane& plane) {
  plane.fleet().join("member1");
  const e2e::Answer made =
      plane.fleet().api().post("/apis/policy.karmada.io/v1alpha1/namespaces/default/propagationpolicies",
                               json(R"({"metadata": {"name": "everything"}, "spec": {
               "resourceSelectors": [{"apiVersion": "v1", "kind": "ConfigMap"}],
               "placement": {"clusterAffinity": {"clusterNames": ["member1"]}}}})"));
  EXPECT_EQ(made.status, 201) << made;
}

/// The member finally has all ConfigMaps.
void expect_member_is_complete(CrashControlPlane& plane) {
  const e2e::ApiClient api = plane.fleet().api();
  const e2e::ApiClient member = plane.fleet().api("member1");
  EXPECT_TRUE(eventually([&] { return ClientWorkload::values_at(api) == ClientWorkload::values_at(member); }))
      << ClientWorkload::values_at(api).size() << " ConfigMaps in the control plane, "
      << ClientWorkload::values_at(member).size() << " in the member";
}

/// A control plane in one process with a member that receives every ConfigMap, and a workload.
struct OneProcess {
  OneProcess(const JournalUnderTestFactory& backend, uint64_t seed, std::vector<std::string> options = kOptions)
      : plane{backend, CrashControlPlane::one_process(), std::move(options)}, load{seed, kClients} {
    plane.start_all(nullptr);
    propagate_to_a_member(plane);
    plane.kill("plane", nullptr);
    plane.start_all(&load);
  }
  CrashControlPlane plane;
  ClientWorkload load;
};

/// Freezes or kills a process under load, and resumes or restarts it.
void inject_fault(CrashControlPlane& plane, ClientWorkload& load, const std::string& process, FaultSchedule& faults) {
  const auto choice = faults.below(10);
  if (choice < 4) {
    plane.freeze(process);
    faults.wait(300'000);
    if (choice < 3) return plane.thaw(process);
  }
  plane.kill(process, &load);  // in one of ten cases while it is frozen
  plane.start(process, &load);
}

void finish_and_check(CrashControlPlane& plane, ClientWorkload& load, size_t minimum = 50) {
  const auto operations = load.finish();
  for (const std::string& response : load.unexpected_responses()) ADD_FAILURE() << response;
  EXPECT_EQ(load.last_server_error(), "");
  EXPECT_GT(load.acknowledged(), minimum) << "there was no load";
  expect_member_is_complete(plane);
  plane.check(operations);
}

TEST_P(Kill, OneProcessIsKilledAndFrozenUnderLoad) {
  FaultSchedule faults{1};
  OneProcess setup{GetParam(), faults.seed()};
  auto& [plane, load] = setup;
  for (int round = 0; round < 8 * soak() && !HasFailure(); ++round) {
    ASSERT_TRUE(load.wait_for(5 + faults.below(120))) << plane.fleet().log_tail("plane");
    faults.wait(5'000);
    inject_fault(plane, load, "plane", faults);
  }
  finish_and_check(plane, load);
}

TEST_P(Kill, AnyOfTheProcessesOfASplitControlPlaneIsKilledAndFrozenUnderLoad) {
  FaultSchedule faults{2};
  CrashControlPlane plane{GetParam(), CrashControlPlane::one_process_per_role(), kOptions};
  plane.start_all(nullptr);
  propagate_to_a_member(plane);
  for (const char* name : {"plane", "other"}) plane.kill(name, nullptr);
  ClientWorkload load{faults.seed(), kClients};
  for (const char* name : {"plane", "other"}) plane.start(name, &load);
  const auto names = plane.names();
  for (int round = 0; round < 12 * soak() && !HasFailure(); ++round) {
    ASSERT_TRUE(load.wait_for(5 + faults.below(60)));
    faults.wait(5'000);
    inject_fault(plane, load, names[faults.below(names.size())], faults);
  }
  finish_and_check(plane, load);
  for (const std::string& name : names) EXPECT_TRUE(plane.fleet().process(name).running()) << name;
}

TEST_P(Kill, AProcessIsKilledRepeatedlyWhileItStarts) {
  FaultSchedule faults{3};
  OneProcess setup{GetParam(), faults.seed()};
  auto& [plane, load] = setup;
  for (int round = 0; round < 5 * soak() && !HasFailure(); ++round) {
    ASSERT_TRUE(load.wait_for(20 + faults.below(60))) << plane.fleet().log_tail("plane");
    plane.kill("plane", &load);
    for (int again = 0; again < 2; ++again) {
      plane.start("plane", nullptr, false);
      faults.wait(150'000);
      plane.fleet().kill("plane");
      // The projection is derived: recovery must succeed without it.
      if (faults.below(4) == 0) {
        for (const char* suffix : {"-wal", "-shm", ""}) {
          std::filesystem::remove(plane.fleet().path("plane/projection.db") + suffix);
        }
      }
    }
    plane.start("plane", &load);
  }
  finish_and_check(plane, load);
}

TEST_P(Kill, AProcessIsKilledWhileItWritesASnapshot) {
  FaultSchedule faults{4};
  OneProcess setup{GetParam(), faults.seed(), {"--hash-every=50", "--snapshot-every=20"}};
  auto& [plane, load] = setup;
  namespace fs = std::filesystem;
  // Those of a journal in a file are beside it.
  const std::vector<std::string> folders = {plane.fleet().path("plane/snapshots"),
                                            plane.fleet().path("shared/snapshots")};
  const auto is_written_by = [&](pid_t writer) {
    const std::string draft = "/draft-" + std::to_string(writer) + ".db";
    return std::ranges::any_of(folders, [&](const std::string& folder) {
      return fs::exists(folder + draft + ".unfinished") || fs::exists(folder + draft);
    });
  };
  int caught = 0;
  for (int round = 0; round < 60 * soak() && caught < 5 * soak() && !HasFailure(); ++round) {
    ASSERT_TRUE(load.wait_for(20)) << plane.fleet().log_tail("plane");
    const auto deadline = std::chrono::steady_clock::now() + e2e::kPatience;
    const pid_t writer = plane.fleet().process("plane").pid();
    while (!is_written_by(writer) && std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
    faults.wait(2'000);
    plane.kill("plane", &load);
    caught += is_written_by(writer) ? 1 : 0;
    // In half of the rounds only the snapshots remain to start from.
    if (faults.below(2) == 0) {
      for (const char* suffix : {"-wal", "-shm", ""}) fs::remove(plane.fleet().path("plane/projection.db") + suffix);
    }
    plane.start("plane", &load);
  }
  EXPECT_GE(caught, 5 * soak()) << "too few kills occurred while a snapshot was written";
  finish_and_check(plane, load, 20);
}

}  // namespace
}  // namespace shiplog::crash
