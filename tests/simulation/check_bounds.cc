#include <algorithm>
#include <string>

#include "tests/simulation/checks.h"

namespace shiplog::simulation {
namespace {

constexpr Millis kInterval{500};
/// A role has a key at most once in its queue, for each object that it looks at, and the objects that are gone
/// meanwhile.
constexpr size_t kKeysForObject = 2;
constexpr size_t kFewKeys = 200;
/// Timers: retries and later looks of every key, requests on their way, and the pauses of each process.
constexpr size_t kTimersForObject = 8;
constexpr size_t kFewTimers = 2000;

void look(World& world) {
  const size_t objects = world.reference.state().object_count();
  for (const auto& process : world.processes) {
    if (!process->alive()) continue;
    for (const RoleFigures& role : process->roles().figures()) {
      const size_t keys = role.queued + role.busy;
      world.note_most("keys of a role", keys);
      if (keys <= kKeysForObject * objects + kFewKeys) continue;
      world.trace.broken("bounds", process->identity() + " has " + std::to_string(keys) + " keys of " + role.role +
                                       " to reconcile, of " + std::to_string(objects) + " objects");
    }
  }
  const size_t timers = world.timeline.waiting();
  world.note_most("timers", timers);
  if (timers > world.processes.size() * (kTimersForObject * objects + kFewTimers)) {
    world.trace.broken("bounds",
                       std::to_string(timers) + " timers are waiting, of " + std::to_string(objects) + " objects");
  }
  world.timeline.after(kInterval, [&world] { look(world); });
}

}  // namespace

void watch_bounds(World& world) { look(world); }

}  // namespace shiplog::simulation
