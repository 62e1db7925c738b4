#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <sys/types.h>

#include "services/http/client.h"
#include "tests/bench/bench_fleet.h"

// The fleet of scale_bench: one control plane, or two processes of one, and many simulated members.
namespace shiplog::bench {

struct ScaleOptions {
  size_t members = 100, nodes = 500, pods = 2000;
  std::string churn = "1";
  std::string programs;        ///< of the simulated members
  std::string plane_programs;  ///< of the control plane
  std::vector<std::string> plane_options;
};

/// Figures that only ever grow.
struct Counters {
  double plane_cpu = 0, members_cpu = 0, bytes = 0, requests = 0;
  double entries = 0, cluster_entries = 0, journal_bytes = 0;
  std::chrono::steady_clock::time_point at = std::chrono::steady_clock::now();
  double seconds_since(const Counters& before) const { return std::chrono::duration<double>(at - before.at).count(); }
};

class ScaledFleet {
 public:
  ScaledFleet(std::string directory, ScaleOptions options);

  size_t members() const { return options_.members; }
  pid_t plane() const { return plane_->pid(); }
  BenchClient& client() { return *client_; }
  std::string kubeconfig() const { return fleet_.kubeconfig(plane_name_); }
  /// Of all simulated members together: requests to one begin with "/m7".
  HttpClient& simulated() { return *root_; }
  static std::string name_of(size_t number) { return "m" + std::to_string(number); }

  /// Registers all members, several at a time, and waits until all are Ready.
  void join_all();
  /// Waits until the nodes and pods of all are counted.
  void wait_until_counted();
  /// The last `members` of them take requests and never answer from now on; all others do.
  void hang(size_t members);
  Counters now();
  /// Members that the control plane has had an answer from since it was started.
  size_t answered();

  /// Ends the control plane and starts it again; returns when it serves.
  void restart();
  /// Starts a second process on the same journal and, once it has its share of the members, kills the first one. From
  /// then on the second one is the control plane.
  void take_over();

 private:
  std::string kubeconfig_of(size_t number) const;
  void serve(const std::string& name);
  size_t clusters_with(const char* first, const char* second);
  void wait_for(const std::string& what, const std::function<bool()>& holds);

  const std::string directory_;
  const ScaleOptions options_;
  BenchFleet simulated_, fleet_;
  std::unique_ptr<e2e::Process> plane_, many_;
  std::string plane_name_ = "plane";
  std::unique_ptr<BenchClient> client_;
  std::unique_ptr<HttpClient> root_;
};

}  // namespace shiplog::bench
