#include "tests/bench/scale_fleet.h"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <future>
#include <set>
#include <sstream>
#include <thread>
#include <utility>

#include "events/base/base64.h"
#include "services/http/kubeconfig.h"

namespace shiplog::bench {
namespace {

const std::string kClusters = "/apis/cluster.karmada.io/v1alpha1/clusters";
constexpr size_t kStreams = 4'096;
constexpr size_t kShownLog = 8'192;

ClientTarget target_in(const std::string& kubeconfig) {
  return or_exit(context_of(or_exit(read_kubeconfig({kubeconfig})))).target;
}

}  // namespace

ScaledFleet::ScaledFleet(std::string directory, ScaleOptions options)
    : directory_{std::move(directory)},
      options_{std::move(options)},
      simulated_{directory_, options_.programs},
      fleet_{directory_, options_.plane_programs} {
  std::filesystem::create_directories(directory_ + "/shared");
  serve(plane_name_);
  many_ = simulated_.start("m",
                           {"member", "--name=m", "--many=" + std::to_string(options_.members),
                            "--nodes=" + std::to_string(options_.nodes), "--pods=" + std::to_string(options_.pods),
                            "--churn=" + options_.churn, "--kubeconfig-dir=" + directory_ + "/many"},
                           false);
  wait_for("the members: " + many_->log(), [&] { return std::filesystem::exists(kubeconfig_of(options_.members)); });
  ClientTarget root = target_in(kubeconfig_of(1));
  root.url = root.url.substr(0, root.url.rfind('/'));
  HttpClient::Options of_root;
  of_root.max_streams = kStreams;
  root_ = or_exit(HttpClient::create(std::make_shared<IoThreads>(1), root, of_root));
}

std::string ScaledFleet::kubeconfig_of(size_t number) const {
  return directory_ + "/many/" + name_of(number) + ".kubeconfig";
}

void ScaledFleet::serve(const std::string& name) {
  std::vector<std::string> command = {"serve", "--journal=sqlite:" + directory_ + "/shared/journal.db"};
  command.insert(command.end(), options_.plane_options.begin(), options_.plane_options.end());
  auto process = fleet_.start(name, command);
  plane_ = std::move(process);
  plane_name_ = name;
  client_ = std::make_unique<BenchClient>(fleet_.kubeconfig(name), 32);
}

void ScaledFleet::wait_for(const std::string& what, const std::function<bool()>& holds) {
  const auto begun = std::chrono::steady_clock::now();
  while (!holds()) {
    if (std::chrono::steady_clock::now() - begun > kPatience) give_up("waited 10 minutes for " + what);
    std::this_thread::sleep_for(std::chrono::milliseconds{200});
  }
}

void ScaledFleet::join_all() {
  std::vector<std::pair<std::string, std::string>> secrets, clusters;
  for (size_t number = 1; number <= options_.members; ++number) {
    const std::string name = name_of(number);
    const ClientTarget target = target_in(kubeconfig_of(number));
    const Value metadata = Value::object({{"name", name}});
    const Value data =
        Value::object({{"token", base64_encode(target.bearer_token)}, {"caBundle", base64_encode(target.ca_pem)}});
    secrets.emplace_back(
        "/api/v1/namespaces/default/secrets",
        to_json(Value::object({{"apiVersion", "v1"}, {"kind", "Secret"}, {"metadata", metadata}, {"data", data}})));
    const Value reference = Value::object({{"namespace", "default"}, {"name", name}});
    const Value spec = Value::object({{"syncMode", "Push"}, {"apiEndpoint", target.url}, {"secretRef", reference}});
    clusters.emplace_back(kClusters, to_json(Value::object({{"apiVersion", "cluster.karmada.io/v1alpha1"},
                                                            {"kind", "Cluster"},
                                                            {"metadata", metadata},
                                                            {"spec", spec}})));
  }
  store(fleet_, secrets);
  store(fleet_, clusters);
  wait_for("the clusters to be Ready", [&] { return clusters_with("kubernetesVersion", nullptr) == members(); });
}

void ScaledFleet::wait_until_counted() {
  wait_for("nodes and pods to be counted",
           [&] { return clusters_with("resourceSummary", "allocatable") == members(); });
}

/// Clusters whose status has the field.
size_t ScaledFleet::clusters_with(const char* first, const char* second) {
  const Value clusters = or_exit(parse_json(client_->call("GET", kClusters).body));
  return static_cast<size_t>(std::ranges::count_if(clusters["items"].items(), [&](const Value& cluster) {
    const Value& field = cluster["status"][first];
    return second == nullptr ? !field.is_empty() : !field[second].is_empty();
  }));
}

void ScaledFleet::hang(size_t members) {
  HttpRequest request;
  request.method = "POST";
  request.target = "/hang?members=" + std::to_string(members);
  std::promise<Result<HttpResponse>> answer;
  root_->request(std::move(request), Millis{30'000},
                 [&](Result<HttpResponse> response) { answer.set_value(std::move(response)); });
  or_exit(answer.get_future().get());
}

Counters ScaledFleet::now() {
  Counters counters;
  counters.plane_cpu = cpu_seconds(plane());
  counters.members_cpu = cpu_seconds(many_->pid());
  HttpRequest request;
  request.target = "/stats";
  std::promise<Result<HttpResponse>> answer;
  root_->request(std::move(request), Millis{30'000},
                 [&](Result<HttpResponse> response) { answer.set_value(std::move(response)); });
  const Value stats = or_exit(parse_json(or_exit(answer.get_future().get()).body));
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

size_t ScaledFleet::answered() {
  std::set<std::string> clusters;
  std::istringstream metrics{client_->call("GET", "/metrics").body};
  const std::string label = "member_cluster=\"";
  for (std::string line; std::getline(metrics, line);) {
    if (!line.starts_with("shiplog_member_requests_total") || line.find("code=\"200\"") == std::string::npos) continue;
    const size_t begin = line.find(label) + label.size();
    clusters.insert(line.substr(begin, line.find('"', begin) - begin));
  }
  return clusters.size();
}

void ScaledFleet::end() {
  client_ = nullptr;
  const int code = plane_->terminate();
  if (code == 0) return;
  const std::string log = e2e::read_file(plane_->log());
  give_up("the control plane did not end as it should: " +
          (code < 0 ? std::string{"it had to be killed"} : "exit code " + std::to_string(code)) + ". The end of " +
          plane_->log() + ":\n" + log.substr(log.size() - std::min(log.size(), kShownLog)));
}

void ScaledFleet::start_again() { serve(plane_name_); }

void ScaledFleet::begin_take_over() {
  replaced_ = std::move(plane_);
  serve("plane" + std::to_string(++processes_));
  wait_for("the second process to have members", [&] { return answered() > 0; });
  std::this_thread::sleep_for(std::chrono::seconds{5});  // until it has its share
}

void ScaledFleet::end_take_over() {
  replaced_->kill();
  replaced_ = nullptr;
}

void ScaledFleet::wait_until_ready() {
  wait_for("all members to be Ready", [&] {
    const Value clusters = or_exit(parse_json(client_->call("GET", kClusters).body));
    return std::ranges::all_of(clusters["items"].items(), [](const Value& cluster) {
      return std::ranges::any_of(cluster["status"]["conditions"].items(), [](const Value& condition) {
        return condition["type"].as_string() == "Ready" && condition["status"].as_string() == "True";
      });
    });
  });
}

}  // namespace shiplog::bench
