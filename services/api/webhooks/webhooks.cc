#include "services/api/webhooks/webhooks.h"

#include <algorithm>
#include <utility>

#include "events/base/json.h"
#include "events/base/utf8.h"
#include "services/http/io_threads.h"

namespace shiplog::api {
namespace {

constexpr const char* kMutating = "mutatingwebhookconfigurations.admissionregistration.k8s.io";
constexpr const char* kValidating = "validatingwebhookconfigurations.admissionregistration.k8s.io";

constexpr size_t kMostShownBytes = 200;

Result<std::string> body_of(Result<HttpResponse> response) {
  if (!response) return response.error();
  HttpResponse& answer = response.value();
  if (answer.status < 200 || answer.status > 299) {
    return Error{ErrorCode::kUnavailable, "the webhook answered " + std::to_string(answer.status) + " " +
                                              reason_phrase(answer.status) + ": " +
                                              printable(answer.body, kMostShownBytes)};
  }
  return std::move(answer.body);
}

}  // namespace

Result<Value> webhook_answer(const Result<std::string>& answer) {
  if (!answer) return answer.error();
  auto value = parse_json(answer.value());
  if (!value) return Error{ErrorCode::kUnavailable, "the webhook's answer is no JSON: " + value.error().message};
  return value;
}

std::string WebhookQuestion::query() const { return "?timeout=" + std::to_string((timeout.value + 999) / 1000) + "s"; }

Webhooks::Webhooks()
    : ordered_mutating_{std::make_shared<const std::vector<AdmissionWebhook>>()},
      ordered_validating_{ordered_mutating_} {}

Webhooks::~Webhooks() { stop(); }

void Webhooks::stop() {
  std::vector<std::shared_ptr<IoThreads>> threads;
  {
    const std::lock_guard lock{mutex_};
    for (const Connections* connections : {&admission_, &conversion_}) {
      for (const Client& each : connections->clients) each.client->close();
      if (connections->io) threads.push_back(connections->io);
    }
  }
  for (const auto& io : threads) io->stop();  // calls under way hold their clients, and these the threads
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
  admission_.clients.clear();  // of webhooks that are no longer configured; calls under way keep theirs
}

Webhooks::AdmissionWebhooks Webhooks::configured(bool mutating) const {
  const std::lock_guard lock{mutex_};
  return mutating ? ordered_mutating_ : ordered_validating_;
}

Result<std::shared_ptr<HttpClient>> Webhooks::client_for(const WebhookEndpoint& endpoint, WebhookUse use) {
  const std::lock_guard lock{mutex_};
  auto& [io, clients] = use == WebhookUse::kAdmission ? admission_ : conversion_;
  const std::string address = endpoint.target.url + " " + endpoint.target.server_name;
  const auto known = std::ranges::find_if(
      clients, [&](const Client& each) { return each.address == address && each.ca_pem == endpoint.target.ca_pem; });
  if (known != clients.end()) {
    clients.splice(clients.begin(), clients, known);
    return known->client;
  }
  if (io == nullptr) io = std::make_shared<IoThreads>(1);
  HttpClient::Options options;
  options.user_agent = "kube-apiserver-admission";
  options.denied_networks = denied_networks_;
  SHIPLOG_TRY(std::shared_ptr<HttpClient> client, HttpClient::create(io, endpoint.target, options));
  clients.push_front({address, endpoint.target.ca_pem, client});
  if (clients.size() > kMostClients) clients.pop_back();  // calls under way keep it
  return client;
}

void Webhooks::call(const WebhookEndpoint& endpoint, WebhookQuestion question,
                    std::function<void(Result<std::string>)> done) {
  auto client = client_for(endpoint, question.use);
  if (!client) return done(client.error());
  HttpRequest request;
  request.method = "POST";
  request.target = endpoint.path + question.query();
  request.headers = std::move(question.headers);
  request.headers.set("Content-Type", "application/json");
  request.headers.set("Accept", "application/json");
  request.body = std::move(question.body);
  const auto& held = client.value();
  held->request(
      std::move(request), question.timeout,
      [client = held, done = std::move(done)](Result<HttpResponse> response) { done(body_of(std::move(response))); },
      {.max_response_bytes = question.most_answer_bytes});
}

}  // namespace shiplog::api
