#include "services/api/pipeline/pipeline.h"

#include <algorithm>
#include <exception>
#include <utility>

#include <boost/asio/co_spawn.hpp>

#include "services/api/auth/websocket_token.h"
#include "services/api/pipeline/access.h"
#include "services/api/pipeline/request_audit.h"
#include "services/api/pipeline/request_meter.h"
#include "services/api/pipeline/responses.h"
#include "services/api/pipeline/stages.h"
#include "services/api/pipeline/stamped_writer.h"
#include "services/api/pipeline/warned_writer.h"
#include "services/api/pod_subresources.h"
#include "services/api/proxied_request.h"
#include "services/api/search_request.h"
#include "services/runtime/log.h"

namespace shiplog::api {
namespace {

/// A write that names no version is computed again this often when another one was first: each time one of those that
/// write the same object is done, so this is how many may do so at once without a conflict (PT-6).
constexpr int kTries = 100;

bool is_read(const RequestContext& context) {
  return context.verb == "get" || context.verb == "list" || context.verb == "watch";
}

/// As kube-apiserver's --request-timeout.
Millis timeout_of(const HttpRequest& request) {
  constexpr Millis kLongest{60'000};
  const Millis requested = duration_of(text(request, "timeout")).value_or(kLongest);
  return requested.value == 0 ? kLongest : std::min(requested, kLongest);
}

/// The trace of the client, if its headers are valid; else a new one.
TraceContext trace_of(const HttpHeaders& headers, Random& random) {
  const std::string* parent = nullptr;
  std::string state;
  for (const auto& [name, value] : headers.all()) {
    if (equal_ignoring_case(name, "traceparent")) {
      if (parent != nullptr) return new_trace(random);
      parent = &value;
    } else if (equal_ignoring_case(name, "tracestate")) {
      state += (state.empty() ? "" : ",") + value;
    }
  }
  auto trace = parent == nullptr ? std::nullopt : parse_traceparent(*parent);
  if (!trace) return new_trace(random);
  if (is_tracestate(state)) trace->state = std::move(state);
  return *std::move(trace);
}

void forget_credentials(HttpRequest& request) {
  request.headers.erase("Authorization");  // AUTHN-9
  std::erase_if(request.headers.all(), [](const auto& field) {
    return field.first.size() >= 12 && equal_ignoring_case(std::string_view{field.first}.substr(0, 12), "impersonate-");
  });
}

Error no_such_path() { return Error{ErrorCode::kNotFound, "the server could not find the requested resource"}; }

/// What another server answers for, with the moment at which it was found.
struct Elsewhere {
  std::shared_ptr<const AggregatedVersions> all;
  const AggregatedVersion* version = nullptr;  ///< nullptr: it is not another server's
};

Elsewhere elsewhere(const Server& server, const RequestContext& context) {
  Elsewhere found{server.elsewhere(context)};
  const auto path = parse_version_path(context.request.path);
  if (found.all != nullptr && path) found.version = found.all->find(path->group, path->version);
  return found;
}

/// A request that another server answers, whose body is passed on as it is.
StageResult<void> prepare_forwarded(const Server& server, RequestContext& draft, std::string body) {
  if (draft.produced != nullptr) {
    return Error{ErrorCode::kMethodNotAllowed,
                 "a produced request cannot be about " + draft.request.path + ": another server serves it"};
  }
  SHIPLOG_TRY(draft.large, limit_large(server, draft.user, body.size()));
  draft.body = std::move(body);
  return ok();
}

void forward(const Server& server, const ReadHandlers& reads, const AggregatedVersion& version, RequestContext draft,
             std::string body) {
  auto prepared = prepare_forwarded(server, draft, std::move(body));
  if (!prepared) return reject(server, draft, prepared.error());
  reads.forward(std::move(draft), version);
}

/// A resource that is not served here: 404. If an APIService names another server for it, the group and version is
/// served here as well, or the request would have been forwarded, and the error explains that.
Error unserved(const Server& server, const ResourcePath& path) {
  const Error missing = no_such_path();
  const ObjectKey key{"apiservices.apiregistration.k8s.io", "", path.version + "." + path.group};
  const auto service = server.objects.find(key);
  if (!service || service.value()["spec"]["service"].is_null()) return missing;
  const Value& target = service.value()["spec"]["service"];
  return Error{missing.code, missing.message + ": APIService " + key.name + " names the service \"" +
                                 target["name"].str() + "\" of namespace \"" + target["namespace"].str() +
                                 "\", which is not used, as this server serves the group and version itself"};
}

/// Forwards the request after all if its APIService was only just registered, through another API server.
awaitable<void> reject_unserved(const Server& server, const ReadHandlers& reads, const RequestContext& context,
                                const std::string& body, Lane& lane) {
  if (context.path.group.empty()) co_return reject(server, context, no_such_path());
  auto caught_up = co_await when_current(server.objects.record(), lane);
  if (!caught_up) co_return reject(server, context, caught_up.error());
  const Elsewhere other = elsewhere(server, context);
  if (other.version != nullptr) co_return forward(server, reads, *other.version, context, body);
  reject(server, context, unserved(server, context.path));
}

/// Begins the request's events in the audit log, if there is one and its policy is about the request. Error: kInternal,
/// an event cannot be written without which the request must not be carried out.
awaitable<StageResult<void>> begin_audit(const Server& server, RequestContext& draft, const User* user) {
  auto audit = audit_of(server, draft.request, draft.audit_id, draft.trace, user);
  if (audit == nullptr) co_return ok();
  if (user != nullptr) {
    const bool stored = co_await record_received(server, *audit);
    if (!stored) {
      co_return Error{ErrorCode::kInternal,
                      "the audit event of the request could not be written, and --audit-log-mode or "
                      "--audit-webhook-mode is blocking-strict: the request was not carried out"};
    }
  }
  draft.writer = audited(std::move(draft.writer), audit);
  draft.audit = std::move(audit);
  co_return ok();
}

/// Who sends the request, and as whom: by its credentials, or as they were checked before.
awaitable<StageResult<User>> requester(const Server& server, RequestContext& draft, const std::optional<User>& known) {
  StageResult<User> user = Error{};
  if (known) {
    user = *known;
  } else {
    if (auto taken = take_protocol_token(draft.request); !taken) {
      log::info("request.unauthorized",
                {log::kv("peer", draft.request.peer.address), log::kv("reason", taken.error().message)});
      user = Error{ErrorCode::kUnauthorized, "Unauthorized"};
    } else {
      user = co_await authenticate(server, draft.request);
    }
    count_authentication(user.has_value());
  }
  if (server.options.auditor != nullptr) {
    auto begun = co_await begin_audit(server, draft, user ? &user.value() : nullptr);
    if (!begun) co_return std::move(begun).error();
  }
  if (known || !user) co_return user;
  draft.user = user.value();  // whose refused impersonation is recorded
  StageResult<User> acting = Error{};
  if (server.options.access_webhook == nullptr) {
    acting = impersonate(server, user.value(), draft.request);
  } else {
    acting = co_await impersonate_with_webhook(server, user.value(), draft.request);
  }
  const bool as_other = draft.request.headers.contains("Impersonate-User");
  if (draft.audit != nullptr && acting && as_other) draft.audit->acts_as(acting.value());
  co_return acting;
}

awaitable<StageResult<void>> check_authorization(const Server& server, const RequestContext& draft) {
  StageResult<std::string> allowed = std::string{};
  if (server.options.access_webhook == nullptr) {
    allowed = authorize(server, draft.user, draft.request);
  } else {
    allowed = co_await authorize_with_webhook(server, draft.user, draft.request);
  }
  count_authorization(allowed.has_value());
  if (draft.audit != nullptr) {
    draft.audit->authorized(allowed.has_value(), allowed ? allowed.value() : allowed.error().error.message);
  }
  if (!allowed) co_return std::move(allowed).error();
  co_return ok();
}

/// Whether a produced request was settled before, as far as this server's projection shows; what it does not show yet,
/// the fold refuses. Blocks.
Result<bool> settled_before(const Server& server, ProducedRequestLife& produced) {
  SHIPLOG_TRY(produced.before,
              server.options.record->read([&](const View& view) -> Result<std::optional<SettledRequest>> {
                const AuditQuery audit{view};
                if (!produced.source.topic.empty()) {
                  SHIPLOG_TRY(auto same_record, audit.settled(record_of(produced.source)));
                  if (same_record && same_record->id == produced.source.id) return same_record;
                }
                return audit.carried_out(produced.user, produced.source.id);
              }));
  return produced.before.has_value();
}

/// Answers a produced request that is settled, or that cannot be one. True: it is answered.
awaitable<bool> answered_before(const Server& server, const RequestContext& context, Lane& lane) {
  co_await continue_on(lane);
  auto settled = settled_before(server, *context.produced);
  if (!settled) {
    reject(server, context, settled.error());
  } else if (settled.value()) {
    send(context, 200, "application/json", "{}");
  }
  co_return !settled || settled.value();
}

/// Events and Leases are in a journal of their own, where settled requests are not known.
Error not_produced(const RequestContext& context) {
  return method_not_allowed(context.subject(), context.verb + " by a produced request");
}

/// A request to a member, whose body is passed on as it is.
StageResult<void> prepare_proxied(const Server& server, RequestContext& draft, bool past, std::string body) {
  const std::string what = is_search(draft.request.path) ? "search.karmada.io" : "clusters/proxy";
  if (past) return Error{ErrorCode::kNotFound, what + " is not served below /at/: members have no past here"};
  if (draft.produced != nullptr) return method_not_allowed(StatusDetails{}, what + " by a produced request");
  SHIPLOG_TRY(draft.large, limit_large(server, draft.user, body.size()));
  draft.body = std::move(body);
  return ok();
}

/// A write, once it is known what it is about.
awaitable<void> serve_write(const Server& server, const RequestContext& context, const std::string& body, Lane& lane) {
  auto write = decode(server, context, body);
  if (!write) co_return reject(server, context, write.error());
  if (context.verb == "deletecollection") {
    co_await delete_collection(server, context, write.value(), lane);
    co_return;
  }
  auto written = co_await carry_out(server, context, write.value(), lane);
  if (!written) {
    Rejection rejection = std::move(written).error();
    co_return reject(server, context, write.value().reported ? write.value().reported(rejection) : rejection);
  }
  const metrics::Stopwatch since_commit;
  co_await respond(server, context, write.value(), lane, written.value().proposal, written.value().committed);
  observe_commit_to_response(since_commit.seconds());
}

/// The life of a request from its bytes to its answer. What it waits for: bearer tokens are looked up, current objects
/// are read, webhooks are called, entries are stored and folded.
awaitable<void> serve(ServerPtr shared_server, std::shared_ptr<const ReadHandlers> reads, HttpRequest request,
                      std::shared_ptr<ResponseWriter> writer, Submission submission) {
  const Server& server = *shared_server;
  RequestContext draft;
  std::string body = std::exchange(request.body, {});
  draft.audit_id = audit_id_of(request, *server.options.random);
  draft.trace = trace_of(request.headers, *server.options.random);
  const auto past = parse_past_path(request.path);
  if (past && past.value()) request.path = past.value()->path;
  const auto meter = std::make_shared<RequestMeter>(request);
  draft.writer = stamped(metered(std::move(writer), meter), request, draft.audit_id);
  draft.timeout = timeout_of(request);
  draft.request = std::move(request);
  draft.produced = std::move(submission.produced);

  auto acting = co_await requester(server, draft, submission.user);
  forget_credentials(draft.request);
  if (!acting) co_return reject(server, draft, acting.error());
  draft.user = std::move(acting).value();
  if (past && past.value() && draft.user.name == kAnonymousUser && !server.options.anonymous) {
    co_return reject(server, draft, Error{ErrorCode::kUnauthorized, "Unauthorized"});  // public is only what is now
  }
  if (draft.produced != nullptr) draft.produced->user = draft.user.name;
  if (!past) co_return reject(server, draft, past.error());
  if (past.value()) {
    if (auto reads_only = check_read_only(draft.request, *past.value()); !reads_only) {
      co_return reject(server, draft, reads_only.error());
    }
  }
  auto allowed = co_await check_authorization(server, draft);
  if (!allowed) co_return reject(server, draft, allowed.error());

  auto slot = limit(server, draft.user, draft.request, draft.writer);
  if (!slot) co_return reject(server, draft, slot.error());
  draft.writer = std::move(slot).value();
  if (const Elsewhere other = past.value() ? Elsewhere{} : elsewhere(server, draft); other.version != nullptr) {
    co_return forward(server, *reads, *other.version, std::move(draft), std::move(body));
  }
  const bool searches = reads->search && is_search(draft.request.path);
  if (searches || (reads->proxy && is_proxied(draft.request.path))) {
    auto passed = prepare_proxied(server, draft, past.value().has_value(), std::move(body));
    if (!passed) co_return reject(server, draft, passed.error());
    co_return searches ? reads->search(std::move(draft)) : reads->proxy(std::move(draft));
  }
  auto well_formed = check_request(draft.request);
  if (!well_formed) co_return reject(server, draft, well_formed.error());

  Lane lane{&server, nullptr, false};
  if (past.value()) {
    co_await continue_on(lane);
    auto entered = enter_past(server, draft.user, draft.request, *past.value());
    if (!entered) co_return reject(server, draft, entered.error());
    draft.past = std::move(entered).value();
  }
  if (!parse_resource_path(draft.request.path)) {
    draft.body = std::move(body);
    const auto context = std::make_shared<const RequestContext>(std::move(draft));
    if (!reads->serve_path(context)) reject(server, *context, no_such_path());
    co_return;
  }
  if (draft.produced != nullptr && co_await answered_before(server, draft, lane)) co_return;
  auto place = limit_large(server, draft.user, body.size());
  if (!place) co_return reject(server, draft, place.error());
  draft.large = std::move(place).value();
  lane.large = draft.large;
  if (lane.large != nullptr) co_await continue_on(lane);

  auto resolved = resolve(server, server.kinds_of(draft), draft.request, body);
  if (!resolved) co_return reject(server, draft, resolved.error());
  static_cast<RequestTarget&>(draft) = std::move(resolved).value();
  if (draft.kind != nullptr) {
    const std::string deprecation = server.options.kinds->deprecation_of(*draft.kind);
    if (!deprecation.empty()) draft.writer = warned(std::move(draft.writer), warning_header(deprecation));
  }
  meter->resolved(draft, draft.request);
  if (draft.audit != nullptr) draft.audit->resolved(draft, body, draft.request.headers.get("Content-Type"));
  const auto context = std::make_shared<const RequestContext>(std::move(draft));
  if (context->kind == nullptr) {
    co_await reject_unserved(server, *reads, *context, body, lane);
    co_return;
  }
  if (is_pod_action(context->kind->type(), context->path.subresource)) co_return reads->pod_action(context);
  if (is_read(*context)) co_return reads->read(context);
  if (context->produced != nullptr && context->kind->ephemeral) {
    co_return reject(server, *context, not_produced(*context));
  }

  co_await serve_write(server, *context, body, lane);
}

}  // namespace

awaitable<StageResult<Written>> carry_out(const Server& server, const RequestContext& context,
                                          const WriteRequest& write, Lane& lane) {
  for (int tries = kTries;; --tries) {
    auto current = co_await read_current(server, context, write, lane);
    if (!current) co_return std::move(current).error();
    auto proposed = write.propose(std::move(current.value().object));
    if (!proposed) co_return std::move(proposed).error();
    proposed.value().outdated = current.value().outdated;
    if (context.audit != nullptr && write.form != WriteForm::kDeletion) {
      context.audit->writes(context, proposed.value().object);
    }
    auto mutated = co_await mutate(server, context, write, lane, proposed.value());
    if (!mutated) co_return std::move(mutated).error();
    auto validated = co_await validate(server, context, write, lane, mutated.value());
    if (!validated) co_return std::move(validated).error();
    auto committed = co_await commit(server, context, write, lane, validated.value());
    if (committed) {
      co_return Written{std::move(validated).value(), std::move(committed).value()};
    }
    if (!committed.error().superseded || tries == 1) co_return std::move(committed).error();
  }
}

Pipeline::Pipeline(ServerPtr server, ReadHandlers reads, boost::asio::any_io_executor executor)
    : server_{std::move(server)},
      reads_{std::make_shared<const ReadHandlers>(std::move(reads))},
      executor_{std::move(executor)} {}

void Pipeline::handle(HttpRequest request, std::shared_ptr<ResponseWriter> writer) {
  submit(std::move(request), std::move(writer), {});
}

void Pipeline::submit(HttpRequest request, std::shared_ptr<ResponseWriter> writer, Submission submission) {
  auto request_life = serve(server_, reads_, std::move(request), std::move(writer), std::move(submission));
  boost::asio::co_spawn(executor_, std::move(request_life), [](const std::exception_ptr& failure) {
    if (failure == nullptr) return;
    // The writer was destroyed without an answer, which answers with 500.
    try {
      std::rethrow_exception(failure);
    } catch (const std::exception& error) {
      log::error("request.failed", {log::kv("reason", error.what())});
    } catch (...) {
      log::error("request.failed", {log::kv("reason", "unknown exception")});
    }
  });
}

}  // namespace shiplog::api
