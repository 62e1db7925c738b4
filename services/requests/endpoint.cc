#include "services/requests/endpoint.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "events/base/json.h"
#include "services/api/pipeline/responses.h"
#include "services/requests/batch.h"
#include "services/requests/ledger.h"

namespace shiplog::requests {
namespace {

constexpr size_t kMostInCall = 1000;
constexpr Millis kUsualPoll{30'000};
constexpr Millis kLongestPoll{55'000};  // below the server's own limit
constexpr const char* kJson = "application/json";
constexpr const char* kJsonLines = "application/jsonlines";

std::string line_of(const ProducedResult& result) { return to_json(to_value(result)) + "\n"; }

/// Answers with results as they come, one line each.
class ResultStream : public std::enable_shared_from_this<ResultStream> {
 public:
  ResultStream(std::shared_ptr<ResponseWriter> writer, size_t expected) : writer_{std::move(writer)}, left_{expected} {}

  void begin() { writer_->start(200, {{"Content-Type", kJsonLines}, {"Cache-Control", "no-cache, private"}}); }
  void add(const ProducedResult& result) {
    writer_->write(line_of(result), [](const Result<void>&) {});
    if (--left_ == 0) writer_->end();
  }

 private:
  std::shared_ptr<ResponseWriter> writer_;
  std::atomic<size_t> left_;
};

/// Answers once all results are there, or the time is over.
class ResultPoll : public std::enable_shared_from_this<ResultPoll> {
 public:
  ResultPoll(api::RequestContextPtr context, std::vector<std::string> ids)
      : context_{std::move(context)}, pending_{ids.begin(), ids.end()} {}

  void add(const ProducedResult& result) {
    bool complete = false;
    {
      const std::lock_guard lock{mutex_};
      if (pending_.erase(result.id) == 0) return;
      results_.push_back(to_value(result));
      complete = pending_.empty();
    }
    if (complete) answer();
  }

  void answer() {
    Value body = Value::object({{"results", Value::array()}, {"pending", Value::array()}});
    {
      const std::lock_guard lock{mutex_};
      if (std::exchange(answered_, true)) return;
      for (Value& result : results_) body.edit("results").push_back(std::move(result));
      for (const std::string& id : pending_) body.edit("pending").push_back(id);
    }
    api::send(*context_, 200, kJson, to_json(body) + "\n");
  }

 private:
  const api::RequestContextPtr context_;
  std::mutex mutex_;
  std::set<std::string> pending_;
  std::vector<Value> results_;
  bool answered_ = false;
};

ProducedResult unknown(const std::string& id) {
  ProducedResult result;
  result.id = id;
  result.outcome = "unknown";
  result.code = 404;
  result.reason = "NotFound";
  result.message = "no request with this id is known: it was refused some time ago, or never received; send it again";
  return result;
}

/// Valid requests, each id once, and what is invalid.
struct Sorted {
  std::vector<ProducedRequest> requests;
  std::vector<ProducedResult> invalid;
};

Sorted sorted(RequestBatch batch) {
  Sorted sorted;
  std::set<std::string> ids;
  for (auto& parsed : batch) {
    if (!parsed) {
      sorted.invalid.push_back(result_of(parsed.error()));
    } else if (!ids.insert(parsed.value().id).second) {
      sorted.invalid.push_back(result_of(InvalidRequest{parsed.value().id, "id: it stands twice in one call"}));
    } else {
      sorted.requests.push_back(std::move(parsed).value());
    }
  }
  return sorted;
}

void answer_accepted(const api::RequestContext& context, const std::vector<std::string>& ids,
                     const std::vector<ProducedResult>& invalid) {
  Value body = Value::object({{"accepted", Value::array()}, {"invalid", Value::array()}});
  for (const std::string& id : ids) body.edit("accepted").push_back(id);
  for (const ProducedResult& result : invalid) body.edit("invalid").push_back(to_value(result));
  api::send(context, 202, kJson, to_json(body) + "\n");
}

}  // namespace

RequestsEndpoint::RequestsEndpoint(std::shared_ptr<RequestExecutor> executor, Executor& timers)
    : executor_{std::move(executor)},
      timers_{timers},
      ledger_{std::make_shared<RequestLedger>(executor_, RequestLedger::Limits{})} {}

RequestsEndpoint::~RequestsEndpoint() = default;

bool RequestsEndpoint::serve(const api::RequestContextPtr& context) {
  const HttpRequest& request = context->request;
  if (request.path == "/shiplog/v1/requests") {
    if (request.method == "POST") {
      executor_->workers().post([this, context] { post(context); });
    } else {
      api::fail(*context, Error{ErrorCode::kMethodNotAllowed, "requests are sent with POST"});
    }
    return true;
  }
  if (request.path != "/shiplog/v1/requests/results") return false;
  if (request.method != "GET") {
    api::fail(*context, Error{ErrorCode::kMethodNotAllowed, "results are read with GET"});
    return true;
  }
  executor_->workers().post([this, context] { results(context); });
  return true;
}

void RequestsEndpoint::post(const api::RequestContextPtr& context) {
  auto batch = parse_batch(context->request.headers.get("Content-Type"), context->body, kMostInCall);
  if (!batch) return api::fail(*context, batch.error());
  if (batch.value().size() == 1 && !batch.value().front()) {
    return api::fail(*context, Error{ErrorCode::kBadRequest, batch.value().front().error().reason});
  }
  auto [requests, invalid] = sorted(std::move(batch).value());
  RequestOrigin origin;
  origin.user = context->user;
  origin.peer.address = context->request.peer.address;
  origin.traceparent = context->request.headers.get("traceparent");
  origin.tracestate = context->request.headers.get("tracestate");
  std::vector<std::string> ids;
  for (const ProducedRequest& request : requests) ids.push_back(request.id);
  const std::string user = context->user.name;
  auto added = ledger_->add(user, std::move(requests), origin);
  if (!added) return api::fail(*context, added.error());
  if (!api::flag(context->request, "wait")) return answer_accepted(*context, ids, invalid);
  const auto stream = std::make_shared<ResultStream>(context->writer, ids.size() + invalid.size());
  stream->begin();
  for (const ProducedResult& result : invalid) stream->add(result);
  for (const std::string& id : ids) {
    const auto finished = ledger_->find(user, id, [stream](const ProducedResult& result) { stream->add(result); });
    if (finished.first) stream->add(*finished.first);
    if (!finished.second) stream->add(unknown(id));  // finished and forgotten already
  }
}

void RequestsEndpoint::results(const api::RequestContextPtr& context) {
  const HttpRequest& request = context->request;
  std::vector<std::string> ids;
  for (const auto& [key, value] : request.query) {
    if (key == "id") ids.push_back(value);
  }
  const std::string user = context->user.name;
  if (ids.empty()) ids = ledger_->ids(user);
  const auto poll = std::make_shared<ResultPoll>(context, ids);
  for (const std::string& id : ids) {
    const auto found = ledger_->find(user, id, [poll](const ProducedResult& result) { poll->add(result); });
    if (found.first) poll->add(*found.first);
    if (found.second) continue;
    auto recalled = executor_->result_of_user(user, id);
    if (!recalled) return api::fail(*context, recalled.error());
    poll->add(recalled.value().value_or(unknown(id)));
  }
  const Millis wanted = api::duration_of(api::text(request, "timeout")).value_or(kUsualPoll);
  if (ids.empty() || wanted.value == 0) return poll->answer();
  timers_.post_after(std::min(wanted, kLongestPoll), [poll] { poll->answer(); });
}

}  // namespace shiplog::requests
