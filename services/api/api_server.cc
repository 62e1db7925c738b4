#include "services/api/api_server.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <ctime>

#include "events/base/hash.h"
#include "events/base/json.h"
#include "events/base/utf8.h"
#include "events/sqlite/connection.h"
#include "services/api/aggregation/aggregation.h"
#include "services/api/auth/authorization.h"
#include "services/api/auth/rbac/tunnel_access.h"
#include "services/api/auth/token_signer.h"
#include "services/api/discovery.h"
#include "services/api/feeds/feeds.h"
#include "services/api/forwarding/service_proxy.h"
#include "services/api/insight/insight.h"
#include "services/api/openapi_documents.h"
#include "services/api/pipeline/async.h"
#include "services/api/pipeline/pipeline.h"
#include "services/api/pipeline/responses.h"
#include "services/api/pipeline/stamped_writer.h"
#include "services/api/pod_actions.h"
#include "services/api/proof/proof.h"
#include "services/api/proxy/member_proxy.h"
#include "services/api/reads.h"
#include "services/api/search/global_proxy.h"
#include "services/api/sql/sql_service.h"
#include "services/api/tunnel_requests.h"
#include "services/api/watch.h"
#include "services/runtime/log.h"
#include "services/runtime/metrics.h"
#include "services/runtime/workers.h"

namespace shiplog::api {
namespace {

HttpResponse json(int status, const Value& value) {
  return {
      status, {{"Content-Type", "application/json"}, {"Cache-Control", "no-cache, private"}}, to_json(value) + "\n"};
}

/// "Sat, 21 Nov 2026 15:31:03 GMT"
std::string http_date(UtcMillis at) {
  const std::time_t seconds = at.value / 1000;
  std::tm parts = {};
  ::gmtime_r(&seconds, &parts);
  char buffer[40];
  return {buffer, std::strftime(buffer, sizeof buffer, "%a, %d %b %Y %H:%M:%S GMT", &parts)};
}

std::string without_trailing_slash(std::string path) {
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  return path;
}

}  // namespace

struct ApiServer::Impl : std::enable_shared_from_this<ApiServer::Impl> {
  ServerPtr server = std::make_shared<Server>();
  std::unique_ptr<Watches> watches;
  std::unique_ptr<HttpServer> http;
  std::shared_ptr<Workers> workers;
  std::shared_ptr<Workers> evaluators;  // of admission policies
  std::unique_ptr<Pipeline> pipeline;
  std::unique_ptr<SqlService> sql;
  std::shared_ptr<GlobalProxy> search;
  OpenApiDocuments documents;
  OpenApiDocuments past_documents;  // of the latest past that was requested
  std::unique_ptr<metrics::ScrapeHook> scrape_hook;

  void handle(HttpRequest request, std::shared_ptr<ResponseWriter> writer);
  void serve_as(HttpRequest request, std::shared_ptr<ResponseWriter> writer, const User& user);
  bool open_to_all(const HttpRequest& request, const std::shared_ptr<ResponseWriter>& writer);
  /// False: it was refused.
  bool may_read_everything(const RequestContext& context);
  /// What the requester may read of history.
  InsightReader reader_of(const RequestContextPtr& context);
  bool discovery(const RequestContext& context);
  void openapi(const RequestContextPtr& context);
  bool serve_path(const RequestContextPtr& context);
  void serve_sql(const RequestContextPtr& context);
  void cached(const HttpRequest& request, ResponseWriter& writer, const std::string& type, const Value& document);
  void copy_metrics() const;
};

void ApiServer::Impl::copy_metrics() const {
  static const metrics::GaugeFamily connections{"shiplog_http_connections", "Open connections."};
  static const metrics::CounterFamily requests{"shiplog_http_requests_total", "HTTP requests handled."};
  static const metrics::CounterFamily refused{"shiplog_http_requests_refused_total",
                                              "HTTP requests and connections refused because of a limit."};
  static const metrics::CounterFamily denied{"shiplog_requests_denied_counted_total",
                                             "Denied requests that were recorded as a count, not one by one."};
  static const metrics::GaugeFamily running_watches{"shiplog_watches", "Running watches."};
  const HttpServer::Stats stats = http->stats();
  connections.with({}).set(static_cast<double>(stats.connections));
  requests.with({}).set_total(stats.requests);
  refused.with({}).set_total(stats.refused);
  denied.with({}).set_total(server->denials->counted());
  running_watches.with({}).set(static_cast<double>(watches->count()));
  if (server->options.aggregation == nullptr) return;
  // Those of APIServices that were deleted.
  const auto elsewhere = server->options.aggregation->current();
  metrics::retain_series("apiservice", [&](std::string_view name) {
    return std::ranges::any_of(elsewhere->versions, [&](const AggregatedVersion& one) { return one.api.name == name; });
  });
}

bool ApiServer::Impl::open_to_all(const HttpRequest& request, const std::shared_ptr<ResponseWriter>& writer) {
  if (!is_health_path(request.path)) return false;
  const auto out = stamped(writer, request, audit_id_of(request, *server->options.random));
  out->send(health_response(request, server->options.health));
  return true;
}

void ApiServer::Impl::cached(const HttpRequest& request, ResponseWriter& writer, const std::string& type,
                             const Value& document) {
  std::string body = to_json(document) + "\n";
  const std::string etag = "\"" + to_string(siphash128(body)) + "\"";
  HttpHeaders headers{{"ETag", etag}, {"Vary", "Accept"}, {"Cache-Control", "public"}};
  if (request.headers.get("If-None-Match") == etag) return writer.send({304, headers, ""});
  headers.add("Content-Type", type);
  writer.send({200, headers, std::move(body)});
}

bool ApiServer::Impl::discovery(const RequestContext& context) {
  const HttpRequest& request = context.request;
  const std::string& path = request.path;
  ResponseWriter& writer = *context.writer;
  if (request.method != "GET" && request.method != "HEAD") return false;
  const auto kinds = server->kinds_of(context);
  const auto elsewhere = server->elsewhere(context);
  const bool pod_actions = server->options.pod_actions != nullptr;
  if (path == "/") {
    writer.send(json(200, root_paths(*kinds, elsewhere.get())));
    return true;
  }
  if (path == "/version") {
    writer.send(json(200, version_info(server->options.version)));
    return true;
  }
  if (path == "/openid/v1/jwks" || path == "/.well-known/openid-configuration") {  // AUTHN-8
    const TokenSigner* tokens = server->options.tokens;
    if (tokens == nullptr) return false;
    const std::string at = "https://" + std::string{request.headers.get("Host")} + "/openid/v1/jwks";
    writer.send(json(200, path == "/openid/v1/jwks"
                              ? tokens->key_set()
                              : Value::object({{"issuer", kTokenIssuer},
                                               {"jwks_uri", at},
                                               {"response_types_supported", Value::array({"id_token"})},
                                               {"subject_types_supported", Value::array({"public"})},
                                               {"id_token_signing_alg_values_supported", Value::array({"ES256"})}})));
    return true;
  }
  if (path == "/api" || path == "/apis") {
    const bool core = path == "/api";
    if (const auto version = aggregated_version(request.headers.get("Accept"))) {
      cached(request, writer, "application/json;g=apidiscovery.k8s.io;v=" + *version + ";as=APIGroupDiscoveryList",
             aggregated(*kinds, core, *version, elsewhere.get(), pod_actions));
    } else {
      cached(request, writer, "application/json",
             core ? api_versions(std::string{request.headers.get("Host")}) : group_list(*kinds, elsewhere.get()));
    }
    return true;
  }
  Value document;
  if (path.starts_with("/api/") && path.find('/', 5) == std::string::npos) {
    document = resource_list(*kinds, "", std::string_view{path}.substr(5), pod_actions);
  } else if (path.starts_with("/apis/")) {
    const std::string_view rest = std::string_view{path}.substr(6);
    const size_t slash = rest.find('/');
    if (slash == std::string_view::npos) {
      document = group(*kinds, rest, elsewhere.get());
    } else if (rest.find('/', slash + 1) == std::string_view::npos) {
      document = resource_list(*kinds, rest.substr(0, slash), rest.substr(slash + 1));
    } else {
      return false;
    }
  } else {
    return false;
  }
  if (document.is_null()) return false;
  cached(request, writer, "application/json", document);
  return true;
}

/// Blocks: what has changed since the last time is written.
void ApiServer::Impl::openapi(const RequestContextPtr& context) {
  const HttpRequest& request = context->request;
  const OpenApiDocuments::Described described{server->kinds_of(*context), server->elsewhere(*context)};
  OpenApiDocuments& of_kinds = context->past ? past_documents : documents;
  constexpr std::string_view kThree = "/openapi/v3";
  const bool v2 = request.path == "/openapi/v2";
  const bool protobuf = v2 && request.headers.get("Accept").find("openapi.spec.v2") != std::string_view::npos;
  if (!protobuf) {
    if (const auto accept = negotiate(request.headers.get("Accept"), false); !accept) {
      return fail(*context, accept.error());
    }
  }
  const bool single = request.path.starts_with(std::string{kThree} + "/");
  const std::string key = single ? request.path.substr(kThree.size() + 1) : "";
  const OpenApiDocuments::Ptr document = v2       ? of_kinds.version2(described, protobuf)
                                         : single ? of_kinds.version3(described, key)
                                                  : of_kinds.index(described);
  if (document == nullptr) {
    return fail(*context, Error{ErrorCode::kNotFound, "the server could not find the requested resource"});
  }
  const std::string etag = '"' + document->hash + '"';
  HttpHeaders headers{{"ETag", etag}, {"Vary", "Accept"}};
  if (const std::string* hash = request.query_value("hash"); single && hash != nullptr) {  // OA-10
    if (*hash != document->hash) {
      const std::string prefix = context->past ? context->past->prefix : "";
      return context->writer->send({301, {{"Location", prefix + request.path + "?hash=" + document->hash}}, ""});
    }
    headers.add("Cache-Control", "public, immutable");
    headers.add("Expires", http_date(server->options.clock->now() + Millis{int64_t{365} * 24 * 3600 * 1000}));
  }
  if (request.headers.get("If-None-Match") == etag) return context->writer->send({304, headers, ""});
  headers.add("Content-Type",
              protobuf ? "application/com.github.proto-openapi.spec.v2.v1.0+protobuf" : "application/json");
  context->writer->send({200, headers, document->body});
}

void ApiServer::Impl::handle(HttpRequest request, std::shared_ptr<ResponseWriter> writer) {
  request.path = without_trailing_slash(std::move(request.path));
  if (open_to_all(request, writer)) return;
  pipeline->handle(std::move(request), std::move(writer));
}

void ApiServer::Impl::serve_as(HttpRequest request, std::shared_ptr<ResponseWriter> writer, const User& user) {
  request.path = without_trailing_slash(std::move(request.path));
  if (open_to_all(request, writer)) return;
  Submission submission;
  submission.user = user;
  pipeline->submit(std::move(request), std::move(writer), std::move(submission));
}

bool ApiServer::Impl::may_read_everything(const RequestContext& context) {
  if (in_group(context.user, kMastersGroup)) return true;
  Attributes wanted;
  wanted.verb = "list";
  wanted.is_resource = true;
  wanted.group = wanted.resource = "*";
  const auto decision = decide(server->options.access, context.user, wanted);
  if (!decision.allowed) fail(context, forbidden(context.user, wanted, decision.reason));
  return decision.allowed;
}

InsightReader ApiServer::Impl::reader_of(const RequestContextPtr& context) {
  const HttpRequest& request = context->request;
  // What followed from an entry is about objects of all users, as the audit trail is.
  const std::string path = request.path == "/shiplog/v1/effects" ? "/shiplog/v1/audit" : request.path;
  const Attributes wanted = attributes_of(request.method, path, request.query);
  InsightReader reader;
  reader.everything =
      in_group(context->user, kMastersGroup) || decide(server->options.access, context->user, wanted).allowed;
  reader.may_get = [self = shared_from_this(), context](const ObjectKey& object) {
    return decide(self->server->options.access, context->user, attributes_of_get(object)).allowed;
  };
  return reader;
}

/// Its views contain every object, too. Statements have threads of their own; only finding the file blocks here.
void ApiServer::Impl::serve_sql(const RequestContextPtr& context) {
  if (!may_read_everything(*context)) return;
  when_current(server, context, [self = shared_from_this(), context] {
    const auto path = self->server->options.record->read(
        [](const View& view) -> Result<std::string> { return view.connection().path(); });
    if (!path) return fail(*context, path.error());
    self->sql->serve(path.value(), context->user.name, context->request, context->body, context->writer);
  });
}

bool ApiServer::Impl::serve_path(const RequestContextPtr& context) {
  const std::string& path = context->request.path;
  const bool reading = context->request.method == "GET" || context->request.method == "HEAD";
  if (reading && (path == "/openapi/v2" || path == "/openapi/v3" || path.starts_with("/openapi/v3/"))) {
    server->post_blocking([self = shared_from_this(), context] { self->openapi(context); });
    return true;
  }
  if (discovery(*context)) return true;
  if (context->past) {
    fail(*context, Error{ErrorCode::kNotFound,
                         path + " is not served below /at/, where there are objects, discovery and OpenAPI only"});
    return true;
  }
  if (reading && path == "/metrics") {
    server->post_blocking([context] { context->writer->send(metrics_response()); });
    return true;
  }
  if (path.starts_with("/feeds/")) {
    when_current(server, context, [self = shared_from_this(), context] {
      serve_feeds(*self->server->options.record, context->request, context->writer);
    });
    return true;
  }
  if (!path.starts_with("/shiplog/v1/")) return false;
  if (tunnel_of(path)) {
    serve_tunnel_request(server, context);
    return true;
  }
  const auto& requests = server->options.requests;
  if (requests && (path == "/shiplog/v1/requests" || path.starts_with("/shiplog/v1/requests/"))) {
    return requests(context);
  }
  if (path == "/shiplog/v1/sql") {
    serve_sql(context);
    return true;
  }
  // It contains every object: who may not list each of them must not read them here.
  if (path == "/shiplog/v1/export" && !may_read_everything(*context)) return true;
  when_current(server, context, [self = shared_from_this(), context] {
    const ServerOptions& options = self->server->options;
    if (serve_proof(*options.record, options.signer.get(), context->request, *context->writer)) return;
    if (serve_insight(*options.record, *options.clock, options.kinds->current(),
                      {options.remedies, options.roles, options.process}, context->request, context->writer,
                      self->reader_of(context))) {
      return;
    }
    fail(*context, Error{ErrorCode::kNotFound, "there is nothing at " + context->request.path});
  });
  return true;
}

ApiServer::ApiServer(std::shared_ptr<Impl> impl) : impl_{std::move(impl)} {}

Result<std::unique_ptr<ApiServer>> ApiServer::start(Options options) {
  auto impl = std::make_shared<Impl>();
  impl->server->options = std::move(options);
  Options& own = impl->server->options;
  if (own.ephemera == nullptr) own.ephemera = own.record;
  impl->server->denials = std::make_shared<Denials>(own.record->replica());
  impl->server->deadlines = std::make_shared<Deadlines>(own.record->replica().executor());
  impl->server->objects = StoredObjects{*own.record, *own.ephemera, own.vault};
  impl->server->past = std::make_unique<PastReader>(*own.record, *own.ephemera, *own.kinds);
  impl->server->limiter = std::make_unique<ConcurrencyLimiter>(own.limits);
  impl->workers = std::make_shared<Workers>(2);
  impl->server->post_blocking = [workers = impl->workers](std::function<void()> work) {
    workers->post(std::move(work));
  };
  impl->evaluators = std::make_shared<Workers>(2);
  impl->server->post_evaluation = [evaluators = impl->evaluators](std::function<void()> work) {
    evaluators->post(std::move(work));
  };
  impl->server->large = std::make_unique<LargeRequests>();
  impl->sql = std::make_unique<SqlService>(*own.clock, *own.random);
  impl->watches = std::make_unique<Watches>(impl->server);
  impl->server->watches = impl->watches.get();
  const std::weak_ptr<Impl> weak = impl;
  ReadHandlers reads;
  reads.serve_path = [weak](const RequestContextPtr& context) {
    const auto self = weak.lock();
    return self == nullptr || self->serve_path(context);
  };
  reads.forward = [server = impl->server.get()](RequestContext&& draft, const AggregatedVersion& version) {
    forward_request(server->shared_from_this(), std::move(draft), version);
  };
  reads.read = [server = impl->server.get()](const RequestContextPtr& context) {
    serve_read(server->shared_from_this(), context);
  };
  if (own.members != nullptr) {
    auto here = [weak](HttpRequest request, std::shared_ptr<ResponseWriter> writer, const User& user) {
      if (const auto self = weak.lock()) self->serve_as(std::move(request), std::move(writer), user);
    };
    const auto proxy = std::make_shared<MemberProxy>(impl->server, here);
    reads.proxy = [proxy](RequestContext&& draft) { proxy->serve(std::move(draft)); };
    if (own.search != nullptr) {
      GlobalProxy::Routes routes{[proxy](RequestContext draft) { proxy->serve(std::move(draft)); }, here};
      impl->search = std::make_shared<GlobalProxy>(impl->server, *own.search, std::move(routes));
      impl->search->start();
      reads.search = [raw = impl->search.get()](RequestContext&& draft) { raw->serve(std::move(draft)); };
    }
  }
  reads.pod_action = [server = impl->server.get()](const RequestContextPtr& context) {
    serve_pod_action(server->shared_from_this(), context);
  };
  impl->pipeline = std::make_unique<Pipeline>(impl->server, std::move(reads), inline_executor());

  HttpServer::Options http = own.http;
  http.refusal = [](const HttpRequest&, int status, const std::string& message) {
    HttpResponse response = json(status, failure_status(status, message));
    if (status == 429) response.headers.set("Retry-After", "1");
    return response;
  };
  http.on_trouble = [](const HttpPeer& peer, const Error& error) {
    if (error.code == ErrorCode::kBadRequest) {
      // Before it is known who sends it: the log is the record of such a request (docs/security.md, Denied requests).
      return log::info("http.refused", {log::kv("peer", peer.address), log::kv("user", peer.common_name),
                                        log::kv("reason", error.message)});
    }
    log::debug("http.trouble", {log::kv("peer", peer.address), log::kv("reason", error.message)});
  };
  SHIPLOG_TRY(impl->http, HttpServer::start(http, [weak](HttpRequest request, std::shared_ptr<ResponseWriter> writer) {
                const auto self = weak.lock();
                if (!self) return;
                const auto& intercept = self->server->options.intercept;
                if (intercept && intercept(request, writer)) return;
                self->handle(std::move(request), std::move(writer));
              }));
  impl->scrape_hook = std::make_unique<metrics::ScrapeHook>([raw = impl.get()] { raw->copy_metrics(); });
  return std::unique_ptr<ApiServer>{new ApiServer{std::move(impl)}};
}

ApiServer::~ApiServer() { stop(Millis{0}); }

void ApiServer::handle(HttpRequest request, std::shared_ptr<ResponseWriter> writer) {
  impl_->handle(std::move(request), std::move(writer));
}

void ApiServer::submit(HttpRequest request, std::shared_ptr<ResponseWriter> writer, Submission submission) {
  impl_->pipeline->submit(std::move(request), std::move(writer), std::move(submission));
}

void ApiServer::settle(Entry entry, std::function<void(Result<Outcome>)> done) {
  append_settlement(*impl_->server, std::move(entry), std::move(done));
}

Result<void> ApiServer::use_certificate(const KeyPair& server) {
  return impl_->http->use_certificate(server.certificate_pem, server.key_pem);
}

std::string ApiServer::url() const { return impl_->http->url(); }
uint16_t ApiServer::port() const { return impl_->http->bound_port(); }

void ApiServer::stop(Millis deadline) {
  impl_->scrape_hook.reset();
  impl_->watches->stop();
  if (impl_->search != nullptr) impl_->search->stop();
  impl_->sql->stop();
  impl_->http->stop(deadline);
  impl_->server->large->stop();
  impl_->server->denials->flush();
  impl_->evaluators->stop();
  impl_->workers->stop();
}

}  // namespace shiplog::api
