#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "events/journal/journal.h"
#include "tests/crash/workload.h"
#include "tests/support/fleet.h"

namespace shiplog::crash {

/// The journal of a fleet in a crash test.
class JournalUnderTest {
 public:
  virtual ~JournalUnderTest() = default;
  /// The value of --journal.
  virtual std::string address() const = 0;
  /// More options of `shiplogd serve` that this journal needs.
  virtual std::vector<std::string> options() const { return {}; }
  /// Opens it for reading while the fleet runs.
  virtual Result<std::shared_ptr<Journal>> open() const = 0;
};

/// `make` receives the fleet's folder, which exists.
struct JournalUnderTestFactory {
  std::string name;
  std::unique_ptr<JournalUnderTest> (*make)(const std::string& folder);
};
JournalUnderTestFactory embedded_journal();

/// The processes of one control plane on one journal, and the checks of its final state.
class CrashControlPlane {
 public:
  /// Name of a process and its --roles. "plane" is or has an API server.
  using ProcessLayout = std::map<std::string, std::string>;
  static ProcessLayout one_process() { return {{"plane", "all"}}; }
  /// Every role in its own process, and a second API server.
  static ProcessLayout one_process_per_role();

  CrashControlPlane(const JournalUnderTestFactory& backend, ProcessLayout layout, std::vector<std::string> options);

  e2e::Fleet& fleet() { return fleet_; }
  JournalUnderTest& journal() { return *journal_; }
  std::vector<std::string> names() const;
  bool serves_api(const std::string& name) const;
  /// Starts or restarts a process of the shape. With `wait`, an API server is ready when this returns and is added to
  /// the workload, if any.
  void start(const std::string& name, ClientWorkload* workload, bool wait = true);
  void start_all(ClientWorkload* workload);
  /// kill -9.
  void kill(const std::string& name, ClientWorkload* workload);
  /// SIGSTOP and SIGCONT.
  void freeze(const std::string& name);
  void thaw(const std::string& name);

  /// Checks that the history has no violations, the API's history is the journal's, and the state hash is that of
  /// `shiplogctl replay --verify` from entry 0. The processes must be running.
  void check(const std::vector<Operation>& operations);

 private:
  e2e::Fleet fleet_;
  std::unique_ptr<JournalUnderTest> journal_;
  ProcessLayout layout_;
  std::vector<std::string> options_;
};

/// The seed of this run: SHIPLOG_CRASH_SEED, or `fallback`. To be printed with every failure.
uint64_t seed_or(uint64_t fallback);
/// Factor for the number of rounds: SHIPLOG_CRASH_SOAK, or 1.
int soak();

}  // namespace shiplog::crash
