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

// Shared by the parts of fleet_bench: processes, a client, objects.
namespace shiplog::bench {

constexpr std::chrono::minutes kPatience{10};

[[noreturn]] void give_up(const std::string& why);

double peak_memory_mb(pid_t pid);
double memory_mb(pid_t pid);
/// Without what it shares with others, as the program's code.
double own_memory_mb(pid_t pid);
/// User and system time of all threads, in seconds.
double cpu_seconds(pid_t pid);
/// Of all threads that the process has now, voluntary or not.
double context_switches(pid_t pid);
/// `share` 0.99: the value that 99 of 100 values do not exceed; 0 if there are no values.
double percentile(std::vector<double> values, double share);

/// A client of one API server, as the administrator. Ends the program if a request cannot be sent.
class BenchClient {
 public:
  BenchClient(const std::string& kubeconfig, size_t connections, size_t streams = 256);
  void send(const std::string& method, const std::string& target, std::string body, HttpClient::OnResponse done);
  HttpResponse call(const std::string& method, const std::string& target, std::string body = {});
  void must(const std::string& method, const std::string& target, std::string body);
  HttpClient& http() { return *http_; }

 private:
  std::unique_ptr<HttpClient> http_;
};

/// shiplogd processes in one folder. Ends the program if one does not start.
class BenchFleet {
 public:
  BenchFleet(std::string directory, std::string programs)
      : directory_{std::move(directory)}, programs_{std::move(programs)} {}

  /// From here on control planes run on the first processor, and members on the others.
  void separate_processors() { separate_ = true; }

  std::string kubeconfig(const std::string& name) const { return directory_ + "/" + name + ".kubeconfig"; }

  std::unique_ptr<e2e::Process> start(const std::string& name, std::vector<std::string> options, bool wait = true);
  std::unique_ptr<e2e::Process> member(const std::string& name);
  void join(const std::string& name);
  /// Runs every decision in the journal of a stopped control plane again; ends the program if one differs.
  Value replay(const std::string& name) const;
  /// `produced`: as produced requests.
  e2e::Ran api_bench(int clients, int seconds, bool produced = false) const;

 private:
  std::string directory_, programs_;
  bool separate_ = false;
};

std::string config_map(const std::string& name, size_t bytes);
/// A Deployment with two replicas; it mounts the ConfigMap if its name is not empty.
std::string deployment(const std::string& name, const std::string& config_map = "");
/// A policy for the members m1 and m2, with `propagateDeps`.
std::string policy(const std::string& name, const std::string& selectors);

inline const std::string kDeployments = "/apis/apps/v1/namespaces/default/deployments";
inline const std::string kConfigMaps = "/api/v1/namespaces/default/configmaps";
inline const std::string kPolicies = "/apis/policy.karmada.io/v1alpha1/namespaces/default/propagationpolicies";

/// Creates all objects, given as (target, body), 64 at a time.
void store(BenchFleet& fleet, const std::vector<std::pair<std::string, std::string>>& objects);

}  // namespace shiplog::bench
