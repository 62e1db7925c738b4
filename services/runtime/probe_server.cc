#include "services/runtime/probe_server.h"

#include <utility>

#include "services/http/server.h"

namespace shiplog {

Result<std::unique_ptr<ProbeServer>> ProbeServer::start(const Options& options) {
  HttpServer::Options http;
  http.host = options.host;
  http.port = options.port;
  http.threads = 1;
  http.max_connections = 100;
  http.max_connections_per_address = 50;
  http.max_in_flight = 20;
  http.max_header_bytes = 8 * 1024;
  http.max_target_bytes = 1024;
  http.max_body_bytes = 1024;
  http.body_timeout = Millis{5'000};
  // On a thread of its own: what takes some milliseconds delays nothing else.
  const auto respond = [options](const HttpRequest& request) -> HttpResponse {
    const bool known = options.health && is_health_path(request.path);
    const bool metrics = options.metrics && request.path == "/metrics";
    if (!known && !metrics) return {404, {{"Content-Type", "text/plain; charset=utf-8"}}, "404 page not found\n"};
    if (request.method != "GET" && request.method != "HEAD") {
      return {405, {{"Content-Type", "text/plain; charset=utf-8"}}, "405 method not allowed\n"};
    }
    return metrics ? metrics_response() : health_response(request, options.checks);
  };
  SHIPLOG_TRY(auto server, HttpServer::start(http, [respond](const HttpRequest& request,
                                                             const std::shared_ptr<ResponseWriter>& writer) {
                writer->send(respond(request));
              }));
  return std::unique_ptr<ProbeServer>{new ProbeServer{std::move(server)}};
}

ProbeServer::ProbeServer(std::unique_ptr<HttpServer> http) : http_{std::move(http)} {}

ProbeServer::~ProbeServer() = default;

std::string ProbeServer::url() const { return http_->url(); }

}  // namespace shiplog
