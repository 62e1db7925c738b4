#include "services/api/search/global_proxy.h"

#include <algorithm>
#include <exception>
#include <utility>

#include <boost/asio/co_spawn.hpp>

#include "events/base/json.h"
#include "services/api/pipeline/access.h"
#include "services/api/pipeline/responses.h"
#include "services/api/pipeline/stages.h"
#include "services/api/search/member_body.h"
#include "services/api/search/search_answers.h"
#include "services/api/search/search_list.h"
#include "services/runtime/log.h"

namespace shiplog::api {
namespace {

constexpr Millis kLookAgain{50};
constexpr int kMostTries = 60;
/// 100 MB of parts, about.
constexpr size_t kMostListsInParts = 100;
constexpr std::string_view kClusters = "/apis/cluster.karmada.io/v1alpha1/clusters/";

bool is_reading(const HttpRequest& request) { return request.method == "GET" || request.method == "HEAD"; }

/// 6.2.5: the search cache words its errors in its own way.
void fail_search(const RequestContext& context, int status, const std::string& message) {
  send(context, status, "application/json", to_json(Value::object({{"error", message}})) + "\n");
}

Error not_cached(const StatusDetails& subject, const Warnings& missing) {
  Error error = not_found(subject);
  for (const std::string& each : missing) error.message += "; " + each;
  return error;
}

/// Versions and tokens over clusters are no numbers, as those of this server are.
HttpRequest without_versions(HttpRequest request) {
  std::erase_if(request.query, [](const auto& each) {
    return each.first == "resourceVersion" || each.first == "continue" || each.first == "resourceVersionMatch";
  });
  return request;
}

Result<ReadOptions> options_of(const HttpRequest& request) {
  if (text(request, "resourceVersionMatch") == "Exact") {
    return Error{ErrorCode::kBadRequest,
                 "resourceVersionMatch Exact is not supported over clusters: their past is not "
                 "cached"};
  }
  return read_options(without_versions(request));
}

struct CachedIn {
  std::string cluster, version_key;
  CachedObject::Ptr object;
};

/// By cluster.
std::vector<CachedIn> find_cached(const SearchCache::Sources& sources, const std::string& ns, const std::string& name) {
  std::vector<CachedIn> found;
  for (const auto& source : sources_for(sources, ns)) {
    if (auto object = source->collection().find(ns, name)) {
      found.push_back({source->scope().cluster, source->scope().version_key(), std::move(object)});
    }
  }
  return found;
}

/// 6.4.4. Errors: kNotFound; kConflict, it is in several clusters.
Result<CachedIn> the_one(const SearchCache::Sources& sources, const std::string& ns, const StatusDetails& subject) {
  auto found = find_cached(sources, ns, subject.name);
  if (found.empty()) return not_cached(subject, missing_in(sources_for(sources, ns)));
  if (found.size() == 1) return std::move(found.front());
  std::string names;
  for (const CachedIn& one : found) names += (names.empty() ? "" : ", ") + one.cluster;
  return conflict(subject, "ambiguous objects in clusters [" + names + "]");
}

void warn_of_left_out(const Kind& kind, const SearchCache::Selection& selection, Warnings& warnings) {
  if (selection.left_out == 0) return;
  warnings.push_back(kind.plural + " of " + std::to_string(selection.left_out) + " namespaces are missing: more than " +
                     std::to_string(kMostNamespaces) + " namespaces are selected");
}

StatusDetails subject_of(const Kind& kind, const std::string& name) {
  return {kind.group, kind.kind, kind.plural, name};
}

}  // namespace

struct GlobalProxy::Call {
  std::shared_ptr<RequestContext> context;
  SearchRequest parsed;
  std::shared_ptr<const Kinds> kinds;
  /// The request behind the prefix.
  HttpRequest native() const {
    HttpRequest request = context->request;
    request.target = parsed.native.target;
    request.path = parsed.native.path;
    return request;
  }
};

GlobalProxy::GlobalProxy(ServerPtr server, SearchCache& cache, Routes routes)
    : server_{std::move(server)},
      cache_{cache},
      routes_{std::move(routes)},
      readers_{2},
      listers_{2},
      lists_{ConcurrencyLimiter::Limits{.reads = kMostListsInParts}} {}

void GlobalProxy::start() {
  const std::weak_ptr<GlobalProxy> weak = weak_from_this();
  watches_ = std::make_shared<SearchWatches>(server_, cache_, [weak](std::function<void()> work) {
    if (const auto self = weak.lock()) self->listers_.post(std::move(work));
  });
  cache_.set_listener([watches = std::weak_ptr<SearchWatches>{watches_}](const std::string& resource) {
    if (const auto self = watches.lock()) self->wake(resource);
  });
}

void GlobalProxy::stop() {
  cache_.set_listener({});
  watches_->stop();
  readers_.stop();
  listers_.stop();
}

void GlobalProxy::serve(RequestContext draft) {
  auto parsed = search_request(draft.request);
  const auto call = std::make_shared<Call>();
  call->context = std::make_shared<RequestContext>(std::move(draft));
  if (!parsed) return fail(*call->context, parsed.error(), StatusDetails{});
  call->parsed = std::move(parsed).value();
  if (cache_.off()) {
    return fail(*call->context,
                Error{ErrorCode::kUnavailable, "the search cache of this server is off: --search-cache-bytes is 0"},
                StatusDetails{});
  }
  if (call->parsed.proxying && !parse_resource_path(call->parsed.native.path)) return here(call);
  // A registry that was acknowledged counts.
  server_->objects.record().when_current([self = shared_from_this(), call](const Result<void>& current) {
    if (!current) return fail(*call->context, current.error(), StatusDetails{});
    self->readers_.post([self, call] {
      boost::asio::co_spawn(inline_executor(), self->route(call), [call](const std::exception_ptr& failure) {
        if (failure != nullptr) log::error("search.failed", {log::kv("path", call->context->request.path)});
      });
    });
  });
}

awaitable<StageResult<void>> GlobalProxy::may_read(const Call& call, const Kind& kind) {
  if (kind.type() != "secrets") co_return ok();
  HttpRequest native = call.native();
  // A search ignores what the query selects (6.2.4): the right to list one name must not show all of them.
  if (!call.parsed.proxying) native.query.clear();
  StageResult<std::string> allowed = std::string{};
  if (server_->options.access_webhook == nullptr) {
    allowed = authorize(*server_, call.context->user, native);
  } else {
    allowed = co_await authorize_with_webhook(*server_, call.context->user, native);
  }
  if (allowed) co_return ok();
  Rejection rejection = std::move(allowed).error();
  rejection.error.message +=
      ": Secrets of members are answered only to users who may read Secrets in the control plane, too";
  co_return rejection;
}

awaitable<void> GlobalProxy::route(CallPtr call) {
  call->kinds = server_->options.kinds->current();
  if (!call->parsed.proxying) {
    co_await route_search(call);
    co_return;
  }
  const ResourcePath path = *parse_resource_path(call->parsed.native.path);
  const Kind* kind = call->kinds->find(path.group, path.version, path.resource);
  if (kind == nullptr || !cache_.registered(*kind)) co_return here(call);
  const RequestContext& context = *call->context;
  if (!is_reading(context.request) || !path.subresource.empty()) {
    settle(*kind, [self = shared_from_this(), call, kind, path] { self->to_member(call, *kind, path); });
    co_return;
  }
  auto allowed = co_await may_read(*call, *kind);
  if (!allowed) co_return reject(*server_, context, allowed.error());
  auto native = std::make_shared<RequestContext>(context);
  native->request = call->native();
  auto well_formed = check_request(native->request);
  if (!well_formed) co_return fail(*native, well_formed.error(), StatusDetails{});
  auto resolved = resolve(*server_, call->kinds, native->request, "");
  if (!resolved) co_return reject(*server_, *native, resolved.error());
  static_cast<RequestTarget&>(*native) = std::move(resolved).value();
  settle(*kind, [self = shared_from_this(), native] { self->read(native); });
}

awaitable<void> GlobalProxy::route_search(CallPtr call) {
  const RequestContext& context = *call->context;
  if (!is_reading(context.request)) {
    co_return fail(context, method_not_allowed({"search.karmada.io", "", "search", ""}, context.request.method),
                   StatusDetails{});
  }
  if (call->parsed.category != "cache") {
    const bool open_search = call->parsed.category == "opensearch";
    co_return fail(context,
                   Error{ErrorCode::kBadRequest,
                         open_search ? std::string{"search/opensearch is not supported: this server has no OpenSearch "
                                                   "backend; use search/cache"}
                                     : "connect with unrecognized search category " + call->parsed.category},
                   StatusDetails{});
  }
  const auto path = parse_resource_path(call->parsed.native.path);
  if (!path || !path->subresource.empty()) {
    co_return fail_search(context, 400,
                          "the path " + call->parsed.native.path + " names no resource, or a part of an object");
  }
  const Kind* kind = call->kinds->find(path->group, path->version, path->resource);
  if (kind == nullptr) {
    co_return fail_search(context, 400, "this server does not know the resource of " + call->parsed.native.path);
  }
  auto allowed = co_await may_read(*call, *kind);
  if (!allowed) co_return reject(*server_, context, allowed.error());
  settle(*kind, [self = shared_from_this(), call, kind] {
    self->listers_.post([self, call, kind] { self->search(call, *kind); });
  });
}

/// 6.2: neither versions nor pages, and a list also for a name.
void GlobalProxy::search(const CallPtr& call, const Kind& kind) {
  const HttpRequest native = call->native();
  const ResourcePath path = *parse_resource_path(native.path);
  auto answer = std::make_shared<RequestContext>(*call->context);
  const auto options = options_of(native);
  if (!options) return fail_search(*answer, 400, options.error().message);
  auto labels = parse_label_selector(options.value().label_selector);
  if (!labels) return fail_search(*answer, 400, labels.error().message);
  CachedQuery query;
  query.ns = path.ns;
  query.name = path.name;
  query.labels = std::move(labels).value();
  auto place = place_for_list(answer->user);
  if (!place) return fail_search(*answer, 429, place.error().message);
  const auto selection = cache_.selection(kind);
  CachedList list = list_in_parts(kind, sources_for(selection.sources, path.ns), query);
  list.metadata = Value::object({});
  list.place = std::move(place).value();
  warn_of_left_out(kind, selection, list.warnings);
  answer->accept = Accept{};
  send_list(answer, std::move(list));
}

Result<std::shared_ptr<void>> GlobalProxy::place_for_list(const User& user) {
  std::shared_ptr<void> place;
  if (in_group(user, kMastersGroup)) return place;
  place = lists_.take(user.name, ConcurrencyLimiter::Use::kRead);
  if (place != nullptr) return place;
  return Error{ErrorCode::kTooManyRequests,
               "too many lists without a limit are under way, please try again later, or set limit"};
}

void GlobalProxy::send_list(const RequestContextPtr& context, CachedList list) {
  answer_cached_list(context, std::move(list), server_->options.clock->now(),
                     [self = shared_from_this()](std::function<void()> work) { self->listers_.post(std::move(work)); });
}

void GlobalProxy::read(const RequestContextPtr& native) {
  if (native->verb == "get") return get(native);
  if (native->verb == "list") {
    return listers_.post([self = shared_from_this(), native] { self->list(native); });
  }
  if (native->request.query_value("sendInitialEvents") != nullptr) {
    return fail(*native,
                Error{ErrorCode::kInvalid,
                      "sendInitialEvents: Forbidden: watches over clusters do not begin with a list; list, and "
                      "watch from its resourceVersion"});
  }
  const auto options = options_of(native->request);
  if (!options) return fail(*native, options.error());
  watches_->start(native, options.value());
}

void GlobalProxy::get(const RequestContextPtr& native) {
  const auto selection = cache_.selection(*native->kind);
  auto found = the_one(selection.sources, native->path.ns, native->subject());
  if (!found) return fail(*native, found.error());
  Compressor compressor;
  auto object = found.value().object->value(compressor);
  if (!object) return fail(*native, object.error());
  object.value()
      .edit("metadata")
      .set("resourceVersion", multi_version_of(found.value().version_key, found.value().object->version()));
  answer_cached(*native, object.value(), server_->options.clock->now(),
                missing_in(sources_for(selection.sources, native->path.ns)));
}

void GlobalProxy::list(const RequestContextPtr& native) {
  const auto options = options_of(native->request);
  if (!options) return fail(*native, options.error());
  auto labels = parse_label_selector(options.value().label_selector);
  if (!labels) return fail(*native, labels.error());
  auto fields = parse_field_selector(options.value().field_selector, *native->kind);
  if (!fields) return fail(*native, fields.error());
  CachedQuery query;
  query.ns = native->path.ns;
  query.labels = std::move(labels).value();
  query.fields = std::move(fields).value();
  query.limit = options.value().limit;
  query.from = parse_multi_continue(text(native->request, "continue"));
  const auto selection = cache_.selection(*native->kind);
  const auto sources = sources_for(selection.sources, query.ns);
  Result<CachedList> page = CachedList{};
  if (query.limit == 0 && may_be_in_parts(native->accept)) {
    auto place = place_for_list(native->user);
    if (!place) return fail(*native, place.error());
    page = list_in_parts(*native->kind, sources, query);
    page.value().place = std::move(place).value();
  } else {
    page = list_cached(*native->kind, sources, query, [native] { return native->writer->closed(); });
  }
  if (!page) return fail(*native, page.error());
  warn_of_left_out(*native->kind, selection, page.value().warnings);
  send_list(native, std::move(page).value());
}

void GlobalProxy::to_member(const CallPtr& call, const Kind& kind, const ResourcePath& path) {
  const RequestContext& context = *call->context;
  const StatusDetails subject = subject_of(kind, path.name);
  if (path.name.empty()) {
    Error error = method_not_allowed(subject, context.request.method == "POST" ? "create" : "deletecollection");
    error.message += ": the global proxy knows no cluster for it; use clusters/NAME/proxy, or propagate the object";
    return fail(context, error, subject);
  }
  auto found = the_one(cache_.selection(kind).sources, path.ns, subject);
  if (!found) return fail(context, found.error(), subject);
  RequestContext draft = context;
  const std::string prefix = std::string{kClusters} + found.value().cluster + "/proxy";
  draft.request.target = prefix + call->parsed.native.target;
  draft.request.path = prefix + call->parsed.native.path;
  if (!is_reading(draft.request) && draft.request.method != "POST") {
    draft.body = body_for_member(draft.request.method, draft.request.headers.get("Content-Type"), draft.body,
                                 found.value().cluster);
  }
  routes_.to_member(std::move(draft));
}

void GlobalProxy::here(const CallPtr& call) {
  HttpRequest request = call->native();
  request.body = call->context->body;
  if (auto parsed = parse_target(request); !parsed) return fail(*call->context, parsed.error(), StatusDetails{});
  routes_.here(std::move(request), call->context->writer, call->context->user);
}

void GlobalProxy::settle(const Kind& kind, std::function<void()> then) {
  // The answer of an authorization webhook arrives on a thread for something else.
  readers_.post([self = shared_from_this(), &kind, then = std::move(then)] { self->when_settled(kind, then); });
}

void GlobalProxy::when_settled(const Kind& kind, std::function<void()> then, int tries) {
  const auto selection = cache_.selection(kind);
  const bool settled = std::ranges::all_of(selection.sources, [](const auto& source) { return source->settled(); });
  Executor* loop = cache_.loop();
  if (settled || tries >= kMostTries || loop == nullptr) return then();
  loop->post_after(kLookAgain, [self = shared_from_this(), &kind, then = std::move(then), tries] {
    self->readers_.post([self, &kind, then, tries] { self->when_settled(kind, then, tries + 1); });
  });
}

}  // namespace shiplog::api
