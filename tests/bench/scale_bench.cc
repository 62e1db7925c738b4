// A fleet of many members of realistic size: how long it takes to join, what it costs at rest, how long templates take
// to members and their status back, under load and while a tenth of the members hang, a start, and a change of process.
// The members are simulated (shiplogd member --many), over HTTPS, in one process beside the control plane; `--plane`
// names the folder of another build's programs, for comparison with the same members.
//   scale_bench [--members=100] [--nodes=500] [--pods=2000] [--churn=1] [--seconds=60] [--settle=60]
//               [--templates=600] [--rate=20] [--only=rest] [--plane=DIRECTORY] [--plane-options=A,B] [--json=FILE]
//               [--directory=DIRECTORY]

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <string>
#include <thread>

#include <unistd.h>

#include "tests/bench/scale_fleet.h"
#include "tests/bench/scale_load.h"

namespace shiplog::bench {
namespace {

void pause(int seconds) { std::this_thread::sleep_for(std::chrono::seconds{seconds}); }

struct ScaleRun {
  Figures& figures;
  ScaledFleet& fleet;
  int seconds = 0, settle = 0;
  size_t templates = 0, rate = 0;
  double empty_mb = 0;
  std::string phase = "";

  void heading(const std::string& of) {
    phase = of;
    Figures::heading(of);
  }
  void value(const std::string& what, double number, const char* unit) {
    figures.value("scale: " + phase, what, number, unit);
  }
  double members() const { return static_cast<double>(fleet.members()); }

  /// Of the control plane while nothing happens.
  double cpu_of(int of_seconds) {
    const Counters from = fleet.now();
    pause(of_seconds);
    const Counters to = fleet.now();
    return (to.plane_cpu - from.plane_cpu) / to.seconds_since(from);
  }

  void join() {
    pause(5);
    empty_mb = memory_mb(fleet.plane());
    const double without = cpu_of(std::max(5, seconds / 4));
    const Counters before = fleet.now();
    fleet.join_all();
    const Counters ready = fleet.now();
    fleet.wait_until_counted();
    const Counters counted = fleet.now();
    heading("to join");
    value("memory without members", empty_mb, "MB");
    value("processor without members", without * 1000, "ms/s");
    value("until all are Ready", ready.seconds_since(before), "s");
    value("until all nodes and pods are counted", counted.seconds_since(before), "s");
    value("processor until then", counted.plane_cpu - before.plane_cpu, "s");
    value("processor of each member", (counted.plane_cpu - before.plane_cpu) * 1000 / members(), "ms");
    value("highest memory", peak_memory_mb(fleet.plane()), "MB");
  }

  void rest(const std::string& when) {
    pause(settle);
    const Counters from = fleet.now();
    pause(seconds);
    const Counters to = fleet.now();
    const double took = to.seconds_since(from);
    const double per_minute = 60 / took;
    heading(when);
    value("memory", memory_mb(fleet.plane()), "MB");
    value("memory of each member", (memory_mb(fleet.plane()) - empty_mb) * 1024 / members(), "KB");
    value("processor", (to.plane_cpu - from.plane_cpu) / took * 1000, "ms/s");
    value("processor of each member", (to.plane_cpu - from.plane_cpu) / took * 1e6 / members(), "us/s");
    value("read from members", (to.bytes - from.bytes) / took / 1024, "KB/s");
    value("requests to members", (to.requests - from.requests) / took, "1/s");
    value("entries", (to.entries - from.entries) * per_minute, "1/min");
    value("of them about clusters", (to.cluster_entries - from.cluster_entries) * per_minute, "1/min");
    value("journal", (to.journal_bytes - from.journal_bytes) * per_minute / 1024, "KB/min");
    value("processor of the simulated members", (to.members_cpu - from.members_cpu) / took * 1000, "ms/s");
  }

  void write_latencies(const std::vector<double>& of, const std::string& what) {
    value(what + ", p50", percentile(of, 0.5), "ms");
    value(what + ", p99", percentile(of, 0.99), "ms");
  }

  void load(const Targets& targets, const std::string& name, const std::string& when, size_t hanging) {
    const Counters from = fleet.now();
    const Latencies latencies = run_load(fleet, targets, name, templates, rate, hanging);
    const Counters to = fleet.now();
    heading(when);
    write_latencies(latencies.writes, "API, write");
    write_latencies(latencies.reads, "API, read");
    write_latencies(latencies.to_member, "template to each member");
    write_latencies(latencies.to_status, "template to its status (the members take 500 ms of it)");
    value("processor", (to.plane_cpu - from.plane_cpu) / to.seconds_since(from) * 1000, "ms/s");
    value("processor of each template", (to.plane_cpu - from.plane_cpu) * 1000 / static_cast<double>(templates), "ms");
    value("entries of each template", (to.entries - from.entries) / static_cast<double>(templates), "");
    value("memory", memory_mb(fleet.plane()), "MB");
    value("highest memory", peak_memory_mb(fleet.plane()), "MB");
  }

  /// From `begun` until the process that serves now has done one thing for members of all slots, and has read all.
  void figures_of_begin(const Targets& targets, const std::string& name, std::chrono::steady_clock::time_point begun) {
    const auto since = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count(); };
    value("until it serves", since(), "s");
    run_load(fleet, targets, name, targets.groups(), 1'000, 0);
    value("until templates have reached " + std::to_string(targets.all().size()) + " members and their status is back",
          since(), "s");
    while (fleet.answered() < fleet.members()) pause(1);
    value("until all members have been read", since(), "s");
    value("highest memory", peak_memory_mb(fleet.plane()), "MB");
  }
};

int run(int argc, char** argv) {
  const auto text = [&](const char* name, const char* fallback) { return option(argc, argv, name, fallback); };
  const auto number = [&](const char* name, const char* fallback) { return std::stoul(text(name, fallback)); };
  char folder[] = "/tmp/scale-bench-XXXXXX";
  const std::string given = text("directory", "");
  const std::string directory = given.empty() ? ::mkdtemp(folder) : given;
  std::filesystem::create_directories(directory);
  const std::string programs = std::filesystem::canonical("/proc/self/exe").parent_path().string();
  ScaleOptions options{.members = number("members", "100"),
                       .nodes = number("nodes", "500"),
                       .pods = number("pods", "2000"),
                       .churn = text("churn", "1"),
                       .programs = programs,
                       .plane_programs = option(argc, argv, "plane", programs),
                       .plane_options = {}};
  std::istringstream words{text("plane-options", "")};
  for (std::string word; std::getline(words, word, ',');) options.plane_options.push_back("--" + word);
  {
    Figures figures{text("json", "")};
    ScaledFleet fleet{directory, options};
    ScaleRun run{.figures = figures,
                 .fleet = fleet,
                 .seconds = static_cast<int>(number("seconds", "60")),
                 .settle = static_cast<int>(number("settle", "60")),
                 .templates = number("templates", "600"),
                 .rate = number("rate", "20")};
    Figures::heading(std::to_string(options.members) + " members of " + std::to_string(options.nodes) + " nodes and " +
                     std::to_string(options.pods) + " pods, of each of which " + options.churn +
                     " is replaced per second");
    run.join();
    run.rest("at rest");
    if (text("only", "") == "rest") return 0;
    const Latencies alone = sample_api(fleet, "alone", 10);
    run.write_latencies(alone.writes, "API, write");
    run.write_latencies(alone.reads, "API, read");

    const Targets targets{options.members};
    targets.create_policies(fleet.client());
    const std::string load =
        std::to_string(run.rate) + " templates a second, each to " + std::to_string(Targets::kCopies) + " members";
    run.load(targets, "load", load, 0);
    run.rest("at rest, with " + std::to_string(run.templates) + " templates");
    const size_t hanging = options.members / 10;
    fleet.hang(hanging);
    run.load(targets, "hanging", "the same, while the last " + std::to_string(hanging) + " members do not answer",
             hanging);
    fleet.hang(0);

    run.heading("a start");
    auto begun = std::chrono::steady_clock::now();
    fleet.restart();
    run.figures_of_begin(targets, "start", begun);
    run.heading("another process takes over");
    fleet.take_over();
    begun = std::chrono::steady_clock::now();
    run.figures_of_begin(targets, "taken", begun);
  }
  if (given.empty()) std::filesystem::remove_all(directory);
  return 0;
}

}  // namespace
}  // namespace shiplog::bench

int main(int argc, char** argv) { return shiplog::bench::run(argc, argv); }
