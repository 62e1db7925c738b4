#include "services/requests/executor.h"

#include <algorithm>
#include <utility>

#include "events/base/json.h"
#include "services/api/status.h"
#include "services/requests/capture.h"
#include "services/requests/mapping.h"
#include "services/requests/recall.h"
#include "services/requests/request_metrics.h"
#include "services/runtime/log.h"
#include "services/runtime/trace.h"

namespace shiplog::requests {
namespace {

/// Of a request without a deadline: afterwards it is answered with what kept it from being carried out.
constexpr Millis kPatience{10 * 60 * 1000};
constexpr int64_t kFirstRetryMs = 20;
constexpr int64_t kLongestRetryMs = 2'000;
constexpr size_t kWorkers = 2;
constexpr const char* kUserAgent = "shiplog-requests";
constexpr const char* kUnrecorded = "not recorded, as it may quote data of a Secret";

/// May succeed later: the server or the journal is overloaded, unreachable or slow.
bool is_transient(int status) { return status == 429 || status == 503 || status == 504; }

const char* kubernetes_verb(RequestVerb verb) {
  switch (verb) {
    case RequestVerb::kCreate:
      return "create";
    case RequestVerb::kDelete:
      return "delete";
    case RequestVerb::kApply:
    case RequestVerb::kPatch:
    case RequestVerb::kScale:
      return "patch";
  }
  return "";
}

/// What the answer over HTTP says, as a result.
void read_answer(const HttpResponse& answer, bool may_quote, ProducedResult& result) {
  result.code = answer.status;
  const auto body = parse_json(answer.body);
  if (!body) return;
  if (answer.status >= 400) {
    result.reason = body.value()["reason"].str();
    result.message = may_quote ? kUnrecorded : body.value()["message"].str();
    return;
  }
  const bool status = body.value()["kind"].as_string() == "Status";
  const Value& about = body.value()[status ? "details" : "metadata"];
  result.uid = about["uid"].str();
  result.resource_version = about["resourceVersion"].str();
}

}  // namespace

struct RequestExecutor::Shared {
  Options options;
  Workers workers{kWorkers};
  std::atomic<bool> stopped{false};
};

/// One request, from its delivery to its result. One step at a time.
class RequestExecutor::Run : public std::enable_shared_from_this<RequestExecutor::Run> {
 public:
  Run(std::shared_ptr<Shared> shared, ProducedRequest request, RequestOrigin origin, Done done)
      : shared_{std::move(shared)},
        request_{std::move(request)},
        origin_{std::move(origin)},
        done_{std::move(done)},
        give_up_{request_.deadline.value_or(now() + kPatience)} {}

  void begin() {
    on_worker([](Run& run) { run.attempt(); });
  }

 private:
  UtcMillis now() const { return shared_->options.executor->now(); }
  bool in_topic() const { return origin_.record.offset >= 0; }
  bool abandoned() const { return shared_->stopped || (origin_.abandoned != nullptr && origin_.abandoned->load()); }

  void on_worker(std::function<void(Run&)> step) {
    shared_->workers.post([self = shared_from_this(), step = std::move(step)] {
      if (self->abandoned()) return self->answer(std::nullopt);
      step(*self);
    });
  }

  /// With jitter, so that requests that were refused together do not return together.
  void later(std::function<void(Run&)> step) {
    const int64_t backoff = std::min(kLongestRetryMs, kFirstRetryMs << std::min(retries_++, 10));
    const auto jitter = static_cast<int64_t>(random_below(*shared_->options.random, static_cast<uint64_t>(backoff)));
    shared_->options.executor->post_after(
        Millis{backoff / 2 + jitter}, [self = shared_from_this(), step = std::move(step)] { self->on_worker(step); });
  }

  void attempt() {
    if (now() >= give_up_) return expire();
    const auto kinds = shared_->options.kinds->current();
    auto mapped = http_request_of(request_, *kinds);
    if (!mapped) return refuse(mapped.error());
    path_ = mapped.value().http.path;
    object_ = mapped.value().object;
    if (in_topic() && request_.token.empty()) {
      return refuse({ErrorCode::kUnauthorized, "token: required in a request that comes in a topic"});
    }
    submit(std::move(mapped.value().http));
  }

  void submit(HttpRequest http) {
    http.headers.set("User-Agent", kUserAgent);
    if (!origin_.traceparent.empty()) http.headers.set("traceparent", origin_.traceparent);
    if (!origin_.tracestate.empty()) http.headers.set("tracestate", origin_.tracestate);
    auto life = std::make_shared<api::ProducedRequestLife>();
    life->source = source();
    life->done_before = origin_.done_before;
    api::Submission submission{std::nullopt, life};
    if (request_.token.empty()) {
      http.peer = origin_.peer;
      submission.user = origin_.user;
    } else {
      http.peer.address = origin_.peer.address;  // the certificate of the connection is not the token's
    }
    auto writer = capture([self = shared_from_this(), life](HttpResponse answer) {
      self->on_worker([life, answer = std::move(answer)](Run& run) { run.on_answer(*life, answer); });
    });
    shared_->options.submit(std::move(http), std::move(writer), std::move(submission));
  }

  RequestSource source() const {
    RequestSource source{.id = request_.id, .topic = "", .partition = 0, .offset = 0, .done_before = 0};
    if (!in_topic()) return source;
    source.topic = origin_.record.topic;
    source.partition = origin_.record.partition;
    source.offset = origin_.record.offset;
    if (origin_.done_before != nullptr) source.done_before = origin_.done_before->load();
    return source;
  }

  ProducedResult blank() const {
    ProducedResult result;
    result.id = request_.id;
    result.record = origin_.record;
    return result;
  }

  void on_answer(const api::ProducedRequestLife& life, const HttpResponse& http) {
    user_ = life.user;
    if (life.before || life.settled) return recall_first();
    ProducedResult result = blank();
    read_answer(http, life.may_quote, result);
    if (life.entry) {
      result.outcome = "applied";
      if (http.status >= 400) {  // it was carried out, and only its answer could not be made
        result = blank();
        return recall_first();
      }
      result.revision = life.entry->revision.value;
      result.entry_id = to_string(life.entry->id);
      return answer(RecordOutcome{std::move(result), std::nullopt});
    }
    if (is_transient(http.status)) {
      held_up_ = result;
      return later([](Run& run) { run.attempt(); });
    }
    result.outcome = http.status < 400 ? "unchanged" : "refused";
    conclude(std::move(result));
  }

  void refuse(const Error& error) {
    ProducedResult result = blank();
    result.outcome = "refused";
    result.code = api::http_status(error.code);
    result.reason = api::reason_of(error.code);
    result.message = error.message;
    conclude(std::move(result));
  }

  void expire() {
    ProducedResult result = blank();
    result.outcome = "expired";
    result.code = 504;
    result.reason = "Expired";
    result.message = request_.deadline ? "the deadline passed before the request was carried out"
                                       : "the request could not be carried out for ten minutes";
    if (held_up_)
      result.message += "; the last answer was " + std::to_string(held_up_->code) + ": " + held_up_->message;
    conclude(std::move(result));
  }

  /// The request is not carried out. Of a record, the journal keeps that: another consumer that still works on the same
  /// record, or an append of ours whose outcome is unknown, must not carry it out after it was answered.
  void conclude(ProducedResult result) {
    if (!in_topic() || request_.dry_run) return answer(RecordOutcome{std::move(result), std::nullopt});
    Entry entry;
    entry.time = now();
    entry.actor = {.user = user_, .groups = {}, .service = "api", .source_ip = "", .user_agent = kUserAgent};
    entry.request = {kubernetes_verb(request_.verb), path_};
    if (const auto trace = parse_traceparent(origin_.traceparent)) entry.cause.trace_id = journaled(*trace);
    entry.id = new_entry_id(*shared_->options.random);
    entry.source = source();
    if (result.outcome != "unchanged") {
      RequestDenied denied;
      denied.object = object_;
      denied.status = result.code;
      denied.reason = result.reason;
      denied.message = result.message;
      entry.events.emplace_back(std::move(denied));
    }
    result.entry_id = to_string(entry.id);
    shared_->options.settle(
        std::move(entry), [self = shared_from_this(), result = std::move(result)](Result<Outcome> outcome) {
          self->on_worker([result, outcome = std::move(outcome)](Run& run) { run.on_settled(result, outcome); });
        });
  }

  void on_settled(const ProducedResult& result, const Result<Outcome>& outcome) {
    if (outcome && !outcome.value().refusal) {
      ProducedResult settled = result;
      settled.revision = outcome.value().revision.value;
      return answer(RecordOutcome{std::move(settled), std::nullopt});
    }
    if (outcome && outcome.value().refusal->settled) return recall_first();
    later([result](Run& run) { run.conclude(result); });
  }

  /// The answer is that of the first time.
  void recall_first() {
    auto found = shared_->options.record->read(
        [&](const View& view) { return recall(view, user_, request_.id, origin_.record); });
    if (!found) {
      log::warn("request.recall_failed", {log::kv("reason", found.error().message)});
      return later([](Run& run) { run.recall_first(); });
    }
    if (found.value()) return answer(RecordOutcome{std::move(*found.value()), std::nullopt});
    ProducedResult lost = blank();
    lost.outcome = "refused";
    lost.code = 409;
    lost.reason = "AlreadySettled";
    lost.message =
        "the record is before those whose results were committed, or its id was used, but the audit trail has no such "
        "request: it was trimmed, or the topic was created again under its old name (see docs/guide/requests.md)";
    std::string dead = lost.message;
    answer(RecordOutcome{std::move(lost), std::move(dead)});
  }

  void answer(std::optional<RecordOutcome> outcome) {
    if (auto done = std::exchange(done_, nullptr)) done(std::move(outcome));
  }

  const std::shared_ptr<Shared> shared_;
  const ProducedRequest request_;
  const RequestOrigin origin_;
  Done done_;
  const UtcMillis give_up_;
  std::string user_, path_;
  ObjectKey object_;
  int retries_ = 0;
  std::optional<ProducedResult> held_up_;  // the last transient answer
};

RequestExecutor::RequestExecutor(Options options) : shared_{std::make_shared<Shared>()} {
  shared_->options = std::move(options);
  export_request_metrics();
}

RequestExecutor::~RequestExecutor() { stop(); }

void RequestExecutor::execute(ProducedRequest request, RequestOrigin origin, Done done) {
  std::make_shared<Run>(shared_, std::move(request), std::move(origin), std::move(done))->begin();
}

Result<std::optional<ProducedResult>> RequestExecutor::result_of_user(const std::string& user, const std::string& id) {
  return shared_->options.record->read([&](const View& view) { return recall(view, user, id, {}); });
}

Workers& RequestExecutor::workers() { return shared_->workers; }

void RequestExecutor::stop() {
  shared_->stopped = true;
  shared_->workers.stop();
}

}  // namespace shiplog::requests
