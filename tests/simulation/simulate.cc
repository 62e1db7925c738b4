#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "tests/simulation/shrink.h"
#include "tests/simulation/simulation.h"

namespace shiplog::simulation {
namespace {

struct Options {
  uint64_t first = 1;
  uint64_t seeds = 100;
  double minutes = 0;
  bool keep_going = false;
  bool whole = false;
  bool stored = false;
  size_t shrink_runs = 300;
  std::vector<uint64_t> known;
};

std::string grouped(double number) {
  std::string digits = std::to_string(static_cast<long long>(number));
  for (auto at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > 0; at -= 3) {
    digits.insert(static_cast<size_t>(at), ",");
  }
  return digits;
}

/// Over all seeds so far.
class Totals {
 public:
  void add(const SimulationReport& report) {
    ++seeds_;
    failed_ += report.failure ? 1 : 0;
    events_ += static_cast<double>(report.events);
    entries_ += static_cast<double>(report.entries);
    told_ += static_cast<double>(report.told);
    watched_ += static_cast<double>(report.watched);
    hours_ += static_cast<double>(report.virtual_seconds) / 3600;
    for (const auto& [what, count] : report.happened) happened_[what] += count;
    for (const auto& [what, count] : report.most) most_[what] = std::max(most_[what], count);
  }
  uint64_t failed() const { return failed_; }
  double seconds() const { return std::chrono::duration<double>(Clock::now() - begin_).count(); }

  void print() const {
    std::cout << seeds_ << " seeds, " << failed_ << " failed, " << grouped(seconds()) << " s: " << grouped(events_)
              << " events (" << grouped(events_ / seconds()) << "/s), " << grouped(hours_) << " simulated hours ("
              << static_cast<double>(static_cast<int64_t>(100 * hours_ / seconds())) / 100 << "/s)" << std::endl;
  }

  void print_coverage() const {
    std::cout << grouped(entries_) << " entries, " << grouped(told_) << " answers to users, " << grouped(watched_)
              << " changes delivered to watches\nwhat happened, and how often:\n";
    for (const auto& [what, count] : happened_) {
      std::cout << "  " << std::string(12 - std::min<size_t>(12, grouped(static_cast<double>(count)).size()), ' ')
                << grouped(static_cast<double>(count)) << "  " << what << "\n";
    }
    for (const auto& [what, count] : most_) std::cout << "at most " << count << " " << what << "\n";
    std::string never;
    for (const std::string& kind : step_kinds()) {
      const auto at = happened_.lower_bound(kind);
      if (at == happened_.end() || !at->first.starts_with(kind)) never += " " + kind;
    }
    std::cout << (never.empty() ? "no kind of fault was left out" : "never happened:" + never) << std::endl;
  }

  void forgive() { --failed_; }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point begin_ = Clock::now();
  uint64_t seeds_ = 0, failed_ = 0;
  double events_ = 0, entries_ = 0, told_ = 0, watched_ = 0, hours_ = 0;
  std::map<std::string, uint64_t> happened_, most_;
};

void print_shrunk(const Script& script, const SimulationReport& report, const Options& options) {
  if (options.whole) return;
  std::cout << "shrinking a script of " << script.steps.size() << " steps ..." << std::endl;
  const Shrunk shrunk = shrink(script, *report.failure, Sabotage::kNone, options.shrink_runs);
  std::cout << "# after " << shrunk.runs << " runs, " << shrunk.script.steps.size()
            << " steps are left; to run them again: simulate --script FILE --trace\n# " << shrunk.failure << "\n"
            << to_text(shrunk.script) << std::endl;
}

int run_many(const Options& options) {
  Totals totals;
  double printed = 0;
  for (uint64_t seed = options.first; seed < options.first + options.seeds; ++seed) {
    if (options.minutes > 0 && totals.seconds() > options.minutes * 60) break;
    if (options.stored && !shape_of(seed).stored) continue;
    const Script script = draw_script(seed);
    const SimulationReport report = run(script);
    totals.add(report);
    if (std::ranges::find(options.known, seed) != options.known.end()) {
      std::cout << "seed " << seed
                << " is known to fail: " << report.failure.value_or("it passes now, take it off the list") << std::endl;
      if (report.failure) totals.forgive();
    } else if (report.failure) {
      std::cout << report.text() << std::endl;
      print_shrunk(script, report, options);
      if (!options.keep_going) break;
    }
    if (totals.seconds() - printed > 5) {
      printed = totals.seconds();
      totals.print();
    }
  }
  totals.print();
  totals.print_coverage();
  return totals.failed() == 0 ? 0 : 1;
}

int run_one(const Script& script, const Options& options, bool trace) {
  const SimulationReport report = run(script, {.print = trace});
  std::cout << report.text() << "\n"
            << report.steps << " steps over " << report.virtual_seconds << " virtual seconds, " << report.accepted
            << " accepted, " << report.told << " answers to users\n";
  for (const auto& [what, count] : report.refusals) std::cout << "  refused " << count << "  " << what << "\n";
  for (const auto& [what, count] : report.happened) std::cout << "  " << count << "  " << what << "\n";
  for (const auto& [what, count] : report.most) std::cout << "  at most " << count << "  " << what << "\n";
  if (report.failure) print_shrunk(script, report, options);
  return report.failure ? 1 : 0;
}

int run_file(const std::string& path, const Options& options, bool trace) {
  std::ifstream file{path};
  if (!file) {
    std::cerr << "cannot read " << path << "\n";
    return 2;
  }
  const std::string text{std::istreambuf_iterator<char>{file}, {}};
  const auto script = parse_script(text);
  if (!script) {
    std::cerr << path << ": " << script.error().message << "\n";
    return 2;
  }
  return run_one(script.value(), options, trace);
}

}  // namespace
}  // namespace shiplog::simulation

int main(int argc, char** argv) {
  using namespace shiplog::simulation;
  Options options;
  uint64_t one = 0;
  bool trace = false;
  bool show = false;
  std::string file;
  CLI::App app{"Runs whole fleets in virtual time, one for each seed, and checks what must hold."};
  app.add_option("--seeds", options.seeds, "how many seeds to run (default 100)");
  app.add_option("--first", options.first, "the first of them (default 1)");
  app.add_option("--minutes", options.minutes, "stop after this time, whatever is left");
  app.add_option("--known", options.known, "seeds that are known to fail: run and told, not counted")->delimiter(',');
  app.add_flag("--keep-going", options.keep_going, "go on after a failure");
  app.add_flag("--no-shrink", options.whole, "do not look for a shorter script that fails in the same manner");
  app.add_option("--shrink-runs", options.shrink_runs, "look for it in at most so many runs (default 300)");
  app.add_flag("--stored", options.stored, "of the seeds only those whose journal and projections are on disks");
  auto* seed = app.add_option("--seed", one, "run this one only");
  auto* script = app.add_option("--script", file, "run the steps in this file")->excludes(seed);
  app.add_flag("--show", show, "write the script of a seed instead of running it (with --seed)")->needs(seed);
  auto* traced = app.add_flag("--trace", trace, "write what happens, line by line (with --seed or --script)");
  CLI11_PARSE(app, argc, argv);
  if (traced->count() > 0 && seed->count() + script->count() == 0) {
    std::cerr << "--trace goes with --seed or --script\n";
    return 2;
  }

  name_seed_on_abort();
  if (script->count() > 0) return run_file(file, options, trace);
  if (seed->count() == 0) return run_many(options);
  if (!show) return run_one(draw_script(one), options, trace);
  std::cout << to_text(draw_script(one));
  return 0;
}
