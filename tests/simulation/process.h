#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "projections/runner.h"
#include "services/runtime/replica.h"
#include "services/runtime/roles.h"
#include "tests/simulation/election.h"
#include "tests/simulation/executor.h"
#include "tests/simulation/journal.h"
#include "tests/simulation/members.h"
#include "tests/simulation/reference.h"

namespace shiplog::simulation {

class World;

/// The roles of shiplogd that have a lease, in the order they are started in.
const std::vector<std::string>& all_services();

/// One shiplogd: a replica of the journal and the services it was given, which it can lose and get again any number of
/// times.
class SimulatedProcess {
 public:
  /// Without services it only serves its users, as an API server does. `build`: the newest fold version it knows.
  SimulatedProcess(World& world, std::string name, std::vector<std::string> services, uint32_t build);
  ~SimulatedProcess();

  const std::string& name() const { return name_; }
  bool alive() const { return life_ != nullptr; }
  bool has(const std::string& role) const { return std::ranges::find(services_, role) != services_.end(); }
  /// From the journal's beginning, or from a snapshot; when the journal is unavailable, once it is back.
  void start(Restored from);
  /// `power_fails`: its projection loses what was not synced, if the world has storage.
  void crash(bool power_fails = false);
  /// How far the clock of its machine is off. A running process keeps its time; one that starts believes the clock.
  void set_clock_error(Millis error);
  bool supports(uint32_t fold_version) const { return build_ >= fold_version; }
  /// It is replaced by one of the newest build, which is started after that time.
  void upgrade(Millis after);

  /// The journal has grown; that of the ephemera has.
  void on_stored();
  void on_ephemera_stored();
  /// Reads nothing from the journal before then, but goes on with what it knows, and can append.
  void lag(UtcMillis until) { lags_until_ = until; }

  /// As an API server reads: once everything is folded here that the journal held when this was called. Never, when the
  /// process dies before; `away` when the journal cannot be read.
  void when_current(std::function<void()> then, const std::function<void()>& away = {});
  /// Tells one life from the next.
  int life() const { return lives_; }

  // Only while alive:
  Replica& replica();
  const Roles& roles() const;
  SimExecutor& executor();
  const std::string& identity() const;
  /// nullptr: the world has no storage.
  const Projections* projections() const;
  /// Everything that a projection would have kept.
  Restored snapshot() const;

 private:
  struct Life;
  void pull();
  bool needs_newer_build(const std::vector<DecodedRecord>& records) const;
  bool start_ephemera();
  Result<std::unique_ptr<Projections>> open_projection(Restored& from);
  void stop_and_start_again(const std::string& why);
  void pull_ephemera();

  World& world_;
  std::string name_;
  std::vector<std::string> services_;
  uint32_t build_;
  Millis clock_error_{0};
  int lives_ = 0;
  UtcMillis lags_until_;
  std::unique_ptr<Life> life_;
};

}  // namespace shiplog::simulation
