// A large fleet on a Kafka broker, as real processes: its journal is copied to the broker and back, a control plane
// starts from the first entry and from a snapshot, and everything is read again as the scrub does.
//   broker_bench --broker=HOST:PORT [--objects=100000] [--json=FILE] [--directory=DIRECTORY]

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include <unistd.h>

#include "events/journal/kafka/kafka_journal.h"
#include "services/runtime/scrub.h"
#include "tests/bench/bench_fleet.h"

namespace shiplog::bench {
namespace {

namespace fs = std::filesystem;

/// Prints what `shiplogctl journal copy` measured of the record.
void copy(Figures& figures, const std::string& what, const std::string& programs, const std::string& home,
          const std::vector<std::string>& places) {
  std::vector<std::string> command = {programs + "/shiplogctl", "journal", "copy", "--no-verify"};
  command.insert(command.end(), places.begin(), places.end());
  const auto ran = e2e::run(command, {{"HOME", home}}, "", kPatience);
  double entries = 0, megabytes = 0, rate = 0, speed = 0;
  const size_t at = ran.out.find("journal: copied ");
  if (!ran.ok() || at == std::string::npos ||
      std::sscanf(ran.out.c_str() + at, "journal: copied %lf entries, %lf MB, %lf entries/s, %lf MB/s", &entries,
                  &megabytes, &rate, &speed) != 4) {
    give_up("journal copy: " + ran.out + ran.err);
  }
  figures.value("journal copy", what, rate, "entries/s");
  figures.value("journal copy", what + ", bytes", speed, "MB/s");
}

/// Starts the process and waits until it is ready, which it is once it has folded the journal.
std::unique_ptr<e2e::Process> started(Figures& figures, const std::string& what, BenchFleet& fleet,
                                      const std::vector<std::string>& options) {
  const Time start = Time::now();
  auto plane = fleet.start("moved", options);
  BenchClient client{fleet.kubeconfig("moved"), 1};
  const bool ready = e2e::eventually([&] { return client.call("GET", "/readyz").status == 200; }, kPatience);
  if (!ready || !plane->running()) give_up("it does not become ready: " + e2e::read_file(plane->log()));
  const double took = Time::now().since(start).wall;
  figures.value("start", what, took, "seconds");
  figures.value("start", what + ", CPU", cpu_seconds(plane->pid()), "CPU seconds");
  return plane;
}

bool has_snapshot(const std::string& folder) {
  std::error_code none;
  for (const auto& file : fs::directory_iterator(folder, none)) {
    if (file.path().filename().string().starts_with("revision-")) return true;
  }
  return false;
}

void measure(Figures& figures, const std::string& broker, size_t count, const std::string& directory,
             const std::string& programs) {
  const std::string objects = std::to_string(count) + " objects";
  Figures::heading("a fleet of " + objects + " on a broker");
  BenchFleet fleet{directory, programs};
  {
    const auto plane = fleet.start("plane", {"serve", "--roles=api"});
    std::vector<std::pair<std::string, std::string>> stored;
    for (size_t i = 0; i < count; ++i) {
      stored.emplace_back(kConfigMaps, config_map("settings-" + std::to_string(i), 1400));
    }
    store(fleet, stored);
    plane->terminate();
  }
  const std::string name = "moved-" + std::to_string(::getpid());
  const std::string source = "sqlite:" + directory + "/plane/journal.db", moved = "kafka:" + broker + "/" + name;
  const std::string keys = directory + "/keys", data = directory + "/moved";
  copy(figures, "from a file to the broker", programs, directory,
       {"--from=" + source, "--to=" + moved, "--to-keys-dir=" + keys});
  copy(figures, "from the broker to a file", programs, directory,
       {"--from=" + moved, "--from-keys-dir=" + keys, "--to=sqlite:" + directory + "/back/journal.db"});

  const std::vector<std::string> options = {"serve",
                                            "--roles=api",
                                            "--journal=" + moved,
                                            "--keys-dir=" + keys,
                                            "--scrub-rate=0",
                                            "--snapshot-every=" + std::to_string(count)};
  auto plane = started(figures, "from the first entry, " + objects, fleet, options);
  if (!e2e::eventually([&] { return has_snapshot(data + "/snapshots"); }, kPatience)) give_up("there is no snapshot");
  plane->terminate();
  for (const char* suffix : {"", "-wal", "-shm"}) fs::remove(data + "/projection.db" + suffix);
  started(figures, "from a snapshot, " + objects, fleet, options)->terminate();

  KafkaJournalOptions topic;
  topic.brokers = broker;
  topic.topic = name + ".journal";
  topic.create = false;
  const auto journal = or_exit(open_kafka_journal(topic));
  size_t bytes = 0;
  const Time start = Time::now();
  const ScrubReport report =
      scrub({.name = "journal", .journal = journal.get(), .projection = data + "/projection.db", .journal_damaged = {}},
            [&](size_t read) {
              bytes += read;
              return true;
            });
  const Time took = Time::now().since(start);
  if (report.records < count || report.rows < count || report.damaged_records + report.damaged_rows > 0) {
    give_up("the scrub read " + std::to_string(report.records) + " records and " + std::to_string(report.rows) +
            " rows, of which " + std::to_string(report.damaged_records + report.damaged_rows) + " are damaged");
  }
  figures.rate("scrub", "records and rows read again", report.records + report.rows, took);
  figures.value("scrub", "records and rows read again, bytes", static_cast<double>(bytes) / 1e6 / took.wall, "MB/s");
}

}  // namespace
}  // namespace shiplog::bench

int main(int argc, char** argv) {
  using namespace shiplog::bench;
  const std::string broker = option(argc, argv, "broker");
  const size_t objects = std::strtoul(option(argc, argv, "objects", "100000").c_str(), nullptr, 10);
  const std::string parent = option(argc, argv, "directory", std::filesystem::temp_directory_path().string());
  std::string directory = (std::filesystem::path{parent} / "broker-bench-XXXXXX").string();
  if (broker.empty() || objects == 0 || ::mkdtemp(directory.data()) == nullptr) {
    std::fprintf(stderr,
                 "usage: broker_bench --broker=HOST:PORT [--objects=N] [--json=FILE] [--directory=DIRECTORY]\n");
    return 2;
  }
  const std::string programs = std::filesystem::canonical("/proc/self/exe").parent_path().string();
  Figures figures{option(argc, argv, "json")};
  measure(figures, broker, objects, directory, programs);
  std::filesystem::remove_all(directory);
  return 0;
}
