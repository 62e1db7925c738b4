#include "services/adapters/webhooks/webhook_resolver.h"

#include "events/base/json.h"
#include "events/base/utf8.h"
#include "services/interpreter/webhooks.h"

namespace shiplog {
namespace {

constexpr size_t kMostShownBytes = 200;
constexpr size_t kMostLines = 64;

Error with_url(const std::string& shown, const Error& error) {
  return {ErrorCode::kUnavailable, shown + ": " + error.message};
}

/// The JSON of the response, or an error with the reason.
Result<Value> json_of(const Result<HttpResponse>& response) {
  if (!response) return response.error();
  const HttpResponse& answer = response.value();
  if (answer.status < 200 || answer.status > 299) {
    return Error{ErrorCode::kUnavailable, "HTTP status " + std::to_string(answer.status) + " " +
                                              reason_phrase(answer.status) + ": " +
                                              printable(answer.body, kMostShownBytes)};
  }
  auto value = parse_json(answer.body);
  if (!value) return Error{ErrorCode::kUnavailable, "its answer is no JSON: " + value.error().message};
  return value;
}

}  // namespace

struct WebhookResolver::Call {
  QuestionPtr question;
  std::string uid, path, shown;
  TraceContext trace;
  std::function<void(Result<Value>)> answered;
};

WebhookResolver::WebhookResolver(Options options) : options_{std::move(options)} {}

WebhookResolver::~WebhookResolver() {
  *alive_ = false;
  for (auto& [key, line] : lines_) line->client.reset();
}

void WebhookResolver::later(std::function<void()> run) {
  options_.executor->post([alive = alive_, run = std::move(run)] {
    if (*alive) run();
  });
}

void WebhookResolver::ask(const State& state, const QuestionPtr& question, const TraceContext& trace,
                          std::function<void(Result<Value>)> answered) {
  const std::string webhook = "interpreter webhook " + question->source;
  const auto find = [&](const ObjectKey& key) -> Result<Value> {
    const Object* object = state.find(key);
    if (object == nullptr) return Error{ErrorCode::kNotFound, ""};
    return object->value;
  };
  auto endpoint = webhook_endpoint(question->address, find, UnknownService::kByName);
  auto line = endpoint ? line_for(endpoint.value()) : Result<LinePtr>{endpoint.error()};
  if (!line) {
    Error error{ErrorCode::kUnavailable, webhook + ": " + line.error().message};
    return later([answered = std::move(answered), error = std::move(error)] { answered(error); });
  }
  line.value()->waiting.push_back({question, uid_from(new_entry_id(*options_.random), 0), endpoint.value().path,
                                   webhook + ": " + endpoint.value().shown,
                                   trace.id.empty() ? new_trace(*options_.random) : trace, std::move(answered)});
  send_next(line.value());
}

Result<WebhookResolver::LinePtr> WebhookResolver::line_for(const WebhookEndpoint& endpoint) {
  const auto key = std::pair{endpoint.target.url + " " + endpoint.target.server_name, endpoint.target.ca_pem};
  if (const auto known = lines_.find(key); known != lines_.end()) return known->second;
  if (io_ == nullptr) io_ = std::make_shared<IoThreads>(1);
  HttpClient::Options options;
  options.max_connections = options_.at_once;
  options.max_response_bytes = options_.most_answer_bytes;
  options.user_agent = options_.user_agent;
  options.denied_networks = options_.denied_networks;
  auto line = std::make_shared<Line>();
  SHIPLOG_TRY(line->client, HttpClient::create(io_, endpoint.target, options));
  // Removes the queues of addresses that are no longer used, since configurations change.
  if (lines_.size() >= kMostLines) std::erase_if(lines_, [](const auto& item) { return item.second->under_way == 0; });
  lines_.emplace(key, line);
  return line;
}

void WebhookResolver::send_next(const LinePtr& line) {
  while (!line->waiting.empty() && line->under_way < options_.at_once) {
    auto call = std::make_shared<Call>(std::move(line->waiting.front()));
    line->waiting.pop_front();
    ++line->under_way;
    HttpRequest request;
    request.method = "POST";
    request.target = call->path;
    request.headers = {{"Content-Type", "application/json"}, {"Accept", "application/json"}};
    request.headers.set("traceparent", traceparent_of(call->trace, *options_.random));
    request.body = to_json(interpreter::context_of(*call->question, call->uid));
    line->client->request(std::move(request), call->question->timeout,
                          [this, executor = options_.executor, alive = alive_, line, call](auto response) {
                            auto answer = std::make_shared<Result<Value>>(json_of(response));
                            executor->post([this, alive, line, call, answer] {
                              if (!*alive) return;
                              --line->under_way;
                              send_next(line);
                              call->answered(answer->has_value()
                                                 ? interpreter::read_answer(*call->question, answer->value(), call->uid)
                                                 : Result<Value>{with_url(call->shown, answer->error())});
                            });
                          });
  }
}

}  // namespace shiplog
