// The product under load, as real processes: mutations over HTTPS, propagation latency, and the workload that Karmada's
// v1.14 report measures: N Deployments, N PropagationPolicies and N ConfigMaps to two members, all of it in the journal
// when the services start.
//   fleet_bench [--workload=500] [--seconds=5] [--only=mutations|latency|workload] [--json=FILE]
//   [--directory=DIRECTORY] [--keep=yes] [--journal=kafka:BROKERS/FLEET, with --only=mutations]
// It ends with code 1 when something does not arrive, or when a decision of the workload does not replay to itself.

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

#include "services/runtime/http/client.h"
#include "services/runtime/http/kubeconfig.h"
#include "tests/bench/figures.h"
#include "tests/support/process.h"

namespace shiplog::bench {
namespace {

using e2e::Process;
using Steady = std::chrono::steady_clock;
constexpr std::chrono::minutes kPatience{10};

[[noreturn]] void give_up(const std::string& why) {
  std::fprintf(stderr, "fleet_bench: %s\n", why.c_str());
  std::exit(1);
}

/// One line "VmHWM:   1234 kB" of /proc, in MB.
double peak_memory_mb(pid_t pid) {
  std::ifstream file{"/proc/" + std::to_string(pid) + "/status"};
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("VmHWM:")) return std::strtod(line.c_str() + 6, nullptr) / 1024;
  }
  return 0;
}

/// User and system time of all threads, in seconds.
double cpu_seconds(pid_t pid) {
  std::ifstream file{"/proc/" + std::to_string(pid) + "/stat"};
  std::string text{std::istreambuf_iterator<char>{file}, {}};
  text.erase(0, text.rfind(')') + 1);  // the name may hold anything
  double ticks = 0;
  size_t field = 2;
  for (size_t at = 0; at < text.size() && field < 15; ++field) {
    at = text.find(' ', at) + 1;
    constexpr size_t kUserTime = 13, kSystemTime = 14;
    if (field == kUserTime || field == kSystemTime) ticks += std::strtod(text.c_str() + at, nullptr);
  }
  return ticks / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

double percentile(std::vector<double> values, double share) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  return values[static_cast<size_t>(share * static_cast<double>(values.size() - 1))];
}

class Client {
 public:
  Client(const std::string& kubeconfig, size_t connections) {
    const auto config = or_exit(read_kubeconfig({kubeconfig}));
    const auto context = or_exit(context_of(config));
    HttpClient::Options options;
    options.max_connections = connections;
    http_ = or_exit(HttpClient::create(std::make_shared<IoThreads>(1), context.target, options));
  }

  void send(const std::string& method, const std::string& target, std::string body, HttpClient::OnResponse done) {
    HttpRequest request;
    request.method = method;
    request.target = target;
    if (!body.empty()) request.headers.set("Content-Type", "application/json");
    request.body = std::move(body);
    http_->request(std::move(request), Millis{30'000}, std::move(done));
  }

  HttpResponse call(const std::string& method, const std::string& target, std::string body = {}) {
    std::promise<Result<HttpResponse>> answer;
    send(method, target, std::move(body), [&](Result<HttpResponse> one) { answer.set_value(std::move(one)); });
    return or_exit(answer.get_future().get());
  }

  void must(const std::string& method, const std::string& target, std::string body) {
    const HttpResponse answer = call(method, target, std::move(body));
    if (answer.status >= 300) give_up(method + " " + target + ": " + std::string{answer.body});
  }

 private:
  std::unique_ptr<HttpClient> http_;
};

/// shiplogd processes in one folder.
class Fleet {
 public:
  Fleet(std::string directory, std::string programs)
      : directory_{std::move(directory)}, programs_{std::move(programs)} {}

  std::string kubeconfig(const std::string& name) const { return directory_ + "/" + name + ".kubeconfig"; }

  std::unique_ptr<Process> start(const std::string& name, std::vector<std::string> options, bool wait = true) {
    std::vector<std::string> command = {programs_ + "/shiplogd", options.front(),
                                        "--listen=127.0.0.1:0",  "--data-dir=" + directory_ + "/" + name,
                                        "--log-level=warn",      "--kubeconfig-out=" + kubeconfig(name)};
    command.insert(command.end(), options.begin() + 1, options.end());
    std::filesystem::remove(kubeconfig(name));
    auto process = std::make_unique<Process>(command, e2e::Environment{}, directory_ + "/" + name + ".log");
    const bool ready =
        !wait || e2e::eventually([&] { return !process->running() || std::filesystem::exists(kubeconfig(name)); });
    if (!ready || !process->running()) give_up(name + " did not start: " + e2e::read_file(process->log()));
    return process;
  }
  std::unique_ptr<Process> member(const std::string& name) {
    return start(name, {"member", "--name=" + name, "--ready-delay-ms=50", "--nodes=100", "--node-cpu=64",
                        "--node-memory=256Gi"});
  }
  void join(const std::string& name) {
    const auto ran = e2e::run({programs_ + "/shiplogctl", "join", name, "--cluster-kubeconfig", kubeconfig(name),
                               "--kubeconfig", kubeconfig("plane")},
                              {{"HOME", directory_}}, "", std::chrono::seconds{120});
    if (!ran.ok()) give_up("join " + name + ": " + ran.err);
  }
  /// Every decision in the journal of a control plane that has stopped is made again; ends the program when one
  /// differs.
  Value replay(const std::string& name) const {
    const auto ran = e2e::run({programs_ + "/shiplogctl", "replay", "--journal",
                               "sqlite:" + directory_ + "/" + name + "/journal.db", "--verify", "-o", "json"},
                              {{"HOME", directory_}}, "", kPatience);
    if (!ran.ok()) give_up("replay --verify: " + ran.out + ran.err);
    return or_exit(parse_json(ran.out));
  }
  e2e::Ran api_bench(int clients, int seconds) const {
    return e2e::run({programs_ + "/api_bench", kubeconfig("plane"), std::to_string(clients), std::to_string(seconds)},
                    {}, "", std::chrono::seconds{seconds + 60});
  }

 private:
  std::string directory_, programs_;
};

std::string config_map(const std::string& name, size_t bytes) {
  return R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":")" + name + R"("},"data":{"text":")" +
         std::string(bytes, 'x') + "\"}}";
}

std::string deployment(const std::string& name) {
  return R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":")" + name + R"(","labels":{"app":")" +
         name + R"("}},"spec":{"replicas":2,"selector":{"matchLabels":{"app":")" + name +
         R"("}},"template":{"metadata":{"labels":{"app":")" + name + R"("}},"spec":{"containers":[{"name":"web",
         "image":"registry.example.com/web:1.27.3","ports":[{"containerPort":8080}],"resources":{"requests":{"cpu":"100m",
         "memory":"128Mi"}}}]}}}})";
}

std::string policy(const std::string& name, const std::string& selectors) {
  return R"({"apiVersion":"policy.karmada.io/v1alpha1","kind":"PropagationPolicy","metadata":{"name":")" + name +
         R"("},"spec":{"resourceSelectors":[)" + selectors +
         R"(],"placement":{"clusterAffinity":{"clusterNames":["m1","m2"]}}}})";
}

const std::string kDeployments = "/apis/apps/v1/namespaces/default/deployments";
const std::string kConfigMaps = "/api/v1/namespaces/default/configmaps";
const std::string kPolicies = "/apis/policy.karmada.io/v1alpha1/namespaces/default/propagationpolicies";

void machine(Figures& figures, const std::string& directory) {
  Figures::heading("this machine");
  const int fd = ::open((directory + "/fsync").c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
  const std::string page(4096, 'x');
  size_t count = 0;
  const Time start = Time::now();
  Time took;
  do {
    const auto at = static_cast<off_t>(4096 * (count++ % 1000));
    if (::pwrite(fd, page.data(), page.size(), at) < 0 || ::fdatasync(fd) != 0) give_up("cannot write");
    took = Time::now().since(start);
  } while (took.wall < 1);
  ::close(fd);
  figures.rate("machine", "machine: write 4 KiB and fdatasync", count, took);
  double load = 0;
  std::ifstream{"/proc/loadavg"} >> load;
  figures.value("machine", "machine: runnable processes over the last minute", load, "load");
  figures.value("machine", "machine: processors", static_cast<double>(std::thread::hardware_concurrency()), "cores");
}

/// On a file, or on another `journal`.
void mutations(Figures& figures, Fleet& fleet, int seconds, const std::string& journal) {
  Figures::heading("durable mutations over HTTPS, 1.5 KB objects" + (journal.empty() ? "" : ", on " + journal));
  std::vector<std::string> command = {"serve"};
  if (!journal.empty()) command.push_back("--journal=" + journal);
  const std::string of = journal.empty() ? "mutations" : "mutations on Kafka";
  const auto plane = fleet.start("plane", command);
  for (const int clients : {1, 16, 64}) {
    const double before = cpu_seconds(plane->pid());
    const auto ran = fleet.api_bench(clients, seconds);
    if (!ran.ok()) give_up(ran.out + ran.err);
    double rate = 0, p50 = 0, p99 = 0, client_us = 0;
    if (std::sscanf(ran.out.c_str(), "%*d clients: %lf mutations/s, p50 %lf ms, p99 %lf ms, %lf us", &rate, &p50, &p99,
                    &client_us) != 4) {
      give_up("api_bench said: " + ran.out);
    }
    const double server_us = (cpu_seconds(plane->pid()) - before) / (rate * seconds) * 1e6;
    const std::string name = std::to_string(clients) + " clients";
    figures.value(of, name, rate, "per_second");
    figures.value(of, name + ", p50", p50, "ms");
    figures.value(of, name + ", p99", p99, "ms");
    figures.value(of, name + ", CPU of the server", server_us, "us each");
    figures.value(of, name + ", CPU of the clients", client_us, "us each");
  }
  figures.value(of, "peak memory of the server", peak_memory_mb(plane->pid()), "MB");
}

/// From sending an object to the control plane to finding it in a member.
std::vector<double> latencies(Fleet& fleet, const std::string& prefix, int times) {
  Client plane{fleet.kubeconfig("plane"), 2}, member{fleet.kubeconfig("m1"), 1};
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

void latency(Figures& figures, Fleet& fleet) {
  Figures::heading("from sending a Deployment to finding it in a member");
  const auto plane = fleet.start("plane", {"serve"});
  const auto m1 = fleet.member("m1");
  const auto m2 = fleet.member("m2");
  fleet.join("m1");
  fleet.join("m2");
  Client{fleet.kubeconfig("plane"), 1}.must("POST", kPolicies,
                                            policy("all", R"({"apiVersion":"apps/v1","kind":"Deployment"})"));
  const auto idle = latencies(fleet, "idle", 50);
  figures.value("propagation", "idle, p50", percentile(idle, 0.5), "ms");
  figures.value("propagation", "idle, p99", percentile(idle, 0.99), "ms");
  auto load = std::async(std::launch::async, [&] { return fleet.api_bench(16, 10); });
  std::this_thread::sleep_for(std::chrono::seconds{1});  // until the load is under way
  const auto busy = latencies(fleet, "busy", 50);
  const auto ran = load.get();
  if (!ran.ok()) give_up(ran.out + ran.err);
  figures.value("propagation", "under load, p50", percentile(busy, 0.5), "ms");
  figures.value("propagation", "under load, p99", percentile(busy, 0.99), "ms");
}

/// Stores all bodies, 64 at a time.
void store(Fleet& fleet, const std::vector<std::pair<std::string, std::string>>& objects) {
  Client plane{fleet.kubeconfig("plane"), 64};
  std::atomic<size_t> next{0}, done{0};
  std::function<void()> one = [&] {
    const size_t at = next++;
    if (at >= objects.size()) return;
    plane.send("POST", objects[at].first, objects[at].second, [&](Result<HttpResponse> answer) {
      if (!answer || answer.value().status != 201) {
        give_up("not stored: " + (answer ? std::string{answer.value().body} : answer.error().message));
      }
      one();
      ++done;
    });
  };
  for (int i = 0; i < 64; ++i) one();
  if (!e2e::eventually([&] { return done == objects.size(); }, kPatience)) give_up("the objects are not stored");
}

size_t count_of(Client& client, const std::string& list) {
  const HttpResponse answer = client.call("GET", list + "?limit=1");
  const Value page = or_exit(parse_json(answer.body));
  return page["items"].size() + static_cast<size_t>(page["metadata"]["remainingItemCount"].as_int());
}

void workload(Figures& figures, Fleet& fleet, size_t size) {
  const std::string number = std::to_string(size);
  Figures::heading(number + " of each to 2 members, from the start of the services");
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
      objects.emplace_back(kDeployments, deployment(name));
      objects.emplace_back(kConfigMaps, config_map(name, 200));
      objects.emplace_back(kPolicies,
                           policy(name, R"({"apiVersion":"apps/v1","kind":"Deployment","name":")" + name +
                                            R"("},{"apiVersion":"v1","kind":"ConfigMap","name":")" + name + R"("})"));
    }
    const Time start = Time::now();
    store(fleet, objects);
    figures.rate("workload", "stored beforehand", objects.size(), Time::now().since(start));
    plane->terminate();
  }
  const double members_before = cpu_seconds(m1->pid()) + cpu_seconds(m2->pid());
  Client first{fleet.kubeconfig("m1"), 1}, second{fleet.kubeconfig("m2"), 1};
  const auto began = Steady::now();
  auto plane = fleet.start("plane", {"serve"}, false);
  const auto arrived = [&](Client& member) {
    return count_of(member, kDeployments) >= size && count_of(member, kConfigMaps) >= size;
  };
  const bool all = e2e::eventually([&] { return !plane->running() || (arrived(first) && arrived(second)); }, kPatience);
  const double took = std::chrono::duration<double>(Steady::now() - began).count();
  if (!all || !plane->running()) give_up("not everything arrived: " + e2e::read_file(plane->log()));
  figures.value("workload", "until all is in both members", took, "seconds");
  figures.value("workload", "CPU of the control plane", cpu_seconds(plane->pid()), "CPU seconds");
  figures.value("workload", "CPU of both members", cpu_seconds(m1->pid()) + cpu_seconds(m2->pid()) - members_before,
                "CPU seconds");
  figures.value("workload", "peak memory of the control plane", peak_memory_mb(plane->pid()), "MB");
  figures.value("workload", "peak memory of a member", peak_memory_mb(m1->pid()), "MB");
  plane->terminate();
  const Value replayed = fleet.replay("plane");
  const auto each = [&](const char* field) {
    return static_cast<double>(replayed[field].as_int()) / static_cast<double>(size);
  };
  figures.value("workload", "entries in the journal", each("entries"), "of each");
  figures.value("workload", "entries refused", each("refused"), "of each");
  figures.value("workload", "changes of objects", each("revision"), "of each");
  figures.value("workload", "decisions made again by replay", each("decisions"), "of each");
  figures.value("workload", "decisions that came out differently", each("differences"), "of each");
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
                 "usage: fleet_bench [--workload=N] [--seconds=S] [--only=mutations|latency|workload] "
                 "[--json=FILE] [--directory=DIRECTORY] [--journal=kafka:BROKERS/FLEET, with --only=mutations]\n");
    return 2;
  }
  const std::string programs = std::filesystem::canonical("/proc/self/exe").parent_path().string();
  Figures figures{option(argc, argv, "json")};
  machine(figures, directory);
  const auto run = [&](const std::string& name, const auto& part) {
    if (!only.empty() && only != name) return;
    std::filesystem::create_directories(directory + "/" + name);
    Fleet fleet{directory + "/" + name, programs};
    part(fleet);
  };
  run("mutations", [&](Fleet& fleet) { mutations(figures, fleet, seconds, journal); });
  run("latency", [&](Fleet& fleet) { latency(figures, fleet); });
  run("workload", [&](Fleet& fleet) { workload(figures, fleet, size); });
  if (option(argc, argv, "keep") != "yes") std::filesystem::remove_all(directory);
  return 0;
}
