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

/// Clients that create, change, remove and read ConfigMaps, shared ones and their own, until they are stopped, and
/// record the responses. The seed determines the requests, but not their order among clients. Threads: one for each
/// client; the public functions are for the test's thread.
class ClientWorkload {
 public:
  static constexpr const char* kConfigMaps = "/api/v1/namespaces/default/configmaps";
  static bool is_own(const std::string& name) { return name.starts_with("own-") || name.starts_with("shared-"); }

  /// Names and values of the clients' ConfigMaps on a server.
  static std::map<std::string, std::string> values_at(const e2e::ApiClient& api);

  ClientWorkload(uint64_t seed, int clients);
  ~ClientWorkload();
  ClientWorkload(const ClientWorkload&) = delete;
  ClientWorkload& operator=(const ClientWorkload&) = delete;

  /// Adds a server, or replaces it after a change of address. Clients use any of the servers.
  void add_server(const std::string& name, std::shared_ptr<e2e::ApiClient> client);
  void remove_server(const std::string& name);
  /// Sets the time after which a request without a response is of unknown outcome.
  void set_patience(std::chrono::milliseconds patience) { patience_ms_ = patience.count(); }

  /// Number of requests answered so far, and of acknowledged writes among them.
  size_t answered() const { return answered_; }
  size_t acknowledged() const { return acknowledged_; }
  /// Waits for `more` further responses; false on timeout.
  bool wait_for(size_t more, std::chrono::milliseconds patience = e2e::kPatience) const;

  /// Stops the clients. Returns their operations in no particular order.
  std::vector<Operation> finish();
  /// Responses that no client should receive ("unexpected HTTP 422 ..."), and the last response with a 5xx status.
  std::vector<std::string> unexpected_responses() const;
  std::string last_server_error() const;

 private:
  struct Client;
  void run(Client& client);
  void step(Client& client, const e2e::ApiClient& api);
  std::shared_ptr<e2e::ApiClient> any_server(Client& client);
  e2e::Answer send(const e2e::ApiClient& api, Operation& operation, const std::string& method,
                   const std::string& target, const std::string& body, const std::string& type);

  std::atomic<uint64_t> tick_{0};
  std::atomic<size_t> answered_{0};
  std::atomic<size_t> acknowledged_{0};
  std::atomic<int64_t> patience_ms_{10'000};
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool stopping_ = false;
  std::map<std::string, std::shared_ptr<e2e::ApiClient>> servers_;
  std::vector<std::string> unexpected_;
  std::string last_server_error_;
  std::vector<std::unique_ptr<Client>> clients_;
};

}  // namespace shiplog::crash
