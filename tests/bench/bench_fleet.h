#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <sys/types.h>

#include "services/http/client.h"
#include "tests/bench/figures.h"
#include "tests/support/process.h"

// What the parts of fleet_bench share: processes, a client, objects.
namespace shiplog::bench {

constexpr std::chrono::minutes kPatience{10};

[[noreturn]] void give_up(const std::string& why);

double peak_memory_mb(pid_t pid);
/// User and system time of all threads, in seconds.
double cpu_seconds(pid_t pid);
/// `share` 0.99: what 99 of 100 values do not exceed; 0 of none.
double percentile(std::vector<double> values, double share);

/// Of one API server, as the administrator. Ends the program when something cannot be sent.
class Client {
 public:
  Client(const std::string& kubeconfig, size_t connections, size_t streams = 256);
  void send(const std::string& method, const std::string& target, std::string body, HttpClient::OnResponse done);
  HttpResponse call(const std::string& method, const std::string& target, std::string body = {});
  void must(const std::string& method, const std::string& target, std::string body);
  HttpClient& http() { return *http_; }

 private:
  std::unique_ptr<HttpClient> http_;
};

/// shiplogd processes in one folder. Ends the program when one does not start.
class Fleet {
 public:
  Fleet(std::string directory, std::string programs)
      : directory_{std::move(directory)}, programs_{std::move(programs)} {}

  std::string kubeconfig(const std::string& name) const { return directory_ + "/" + name + ".kubeconfig"; }

  std::unique_ptr<e2e::Process> start(const std::string& name, std::vector<std::string> options, bool wait = true);
  std::unique_ptr<e2e::Process> member(const std::string& name);
  void join(const std::string& name);
  /// Every decision in the journal of a control plane that has stopped is made again; ends the program when one
  /// differs.
  Value replay(const std::string& name) const;
  e2e::Ran api_bench(int clients, int seconds) const;

 private:
  std::string directory_, programs_;
};

std::string config_map(const std::string& name, size_t bytes);
/// Of two replicas; with a name, the ConfigMap is mounted.
std::string deployment(const std::string& name, const std::string& config_map = "");
/// To the members m1 and m2, with what the resources depend on.
std::string policy(const std::string& name, const std::string& selectors);

inline const std::string kDeployments = "/apis/apps/v1/namespaces/default/deployments";
inline const std::string kConfigMaps = "/api/v1/namespaces/default/configmaps";
inline const std::string kPolicies = "/apis/policy.karmada.io/v1alpha1/namespaces/default/propagationpolicies";

/// Stores all (target, body), 64 at a time.
void store(Fleet& fleet, const std::vector<std::pair<std::string, std::string>>& objects);

}  // namespace shiplog::bench
