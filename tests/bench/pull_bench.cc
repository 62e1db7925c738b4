// What pull members at rest cost: memory and processor time of the control plane for each, and of an agent. Some agents
// are processes of their own beside trial members, with an object applied; their figures are those of an agent. The
// others run in this program, with the same code, connections and certificates of their own, beside a server that
// answers as a small member: what the control plane has to do with them is the same.
//   pull_bench [--members=500] [--processes=8] [--seconds=60] [--settle=30] [--json=FILE] [--directory=DIRECTORY]

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "events/base/system.h"
#include "services/http/kubeconfig.h"
#include "services/http/server.h"
#include "services/http/tls.h"
#include "services/programs/agent/member_agent.h"
#include "services/runtime/log.h"
#include "tests/bench/bench_fleet.h"

namespace shiplog::bench {
namespace {

const std::string kClusters = "/apis/cluster.karmada.io/v1alpha1/clusters";
constexpr int kDays = 1;

/// A member with one node and no pods. Its bearer token tells which one it is.
class SmallMembers {
 public:
  SmallMembers() {
    const UtcMillis now = SystemClock{}.now();
    authority_ = or_exit(make_authority("bench", valid_for_days(now, kDays)));
    const KeyPair pair = or_exit(
        issue_server_certificate(authority_, "member", {{"localhost"}, {"127.0.0.1"}}, valid_for_days(now, kDays)));
    HttpServer::Options options;
    options.certificate_pem = pair.certificate_pem;
    options.key_pem = pair.key_pem;
    options.max_connections = options.max_connections_per_address = 100'000;
    server_ = or_exit(
        HttpServer::start(options, [](const HttpRequest& request, const std::shared_ptr<ResponseWriter>& writer) {
          const std::string body = answer(request);
          writer->send({body.empty() ? 404 : 200, {{"Content-Type", "application/json"}}, body.empty() ? "{}" : body});
        }));
  }

  ClientTarget target(const std::string& name) const {
    ClientTarget target;
    target.url = "https://127.0.0.1:" + std::to_string(server_->bound_port());
    target.ca_pem = authority_.certificate_pem;
    target.bearer_token = name;
    return target;
  }

 private:
  static std::string answer(const HttpRequest& request) {
    const std::string& path = request.path;
    if (path == "/readyz") return "ok";
    if (path == "/version") return R"({"gitVersion":"v1.31.0"})";
    if (path == "/apis") {
      return R"({"kind":"APIGroupList","groups":[{"name":"apps","versions":[{"groupVersion":"apps/v1","version":"v1"}]}]})";
    }
    if (path == "/api/v1") return resources("v1", {"configmaps", "pods", "nodes", "secrets", "services"});
    if (path == "/apis/apps/v1") return resources("apps/v1", {"deployments", "statefulsets", "daemonsets"});
    if (path == "/api/v1/nodes") {
      return R"({"kind":"NodeList","apiVersion":"v1","metadata":{},"items":[{"metadata":{"name":"n"},"status":{)"
             R"("allocatable":{"cpu":"8","memory":"32Gi","pods":"110"}}}]})";
    }
    if (path == "/api/v1/pods") return R"({"kind":"PodList","apiVersion":"v1","metadata":{},"items":[]})";
    if (path == "/api/v1/namespaces/kube-system") {
      const std::string_view bearer = request.headers.get("Authorization");
      return R"({"metadata":{"name":"kube-system","uid":")" + std::string{bearer.substr(bearer.find(' ') + 1)} + "\"}}";
    }
    return "";
  }
  static std::string resources(const std::string& version, const std::vector<std::string>& names) {
    std::string list;
    for (const std::string& name : names) {
      list += (list.empty() ? "" : ",") + (R"({"name":")" + name) + R"(","kind":")" + name + R"(","namespaced":true})";
    }
    return R"({"kind":"APIResourceList","groupVersion":")" + version + R"(","resources":[)" + list + "]}";
  }

  KeyPair authority_;
  std::unique_ptr<HttpServer> server_;
};

/// Not a fleet's roles: what an agent reaches is limited by its identity, too.
void admit_agents(BenchClient& plane) {
  const std::string rbac = "/apis/rbac.authorization.k8s.io/v1/";
  plane.must("POST", rbac + "clusterroles",
             R"({"metadata":{"name":"agents"},"rules":[{"apiGroups":["*"],"resources":["*"],"verbs":["*"]}]})");
  plane.must("POST", rbac + "clusterrolebindings",
             R"({"metadata":{"name":"agents"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole",)"
             R"("name":"agents"},"subjects":[{"apiGroup":"rbac.authorization.k8s.io","kind":"Group",)"
             R"("name":"system:karmada:agents"}]})");
}

std::string member_name(size_t number) { return "p" + std::to_string(number); }

class PullFleet {
 public:
  PullFleet(std::string directory, std::string programs)
      : directory_{std::move(directory)}, programs_{std::move(programs)}, fleet_{directory_, programs_} {
    plane_ = fleet_.start("plane", {"serve", "--max-connections=20000", "--max-connections-per-address=20000"});
    client_ = std::make_unique<BenchClient>(fleet_.kubeconfig("plane"), 16);
    admit_agents(*client_);
    const auto read = [&](const char* file) { return e2e::read_file(directory_ + "/plane/pki/" + file); };
    authority_ = {read("ca.crt"), read("ca.key")};
    access_ = or_exit(context_of(or_exit(read_kubeconfig({fleet_.kubeconfig("plane")})))).target;
  }

  pid_t plane() const { return plane_->pid(); }
  BenchClient& client() { return *client_; }
  const std::vector<std::unique_ptr<e2e::Process>>& agents() const { return agents_; }

  /// A trial member and its agent, as processes.
  void add_process(const std::string& name) {
    members_.push_back(fleet_.member(name));
    agents_.push_back(std::make_unique<e2e::Process>(
        std::vector<std::string>{programs_ + "/shiplogd", "agent", "--cluster-name=" + name, "--log-level=warn",
                                 "--karmada-kubeconfig=" + credentials(name),
                                 "--kubeconfig=" + fleet_.kubeconfig(name)},
        e2e::Environment{}, directory_ + "/agent-" + name + ".log"));
  }
  /// An agent in this program.
  void add_here(const std::string& name) {
    agent::AgentOptions options;
    options.cluster = name;
    options.karmada_kubeconfig = credentials(name);
    options.kubeconfig = directory_ + "/small-" + name + ".kubeconfig";
    or_exit(write_kubeconfig(options.kubeconfig, name, small_.target(name)));
    options.reports_credentials = options.reports_impersonator = false;
    here_.push_back(std::make_unique<agent::MemberAgent>(std::move(options)));
    or_exit(here_.back()->start());
  }

  size_t ready() {
    const Value clusters = or_exit(parse_json(client_->call("GET", kClusters).body));
    return static_cast<size_t>(std::ranges::count_if(clusters["items"].items(), [](const Value& cluster) {
      return std::ranges::any_of(cluster["status"]["conditions"].items(), [](const Value& condition) {
        return condition["type"].as_string() == "Ready" && condition["status"].as_string() == "True";
      });
    }));
  }
  size_t following() const {
    return static_cast<size_t>(std::ranges::count_if(
        here_, [](const auto& agent) { return agent->health("/readyz").front().failure.empty(); }));
  }

 private:
  std::string credentials(const std::string& name) {
    const KeyPair pair =
        or_exit(issue_client_certificate(authority_, "system:karmada:agent:" + name, {"system:karmada:agents"},
                                         valid_for_days(SystemClock{}.now(), kDays)));
    ClientTarget target = access_;
    target.certificate_pem = pair.certificate_pem;
    target.key_pem = pair.key_pem;
    std::string file = directory_ + "/access-" + name + ".kubeconfig";
    or_exit(write_kubeconfig(file, name, target));
    return file;
  }

  const std::string directory_, programs_;
  BenchFleet fleet_;
  std::unique_ptr<e2e::Process> plane_;
  std::unique_ptr<BenchClient> client_;
  KeyPair authority_;
  ClientTarget access_;
  SmallMembers small_;
  std::vector<std::unique_ptr<e2e::Process>> members_, agents_;
  std::vector<std::unique_ptr<agent::MemberAgent>> here_;
};

template <class Condition>
void wait_for(const std::string& what, Condition condition) {
  if (!e2e::eventually(
          [&] {
            if (condition()) return true;
            std::this_thread::sleep_for(std::chrono::seconds{1});
            return false;
          },
          kPatience)) {
    give_up("waited 10 minutes for " + what);
  }
}

size_t connections(pid_t pid) {
  size_t count = 0;
  std::error_code none;
  for (const auto& file : std::filesystem::directory_iterator{"/proc/" + std::to_string(pid) + "/fd", none}) {
    if (std::filesystem::read_symlink(file, none).string().starts_with("socket:")) ++count;
  }
  return count;
}

/// One ConfigMap for each member with a process.
void place(BenchClient& plane, size_t processes) {
  std::string names;
  for (size_t i = 0; i < processes; ++i) names += (i == 0 ? "\"" : ",\"") + member_name(i) + "\"";
  plane.must("POST", kConfigMaps, config_map("settings", 500));
  plane.must("POST", kPolicies,
             R"({"apiVersion":"policy.karmada.io/v1alpha1","kind":"PropagationPolicy","metadata":{"name":"p"},"spec":{)"
             R"("resourceSelectors":[{"apiVersion":"v1","kind":"ConfigMap","name":"settings"}],"placement":{)"
             R"("clusterAffinity":{"clusterNames":[)" +
                 names + "]}}}}");
  wait_for("the object in the members", [&] {
    const Value binding = or_exit(parse_json(
        plane.call("GET", "/apis/work.karmada.io/v1alpha2/namespaces/default/resourcebindings/settings-configmap")
            .body));
    const auto& statuses = binding["status"]["aggregatedStatus"];
    return statuses.size() == processes &&
           std::ranges::all_of(statuses.items(), [](const Value& status) { return status["applied"].as_bool(); });
  });
}

int run(int argc, char** argv) {
  Figures figures{option(argc, argv, "json")};
  const auto members = static_cast<size_t>(std::stoul(option(argc, argv, "members", "500")));
  const auto processes = std::min(members, static_cast<size_t>(std::stoul(option(argc, argv, "processes", "8"))));
  const int seconds = std::stoi(option(argc, argv, "seconds", "60"));
  const int settle = std::stoi(option(argc, argv, "settle", "30"));
  char folder[] = "/tmp/pull-bench-XXXXXX";
  const std::string directory = option(argc, argv, "directory", ::mkdtemp(folder));
  std::filesystem::create_directories(directory);
  log::configure(log::Format::kText, log::Level::kError);

  PullFleet fleet{directory, std::filesystem::canonical("/proc/self/exe").parent_path().string()};
  std::this_thread::sleep_for(std::chrono::seconds{settle});
  const double empty_mb = memory_mb(fleet.plane());
  const double idle_from = cpu_seconds(fleet.plane());
  std::this_thread::sleep_for(std::chrono::seconds{seconds / 4 + 1});
  const double idle = (cpu_seconds(fleet.plane()) - idle_from) / (seconds / 4 + 1);

  const Time begin = Time::now();
  for (size_t i = 0; i < processes; ++i) fleet.add_process(member_name(i));
  for (size_t i = processes; i < members; ++i) fleet.add_here(member_name(i));
  wait_for("the clusters", [&] { return fleet.ready() == members && fleet.following() == members - processes; });
  figures.seconds("pull", std::to_string(members) + " members ready", Time::now().since(begin));
  if (processes > 0) place(fleet.client(), processes);
  std::this_thread::sleep_for(std::chrono::seconds{settle});

  std::vector<pid_t> agents;
  for (const auto& agent : fleet.agents()) agents.push_back(agent->pid());
  const auto of_agents = [&](double (*figure)(pid_t)) {
    double sum = 0;
    for (const pid_t pid : agents) sum += figure(pid);
    return sum / static_cast<double>(std::max<size_t>(agents.size(), 1));
  };
  const double plane_from = cpu_seconds(fleet.plane());
  const double agent_from = of_agents(cpu_seconds);
  const Time here_from = Time::now();
  std::this_thread::sleep_for(std::chrono::seconds{seconds});
  const double busy = (cpu_seconds(fleet.plane()) - plane_from) / seconds;
  const double agent_busy = (of_agents(cpu_seconds) - agent_from) / seconds;
  const Time here = Time::now().since(here_from);
  if (fleet.ready() != members) give_up("not all members have stayed ready");

  const double count = static_cast<double>(members);
  Figures::heading("control plane, " + std::to_string(members) + " pull members at rest (" + std::to_string(processes) +
                   " with an agent process and a trial member, the others with an agent in this program)");
  figures.value("pull", "memory without members", empty_mb, "MB");
  figures.value("pull", "memory", memory_mb(fleet.plane()), "MB");
  figures.value("pull", "memory for each member", (memory_mb(fleet.plane()) - empty_mb) * 1024 / count, "KB");
  figures.value("pull", "connections of each member", static_cast<double>(connections(fleet.plane())) / count, "");
  figures.value("pull", "processor without members", idle * 1000, "ms/s");
  figures.value("pull", "processor", busy * 1000, "ms/s");
  figures.value("pull", "processor for each member", (busy - idle) * 1e6 / count, "us/s");
  if (!agents.empty()) {
    Figures::heading("an agent, as a process, with one object applied");
    figures.value("pull", "memory", of_agents(memory_mb), "MB");
    figures.value("pull", "of it its own", of_agents(own_memory_mb), "MB");
    figures.value("pull", "processor", agent_busy * 1000, "ms/s");
  }
  if (members > processes) {
    const double others = static_cast<double>(members - processes);
    Figures::heading("an agent in this program, with its share of the server that answers as members");
    figures.value("pull", "memory", memory_mb(::getpid()) * 1024 / others, "KB");
    figures.value("pull", "processor", here.cpu / here.wall * 1e6 / others, "us/s");
  }
  return 0;
}

}  // namespace
}  // namespace shiplog::bench

int main(int argc, char** argv) { return shiplog::bench::run(argc, argv); }
