#include "services/api/api_server.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <ctime>

#include "events/base/hash.h"
#include "events/base/json.h"
#include "events/base/utf8.h"
#include "services/api/auth/gate.h"
#include "services/api/auth/token_signer.h"
#include "services/api/certificates.h"
#include "services/api/context.h"
#include "services/api/discovery.h"
#include "services/api/insight/insight.h"
#include "services/api/openapi_documents.h"
#include "services/api/pods.h"
#include "services/api/selector/selector.h"
#include "services/api/watch.h"
#include "services/runtime/log.h"

namespace shiplog::api {
namespace {

HttpResponse plain(int status, std::string body) {
  return {
      status, {{"Content-Type", "text/plain; charset=utf-8"}, {"Cache-Control", "no-cache, private"}}, std::move(body)};
}

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

/// "get", "list", "watch", "create", ... or empty for a method that a resource does not have.
std::string verb_of(const HttpRequest& request, const ResourcePath& path, bool watch) {
  const bool one = !path.name.empty();
  if (request.method == "GET" || request.method == "HEAD") return watch ? "watch" : one ? "get" : "list";
  if (request.method == "POST") return one && path.subresource.empty() ? "" : "create";
  if (request.method == "PUT") return one ? "update" : "";
  if (request.method == "PATCH") return one ? "patch" : "";
  if (request.method == "DELETE") return one ? "delete" : "deletecollection";
  return "";
}

/// No more requests are sent to a server that has not answered for so long; one that has not for much longer is
/// restarted. Restoring a large state is one piece of work.
constexpr Millis kStuck{5'000};
constexpr Millis kStuckForGood{60'000};

/// SUB-5. The answer to what only a node can do tells where the nodes are. `templates`: this server has templates,
/// which run elsewhere; otherwise its pods are simulated.
Error no_subresource(const std::string& type, const std::string& subresource, bool templates) {
  std::string message = "the server could not find the requested resource (" + type + "/" + subresource + ")";
  if (type == "pods" && templates) {
    message += ": pods run in member clusters, and this server has no nodes; ask the member cluster that runs the pod";
  } else if (type == "pods") {
    message += ": the pods of a trial member are simulated, nothing runs in them";
  }
  return {ErrorCode::kNotFound, std::move(message)};
}

}  // namespace

struct ApiServer::Impl : std::enable_shared_from_this<ApiServer::Impl> {
  ServerPtr server = std::make_shared<Server>();
  std::unique_ptr<Watches> watches;
  std::unique_ptr<HttpServer> http;
  std::unique_ptr<Seats> seats;
  OpenApiDocuments documents;
  Metrics* metrics = nullptr;

  void handle(HttpRequest request, std::shared_ptr<ResponseWriter> writer);
  bool open_to_all(const HttpRequest& request, const std::string& path, ResponseWriter& writer);
  bool discovery(const HttpRequest& request, const std::string& path, ResponseWriter& writer);
  void openapi(const ContextPtr& context);
  void resource(const ContextPtr& context);
  void cached(const HttpRequest& request, ResponseWriter& writer, const std::string& type, const Value& document);
  HttpResponse health(const std::string& path, const HttpRequest& request);
  bool find_seat(const ContextPtr& context);
  void route(const ContextPtr& context);
};

HttpResponse ApiServer::Impl::health(const std::string& path, const HttpRequest& request) {
  std::vector<std::pair<std::string, std::string>> checks = {{"ping", ""}};
  const auto behind = [](Store& store) { return store.replica().caught_up() ? "" : "catching up with the journal"; };
  if (server->options.stuck) {
    checks.emplace_back("fold-thread", server->options.stuck(path == "/livez" ? kStuckForGood : kStuck));
  }
  if (path != "/livez") {
    checks.emplace_back("journal", behind(*server->options.record));
    checks.emplace_back("ephemera", behind(*server->options.ephemera));
    if (server->options.not_ready) checks.emplace_back("services", server->options.not_ready());
  }
  std::vector<std::string> excluded;
  for (const auto& [key, value] : request.query) {
    if (key == "exclude") excluded.push_back(value);
  }
  const auto spared = [&](const std::string& name) { return std::ranges::find(excluded, name) != excluded.end(); };
  for (auto& [name, trouble] : checks) {
    if (spared(name)) trouble.clear();
  }
  const bool failed = std::ranges::any_of(checks, [](const auto& check) { return !check.second.empty(); });
  if (!failed && request.query_value("verbose") == nullptr) return plain(200, "ok");
  std::string text;
  for (const auto& [name, trouble] : checks) {
    text += spared(name)      ? "[+]" + name + " excluded: ok\n"
            : trouble.empty() ? "[+]" + name + " ok\n"
                              : "[-]" + name + " failed: " + trouble + "\n";
  }
  text += path.substr(1) + (failed ? " check failed\n" : " check passed\n");
  return plain(failed ? 500 : 200, text);
}

bool ApiServer::Impl::open_to_all(const HttpRequest& request, const std::string& path, ResponseWriter& writer) {
  if (path == "/healthz" || path == "/livez" || path == "/readyz") {
    writer.send(health(path, request));
    return true;
  }
  if (path == "/livez/ping" || path == "/readyz/ping" || path == "/healthz/ping") {
    writer.send(plain(200, "ok"));
    return true;
  }
  return false;
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

bool ApiServer::Impl::discovery(const HttpRequest& request, const std::string& path, ResponseWriter& writer) {
  if (request.method != "GET" && request.method != "HEAD") return false;
  const auto kinds = server->options.catalogue->current();
  if (path == "/") {
    writer.send(json(200, root_paths(*kinds)));
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
  if (path == "/metrics") {
    if (metrics == nullptr) return false;
    writer.send(plain(200, metrics->text()));
    return true;
  }
  if (path == "/api" || path == "/apis") {
    const bool core = path == "/api";
    if (const auto version = aggregated_version(request.headers.get("Accept"))) {
      cached(request, writer, "application/json;g=apidiscovery.k8s.io;v=" + *version + ";as=APIGroupDiscoveryList",
             aggregated(*kinds, core, *version));
    } else {
      cached(request, writer, "application/json",
             core ? api_versions(std::string{request.headers.get("Host")}) : group_list(*kinds));
    }
    return true;
  }
  Value document;
  if (path.starts_with("/api/") && path.find('/', 5) == std::string::npos) {
    document = resource_list(*kinds, "", std::string_view{path}.substr(5));
  } else if (path.starts_with("/apis/")) {
    const std::string_view rest = std::string_view{path}.substr(6);
    const size_t slash = rest.find('/');
    if (slash == std::string_view::npos) {
      document = group(*kinds, rest);
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
void ApiServer::Impl::openapi(const ContextPtr& context) {
  const HttpRequest& request = context->request;
  const auto kinds = server->options.catalogue->current();
  constexpr std::string_view kThree = "/openapi/v3";
  const bool v2 = request.path == "/openapi/v2";
  const bool protobuf = v2 && request.headers.get("Accept").find("openapi.spec.v2") != std::string_view::npos;
  if (!protobuf) {
    if (const auto accept = negotiate(request.headers.get("Accept"), false); !accept) {
      return server->fail(context, accept.error());
    }
  }
  const bool one = request.path.starts_with(std::string{kThree} + "/");
  const std::string key = one ? request.path.substr(kThree.size() + 1) : "";
  const OpenApiDocuments::Ptr document = v2    ? documents.version2(kinds, protobuf)
                                         : one ? documents.version3(kinds, key)
                                               : documents.index(kinds);
  if (document == nullptr) {
    return server->fail(context, Error{ErrorCode::kNotFound, "the server could not find the requested resource"});
  }
  const std::string etag = '"' + document->hash + '"';
  HttpHeaders headers{{"ETag", etag}, {"Vary", "Accept"}};
  if (const std::string* asked = request.query_value("hash"); one && asked != nullptr) {  // OA-10
    if (*asked != document->hash) {
      return context->writer->send({301, {{"Location", request.path + "?hash=" + document->hash}}, ""});
    }
    headers.add("Cache-Control", "public, immutable");
    headers.add("Expires", http_date(server->options.clock->now() + Millis{int64_t{365} * 24 * 3600 * 1000}));
  }
  if (request.headers.get("If-None-Match") == etag) return context->writer->send({304, headers, ""});
  headers.add("Content-Type",
              protobuf ? "application/com.github.proto-openapi.spec.v2.v1.0+protobuf" : "application/json");
  context->writer->send({200, headers, document->body});
}

void ApiServer::Impl::resource(const ContextPtr& context) {
  const auto path = parse_resource_path(context->request.path);
  if (!path) {
    return server->fail(context, Error{ErrorCode::kNotFound, "the server could not find the requested resource"});
  }
  context->path = *path;
  context->kinds = server->options.catalogue->current();
  context->kind = context->kinds->find(path->group, path->version, path->resource);
  if (context->kind == nullptr && serve_bindings(server, context)) return;
  if (context->kind == nullptr) return answer_unserved(server, context);
  const Kind& kind = *context->kind;
  // A cluster-scoped resource below a namespace, or an object of a namespaced one without, does not exist.
  if ((!kind.namespaced && !path->ns.empty()) || (kind.namespaced && path->ns.empty() && !path->name.empty())) {
    return server->fail(context, Error{ErrorCode::kNotFound, "the server could not find the requested resource"});
  }
  const bool watch = flag(context->request, "watch");
  context->verb = verb_of(context->request, *path, watch);
  const std::string& verb = context->verb;
  auto accept = negotiate(context->request.headers.get("Accept"), verb == "list" || verb == "deletecollection");
  if (!accept) return server->fail(context, accept.error());
  context->accept = accept.value();
  context->accept.pretty = wants_pretty(context->request);
  if (context->accept.form == Accept::Form::kTable) {  // TBL-2
    const std::string include = text(context->request, "includeObject");
    if (!include.empty() && include != "None" && include != "Metadata" && include != "Object") {
      return server->fail(
          context, Error{ErrorCode::kBadRequest, "includeObject: Unsupported value: " + quoted(printable(include)) +
                                                     ": supported values: \"None\", \"Metadata\", "
                                                     "\"Object\""});
    }
  }
  if (verb.empty()) return server->fail(context, method_not_allowed(context->subject(), context->request.method));

  if (is_review(kind)) return serve_review(server, context);
  if (!path->subresource.empty()) {
    if (path->subresource == "token" && kind.type() == "serviceaccounts") return serve_token_request(server, context);
    if (path->subresource == "scale") return serve_scale(server, context);
    if (serve_pod_action(server, context)) return;
    const bool status = path->subresource == "status" && kind.has_status;
    const bool finalize = path->subresource == "finalize" && kind.type() == type::kNamespace && verb == "update";
    const bool approval = path->subresource == "approval" && kind.type() == kCertificateRequests;
    if (!status && !finalize && !approval) {
      return server->fail(context, no_subresource(kind.type(), path->subresource, server->options.revision_views));
    }
    if (verb == "create" || verb == "delete" || watch) {
      return server->fail(context, method_not_allowed(context->subject(), context->request.method));
    }
  }
  if (verb == "watch") {
    auto options = read_options(context->request);
    if (!options) return server->fail(context, options.error());
    ReadOptions wanted = std::move(options).value();
    if (!path->name.empty()) {  // PATH-5
      const auto fields = parse_field_selector(wanted.field_selector, kind);
      if (!fields) return server->fail(context, fields.error());
      if (const auto name = fields.value().name(); name && *name != path->name) {
        return server->fail(context, Error{ErrorCode::kBadRequest, "the field selector is about metadata.name=" +
                                                                       *name + ", the path about " + path->name});
      }
      if (!wanted.field_selector.empty()) wanted.field_selector += ',';
      wanted.field_selector += "metadata.name=" + path->name;
    }
    const auto serve = [server = server, context, wanted] { server->watches->start(context, wanted); };
    if (answer_wait_for_pods(server, context, wanted, serve)) return;
    return serve();
  }
  if (verb == "get") return get_object(server, context);
  if (verb == "list") return list_objects(server, context);
  if (verb == "create") {
    if (kind.namespaced && path->ns.empty()) {  // PATH-4
      if (!kind.builtin) {
        return server->fail(context, Error{ErrorCode::kNotFound, "the server could not find the requested resource"});
      }
      return server->fail(context, method_not_allowed(context->subject(), "POST"));
    }
    return create_object(server, context);
  }
  if (verb == "update") return update_object(server, context);
  if (verb == "patch") return patch_object(server, context);
  if (verb == "delete") return delete_object(server, context);
  delete_collection(server, context);
}

void ApiServer::Impl::handle(HttpRequest request, std::shared_ptr<ResponseWriter> writer) {
  const std::string path = without_trailing_slash(request.path);
  writer = stamped(std::move(writer), request, *server->options.random);
  if (open_to_all(request, path, *writer)) return;

  auto context = std::make_shared<Context>();
  context->request = std::move(request);
  context->request.path = path;
  context->writer = std::move(writer);
  admit_request(server, context, [self = shared_from_this(), context] {
    if (self->find_seat(context)) self->route(context);
  });
}

/// False: there is no room for it, which is answered.
bool ApiServer::Impl::find_seat(const ContextPtr& context) {
  if (in_group(context->user, kMastersGroup)) return true;
  const bool reads = context->request.method == "GET" || context->request.method == "HEAD";
  const Seats::Use use = !reads                            ? Seats::Use::kWrite
                         : flag(context->request, "watch") ? Seats::Use::kWatch
                                                           : Seats::Use::kRead;
  auto seat = seats->take(context->user.name, use);
  if (seat == nullptr) {
    server->fail(context, Error{ErrorCode::kTooManyRequests, "too many requests, please try again later"});
    return false;
  }
  context->writer = seated(std::move(context->writer), std::move(seat), use);
  return true;
}

void ApiServer::Impl::route(const ContextPtr& context) {
  const std::string& path = context->request.path;
  if (auto checked = check_request(context->request); !checked) return server->fail(context, checked.error());
  const bool reading = context->request.method == "GET" || context->request.method == "HEAD";
  if (reading && (path == "/openapi/v2" || path == "/openapi/v3" || path.starts_with("/openapi/v3/"))) {
    return server->workers->post([self = shared_from_this(), context] { self->openapi(context); });
  }
  if (discovery(context->request, path, *context->writer)) return;
  if (path.starts_with("/shiplog/v1/")) {
    return server->when_current(context, [self = shared_from_this(), context] {
      if (serve_insight(
              *self->server->options.record, *self->server->options.clock, self->server->options.catalogue->current(),
              {self->server->options.remedies, self->server->options.roles}, context->request, context->writer)) {
        return;
      }
      self->server->fail(context, Error{ErrorCode::kNotFound, "there is nothing at " + context->request.path});
    });
  }
  if (context->request.body.size() <= LargeRequests::kLargeBytes) return resource(context);
  if (!server->admit_bytes(context, context->request.body.size())) return;
  server->large->post([self = shared_from_this(), context] { self->resource(context); });
}

ApiServer::ApiServer(std::shared_ptr<Impl> impl) : impl_{std::move(impl)} {}

Result<std::unique_ptr<ApiServer>> ApiServer::start(Options options) {
  auto impl = std::make_shared<Impl>();
  impl->server->options = std::move(options);
  Options& own = impl->server->options;
  if (own.ephemera == nullptr) own.ephemera = own.record;
  impl->metrics = own.metrics;
  impl->server->denials = std::make_shared<Denials>(own.record->replica());
  impl->server->deadlines = std::make_shared<Deadlines>(own.record->replica().executor());
  impl->seats = std::make_unique<Seats>(own.limits);
  impl->server->workers = std::make_unique<Workers>(2);
  impl->server->large = std::make_unique<LargeRequests>();
  impl->watches = std::make_unique<Watches>(impl->server);
  impl->server->watches = impl->watches.get();

  HttpServer::Options http = own.http;
  http.refusal = [](const HttpRequest&, int status, const std::string& message) {
    HttpResponse response = json(status, failure_status(status, message));
    if (status == 429) response.headers.set("Retry-After", "1");
    return response;
  };
  http.on_trouble = [](const HttpPeer& peer, const Error& error) {
    log::debug("http.trouble", {log::kv("peer", peer.address), log::kv("reason", error.message)});
  };
  const std::weak_ptr<Impl> weak = impl;
  SHIPLOG_TRY(impl->http, HttpServer::start(http, [weak](HttpRequest request, std::shared_ptr<ResponseWriter> writer) {
                const auto self = weak.lock();
                if (!self) return;
                const auto& intercept = self->server->options.intercept;
                if (intercept && intercept(request, writer)) return;
                self->handle(std::move(request), std::move(writer));
              }));
  if (own.metrics != nullptr) {
    own.metrics->gauge("shiplog_http_connections", "Open connections.", [weak] {
      const auto self = weak.lock();
      return self ? static_cast<double>(self->http->stats().connections) : 0;
    });
    own.metrics->gauge("shiplog_http_requests_served", "Requests handled since the start.", [weak] {
      const auto self = weak.lock();
      return self ? static_cast<double>(self->http->stats().requests) : 0;
    });
    own.metrics->gauge("shiplog_http_requests_refused", "Requests and connections turned down since the start.",
                       [weak] {
                         const auto self = weak.lock();
                         return self ? static_cast<double>(self->http->stats().refused) : 0;
                       });
    own.metrics->gauge("shiplog_requests_denied_counted",
                       "Refused requests that were summed up instead of recorded one by one, since the start.",
                       [denials = impl->server->denials] { return static_cast<double>(denials->counted()); });
    own.metrics->gauge("shiplog_watches", "Running watches.", [weak] {
      const auto self = weak.lock();
      return self ? static_cast<double>(self->watches->count()) : 0;
    });
  }
  return std::unique_ptr<ApiServer>{new ApiServer{std::move(impl)}};
}

ApiServer::~ApiServer() { stop(Millis{0}); }

void ApiServer::handle(HttpRequest request, std::shared_ptr<ResponseWriter> writer) {
  impl_->handle(std::move(request), std::move(writer));
}

std::string ApiServer::url() const { return impl_->http->url(); }
uint16_t ApiServer::port() const { return impl_->http->bound_port(); }

void ApiServer::stop(Millis deadline) {
  impl_->watches->stop();
  impl_->http->stop(deadline);
  impl_->server->large->stop();
  impl_->server->denials->flush();
  impl_->server->workers->stop();
}

}  // namespace shiplog::api
