#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "services/adapters/webhooks/endpoint.h"
#include "services/api/webhooks/admission_webhook.h"
#include "services/http/client.h"
#include "services/runtime/replica.h"

namespace shiplog::api {

/// The admission webhooks that are configured now, and the connections to them. Kept up to date on the fold thread, so
/// that a configuration applies to every write after its own was answered.
/// Threads: load() and on_folded() on the executor; the rest on any.
class Webhooks final : public Observer {
 public:
  using AdmissionWebhooks = std::shared_ptr<const std::vector<AdmissionWebhook>>;  ///< in the order of their calls

  Webhooks();
  ~Webhooks() override;

  /// Networks that are never called; before the first call.
  void deny(std::shared_ptr<const Networks> networks) { denied_networks_ = std::move(networks); }

  /// Takes in what a restored state holds.
  void load(const State& state);
  void on_folded(const State& state, const DecodedRecord& record, const Folded& folded) override;

  bool none(bool mutating) const { return mutating ? no_mutating_.load() : no_validating_.load(); }
  AdmissionWebhooks configured(bool mutating) const;

  /// Sends `body` to a webhook with these additional headers and reads its answer as JSON. `done` is called once, on
  /// a network thread, and must not block. Errors: those of HttpClient, and kUnavailable for an answer that is none.
  void call(const WebhookEndpoint& endpoint, const Value& body, int64_t timeout_seconds, HttpHeaders headers,
            std::function<void(Result<Value>)> done);

  /// Calls under way end; none is `done` after it has returned. For when no more are made.
  void stop();

 private:
  using Configurations =
      std::map<std::string, std::vector<AdmissionWebhook>>;  // by the name of the object: the order of calls

  void publish(bool mutating);
  Result<std::shared_ptr<HttpClient>> client_for(const WebhookEndpoint& endpoint);

  mutable std::mutex mutex_;
  Configurations mutating_, validating_;
  AdmissionWebhooks ordered_mutating_, ordered_validating_;
  std::atomic<bool> no_mutating_{true}, no_validating_{true};
  std::shared_ptr<const Networks> denied_networks_;
  std::shared_ptr<IoThreads> io_;                                                       // made for the first call
  std::map<std::pair<std::string, std::string>, std::shared_ptr<HttpClient>> clients_;  // by address and authority
};

}  // namespace shiplog::api
