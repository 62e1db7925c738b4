#include "tests/bench/bench_fleet.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <future>

#include <unistd.h>

#include "services/http/kubeconfig.h"

namespace shiplog::bench {

void give_up(const std::string& why) {
  std::fprintf(stderr, "fleet_bench: %s\n", why.c_str());
  std::exit(1);
}

namespace {

/// Lines "VmHWM:   1234 kB" of a file in /proc, summed up, in MB.
double megabytes(pid_t pid, const char* file_name, const std::string& field) {
  std::ifstream file{"/proc/" + std::to_string(pid) + "/" + file_name};
  double sum = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(field)) sum += std::strtod(line.c_str() + field.size(), nullptr) / 1024;
  }
  return sum;
}

}  // namespace

double peak_memory_mb(pid_t pid) { return megabytes(pid, "status", "VmHWM:"); }
double memory_mb(pid_t pid) { return megabytes(pid, "status", "VmRSS:"); }
double own_memory_mb(pid_t pid) {
  return megabytes(pid, "smaps_rollup", "Private_Clean:") + megabytes(pid, "smaps_rollup", "Private_Dirty:");
}

double cpu_seconds(pid_t pid) {
  std::ifstream file{"/proc/" + std::to_string(pid) + "/stat"};
  std::string text{std::istreambuf_iterator<char>{file}, {}};
  text.erase(0, text.rfind(')') + 1);  // the name can contain any character
  double ticks = 0;
  size_t field = 2;
  for (size_t position = 0; position < text.size() && field < 15; ++field) {
    position = text.find(' ', position) + 1;
    constexpr size_t kUserTime = 13, kSystemTime = 14;
    if (field == kUserTime || field == kSystemTime) ticks += std::strtod(text.c_str() + position, nullptr);
  }
  return ticks / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

double context_switches(pid_t pid) {
  double sum = 0;
  std::error_code gone;
  for (const auto& thread : std::filesystem::directory_iterator{"/proc/" + std::to_string(pid) + "/task", gone}) {
    std::ifstream status{thread.path() / "status"};
    for (std::string line; std::getline(status, line);) {
      const size_t colon = line.find("ctxt_switches:");
      if (colon != std::string::npos) sum += std::strtod(line.c_str() + line.find(':') + 1, nullptr);
    }
  }
  return sum;
}

double percentile(std::vector<double> values, double share) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  return values[static_cast<size_t>(share * static_cast<double>(values.size() - 1))];
}

BenchClient::BenchClient(const std::string& kubeconfig, size_t connections, size_t streams) {
  const auto config = or_exit(read_kubeconfig({kubeconfig}));
  const auto context = or_exit(context_of(config));
  HttpClient::Options options;
  options.max_connections = connections;
  options.max_streams = streams;
  http_ = or_exit(HttpClient::create(std::make_shared<IoThreads>(1), context.target, options));
}

void BenchClient::send(const std::string& method, const std::string& target, std::string body,
                       HttpClient::OnResponse done) {
  HttpRequest request;
  request.method = method;
  request.target = target;
  const bool patch = method == "PATCH";
  if (!body.empty()) request.headers.set("Content-Type", patch ? "application/merge-patch+json" : "application/json");
  request.body = std::move(body);
  http_->request(std::move(request), Millis{30'000}, std::move(done));
}

HttpResponse BenchClient::call(const std::string& method, const std::string& target, std::string body) {
  std::promise<Result<HttpResponse>> answer;
  send(method, target, std::move(body), [&](Result<HttpResponse> response) { answer.set_value(std::move(response)); });
  return or_exit(answer.get_future().get());
}

void BenchClient::must(const std::string& method, const std::string& target, std::string body) {
  const HttpResponse answer = call(method, target, std::move(body));
  if (answer.status >= 300) give_up(method + " " + target + ": " + std::string{answer.body});
}

std::unique_ptr<e2e::Process> BenchFleet::start(const std::string& name, std::vector<std::string> options, bool wait) {
  std::vector<std::string> command = {programs_ + "/shiplogd", options.front(),
                                      "--listen=127.0.0.1:0",  "--data-dir=" + directory_ + "/" + name,
                                      "--log-level=warn",      "--kubeconfig-out=" + kubeconfig(name)};
  command.insert(command.end(), options.begin() + 1, options.end());
  if (separate_) {
    const std::string others = "1-" + std::to_string(std::max(2U, std::thread::hardware_concurrency()) - 1);
    command.insert(command.begin(), {"taskset", "--cpu-list", options.front() == "member" ? others : "0"});
  }
  std::filesystem::remove(kubeconfig(name));
  auto process = std::make_unique<e2e::Process>(command, e2e::Environment{}, directory_ + "/" + name + ".log");
  const bool ready =
      !wait || e2e::eventually([&] { return !process->running() || std::filesystem::exists(kubeconfig(name)); });
  if (!ready || !process->running()) give_up(name + " did not start: " + e2e::read_file(process->log()));
  return process;
}

std::unique_ptr<e2e::Process> BenchFleet::member(const std::string& name) {
  return start(
      name, {"member", "--name=" + name, "--ready-delay-ms=50", "--nodes=100", "--node-cpu=64", "--node-memory=256Gi"});
}

void BenchFleet::join(const std::string& name) {
  const auto ran = e2e::run({programs_ + "/shiplogctl", "join", name, "--cluster-kubeconfig", kubeconfig(name),
                             "--kubeconfig", kubeconfig("plane")},
                            {{"HOME", directory_}}, "", std::chrono::seconds{120});
  if (!ran.ok()) give_up("join " + name + ": " + ran.err);
}

Value BenchFleet::replay(const std::string& name) const {
  const auto ran = e2e::run({programs_ + "/shiplogctl", "replay", "--journal",
                             "sqlite:" + directory_ + "/" + name + "/journal.db", "--verify", "-o", "json"},
                            {{"HOME", directory_}}, "", kPatience);
  if (!ran.ok()) give_up("replay --verify: " + ran.out + ran.err);
  return or_exit(parse_json(ran.out));
}

e2e::Ran BenchFleet::api_bench(int clients, int seconds, bool produced) const {
  return e2e::run({programs_ + "/api_bench", kubeconfig("plane"), std::to_string(clients), std::to_string(seconds),
                   produced ? "produced" : "created"},
                  {}, "", std::chrono::seconds{seconds + 60});
}

std::string config_map(const std::string& name, size_t bytes) {
  return R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":")" + name + R"("},"data":{"text":")" +
         std::string(bytes, 'x') + "\"}}";
}

std::string deployment(const std::string& name, const std::string& config_map) {
  const std::string volumes =
      config_map.empty() ? "" : R"("volumes":[{"name":"settings","configMap":{"name":")" + config_map + R"("}}],)";
  return R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":")" + name + R"(","labels":{"app":")" +
         name + R"("}},"spec":{"replicas":2,"selector":{"matchLabels":{"app":")" + name +
         R"("}},"template":{"metadata":{"labels":{"app":")" + name + R"("}},"spec":{)" + volumes +
         R"("containers":[{"name":"web",
         "image":"registry.example.com/web:1.27.3","ports":[{"containerPort":8080}],"resources":{"requests":{"cpu":"100m",
         "memory":"128Mi"}}}]}}}})";
}

std::string policy(const std::string& name, const std::string& selectors) {
  return R"({"apiVersion":"policy.karmada.io/v1alpha1","kind":"PropagationPolicy","metadata":{"name":")" + name +
         R"("},"spec":{"resourceSelectors":[)" + selectors +
         R"(],"propagateDeps":true,"placement":{"clusterAffinity":{"clusterNames":["m1","m2"]}}}})";
}

void store(BenchFleet& fleet, const std::vector<std::pair<std::string, std::string>>& objects) {
  BenchClient plane{fleet.kubeconfig("plane"), 64};
  std::atomic<size_t> next{0}, done{0};
  std::function<void()> store_next = [&] {
    const size_t index = next++;
    if (index >= objects.size()) return;
    plane.send("POST", objects[index].first, objects[index].second, [&](Result<HttpResponse> answer) {
      if (!answer || answer.value().status != 201) {
        give_up("not stored: " + (answer ? std::string{answer.value().body} : answer.error().message));
      }
      store_next();
      ++done;
    });
  };
  for (int i = 0; i < 64; ++i) store_next();
  if (!e2e::eventually([&] { return done == objects.size(); }, kPatience)) give_up("the objects are not stored");
}

}  // namespace shiplog::bench
