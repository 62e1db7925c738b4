// How fast `shiplogctl replay` folds the journal of a fleet again, and verifies every decision in it. The journal is
// that of a fleet whose roles really run: Deployments on three members, edited again and again. The machine's own
// figure is SHA-256 over the same bytes.
//   replay_bench [--deployments=2000] [--edits=5] [--json=FILE] [--directory=DIRECTORY]

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <future>
#include <string>
#include <utility>
#include <vector>

#include <openssl/evp.h>
#include <sys/resource.h>
#include <unistd.h>

#include "events/base/json.h"
#include "events/codec/codec.h"
#include "events/journal/embedded/sqlite_journal.h"
#include "tests/bench/figures.h"
#include "tests/bench/recorded_fleet.h"
#include "tests/support/process.h"

namespace shiplog::bench {
namespace {

[[noreturn]] void give_up(const std::string& why) {
  std::fprintf(stderr, "%s\n", why.c_str());
  std::exit(1);
}

void store(const std::string& path, const std::vector<std::string>& records) {
  const auto journal = or_exit(open_sqlite_journal(path));
  std::vector<std::future<Result<Offset>>> stored;
  for (const std::string& record : records) {
    auto promise = std::make_shared<std::promise<Result<Offset>>>();
    stored.push_back(promise->get_future());
    journal->append(record, [promise](Result<Offset> offset) { promise->set_value(std::move(offset)); });
    if (stored.size() % 10'000 == 0) or_exit(stored.back().get()), stored.clear();
  }
  for (auto& each : stored) or_exit(each.get());
}

Time hash(const std::vector<std::string>& records) {
  const Time start = Time::now();
  unsigned char digest[EVP_MAX_MD_SIZE];
  for (const std::string& record : records) {
    if (EVP_Digest(record.data(), record.size(), digest, nullptr, EVP_sha256(), nullptr) != 1) give_up("SHA-256 fails");
  }
  return Time::now().since(start);
}

double processor_time_of_children() {
  struct rusage usage {};
  ::getrusage(RUSAGE_CHILDREN, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

/// As users run it; the figures are those that it reports.
double replay(Figures& figures, const std::string& what, const std::string& program, std::vector<std::string> options,
              double baseline) {
  options.insert(options.begin(), {program, "replay", "--output=json"});
  const double before = processor_time_of_children();
  const auto ran = e2e::run(options, {}, "", std::chrono::minutes{30});
  if (!ran.ok()) give_up("replay: " + ran.out + ran.err);
  const Value report = or_exit(parse_json(ran.out));
  const double entries = static_cast<double>(report["entries"].as_int());
  const double seconds = report["seconds"].as_double();
  figures.rate("replay", what, static_cast<size_t>(entries), {seconds, processor_time_of_children() - before});
  if (report.contains("decisions")) {
    figures.value("replay", "  decisions run again", static_cast<double>(report["decisions"].as_int()), "");
  }
  figures.value("replay", "  beside SHA-256 of the same bytes", seconds / baseline, "times");
  return seconds;
}

}  // namespace
}  // namespace shiplog::bench

int main(int argc, char** argv) {
  using namespace shiplog;
  using namespace shiplog::bench;
  const size_t deployments = std::strtoul(option(argc, argv, "deployments", "2000").c_str(), nullptr, 10);
  const size_t edits = std::strtoul(option(argc, argv, "edits", "5").c_str(), nullptr, 10);
  const std::string parent = option(argc, argv, "directory", std::filesystem::temp_directory_path().string());
  std::string directory = (std::filesystem::path{parent} / "replay-bench-XXXXXX").string();
  if (deployments == 0 || ::mkdtemp(directory.data()) == nullptr) {
    std::fprintf(stderr, "usage: replay_bench [--deployments=N] [--edits=N] [--json=FILE] [--directory=DIRECTORY]\n");
    return 2;
  }
  Figures figures{option(argc, argv, "json")};
  Figures::heading("Replaying a journal");
  std::vector<std::string> records;
  {
    RecordedFleet fleet;
    fleet.create(deployments);
    for (size_t round = 0; round < edits; ++round) fleet.edit(deployments, round + 1);
    for (const Entry& entry : fleet.entries()) records.push_back(encode(entry));
  }
  size_t bytes = 0;
  for (const std::string& record : records) bytes += record.size();
  figures.value("machine", "entries of the journal", static_cast<double>(records.size()), "");
  figures.value("machine", "bytes of an entry, on average",
                static_cast<double>(bytes) / static_cast<double>(records.size()), "bytes");
  const Time hashed = hash(records);
  figures.rate("machine", "machine: SHA-256 of each entry", records.size(), hashed);
  const std::string path = directory + "/journal.db";
  store(path, records);
  const std::string program = std::filesystem::canonical("/proc/self/exe").parent_path().string() + "/shiplogctl";
  replay(figures, "folded", program, {"--journal=sqlite:" + path}, hashed.wall);
  replay(figures, "folded and verified", program, {"--journal=sqlite:" + path, "--verify"}, hashed.wall);
  std::filesystem::remove_all(directory);
  return 0;
}
