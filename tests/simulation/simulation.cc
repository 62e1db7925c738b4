#include "tests/simulation/simulation.h"

#include <csignal>
#include <cstdio>
#include <cstring>
#include <string_view>

#include <unistd.h>

#include "services/runtime/log.h"
#include "tests/simulation/chaos.h"
#include "tests/simulation/checks.h"
#include "tests/simulation/workload.h"

namespace shiplog::simulation {
namespace {

char running[96];  // written before each run: a signal handler may not format

void on_fatal(int signal) {
  [[maybe_unused]] const auto written = write(STDERR_FILENO, running, std::strlen(running));
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

/// A few shapes of a fleet: everything in one process several times over, or the services apart.
void make_processes(World& world) {
  const auto add = [&](const std::vector<std::string>& services) {
    const std::string name = "p" + std::to_string(world.processes.size());
    world.processes.push_back(std::make_unique<Process>(world, name, services));
  };
  Chance& chance = world.chance;
  if (chance.permille(700)) {
    for (int64_t count = chance.between(2, 3); count > 0; --count) add(all_services());
  } else {
    std::vector<std::string> front;
    std::vector<std::string> back;
    for (const std::string& service : all_services()) (chance.permille(500) ? front : back).push_back(service);
    for (const auto& services : {front, back, front, back}) add(services);
  }
  if (chance.permille(600)) add({});
  for (const auto& process : world.processes) process->start({});
}

constexpr Millis kRest{45'000};       // longer than any backoff
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

std::string Report::text() const {
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

Report simulate(uint64_t seed, bool print, Sabotage sabotage) {
  std::snprintf(running, sizeof running, "FAILED seed %llu (again: simulate --seed %llu --trace)\n",
                static_cast<unsigned long long>(seed), static_cast<unsigned long long>(seed));
  log::configure(log::Format::kText, log::Level::kError);
  World world{seed, print, sabotage};
  const int64_t members = world.chance.between(2, 4);
  for (int64_t number = 1; number <= members; ++number) world.cluster_names.push_back("m" + std::to_string(number));
  world.preserving = world.chance.permille(200);
  Chaos chaos{world};
  Workload workload{world};
  chaos.begin();
  make_processes(world);
  workload.begin();
  world.run_for(Millis{world.chance.between(100, 5000)});
  const UtcMillis until = world.timeline.now() + Millis{world.chance.between(3000, 25'000)};
  workload.run(until);
  chaos.run(until);
  world.run_for(until - world.timeline.now());
  if (!world.broken()) chaos.end();
  come_to_rest(world);
  if (!world.broken()) check_convergence(world);
  if (!world.broken()) check_history(world);

  Report report;
  report.seed = seed;
  report.failure = world.trace.failure();
  report.tail = {world.trace.tail().begin(), world.trace.tail().end()};
  report.state = world.reference.state().hash();
  report.digest = world.trace.digest();
  report.entries = world.log.records().size();
  report.accepted = world.reference.accepted();
  report.events = world.reference.events();
  report.steps = world.timeline.steps();
  report.told = world.told.size();
  report.virtual_seconds = (world.timeline.now().value - 1'767'225'600'000) / 1000;
  report.refusals = world.reference.refusals();
  return report;
}

void name_seed_on_abort() {
  for (const int signal : {SIGABRT, SIGSEGV, SIGBUS, SIGFPE}) std::signal(signal, on_fatal);
}

}  // namespace shiplog::simulation
