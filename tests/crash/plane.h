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

/// A journal that a crash test runs on: the place of the one fleet that uses it.
class JournalUnderTest {
 public:
  virtual ~JournalUnderTest() = default;
  /// What --journal says.
  virtual std::string address() const = 0;
  /// More options of `shiplogd serve` that this journal needs.
  virtual std::vector<std::string> options() const { return {}; }
  /// For reading it beside the fleet.
  virtual Result<std::shared_ptr<Journal>> open() const = 0;
};

/// `make` is handed the fleet's folder, which exists.
struct JournalBackend {
  std::string name;
  std::unique_ptr<JournalUnderTest> (*make)(const std::string& folder);
};
JournalBackend embedded_journal();

/// The processes of one control plane on one journal, the clients that load it, and what is to be true afterwards.
class Plane {
 public:
  /// Name of a process and its --roles. "plane" is or has an API server.
  using Shape = std::map<std::string, std::string>;
  static Shape one_process() { return {{"plane", "all"}}; }
  /// Every role in a process of its own, and a second API server.
  static Shape a_process_a_role();

  Plane(const JournalBackend& backend, Shape shape, std::vector<std::string> options);

  e2e::Fleet& fleet() { return fleet_; }
  JournalUnderTest& journal() { return *journal_; }
  std::vector<std::string> names() const;
  bool serves_api(const std::string& name) const;
  /// Starts one of the shape's processes (again). With `wait`, an API server answers when this returns, and the
  /// workload, if any, knows it.
  void start(const std::string& name, Workload* workload, bool wait = true);
  void start_all(Workload* workload);
  /// kill -9.
  void kill(const std::string& name, Workload* workload);
  /// SIGSTOP and SIGCONT.
  void freeze(const std::string& name);
  void thaw(const std::string& name);

  /// Whether every promise made to the clients is kept, the API's history is the journal's, and the state hash is that
  /// of `shiplogctl replay --verify` from entry 0. The processes must run.
  void check(const std::vector<Operation>& operations);

 private:
  e2e::Fleet fleet_;
  std::unique_ptr<JournalUnderTest> journal_;
  Shape shape_;
  std::vector<std::string> options_;
};

/// The seed of this run: SHIPLOG_CRASH_SEED, or `fallback`. To be printed with every failure.
uint64_t seed_or(uint64_t fallback);
/// How many times more rounds than usual: SHIPLOG_CRASH_SOAK, or 1.
int soak();

}  // namespace shiplog::crash
