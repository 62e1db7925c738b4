#include "services/api/pipeline/request_audit.h"

#include <atomic>
#include <utility>

#include <boost/asio/async_result.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "events/base/json.h"
#include "events/base/valid_utf8.h"
#include "services/api/auditing/redact.h"
#include "services/api/auth/rbac/attributes.h"

namespace shiplog::api {
namespace {

/// Of a longer response there is no responseObject: a list may be as large as the fleet.
constexpr size_t kMostResponse = 4 * 1024 * 1024;
/// A Status is not longer.
constexpr size_t kMostStatus = 64 * 1024;
constexpr size_t kMostUserAgent = 1024;
constexpr int kInternalError = 500;

std::string uri_of(const HttpRequest& request) {
  return request.target.empty() ? encode_target(request.path, request.query) : valid_utf8(request.target);
}

bool is_document(const HttpResponse& response) {
  const std::string_view type = response.headers.get("Content-Type");
  return type.starts_with("application/json") || type.starts_with("application/yaml");
}

class AuditedWriter final : public ResponseWriter {
 public:
  AuditedWriter(std::shared_ptr<ResponseWriter> writer, std::shared_ptr<RequestAudit> audit)
      : writer_{std::move(writer)}, audit_{std::move(audit)} {}
  ~AuditedWriter() override {
    if (state_ == State::kNothing) audit_->record(AuditStage::kPanic, kInternalError, nullptr, nullptr);
    complete_stream();
  }
  AuditedWriter(const AuditedWriter&) = delete;
  AuditedWriter& operator=(const AuditedWriter&) = delete;

  void send(HttpResponse response) override {
    if (state_.exchange(State::kSent) != State::kNothing) return;
    const int status = response.status;
    // As kube-apiserver records failed authentications.
    const AuditStage stage = audit_->authenticated() ? AuditStage::kResponseComplete : AuditStage::kResponseStarted;
    if (!audit_->waits()) {
      audit_->record(stage, status, &response, nullptr);
      return writer_->send(std::move(response));
    }
    auto held = std::make_shared<HttpResponse>(std::move(response));
    audit_->record(stage, status, held.get(), [writer = writer_, held](bool) { writer->send(std::move(*held)); });
  }
  void start(int status, HttpHeaders headers) override {
    begin_stream(status);
    writer_->start(status, std::move(headers));
  }
  void write(std::string chunk, Done done) override { writer_->write(std::move(chunk), std::move(done)); }
  void end() override {
    complete_stream();
    writer_->end();
  }
  void upgrade(HttpHeaders headers, Upgraded then) override {
    begin_stream(101);
    writer_->upgrade(std::move(headers), std::move(then));
  }
  void on_close(std::function<void()> callback) override { writer_->on_close(std::move(callback)); }
  bool closed() const override { return writer_->closed(); }

 private:
  enum class State { kNothing, kSent, kStreams, kComplete };

  void begin_stream(int status) {
    if (state_.exchange(State::kStreams) != State::kNothing) return;
    status_ = status;
    audit_->record(AuditStage::kResponseStarted, status, nullptr, nullptr);
  }
  void complete_stream() {
    State streams = State::kStreams;
    if (!state_.compare_exchange_strong(streams, State::kComplete)) return;
    audit_->record(AuditStage::kResponseComplete, status_, nullptr, nullptr);
  }

  std::shared_ptr<ResponseWriter> writer_;
  std::shared_ptr<RequestAudit> audit_;
  std::atomic<State> state_{State::kNothing};
  std::atomic<int> status_{0};
};

}  // namespace

RequestAudit::RequestAudit(const Server& server, const HttpRequest& request, const std::string& audit_id,
                           const TraceContext& trace, const User* user, const AuditDecision& decision)
    : auditor_{*server.options.auditor}, clock_{*server.options.clock}, authenticated_{user != nullptr} {
  const Attributes wanted = attributes_of(request.method, request.path, request.query);
  facts_.decision = decision;
  facts_.received = {clock_.now().value * 1000};
  facts_.audit_id = audit_id;
  facts_.uri = uri_of(request);
  facts_.verb = wanted.verb;
  facts_.user_agent = valid_utf8(request.headers.get("User-Agent").substr(0, kMostUserAgent));
  if (user != nullptr) facts_.user = *user;
  facts_.source_ips =
      source_addresses(request.headers.get("X-Forwarded-For"), request.headers.get("X-Real-Ip"), request.peer.address);
  facts_.annotations["shiplog.io/trace"] = trace.id;
  facts_.is_resource = wanted.is_resource;
  if (!wanted.is_resource) return;
  facts_.resource = wanted.resource;
  facts_.subresource = wanted.subresource;
  facts_.group = wanted.group;
  facts_.ns = wanted.ns;
  facts_.name = wanted.name;
  if (const auto path = parse_resource_path(request.path)) facts_.version = path->version;
}

void RequestAudit::acts_as(const User& user) { facts_.acts_as = std::make_shared<User>(user); }

void RequestAudit::authorized(bool allowed, const std::string& reason) {
  facts_.annotations["authorization.k8s.io/decision"] = allowed ? "allow" : "forbid";
  facts_.annotations["authorization.k8s.io/reason"] = reason;
}

void RequestAudit::resolved(const RequestTarget& target, const std::string& body, std::string_view content_type) {
  if (facts_.decision.level < AuditLevel::kRequest || body.empty()) return;
  facts_.body = std::make_shared<const std::string>(body);
  facts_.content_type = content_type;
  facts_.kinds = target.kinds;
  facts_.kind = target.kind;
}

void RequestAudit::writes(const RequestContext& context, const Value& object) {
  if (context.verb == "deletecollection") return;  // of many objects, at the same time
  const Value& metadata = object["metadata"];
  if (facts_.name.empty()) facts_.name = metadata["name"].str();
  facts_.uid = metadata["uid"].str();
  facts_.resource_version = metadata["resourceVersion"].str();
}

void RequestAudit::annotated(const std::string& key, const std::string& value) {
  const std::lock_guard lock{annotations_mutex_};
  facts_.annotations.emplace(key, value);
}

void RequestAudit::mutated_by(const AdmissionWebhook& webhook, const MutatingCall& call,
                              const AdmissionResponse& response) {
  if (!response.called) return;
  const std::string key =
      "mutation.webhook.admission.k8s.io/round_" + std::to_string(call.round) + "_index_" + std::to_string(call.index);
  Value about = Value::object({{"configuration", webhook.configuration}, {"webhook", webhook.name}});
  Value mutation = about;
  mutation.set("mutated", call.changed);
  annotated(key, to_json(mutation));
  if (response.failed_open) annotated("failed-open." + key, webhook.name);
  for (const auto& [name, value] : response.annotations) annotated(name, value);
  // A patch is content of the object, which is recorded from that level on.
  if (response.denial || response.patch.is_null() || facts_.decision.level < AuditLevel::kRequest) return;
  if (facts_.resource == "tokenreviews") return;  // a bearer token, in whatever form
  Value patch = response.patch;
  redact_tokens(patch, facts_.resource);
  about.set("patch", std::move(patch));
  about.set("patchType", "JSONPatch");
  annotated("patch" + key.substr(key.find('.')), to_json(about));
}

void RequestAudit::committed(const RequestContext& context, const ObjectKey& object, const EntryId& entry,
                             const Outcome& outcome) {
  if (context.verb == "deletecollection" || !outcome.stored) return;
  if (facts_.name.empty()) facts_.name = object.name;
  facts_.annotations["shiplog.io/entry"] = to_string(entry);
  if (outcome.refusal) return;
  facts_.annotations["shiplog.io/revision"] = std::to_string(outcome.revision.value);
}

bool RequestAudit::records_response(const HttpResponse& response, int status) const {
  if (!is_document(response)) return false;
  if (status >= 400) return response.body.size() <= kMostStatus;
  if (!facts_.is_resource) return false;
  if (facts_.decision.level == AuditLevel::kRequestResponse) return response.body.size() <= kMostResponse;
  // That of a deletion is a Status, which is part of the event at every level.
  return facts_.verb == "delete" && response.body.size() <= kMostStatus &&
         response.body.find("\"kind\":\"Status\"") != std::string::npos;
}

std::shared_ptr<AuditedRequest> RequestAudit::copied_facts() const {
  const std::lock_guard lock{annotations_mutex_};
  return std::make_shared<AuditedRequest>(facts_);
}

void RequestAudit::record(AuditStage stage, int status, const HttpResponse* response,
                          std::function<void(bool stored)> done) const {
  if (facts_.decision.omitted.contains(stage)) {
    if (done) done(true);
    return;
  }
  AuditLogEvent event;
  auto facts = copied_facts();
  event.stage = stage;
  event.at = {clock_.now().value * 1000};
  event.status = status;
  if (stage == AuditStage::kPanic) event.message = "the request ended without a response";
  if (!authenticated_) event.message = "Authentication failed";
  if (response != nullptr && records_response(*response, status)) {
    event.response = response->body;
    event.response_type = response->headers.get("Content-Type");
  } else if (response != nullptr && facts_.is_resource && response->body.size() > kMostResponse &&
             facts_.decision.level == AuditLevel::kRequestResponse) {
    facts->annotations["audit.k8s.io/truncated"] = "true";
  }
  event.request = std::move(facts);
  auditor_.record(event, std::move(done));
}

std::shared_ptr<RequestAudit> audit_of(const Server& server, const HttpRequest& request, const std::string& audit_id,
                                       const TraceContext& trace, const User* user) {
  if (server.options.auditor == nullptr) return nullptr;
  const AuditDecision decision = server.options.auditor->decide(
      user == nullptr ? User{} : *user, attributes_of(request.method, request.path, request.query));
  if (decision.level == AuditLevel::kNone) return nullptr;
  return std::make_shared<RequestAudit>(server, request, audit_id, trace, user, decision);
}

awaitable<bool> record_received(const Server& server, const RequestAudit& audit) {
  if (!audit.waits()) {
    audit.record(AuditStage::kRequestReceived, 0, nullptr, nullptr);
    co_return true;
  }
  co_return co_await boost::asio::async_initiate<const boost::asio::use_awaitable_t<>, void(bool)>(
      [&server, &audit](auto handler) {
        auto held = std::make_shared<decltype(handler)>(std::move(handler));
        // Not on the thread of the backend: others wait for it.
        audit.record(AuditStage::kRequestReceived, 0, nullptr, [&server, held](bool recorded) {
          server.post_blocking([held, recorded] { std::move (*held)(recorded); });
        });
      },
      boost::asio::use_awaitable);
}

std::shared_ptr<ResponseWriter> audited(std::shared_ptr<ResponseWriter> writer, std::shared_ptr<RequestAudit> audit) {
  return std::make_shared<AuditedWriter>(std::move(writer), std::move(audit));
}

}  // namespace shiplog::api
