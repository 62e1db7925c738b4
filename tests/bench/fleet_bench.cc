// The product under load, as real processes: mutations over HTTPS, reads and watches, propagation latency, and the
// workload of Karmada's v1.14 report: N Deployments, N PropagationPolicies and N ConfigMaps to two members, all of them
// in the journal when the roles start; once with all processes on all processors, and once ("separate") with the
// control plane and the members on processors of their own.
//   fleet_bench [--workload=500] [--seconds=5] [--only=mutations|reads|latency|workload|separate] [--json=FILE]
//   [--directory=DIRECTORY] [--keep=yes] [--journal=kafka:BROKERS/FLEET, with --only=mutations]
// Ends with code 1 if an object does not arrive, or if a replayed decision of the workload differs.

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

#include "tests/bench/bench_fleet.h"
#include "tests/bench/reads.h"

namespace shiplog::bench {
namespace {

using Steady = std::chrono::steady_clock;

void machine(Figures& figures, const std::string& directory) {
  Figures::heading("this machine");
  const int fd = ::open((directory + "/fsync").c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
  const std::string page(4096, 'x');
  size_t count = 0;
  const Time start = Time::now();
  Time took;
  do {
    const auto offset = static_cast<off_t>(4096 * (count++ % 1000));
    if (::pwrite(fd, page.data(), page.size(), offset) < 0 || ::fdatasync(fd) != 0) give_up("cannot write");
    took = Time::now().since(start);
  } while (took.wall < 1);
  ::close(fd);
  figures.rate("machine", "machine: write 4 KiB and fdatasync", count, took);
  double load = 0;
  std::ifstream{"/proc/loadavg"} >> load;
  figures.value("machine", "machine: runnable processes over the last minute", load, "load");
  figures.value("machine", "machine: processors", static_cast<double>(std::thread::hardware_concurrency()), "cores");
}

/// With an embedded journal, or with another `journal`.
void mutations(Figures& figures, BenchFleet& fleet, int seconds, const std::string& journal) {
  Figures::heading("durable mutations over HTTPS, 1.5 KB objects" + (journal.empty() ? "" : ", on " + journal));
  std::vector<std::string> command = {"serve"};
  if (!journal.empty()) command.push_back("--journal=" + journal);
  const std::string of = journal.empty() ? "mutations" : "mutations on Kafka";
  const auto plane = fleet.start("plane", command);
  const auto measure = [&](const std::string& path, int clients, bool produced) {
    const double before = cpu_seconds(plane->pid()), switches_before = context_switches(plane->pid());
    const auto ran = fleet.api_bench(clients, seconds, produced);
    if (!ran.ok()) give_up(ran.out + ran.err);
    double rate = 0, p50 = 0, p99 = 0, client_us = 0;
    if (std::sscanf(ran.out.c_str(), "%*d clients: %lf mutations/s, p50 %lf ms, p99 %lf ms, %lf us", &rate, &p50, &p99,
                    &client_us) != 4) {
      give_up("api_bench printed: " + ran.out);
    }
    const double server_us = (cpu_seconds(plane->pid()) - before) / (rate * seconds) * 1e6;
    const double switches = (context_switches(plane->pid()) - switches_before) / (rate * seconds);
    const std::string name = (produced ? "produced requests, " : "") + std::to_string(clients) + " clients";
    figures.value(path, name, rate, "per_second");
    figures.value(path, name + ", p50", p50, "ms");
    figures.value(path, name + ", p99", p99, "ms");
    figures.value(path, name + ", CPU of the server", server_us, "us each");
    figures.value(path, name + ", context switches of the server", switches, "each");
    figures.value(path, name + ", CPU of the clients", client_us, "us each");
  };
  for (const int clients : {1, 16, 64}) measure(of, clients, false);
  for (const int clients : {1, 64}) measure(journal.empty() ? "produced" : "produced on Kafka", clients, true);
  figures.value(of, "peak memory of the server", peak_memory_mb(plane->pid()), "MB");
}

/// Latencies from sending an object to the control plane until it exists in a member.
std::vector<double> latencies(BenchFleet& fleet, const std::string& prefix, int times) {
  BenchClient plane{fleet.kubeconfig("plane"), 2}, member{fleet.kubeconfig("m1"), 1};
  std::vector<double> found_ms;
  for (int i = 0; i < times; ++i) {
    const std::string name = prefix + "-" + std::to_string(i);
    std::promise<int> stored;
    const auto began = Steady::now();
    plane.send("POST", kDeployments, deployment(name), [&](Result<HttpResponse> answer) {
      stored.set_value(answer ? static_cast<int>(answer.value().status) : 0);
    });
    while (member.call("GET", kDeployments + "/" + name).status != 200) {
      if (Steady::now() - began > kPatience) give_up(name + " does not arrive in m1");
    }
    found_ms.push_back(std::chrono::duration<double, std::milli>(Steady::now() - began).count());
    if (stored.get_future().get() != 201) give_up(name + " was not stored");
  }
  return found_ms;
}

void latency(Figures& figures, BenchFleet& fleet) {
  Figures::heading("from sending a Deployment to finding it in a member");
  const auto plane = fleet.start("plane", {"serve"});
  const auto m1 = fleet.member("m1");
  const auto m2 = fleet.member("m2");
  fleet.join("m1");
  fleet.join("m2");
  BenchClient{fleet.kubeconfig("plane"), 1}.must("POST", kPolicies,
                                                 policy("all", R"({"apiVersion":"apps/v1","kind":"Deployment"})"));
  const auto idle = latencies(fleet, "idle", 50);
  figures.value("propagation", "idle, p50", percentile(idle, 0.5), "ms");
  figures.value("propagation", "idle, p99", percentile(idle, 0.99), "ms");
  auto load = std::async(std::launch::async, [&] { return fleet.api_bench(16, 10); });
  std::this_thread::sleep_for(std::chrono::seconds{1});  // until the load has started
  const auto busy = latencies(fleet, "busy", 50);
  const auto ran = load.get();
  if (!ran.ok()) give_up(ran.out + ran.err);
  figures.value("propagation", "under load, p50", percentile(busy, 0.5), "ms");
  figures.value("propagation", "under load, p99", percentile(busy, 0.99), "ms");
}

/// Seconds since `began` until the last change, which nothing has followed for a second.
double until_settled(BenchClient& plane, Steady::time_point began) {
  std::string revision;
  Steady::time_point changed = Steady::now();
  while (Steady::now() - changed < std::chrono::seconds{1}) {
    if (Steady::now() - began > kPatience) give_up("there are changes without end");
    const HttpResponse answer = plane.call("GET", kDeployments + "?limit=1");
    std::string now = or_exit(parse_json(answer.body))["metadata"]["resourceVersion"].str();
    if (now != revision) changed = Steady::now();
    revision = std::move(now);
    std::this_thread::sleep_for(std::chrono::milliseconds{50});
  }
  return std::chrono::duration<double>(changed - began).count();
}

size_t count_of(BenchClient& client, const std::string& list) {
  const HttpResponse answer = client.call("GET", list + "?limit=1");
  const Value page = or_exit(parse_json(answer.body));
  return page["items"].size() + static_cast<size_t>(page["metadata"]["remainingItemCount"].as_int());
}

void workload(Figures& figures, BenchFleet& fleet, size_t size, bool separate) {
  const std::string number = std::to_string(size), of = separate ? "workload, separate" : "workload";
  Figures::heading(number + " of each to 2 members, from the start of the services" +
                   (separate ? "; the control plane on one processor, the members on the others" : ""));
  if (separate) fleet.separate_processors();
  auto m1 = fleet.member("m1");
  auto m2 = fleet.member("m2");
  {
    auto plane = fleet.start("plane", {"serve"});
    fleet.join("m1");
    fleet.join("m2");
    plane->terminate();
  }
  {
    auto plane = fleet.start("plane", {"serve", "--roles=api"});
    std::vector<std::pair<std::string, std::string>> objects;
    for (size_t i = 0; i < size; ++i) {
      const std::string name = "web-" + std::to_string(i);
      objects.emplace_back(kDeployments, deployment(name, name));
      objects.emplace_back(kConfigMaps, config_map(name, 200));
      objects.emplace_back(kPolicies,
                           policy(name, R"({"apiVersion":"apps/v1","kind":"Deployment","name":")" + name + R"("})"));
    }
    const Time start = Time::now();
    store(fleet, objects);
    figures.rate(of, "stored beforehand", objects.size(), Time::now().since(start));
    plane->terminate();
  }
  const double members_before = cpu_seconds(m1->pid()) + cpu_seconds(m2->pid());
  BenchClient first{fleet.kubeconfig("m1"), 1}, second{fleet.kubeconfig("m2"), 1};
  const auto began = Steady::now();
  auto plane = fleet.start("plane", {"serve"}, false);
  const auto arrived = [&](BenchClient& member) {
    return count_of(member, kDeployments) >= size && count_of(member, kConfigMaps) >= size;
  };
  const bool all = e2e::eventually([&] { return !plane->running() || (arrived(first) && arrived(second)); }, kPatience);
  const double took = std::chrono::duration<double>(Steady::now() - began).count();
  if (!all || !plane->running()) give_up("not everything arrived: " + e2e::read_file(plane->log()));
  figures.value(of, "until all is in both members", took, "seconds");
  figures.value(of, "CPU of the control plane until then", cpu_seconds(plane->pid()), "CPU seconds");
  BenchClient control_plane{fleet.kubeconfig("plane"), 1};
  figures.value(of, "until their statuses are back, too", until_settled(control_plane, began), "seconds");
  figures.value(of, "CPU of the control plane", cpu_seconds(plane->pid()), "CPU seconds");
  figures.value(of, "CPU of both members", cpu_seconds(m1->pid()) + cpu_seconds(m2->pid()) - members_before,
                "CPU seconds");
  figures.value(of, "peak memory of the control plane", peak_memory_mb(plane->pid()), "MB");
  figures.value(of, "peak memory of a member", peak_memory_mb(m1->pid()), "MB");
  plane->terminate();
  const Value replayed = fleet.replay("plane");
  const auto each = [&](const char* field) {
    return static_cast<double>(replayed[field].as_int()) / static_cast<double>(size);
  };
  figures.value(of, "entries in the journal", each("entries"), "of each");
  figures.value(of, "entries refused", each("refused"), "of each");
  figures.value(of, "changes of objects", each("revision"), "of each");
  figures.value(of, "decisions made again by replay", each("decisions"), "of each");
  figures.value(of, "decisions that came out differently", each("differences"), "of each");
}

}  // namespace
}  // namespace shiplog::bench

int main(int argc, char** argv) {
  using namespace shiplog::bench;
  const size_t size = std::strtoul(option(argc, argv, "workload", "500").c_str(), nullptr, 10);
  const int seconds = std::atoi(option(argc, argv, "seconds", "5").c_str());
  const std::string only = option(argc, argv, "only");
  const std::string parent = option(argc, argv, "directory", std::filesystem::temp_directory_path().string());
  std::string directory = (std::filesystem::path{parent} / "fleet-bench-XXXXXX").string();
  const std::string journal = option(argc, argv, "journal");
  if ((!journal.empty() && only != "mutations") || size == 0 || seconds <= 0 ||
      ::mkdtemp(directory.data()) == nullptr) {
    std::fprintf(stderr,
                 "usage: fleet_bench [--workload=N] [--seconds=S] [--only=mutations|reads|latency|workload|separate] "
                 "[--json=FILE] [--directory=DIRECTORY] [--journal=kafka:BROKERS/FLEET, with --only=mutations]\n");
    return 2;
  }
  const std::string programs = std::filesystem::canonical("/proc/self/exe").parent_path().string();
  Figures figures{option(argc, argv, "json")};
  machine(figures, directory);
  const auto run = [&](const std::string& name, const auto& part) {
    if (!only.empty() && only != name) return;
    std::filesystem::create_directories(directory + "/" + name);
    BenchFleet fleet{directory + "/" + name, programs};
    part(fleet);
  };
  run("mutations", [&](BenchFleet& fleet) { mutations(figures, fleet, seconds, journal); });
  run("reads", [&](BenchFleet& fleet) { reads(figures, fleet); });
  run("latency", [&](BenchFleet& fleet) { latency(figures, fleet); });
  run("workload", [&](BenchFleet& fleet) { workload(figures, fleet, size, false); });
  run("separate", [&](BenchFleet& fleet) {
    if (std::thread::hardware_concurrency() < 2) {
      std::printf("\nseparate: left out, as there is one processor\n");
      return;
    }
    workload(figures, fleet, size, true);
  });
  if (option(argc, argv, "keep") != "yes") std::filesystem::remove_all(directory);
  return 0;
}
