#include "tests/simulation/simulation.h"

#include <csignal>
#include <cstdio>
#include <cstring>
#include <string_view>

#include <unistd.h>

#include "services/runtime/log.h"
#include "tests/simulation/checks.h"
#include "tests/simulation/faults.h"
#include "tests/simulation/faulty_disk.h"
#include "tests/simulation/watchers.h"
#include "tests/simulation/workload.h"

namespace shiplog::simulation {
namespace {

char running[96];  // written before each run: a signal handler may not format

void on_fatal(int signal) {
  [[maybe_unused]] const auto written = write(STDERR_FILENO, running, std::strlen(running));
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

void make_processes(World& world) {
  for (const auto& services : world.shape.processes) {
    const size_t number = world.processes.size();
    world.processes.push_back(
        std::make_unique<SimulatedProcess>(world, "p" + std::to_string(number), services, world.shape.builds[number]));
  }
  for (const auto& process : world.processes) process->start({});
}

// Longer than any backoff; and a probe that began before the repair times out after 10 s, the next begins 10 s later,
// and a cluster is ready after 30 s of success, at the next probe.
constexpr Millis kRest{65'000};
constexpr Millis kPatience{900'000};  // of virtual time until all is at rest

/// At rest nothing is written any more for a long time.
void come_to_rest(World& world) {
  const UtcMillis latest = world.timeline.now() + kPatience;
  size_t before = world.log.records().size();
  UtcMillis since = world.timeline.now();
  while (!world.broken() && world.timeline.now() - since < kRest) {
    if (world.sabotage == Sabotage::kNeverIdle) world.write(*world.processes[0], "touch", {}, {});
    world.run_for(Millis{5000});
    if (world.log.records().size() != before) {
      before = world.log.records().size();
      since = world.timeline.now();
    }
    if (world.timeline.now() > latest) return world.trace.broken("idle", "the fleet does not come to rest");
  }
}

}  // namespace

std::string SimulationReport::text() const {
  std::string text;
  if (failure) {
    text = "FAILED seed " + std::to_string(seed) + "\n" + *failure + "\nagain: simulate --seed " +
           std::to_string(seed) + " --trace\n";
    for (const std::string& line : tail) text += line + "\n";
    return text;
  }
  return "seed " + std::to_string(seed) + ": " + std::to_string(entries) + " entries, " + std::to_string(events) +
         " events, state " + to_string(state) + ", trace " + to_string(digest);
}

SimulationReport run(const Script& script, const RunOptions& options) {
  const auto seed = static_cast<unsigned long long>(script.seed);
  std::snprintf(running, sizeof running, "FAILED seed %llu (again: simulate --seed %llu --trace)\n", seed, seed);
  log::configure(log::Format::kText, log::Level::kError);
  World world{script.seed, options.print, options.sabotage};
  Faults faults{world};
  SimulatedUsers workload{world};
  Watchers watchers{world};
  faults.begin();
  make_processes(world);
  workload.begin();
  watchers.begin();
  watch_bounds(world);
  for (const ScriptStep& step : script.steps) {
    world.timeline.after(step.at, [&world, &workload, &faults, &step] {
      if (step.what == "write") {
        workload.act(step.args[0], step.seed(1));
      } else {
        faults.run(step);
      }
    });
  }
  world.run_for(script.until);
  if (!world.broken()) faults.end();
  come_to_rest(world);
  if (!world.broken()) check_convergence(world);
  if (!world.broken()) watchers.check_complete();
  if (!world.broken()) check_history(world);
  if (!world.broken()) check_storage(world);

  SimulationReport report;
  report.seed = script.seed;
  report.failure = world.trace.failure();
  report.tail = {world.trace.tail().begin(), world.trace.tail().end()};
  report.state = world.reference.state().hash();
  report.digest = world.trace.digest();
  report.fold_version = world.reference.state().fold_version();
  report.entries = world.log.records().size();
  report.accepted = world.reference.accepted();
  report.events = world.reference.events();
  report.steps = world.timeline.steps();
  report.told = world.told.size();
  report.watched = world.watched;
  report.virtual_seconds = (world.timeline.now() - Timeline::kBegin).value / 1000;
  report.refusals = world.reference.refusals();
  report.happened = world.happened();
  report.most = world.most();
  for (const auto& [what, count] : world.log.happened) report.happened[what] += count;
  if (world.storage != nullptr) {
    report.happened["world with storage"] = 1;
    for (const auto& [what, count] : FaultyDisk::get().happened) report.happened[what] += count;
  }
  if (world.log.torn_records() > 0) report.happened["records torn off"] += world.log.torn_records();
  if (world.reference.under_slots() > 0) report.happened["entry under a slot"] += world.reference.under_slots();
  if (world.reads > 0) report.happened["linearizable read"] += world.reads;
  return report;
}

SimulationReport simulate(uint64_t seed, bool print, Sabotage sabotage) {
  return run(draw_script(seed), {.print = print, .sabotage = sabotage});
}

void name_seed_on_abort() {
  for (const int signal : {SIGABRT, SIGSEGV, SIGBUS, SIGFPE}) std::signal(signal, on_fatal);
}

}  // namespace shiplog::simulation
