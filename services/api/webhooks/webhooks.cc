#include "services/api/webhooks/webhooks.h"

#include "events/base/json.h"
#include "events/base/utf8.h"
#include "services/http/io_threads.h"

namespace shiplog::api {
namespace {

constexpr const char* kMutating = "mutatingwebhookconfigurations.admissionregistration.k8s.io";
constexpr const char* kValidating = "validatingwebhookconfigurations.admissionregistration.k8s.io";

constexpr size_t kMostAnswerBytes = 16U << 20U;
constexpr size_t kMostShownBytes = 200;

Result<Value> read_answer(const Result<HttpResponse>& response) {
  if (!response) return response.error();
  const HttpResponse& answer = response.value();
  if (answer.status < 200 || answer.status > 299) {
    return Error{ErrorCode::kUnavailable, "the webhook answered " + std::to_string(answer.status) + " " +
                                              reason_phrase(answer.status) + ": " +
                                              printable(answer.body, kMostShownBytes)};
  }
  auto value = parse_json(answer.body);
  if (!value) return Error{ErrorCode::kUnavailable, "the webhook's answer is no JSON: " + value.error().message};
  return value;
}

}  // namespace

Webhooks::Webhooks()
    : ordered_mutating_{std::make_shared<const std::vector<AdmissionWebhook>>()},
      ordered_validating_{ordered_mutating_} {}

Webhooks::~Webhooks() { stop(); }

void Webhooks::stop() {
  std::shared_ptr<IoThreads> io;
  {
    const std::lock_guard lock{mutex_};
    for (const auto& [address, client] : clients_) client->close();
    io = io_;
  }
  if (io) io->stop();  // calls under way hold their clients, and these the threads
}

void Webhooks::load(const State& state) {
  const std::lock_guard lock{mutex_};
  for (const auto& [name, object] : state.objects(kMutating)) {
    mutating_[name.name.str()] = webhooks_of(object.value, true);
  }
  for (const auto& [name, object] : state.objects(kValidating)) {
    validating_[name.name.str()] = webhooks_of(object.value, false);
  }
  publish(true);
  publish(false);
}

void Webhooks::on_folded(const State&, const DecodedRecord&, const Folded& folded) {
  for (const Change& change : folded.changes) {
    const bool mutating = change.object.type == kMutating;
    if (!mutating && change.object.type != kValidating) continue;
    const std::lock_guard lock{mutex_};
    Configurations& all = mutating ? mutating_ : validating_;
    if (change.removed()) {
      all.erase(change.object.name.str());
    } else {
      all[change.object.name.str()] = webhooks_of(change.after, mutating);
    }
    publish(mutating);
  }
}

void Webhooks::publish(bool mutating) {
  auto webhooks = std::make_shared<std::vector<AdmissionWebhook>>();
  for (const auto& [name, each] : mutating ? mutating_ : validating_) {
    webhooks->insert(webhooks->end(), each.begin(), each.end());
  }
  (mutating ? no_mutating_ : no_validating_).store(webhooks->empty());
  (mutating ? ordered_mutating_ : ordered_validating_) = std::move(webhooks);
  clients_.clear();  // of webhooks that are no longer configured; calls under way keep theirs
}

Webhooks::AdmissionWebhooks Webhooks::configured(bool mutating) const {
  const std::lock_guard lock{mutex_};
  return mutating ? ordered_mutating_ : ordered_validating_;
}

Result<std::shared_ptr<HttpClient>> Webhooks::client_for(const WebhookEndpoint& endpoint) {
  const std::lock_guard lock{mutex_};
  const auto key = std::pair{endpoint.target.url + " " + endpoint.target.server_name, endpoint.target.ca_pem};
  if (const auto known = clients_.find(key); known != clients_.end()) return known->second;
  if (io_ == nullptr) io_ = std::make_shared<IoThreads>(1);
  HttpClient::Options options;
  options.max_response_bytes = kMostAnswerBytes;
  options.user_agent = "kube-apiserver-admission";
  options.denied_networks = denied_networks_;
  SHIPLOG_TRY(std::shared_ptr<HttpClient> client, HttpClient::create(io_, endpoint.target, options));
  clients_.emplace(key, client);
  return client;
}

void Webhooks::call(const WebhookEndpoint& endpoint, const Value& body, int64_t timeout_seconds, HttpHeaders headers,
                    std::function<void(Result<Value>)> done) {
  auto client = client_for(endpoint);
  if (!client) return done(client.error());
  HttpRequest request;
  request.method = "POST";
  request.target = endpoint.path + "?timeout=" + std::to_string(timeout_seconds) + "s";
  request.headers = std::move(headers);
  request.headers.set("Content-Type", "application/json");
  request.headers.set("Accept", "application/json");
  request.body = to_json(body);
  const auto& held = client.value();
  held->request(
      std::move(request), Millis{timeout_seconds * 1000},
      [client = held, done = std::move(done)](const Result<HttpResponse>& response) { done(read_answer(response)); });
}

}  // namespace shiplog::api
