#include "services/api/forwarding/service_proxy.h"

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "events/base/ascii.h"
#include "services/api/aggregation/front_proxy.h"
#include "services/api/pipeline/observed_writer.h"
#include "services/api/pipeline/responses.h"
#include "services/api/proxied_request.h"
#include "services/api/proxy/byte_relay.h"
#include "services/api/proxy/proxy_headers.h"
#include "services/api/proxy/response_relay.h"
#include "services/http/client.h"
#include "services/runtime/metrics.h"

namespace shiplog::api {
namespace {

/// Of a response that does not stream: a server that stops in the middle holds its place no longer.
constexpr Millis kIdleTimeout{60'000};
/// Of one direction of an upgraded connection, after the other one has ended.
constexpr Millis kLinger{60'000};
constexpr int kMostInFlight = 500;

/// Statements about the client that only the server before the other one may make, and its relation to this server.
constexpr std::array<std::string_view, 7> kNotPassedOn = {"authorization", "forwarded",   "x-real-ip", "via",
                                                          "audit-id",      "traceparent", "tracestate"};
constexpr std::array<std::string_view, 3> kNotPassedBack = {"audit-id", "date", "strict-transport-security"};

/// A place among the requests that one server has not answered yet.
class UnansweredRequest {
 public:
  explicit UnansweredRequest(std::shared_ptr<std::atomic<int>> taken) : taken_{std::move(taken)} { ++*taken_; }
  ~UnansweredRequest() { --*taken_; }
  UnansweredRequest(const UnansweredRequest&) = delete;
  UnansweredRequest& operator=(const UnansweredRequest&) = delete;
  bool beyond(int most) const { return *taken_ > most; }

 private:
  std::shared_ptr<std::atomic<int>> taken_;
};

/// What could be read in more than one way, after permissions were checked by one of them.
bool is_ambiguous(std::string_view path) {
  while (!path.empty()) {
    path.remove_prefix(1);  // the slash
    const std::string_view segment = path.substr(0, path.find('/'));
    if (segment.empty() || segment == "." || segment == "..") return true;
    const bool odd = std::ranges::any_of(segment, [](char each) {
      const auto code = static_cast<unsigned char>(each);
      return each == '\\' || code < ' ' || code == 0x7f;
    });
    if (odd) return true;
    path.remove_prefix(segment.size());
  }
  return false;
}

/// Other servers choose the status: only those that HTTP has become a label.
void count(const std::string& api_service, int status) {
  static const metrics::CounterFamily family{"shiplog_apiservice_requests_total",
                                             "Requests for other servers by APIService and HTTP status.",
                                             {"apiservice", "code"}};
  const std::string code = status >= 100 && status < 600 ? std::to_string(status) : "<error>";
  family.with({api_service, code}).add();
}

struct Forwarded {
  ServerPtr server;
  RequestContextPtr context;
  AggregatedVersion version;
  std::string protocol;  // the connection is to be upgraded to it; empty: it is not
};
using ForwardedPtr = std::shared_ptr<const Forwarded>;

HttpHeaders headers_to_server(const Forwarded& forwarded) {
  const RequestContext& context = *forwarded.context;
  HttpHeaders headers = end_to_end_headers(context.request.headers);
  std::erase_if(headers.all(), [](const HttpHeaders::Field& field) {
    const std::string name = lower_case(field.first);
    return std::ranges::find(kNotPassedOn, name) != kNotPassedOn.end() || name.starts_with("x-forwarded-") ||
           name.starts_with("impersonate-");
  });
  set_remote_user(headers, context.user);
  headers.add("X-Forwarded-For", context.request.peer.address);
  headers.add("Audit-Id", context.audit_id);
  headers.add("Traceparent", traceparent_of(context.trace, *forwarded.server->options.random));
  if (!context.trace.state.empty()) headers.add("Tracestate", context.trace.state);
  if (!forwarded.protocol.empty()) {
    headers.add("Connection", "Upgrade");
    headers.add("Upgrade", forwarded.protocol);
  }
  return headers;
}

Result<HttpHeaders> headers_to_client(const Forwarded& forwarded, const HttpResponse& head) {
  const bool redirects = head.status / 100 == 3 && head.headers.contains("Location");
  if (redirects) {
    return Error{ErrorCode::kUnavailable, "its server redirects the request, which is not followed"};
  }
  HttpHeaders headers = end_to_end_headers(head.headers);
  std::erase_if(headers.all(), [](const HttpHeaders::Field& field) {
    return std::ranges::find(kNotPassedBack, lower_case(field.first)) != kNotPassedBack.end();
  });
  if (head.status == 101) headers.set("Upgrade", forwarded.protocol);
  return headers;
}

/// An error of the client that calls the server, as the client of this server gets it.
void unreached(const ForwardedPtr& forwarded, const Error& error) {
  const bool own = error.code == ErrorCode::kTimeout || error.code == ErrorCode::kTooManyRequests ||
                   error.code == ErrorCode::kBadRequest;
  const Error shown{own ? error.code : ErrorCode::kUnavailable,
                    "APIService " + forwarded->version.api.name + ": " + error.message};
  if (shown.code == ErrorCode::kTooManyRequests) return fail(*forwarded->context, shown);
  fail_once(*forwarded->context, shown);
}

void answer_upgrade(const ForwardedPtr& forwarded, HttpClient::Upgraded upgraded) {
  auto headers = headers_to_client(*forwarded, upgraded.response);
  if (!headers) return unreached(forwarded, headers.error());
  ResponseWriter& writer = *forwarded->context->writer;
  if (upgraded.stream == nullptr) {
    upgraded.response.headers = std::move(headers).value();
    return writer.send(std::move(upgraded.response));
  }
  const auto after_linger = [server = forwarded->server](std::function<void()> work) {
    server->options.record->replica().executor().post_after(kLinger, std::move(work));
  };
  writer.upgrade(std::move(headers).value(), [other = std::move(upgraded.stream), forwarded,
                                              after_linger](const Result<std::shared_ptr<ByteStream>>& client) {
    if (!client) return other->close();
    relay_bytes(client.value(), other, after_linger, nullptr);
  });
}

void send(const ForwardedPtr& forwarded, HttpRequest request, std::shared_ptr<UnansweredRequest> place) {
  const RequestContext& context = *forwarded->context;
  const bool streams = flag(context.request, "watch") || flag(context.request, "follow");
  HttpClient::PacedStream paced;
  paced.head_timeout = context.timeout;
  paced.own_connection = streams;
  if (!streams) paced.idle_timeout = kIdleTimeout;
  // A stream that has begun is counted by the client of the server.
  const auto kept = std::make_shared<std::shared_ptr<UnansweredRequest>>(std::move(place));
  const auto relay = std::make_shared<ResponseRelay>(ResponseRelay::Options{
      .writer = context.writer,
      .keep = kept,
      .headers = [forwarded](const HttpResponse& head) { return headers_to_client(*forwarded, head); },
      .before =
          [kept, streams](int, const std::function<void(Result<void>)>& then) {
            if (streams) kept->reset();
            then(ok());
          },
      .failed = [forwarded](const Error& error) { unreached(forwarded, error); }});
  relay->start(*forwarded->version.client, std::move(request), std::move(paced));
}

}  // namespace

void forward_request(const ServerPtr& server, RequestContext draft, const AggregatedVersion& version) {
  draft.writer = observed(std::move(draft.writer), [name = version.api.name](int status) { count(name, status); });
  const auto context = std::make_shared<const RequestContext>(std::move(draft));
  if (const auto refused = refuse_unavailable(version)) return fail_once(*context, *refused);
  if (is_ambiguous(context->request.path)) {
    return fail(*context, Error{ErrorCode::kBadRequest,
                                "the path of a request for another server must not be ambiguous: it has an empty "
                                "segment, \".\", \"..\", a backslash or a control character"});
  }
  const auto forwarded =
      std::make_shared<const Forwarded>(Forwarded{server, context, version, upgrade_protocol(context->request)});
  auto place = std::make_shared<UnansweredRequest>(version.in_flight);
  if (place->beyond(kMostInFlight)) {
    return unreached(forwarded,
                     Error{ErrorCode::kTooManyRequests, "its server has not answered " + std::to_string(kMostInFlight) +
                                                            " requests yet, please try again later"});
  }
  HttpRequest request;
  request.method = context->request.method;
  request.path = context->request.path;  // as permissions were checked for it
  request.query = context->request.query;
  request.headers = headers_to_server(*forwarded);
  request.body = context->body;
  if (forwarded->protocol.empty()) return send(forwarded, std::move(request), std::move(place));
  version.client->upgrade(std::move(request), context->timeout,
                          [forwarded, place](Result<HttpClient::Upgraded> upgraded) {
                            if (!upgraded) return unreached(forwarded, upgraded.error());
                            answer_upgrade(forwarded, std::move(upgraded).value());
                          });
}

}  // namespace shiplog::api
