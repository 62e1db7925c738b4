// What members of realistic size cost at rest: memory, processor time and what is read, and entries that are appended.
// The members are simulated (shiplogd member --many), over HTTPS, in one process beside the control plane; `--plane`
// names the folder of another build's programs, for comparison with the same members.
//   scale_bench [--members=100] [--nodes=500] [--pods=2000] [--churn=1] [--hanging=0] [--seconds=60] [--settle=60]
//               [--plane=DIRECTORY] [--plane-options=A,B] [--json=FILE] [--directory=DIRECTORY]

#include <algorithm>
#include <filesystem>
#include <future>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <unistd.h>

#include "events/base/base64.h"
#include "services/http/kubeconfig.h"
#include "tests/bench/bench_fleet.h"

namespace shiplog::bench {
namespace {

const std::string kClusters = "/apis/cluster.karmada.io/v1alpha1/clusters";

void pause(int seconds) { std::this_thread::sleep_for(std::chrono::seconds{seconds}); }

/// Figures that only ever grow.
struct Counters {
  double plane_cpu = 0, members_cpu = 0, bytes = 0, requests = 0;
  double entries = 0, cluster_entries = 0, journal_bytes = 0;
  std::chrono::steady_clock::time_point at = std::chrono::steady_clock::now();
};

class ScaledFleet {
 public:
  ScaledFleet(int argc, char** argv, const std::string& directory, const std::string& programs)
      : directory_{directory},
        members_{std::stoul(option(argc, argv, "members", "100"))},
        hanging_{std::stoul(option(argc, argv, "hanging", "0"))},
        simulated_{directory, programs},
        fleet_{directory, option(argc, argv, "plane", programs)} {
    std::vector<std::string> command = {"serve"};
    std::istringstream words{option(argc, argv, "plane-options")};
    for (std::string word; std::getline(words, word, ',');) command.push_back("--" + word);
    plane_ = fleet_.start("plane", command);
    client_ = std::make_unique<BenchClient>(fleet_.kubeconfig("plane"), 16);
    many_ = simulated_.start(
        "m",
        {"member", "--name=m", "--many=" + std::to_string(members_), "--hanging=" + std::to_string(hanging_),
         "--nodes=" + option(argc, argv, "nodes", "500"), "--pods=" + option(argc, argv, "pods", "2000"),
         "--churn=" + option(argc, argv, "churn", "1"), "--kubeconfig-dir=" + directory + "/many"},
        false);
    if (!e2e::eventually([&] { return std::filesystem::exists(kubeconfig_of(members_)); }, kPatience)) {
      give_up("the members did not start: " + e2e::read_file(many_->log()));
    }
  }

  size_t members() const { return members_; }
  size_t answering() const { return members_ - hanging_; }
  pid_t plane() const { return plane_->pid(); }
  pid_t many() const { return many_->pid(); }

  void join_all() {
    for (size_t number = 1; number <= members_; ++number) {
      const std::string name = "m" + std::to_string(number);
      const ClientTarget target = or_exit(context_of(or_exit(read_kubeconfig({kubeconfig_of(number)})))).target;
      const Value data =
          Value::object({{"token", base64_encode(target.bearer_token)}, {"caBundle", base64_encode(target.ca_pem)}});
      client_->must("POST", "/api/v1/namespaces/default/secrets",
                    to_json(Value::object({{"apiVersion", "v1"},
                                           {"kind", "Secret"},
                                           {"metadata", Value::object({{"name", name}})},
                                           {"data", data}})));
      const Value reference = Value::object({{"namespace", "default"}, {"name", name}});
      const Value spec = Value::object({{"syncMode", "Push"}, {"apiEndpoint", target.url}, {"secretRef", reference}});
      client_->must("POST", kClusters,
                    to_json(Value::object({{"apiVersion", "cluster.karmada.io/v1alpha1"},
                                           {"kind", "Cluster"},
                                           {"metadata", Value::object({{"name", name}})},
                                           {"spec", spec}})));
    }
    const auto begun = std::chrono::steady_clock::now();
    while (counted() < answering()) {
      if (std::chrono::steady_clock::now() - begun > kPatience) give_up("waited 10 minutes for the clusters");
      pause(1);
    }
  }

  Counters now() {
    Counters counters;
    counters.plane_cpu = cpu_seconds(plane());
    counters.members_cpu = cpu_seconds(many());
    // Beside the members, and not below one of them.
    const ClientTarget member = or_exit(context_of(or_exit(read_kubeconfig({kubeconfig_of(1)})))).target;
    const Value stats = or_exit(parse_json(root_of(member)));
    counters.bytes = static_cast<double>(stats["bytes"].as_int());
    counters.requests = static_cast<double>(stats["requests"].as_int());
    std::istringstream metrics{client_->call("GET", "/metrics").body};
    for (std::string line; std::getline(metrics, line);) {
      if (line.starts_with('#')) continue;
      const double value = std::strtod(line.c_str() + line.rfind(' ') + 1, nullptr);
      const bool record = line.find("journal=\"journal\"") != std::string::npos;
      if (record && line.starts_with("shiplog_journal_entries_total")) {
        counters.entries += value;
        if (line.find("family=\"cluster\"") != std::string::npos) counters.cluster_entries += value;
      }
      if (record && line.starts_with("shiplog_journal_bytes_total")) counters.journal_bytes += value;
    }
    return counters;
  }

 private:
  std::string kubeconfig_of(size_t number) const {
    return directory_ + "/many/m" + std::to_string(number) + ".kubeconfig";
  }

  std::string root_of(ClientTarget target) {
    target.url = target.url.substr(0, target.url.rfind('/'));
    if (root_ == nullptr) root_ = or_exit(HttpClient::create(std::make_shared<IoThreads>(1), target, {}));
    HttpRequest request;
    request.target = "/stats";
    std::promise<Result<HttpResponse>> answer;
    root_->request(std::move(request), Millis{30'000},
                   [&](Result<HttpResponse> response) { answer.set_value(std::move(response)); });
    return or_exit(answer.get_future().get()).body;
  }

  /// Clusters that are Ready and whose nodes and pods are counted.
  size_t counted() {
    const Value clusters = or_exit(parse_json(client_->call("GET", kClusters).body));
    return static_cast<size_t>(std::ranges::count_if(clusters["items"].items(), [](const Value& cluster) {
      return cluster["status"]["resourceSummary"]["allocated"].is_object();
    }));
  }

  const std::string directory_;
  const size_t members_, hanging_;
  BenchFleet simulated_, fleet_;
  std::unique_ptr<e2e::Process> plane_, many_;
  std::unique_ptr<BenchClient> client_;
  std::shared_ptr<HttpClient> root_;
};

int run(int argc, char** argv) {
  Figures figures{option(argc, argv, "json")};
  const int seconds = std::stoi(option(argc, argv, "seconds", "60"));
  const int settle = std::stoi(option(argc, argv, "settle", "60"));
  char folder[] = "/tmp/scale-bench-XXXXXX";
  const std::string directory = option(argc, argv, "directory", ::mkdtemp(folder));
  std::filesystem::create_directories(directory);
  ScaledFleet fleet{argc, argv, directory, std::filesystem::canonical("/proc/self/exe").parent_path().string()};
  const double empty_mb = memory_mb(fleet.plane());

  const Counters before = fleet.now();
  fleet.join_all();
  const Counters ready = fleet.now();
  pause(settle);
  const Counters from = fleet.now();
  pause(seconds);
  const Counters to = fleet.now();

  const auto count = static_cast<double>(fleet.members());
  const double took = std::chrono::duration<double>(to.at - from.at).count();
  Figures::heading(std::to_string(fleet.members()) + " members of " + option(argc, argv, "nodes", "500") +
                   " nodes and " + option(argc, argv, "pods", "2000") + " pods, of each of which " +
                   option(argc, argv, "churn", "1") + " is replaced per second; " + option(argc, argv, "hanging", "0") +
                   " of the members do not answer");
  figures.value("scale", "until all are counted", std::chrono::duration<double>(ready.at - before.at).count(), "s");
  figures.value("scale", "processor of the control plane until then", ready.plane_cpu - before.plane_cpu, "s");
  Figures::heading("then, at rest");
  figures.value("scale", "memory of the control plane", memory_mb(fleet.plane()), "MB");
  figures.value("scale", "its highest", peak_memory_mb(fleet.plane()), "MB");
  figures.value("scale", "memory of each member", (memory_mb(fleet.plane()) - empty_mb) * 1024 / count, "KB");
  figures.value("scale", "processor", (to.plane_cpu - from.plane_cpu) / took * 1000, "ms/s");
  figures.value("scale", "processor of each member", (to.plane_cpu - from.plane_cpu) / took * 1e6 / count, "us/s");
  figures.value("scale", "read from members", (to.bytes - from.bytes) / took / 1024, "KB/s");
  figures.value("scale", "requests to members", (to.requests - from.requests) / took, "1/s");
  figures.value("scale", "entries", (to.entries - from.entries) / took * 60, "1/min");
  figures.value("scale", "of them about clusters", (to.cluster_entries - from.cluster_entries) / took * 60, "1/min");
  figures.value("scale", "journal", (to.journal_bytes - from.journal_bytes) / took * 60 / 1024, "KB/min");
  figures.value("scale", "processor of the simulated members", (to.members_cpu - from.members_cpu) / took * 1000,
                "ms/s");
  return 0;
}

}  // namespace
}  // namespace shiplog::bench

int main(int argc, char** argv) { return shiplog::bench::run(argc, argv); }
