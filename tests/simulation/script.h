#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "events/base/result.h"
#include "events/base/time.h"
#include "events/fold/fold.h"

namespace shiplog::simulation {

/// One step from outside: a request of a user, or a fault. docs/simulation.md lists them.
struct ScriptStep {
  Millis at;         ///< since the world began
  std::string what;  ///< "write", "crash", "tear", ...
  std::vector<std::string> args;

  int64_t number(size_t index) const;
  uint64_t seed(size_t index) const { return static_cast<uint64_t>(number(index)); }
};

/// A world that can be run again: the seed gives its shape and its interleaving, the steps all that happens to it. Any
/// steps may be left out, which is how a failure is shrunk.
struct Script {
  uint64_t seed = 0;
  Millis until;  ///< users and faults stop then
  std::vector<ScriptStep> steps;
};

/// What a fleet looks like; follows from the seed alone.
struct FleetShape {
  std::vector<std::vector<std::string>> processes;  ///< the services of each: "p0", "p1", ... ; none: an API server
  std::vector<std::string> clusters;                ///< of all members there are, in the fleet or not
  bool preserving = false;                          ///< some policies leave their objects on the members
  uint32_t first_version = kFoldVersion;            ///< fold version that the fleet begins with
  std::vector<uint32_t> builds;                     ///< the fold version that each process supports when it begins
  bool switched_on = true;                          ///< what is off by default: evictions, quotas, preemption
  bool stored = false;                              ///< journal and projections are files on disks that fail
};
FleetShape shape_of(uint64_t seed);

/// Users and faults of a seed, in order of time.
Script draw_script(uint64_t seed);

/// A line for each step, after one with the seed.
std::string to_text(const Script& script);
/// Errors: kInvalid, with the line.
Result<Script> parse_script(std::string_view text);

/// Every kind of step there is, so that a run can report what it has not tried.
const std::vector<std::string>& step_kinds();

}  // namespace shiplog::simulation
