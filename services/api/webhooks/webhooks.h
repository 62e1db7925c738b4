#pragma once

#include <atomic>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "events/base/time.h"
#include "services/adapters/webhooks/endpoint.h"
#include "services/api/webhooks/admission_webhook.h"
#include "services/http/client.h"
#include "services/runtime/replica.h"

namespace shiplog::api {

enum class WebhookUse { kAdmission, kConversion };

/// What a webhook is sent.
struct WebhookQuestion {
  std::string body;  ///< JSON
  Millis timeout{10'000};
  HttpHeaders headers;  ///< additional ones
  WebhookUse use = WebhookUse::kAdmission;
  size_t most_answer_bytes = 16U << 20U;
  /// Tells the webhook how long its answer is waited for: "?timeout=10s", rounded up.
  std::string query() const;
};

/// The JSON of an answer. Parsing a large one takes a second: not on a network thread. Error: kUnavailable, it is none.
Result<Value> webhook_answer(const Result<std::string>& answer);

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

  /// Asks a webhook. `done` is called once with the body of its answer, see webhook_answer(), on a network thread, and
  /// must not block. Errors: those of HttpClient; kUnavailable, it answers with another status than 200 to 299.
  void call(const WebhookEndpoint& endpoint, WebhookQuestion question, std::function<void(Result<std::string>)> done);

  /// Calls under way end; none is `done` after it has returned. For when no more are made.
  void stop();

 private:
  using Configurations =
      std::map<std::string, std::vector<AdmissionWebhook>>;  // by the name of the object: the order of calls

  static constexpr size_t kMostClients = 64;
  struct Client {
    std::string address, ca_pem;
    std::shared_ptr<HttpClient> client;
  };
  /// Of one use: answers of converters, which authors of definitions choose, delay no admission.
  struct Connections {
    std::shared_ptr<IoThreads> io;  // made for the first call
    std::list<Client> clients;      // the last used first
  };

  void publish(bool mutating);
  Result<std::shared_ptr<HttpClient>> client_for(const WebhookEndpoint& endpoint, WebhookUse use);

  mutable std::mutex mutex_;
  Configurations mutating_, validating_;
  AdmissionWebhooks ordered_mutating_, ordered_validating_;
  std::atomic<bool> no_mutating_{true}, no_validating_{true};
  std::shared_ptr<const Networks> denied_networks_;
  Connections admission_, conversion_;
};

}  // namespace shiplog::api
