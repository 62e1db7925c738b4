// Tests whether a control plane's memory stays bounded: Deployments with policies on two members, whose images change
// continuously. Prints the memory of the process once a minute; memory from the system and memory in use are separate,
// to distinguish growth from fragmentation.
//   churn_bench [--minutes=10] [--deployments=40] [--patches=20] (a second) [--json=FILE] [--directory=DIRECTORY]

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>

#include <unistd.h>

#include "tests/bench/bench_fleet.h"

namespace shiplog::bench {
namespace {

double resident_mb(pid_t pid) {
  std::FILE* file = std::fopen(("/proc/" + std::to_string(pid) + "/statm").c_str(), "re");
  if (file == nullptr) give_up("the control plane has ended");
  unsigned long all = 0, resident = 0;
  const int read = std::fscanf(file, "%lu %lu", &all, &resident);
  std::fclose(file);
  if (read != 2) give_up("cannot read the size of the control plane");
  return static_cast<double>(resident) * static_cast<double>(::sysconf(_SC_PAGESIZE)) / (1 << 20);
}

/// The value of a gauge without labels.
double gauge(BenchClient& client, const std::string& name) {
  const std::string text = client.call("GET", "/metrics").body;
  const size_t position = text.find("\n" + name + " ");
  return position == std::string::npos ? 0 : std::strtod(text.c_str() + position + name.size() + 2, nullptr);
}

void churn(Figures& figures, BenchFleet& fleet, int minutes, size_t deployments, size_t patches) {
  const auto plane = fleet.start("plane", {"serve"});
  const auto m1 = fleet.member("m1");
  const auto m2 = fleet.member("m2");
  for (const char* name : {"m1", "m2"}) fleet.join(name);
  BenchClient client{fleet.kubeconfig("plane"), 1};
  for (size_t i = 0; i < deployments; ++i) {
    const std::string name = "web-" + std::to_string(i);
    client.must("POST", kPolicies,
                policy(name, R"({"apiVersion":"apps/v1","kind":"Deployment","name":")" + name + "\"}"));
    client.must("POST", kDeployments, deployment(name));
  }
  const auto start = std::chrono::steady_clock::now();
  size_t sent = 0;
  for (int minute = 1; minute <= minutes; ++minute) {
    for (; sent < static_cast<size_t>(minute) * 60 * patches; ++sent) {
      std::this_thread::sleep_until(start + std::chrono::milliseconds{1000 * sent / patches});
      client.must("PATCH", kDeployments + "/web-" + std::to_string(sent % deployments),
                  R"({"metadata":{"annotations":{"round":")" + std::to_string(sent) +
                      R"("}},"spec":{"template":{"metadata":{"annotations":{"round":")" + std::to_string(sent) +
                      R"("}}}}})");
    }
    const std::string when = "after " + std::to_string(minute) + " min, ";
    figures.value("memory", when + "resident", resident_mb(plane->pid()), "MB");
    figures.value("memory", when + "in use", gauge(client, "shiplog_heap_bytes") / (1 << 20), "MB");
    figures.value("memory", when + "entries folded", gauge(client, "shiplog_entries_folded_total"), "entries");
    std::fflush(stdout);
  }
}

}  // namespace
}  // namespace shiplog::bench

int main(int argc, char** argv) {
  using namespace shiplog::bench;
  const int minutes = std::atoi(option(argc, argv, "minutes", "10").c_str());
  const size_t deployments = std::strtoul(option(argc, argv, "deployments", "40").c_str(), nullptr, 10);
  const size_t patches = std::strtoul(option(argc, argv, "patches", "20").c_str(), nullptr, 10);
  const std::string parent = option(argc, argv, "directory", std::filesystem::temp_directory_path().string());
  std::string directory = (std::filesystem::path{parent} / "churn-bench-XXXXXX").string();
  if (minutes <= 0 || deployments == 0 || patches == 0 || ::mkdtemp(directory.data()) == nullptr) {
    std::fprintf(stderr,
                 "usage: churn_bench [--minutes=M] [--deployments=N] [--patches=PER-SECOND] [--json=FILE] "
                 "[--directory=DIRECTORY]\n");
    return 2;
  }
  {
    Figures figures{option(argc, argv, "json")};
    BenchFleet fleet{directory, std::filesystem::canonical("/proc/self/exe").parent_path().string()};
    churn(figures, fleet, minutes, deployments, patches);
  }
  std::filesystem::remove_all(directory);
  return 0;
}
