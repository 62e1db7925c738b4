#include <chrono>
#include <cstdint>
#include <cstdio>

#include <CLI/CLI.hpp>

#include "tests/simulation/simulation.h"

namespace shiplog::simulation {
namespace {

struct Options {
  uint64_t first = 1;
  uint64_t seeds = 100;
  double minutes = 0;
  bool keep_going = false;
};

void print(const Report& report) {
  std::printf("%s\n", report.text().c_str());
  std::fflush(stdout);
}

int run_many(const Options& options) {
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  const auto seconds = [&](Clock::time_point since) {
    return std::chrono::duration<double>(Clock::now() - since).count();
  };
  auto printed = begin;
  uint64_t failed = 0;
  uint64_t events = 0;
  uint64_t entries = 0;
  uint64_t done = 0;
  for (uint64_t seed = options.first; seed < options.first + options.seeds; ++seed) {
    if (options.minutes > 0 && seconds(begin) > options.minutes * 60) break;
    const Report report = simulate(seed);
    ++done;
    events += report.events;
    entries += report.entries;
    if (report.failure) {
      ++failed;
      print(report);
      if (!options.keep_going) return 1;
    }
    if (seconds(printed) > 5) {
      printed = Clock::now();
      std::printf("seed %llu: %llu seeds, %llu failed, %.0f events/s\n", static_cast<unsigned long long>(seed),
                  static_cast<unsigned long long>(done), static_cast<unsigned long long>(failed),
                  static_cast<double>(events) / seconds(begin));
      std::fflush(stdout);
    }
  }
  std::printf("%llu seeds, %llu failed, %llu entries, %llu events in %.1f s (%.0f events/s)\n",
              static_cast<unsigned long long>(done), static_cast<unsigned long long>(failed),
              static_cast<unsigned long long>(entries), static_cast<unsigned long long>(events), seconds(begin),
              static_cast<double>(events) / seconds(begin));
  return failed == 0 ? 0 : 1;
}

}  // namespace
}  // namespace shiplog::simulation

int main(int argc, char** argv) {
  using namespace shiplog::simulation;
  Options options;
  uint64_t one = 0;
  bool trace = false;
  CLI::App app{"Runs whole fleets in virtual time, one for each seed, and checks what must hold."};
  app.add_option("--seeds", options.seeds, "how many seeds to run (default 100)");
  app.add_option("--first", options.first, "the first of them (default 1)");
  app.add_option("--minutes", options.minutes, "stop after this time, whatever is left");
  app.add_flag("--keep-going", options.keep_going, "go on after a failure");
  auto* seed = app.add_option("--seed", one, "run this one only");
  app.add_flag("--trace", trace, "write what happens, line by line (with --seed)")->needs(seed);
  CLI11_PARSE(app, argc, argv);

  name_seed_on_abort();
  if (seed->count() == 0) return run_many(options);
  const Report report = simulate(one, trace);
  std::printf("%s\n", report.text().c_str());
  std::printf("%llu steps over %lld virtual seconds, %llu accepted, %llu answers to users\n",
              static_cast<unsigned long long>(report.steps), static_cast<long long>(report.virtual_seconds),
              static_cast<unsigned long long>(report.accepted), static_cast<unsigned long long>(report.told));
  for (const auto& [what, count] : report.refusals) {
    std::printf("  refused %6llu  %s\n", static_cast<unsigned long long>(count), what.c_str());
  }
  return report.failure ? 1 : 0;
}
