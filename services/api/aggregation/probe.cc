#include "services/api/aggregation/probe.h"

#include <utility>

#include "events/base/utf8.h"
#include "services/api/aggregation/front_proxy.h"
#include "services/api/aggregation/remote_discovery.h"
#include "services/runtime/log.h"

namespace shiplog::api {
namespace {

constexpr Millis kLongestAnswer{5'000};
constexpr size_t kMostDiscoveryBytes = size_t{2} << 20;
constexpr size_t kMostIndexBytes = size_t{1} << 20;
constexpr size_t kMostOpenApiBytes = size_t{8} << 20;
constexpr size_t kMostShownBytes = 200;

using Read = std::function<void(std::function<void()>)>;
using OnBody = std::function<void(Result<std::string>)>;

/// `then` is called from `read` with the body of an answer of status 200.
void get(const std::shared_ptr<HttpClient>& client, const std::string& path, size_t most_bytes, const Read& read,
         OnBody then) {
  HttpRequest request;
  request.target = path;
  request.headers.add("Accept", "application/json");
  set_remote_user(request.headers, aggregator_user());
  client->request(std::move(request), kLongestAnswer,
                  [client, read, then = std::move(then)](Result<HttpResponse> response) {
                    read([then, response = std::move(response)]() mutable {
                      if (!response) return then(response.error());
                      HttpResponse& answer = response.value();
                      if (answer.status == 200) return then(std::move(answer.body));
                      then(Error{answer.status == 404 ? ErrorCode::kNotFound : ErrorCode::kUnavailable,
                                 "the answer is " + std::to_string(answer.status) + " " + reason_phrase(answer.status) +
                                     ": " + printable(answer.body, kMostShownBytes)});
                    });
                  },
                  {.max_response_bytes = most_bytes});
}

using Report = std::function<void(ProbeResult)>;

void end_without_openapi(const ProbeQuestion& question, const Report& report, const Error& error) {
  // A server need not describe itself.
  if (error.code != ErrorCode::kNotFound) {
    log::debug("apiservice.openapi", {log::kv("name", question.api.name), log::kv("reason", error.message)});
  }
  ProbeResult result;
  if (error.code == ErrorCode::kNotFound) result.openapi = std::shared_ptr<const RemoteOpenApi>{};
  result.last = true;
  report(std::move(result));
}

void read_document(const ProbeQuestion& question, const Read& read, const Report& report, const std::string& path) {
  get(question.client, path, kMostOpenApiBytes, read, [question, report, path](Result<std::string> body) {
    if (!body) return end_without_openapi(question, report, body.error());
    auto document = read_openapi(std::move(body).value(), question.api.group, question.api.version);
    if (!document) return end_without_openapi(question, report, document.error());
    ProbeResult result;
    result.openapi = std::move(document).value();
    result.openapi_path = path;
    result.last = true;
    report(std::move(result));
  });
}

void read_index(const ProbeQuestion& question, const Read& read, const Report& report) {
  get(question.client, "/openapi/v3", kMostIndexBytes, read, [question, read, report](const Result<std::string>& body) {
    if (!body) return end_without_openapi(question, report, body.error());
    const auto path = document_path(body.value(), question.api.group, question.api.version);
    if (!path) {
      return end_without_openapi(question, report, Error{ErrorCode::kNotFound, "the index does not name it"});
    }
    // The path of a document has its hash.
    if (*path == question.openapi_path && path->find("hash=") != std::string::npos) {
      ProbeResult result;
      result.last = true;
      return report(std::move(result));
    }
    read_document(question, read, report, *path);
  });
}

}  // namespace

void probe_server(const ProbeQuestion& question, const Read& read, Report report) {
  const std::string path = "/apis/" + question.api.group + "/" + question.api.version;
  get(question.client, path, kMostDiscoveryBytes, read,
      [question, read, report = std::move(report), path](const Result<std::string>& body) {
        ProbeResult result;
        result.resources = body ? read_resource_list(body.value(), question.api.group, question.api.version)
                                : Result<Value>{body.error()};
        if (!*result.resources) {
          result.resources = Result<Value>{Error{ErrorCode::kUnavailable, "failing or missing response from " +
                                                                              question.client->name() + path + ": " +
                                                                              result.resources->error().message}};
          result.last = true;
        }
        const bool ask_on = !result.last;
        report(std::move(result));
        if (ask_on) read_index(question, read, report);
      });
}

}  // namespace shiplog::api
