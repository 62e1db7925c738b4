#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "tests/crash/checker.h"
#include "tests/support/api_client.h"

namespace shiplog::crash {

/// Clients that create, change, remove and read ConfigMaps until they are stopped, some of them all clients' and some
/// their own, and note what they were told. A seed decides what each asks for; which of them is first, the machine.
/// Threads: one for each client; the functions here are the test's.
class Workload {
 public:
  static constexpr const char* kConfigMaps = "/api/v1/namespaces/default/configmaps";
  static bool is_own(const std::string& name) { return name.starts_with("own-") || name.starts_with("shared-"); }

  /// Name and value of its clients' ConfigMaps, as a server has them.
  static std::map<std::string, std::string> values_at(const e2e::ApiClient& api);

  Workload(uint64_t seed, int clients);
  ~Workload();
  Workload(const Workload&) = delete;
  Workload& operator=(const Workload&) = delete;

  /// A server is there, or there again under a new address. Clients take any that are there.
  void add_server(const std::string& name, std::shared_ptr<e2e::ApiClient> client);
  void remove_server(const std::string& name);
  /// How long a client waits for an answer before it calls the outcome unknown.
  void set_patience(std::chrono::milliseconds patience) { patience_ms_ = patience.count(); }

  /// Requests answered so far, and acknowledged writes among them.
  size_t answered() const { return answered_; }
  size_t acknowledged() const { return acknowledged_; }
  /// Waits for so many more answers; false: they do not come.
  bool wait_for(size_t more, std::chrono::milliseconds patience = e2e::kPatience) const;

  /// Ends the clients. What they know, in no particular order.
  std::vector<Operation> finish();
  /// Answers that no client should ever get ("unexpected HTTP 422 ..."), and the last of the refusals with a 5xx.
  std::vector<std::string> strange_answers() const;
  std::string last_server_error() const;

 private:
  struct Client;
  void run(Client& client);
  void step(Client& client, const e2e::ApiClient& api);
  std::shared_ptr<e2e::ApiClient> any_server(Client& client);
  e2e::Answer ask(const e2e::ApiClient& api, Operation& operation, const std::string& method, const std::string& target,
                  const std::string& body, const std::string& type);

  std::atomic<uint64_t> tick_{0};
  std::atomic<size_t> answered_{0};
  std::atomic<size_t> acknowledged_{0};
  std::atomic<int64_t> patience_ms_{10'000};
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool stopping_ = false;
  std::map<std::string, std::shared_ptr<e2e::ApiClient>> servers_;
  std::vector<std::string> strange_;
  std::string last_server_error_;
  std::vector<std::unique_ptr<Client>> clients_;
};

}  // namespace shiplog::crash
