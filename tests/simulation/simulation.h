#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "events/base/hash.h"
#include "tests/simulation/script.h"
#include "tests/simulation/world.h"

namespace shiplog::simulation {

struct SimulationReport {
  uint64_t seed = 0;
  std::optional<std::string> failure;  ///< "rule: what is wrong"
  std::vector<std::string> tail;       ///< the newest lines of the trace
  Hash128 state;                       ///< hash at the end
  Hash128 digest;                      ///< of the whole trace
  uint32_t fold_version = 0;           ///< at the end
  uint64_t entries = 0;
  uint64_t accepted = 0;
  uint64_t events = 0;
  uint64_t steps = 0;
  uint64_t told = 0;
  uint64_t watched = 0;
  int64_t virtual_seconds = 0;
  std::map<std::string, uint64_t> refusals;
  std::map<std::string, uint64_t> happened;  ///< faults and requests that took place, by kind
  std::map<std::string, uint64_t> most;      ///< the largest number of something at any time

  /// For people, with how to run it again.
  std::string text() const;
};

struct RunOptions {
  bool print = false;  ///< each line of the trace goes to standard output as it happens
  Sabotage sabotage = Sabotage::kNone;
};

/// Runs one world: users and faults according to the script, then repair and rest, then the checks.
SimulationReport run(const Script& script, const RunOptions& options = {});
/// The script of a seed.
SimulationReport simulate(uint64_t seed, bool print = false, Sabotage sabotage = Sabotage::kNone);

/// If a check inside the product ends the process, prints the seed.
void name_seed_on_abort();

}  // namespace shiplog::simulation
