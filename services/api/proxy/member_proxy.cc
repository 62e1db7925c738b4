#include "services/api/proxy/member_proxy.h"

#include <utility>

#include "events/base/json.h"
#include "services/api/auth/rbac/attributes.h"
#include "services/api/pipeline/async.h"
#include "services/api/pipeline/responses.h"
#include "services/api/proxy/byte_relay.h"
#include "services/api/proxy/fan_out.h"
#include "services/api/proxy/proxy_audit.h"
#include "services/api/proxy/proxy_headers.h"
#include "services/api/proxy/proxy_meter.h"
#include "services/api/proxy/response_relay.h"
#include "services/runtime/log.h"

namespace shiplog::api {
namespace {

/// As long as kube-apiserver waits for a request, and less than this server does.
constexpr Millis kHeadTimeout{60'000};
/// Of a response that does not stream: a member that stops in the middle holds its place no longer.
constexpr Millis kIdleTimeout{60'000};
/// Of one direction of an upgraded connection, after the other one has ended.
constexpr Millis kLinger{60'000};
/// Bytes of responses of all clusters that are being merged.
constexpr size_t kMostMerged = size_t{64} << 20U;

/// As upstream's proxy, which answers requests to all clusters in plain text.
void answer_text(const RequestContext& context, int status, const std::string& text) {
  send(context, status, "text/plain; charset=utf-8", text + "\n");
}

StatusDetails subject_of(const std::string& cluster) { return {"cluster.karmada.io", "Cluster", "clusters", cluster}; }

/// An error of a member's client as the client of this server gets it: not as if it were refused here.
Error unreachable(const std::string& cluster, const Error& error) {
  const bool own = error.code == ErrorCode::kTimeout || error.code == ErrorCode::kTooManyRequests ||
                   error.code == ErrorCode::kBadRequest;
  return {own ? error.code : ErrorCode::kUnavailable, "cluster " + cluster + " cannot be reached: " + error.message};
}

/// What an upgraded connection occupies as long as it is open: its place among the member's streams.
struct UpgradedCall {
  UpgradedCall(const std::string& cluster, MemberClients::Borrowed a_place)
      : open{cluster}, borrowed{std::move(a_place)} {}
  OpenUpgrade open;
  MemberClients::Borrowed borrowed;
};

}  // namespace

struct MemberProxy::Call {
  RequestContextPtr context;
  ProxiedRequest proxied;
};

MemberProxy::MemberProxy(ServerPtr server, ServeHere serve_here)
    : server_{std::move(server)},
      serve_here_{std::move(serve_here)},
      all_clusters_{std::make_shared<ByteBudget>(kMostMerged)} {}

void MemberProxy::serve(RequestContext draft) {
  auto proxied = proxied_request(draft.request);
  draft.writer = metered_proxy(std::move(draft.writer), *server_->options.members, draft.request,
                               proxied ? &proxied.value() : nullptr);
  const auto context = std::make_shared<const RequestContext>(std::move(draft));
  const auto call = std::make_shared<Call>(Call{context, {}});
  if (!proxied) return refuse(call, proxied.error());
  call->proxied = std::move(proxied).value();
  const uint32_t active = server_->options.members->fold_version();
  if (call->proxied.changes && active < kMemberRequestsFoldVersion) {
    return fail(*context,
                Error{ErrorCode::kUnavailable,
                      "requests that change something in a member are recorded in the journal from fold version " +
                          std::to_string(kMemberRequestsFoldVersion) + " on, and " + std::to_string(active) +
                          " is active: a process of an older release is running; stop it"},
                subject_of(call->proxied.cluster));
  }
  call->proxied.cluster == kAllClusters ? serve_all(call) : reach(call);
}

/// A cluster that was joined, or got its Secret, through another server may not be known here yet.
void MemberProxy::reach(const CallPtr& call) {
  MemberClients& members = *server_->options.members;
  const auto use = call->proxied.streams ? MemberClients::Use::kStream : MemberClients::Use::kRequest;
  if (members.ready(call->proxied.cluster)) {
    auto borrowed = members.borrow(call->proxied.cluster, use);
    if (borrowed) return send(call, borrowed.value());
    if (borrowed.error().code == ErrorCode::kTooManyRequests) {
      return fail(*call->context, borrowed.error(), subject_of(call->proxied.cluster));
    }
  }
  server_->objects.record().when_current([self = shared_from_this(), call, use](const Result<void>& current) {
    if (!current) return fail(*call->context, current.error(), subject_of(call->proxied.cluster));
    self->server_->post_blocking([self, call, use] {
      auto borrowed = self->server_->options.members->borrow(call->proxied.cluster, use);
      if (borrowed) return self->send(call, borrowed.value());
      fail(*call->context, borrowed.error(), subject_of(call->proxied.cluster));
    });
  });
}

Result<HttpRequest> MemberProxy::request_of(const Call& call) const {
  const RequestContext& context = *call.context;
  HttpRequest request;
  SHIPLOG_TRY(request.headers,
              headers_to_member(context.request.headers, call.proxied,
                                {context.user, context.request.peer.address, context.audit_id,
                                 traceparent_of(context.trace, *server_->options.random), context.trace.state}));
  request.method = context.request.method;
  request.target = call.proxied.target;
  return request;
}

void MemberProxy::send(const CallPtr& call, const MemberClients::Borrowed& borrowed) {
  const RequestContext& context = *call->context;
  auto made = request_of(*call);
  if (!made) return refuse(call, made.error());
  HttpRequest request = std::move(made).value();
  request.body = context.body;
  if (!call->proxied.protocol.empty()) return upgrade(call, borrowed, std::move(request));

  const auto relay = std::make_shared<ResponseRelay>(ResponseRelay::Options{
      .writer = context.writer,
      .keep = std::make_shared<MemberClients::Borrowed>(borrowed),
      .headers = [call](const HttpResponse& head) { return headers_from_member(head, call->proxied); },
      .before = [self = shared_from_this(), call](
                    int status,
                    std::function<void(Result<void>)> then) { self->record(call, status, std::move(then)); },
      .failed = [self = shared_from_this(), call](const Error& error) { self->unreached(call, error); }});
  HttpClient::PacedStream paced;
  paced.head_timeout = kHeadTimeout;
  paced.own_connection = call->proxied.streams;
  if (!call->proxied.streams) paced.idle_timeout = kIdleTimeout;
  relay->start(*borrowed.client, std::move(request), std::move(paced));
}

void MemberProxy::upgrade(const CallPtr& call, const MemberClients::Borrowed& borrowed, HttpRequest request) {
  borrowed.client->upgrade(std::move(request), kHeadTimeout,
                           [self = shared_from_this(), call, borrowed](Result<HttpClient::Upgraded> upgraded) {
                             if (!upgraded) return self->unreached(call, upgraded.error());
                             const int status = upgraded.value().response.status;
                             auto held = std::make_shared<HttpClient::Upgraded>(std::move(upgraded).value());
                             self->record(call, status, [self, call, borrowed, held](const Result<void>& recorded) {
                               if (!recorded)
                                 return fail(*call->context, recorded.error(), subject_of(call->proxied.cluster));
                               self->answer_upgrade(call, borrowed, std::move(*held));
                             });
                           });
}

void MemberProxy::answer_upgrade(const CallPtr& call, const MemberClients::Borrowed& borrowed,
                                 HttpClient::Upgraded upgraded) {
  auto headers = headers_from_member(upgraded.response, call->proxied);
  if (!headers) return fail(*call->context, headers.error(), subject_of(call->proxied.cluster));
  if (upgraded.stream == nullptr) {
    upgraded.response.headers = std::move(headers).value();
    return call->context->writer->send(std::move(upgraded.response));
  }
  const auto after_linger = [server = server_](std::function<void()> work) {
    server->options.record->replica().executor().post_after(kLinger, std::move(work));
  };
  call->context->writer->upgrade(
      std::move(headers).value(), [member = std::move(upgraded.stream), cluster = call->proxied.cluster, borrowed,
                                   after_linger](const Result<std::shared_ptr<ByteStream>>& client) {
        if (!client) return member->close();
        relay_bytes(client.value(), member, after_linger, std::make_shared<UpgradedCall>(cluster, borrowed));
      });
}

void MemberProxy::serve_all(const CallPtr& call) {
  const HttpRequest& request = call->context->request;
  const Attributes wanted = attributes_of(request.method, call->proxied.path, request.query);
  if (!wanted.is_resource) {
    HttpRequest here = request;
    here.target = call->proxied.target;
    here.body = call->context->body;
    if (auto parsed = parse_target(here); !parsed) return refuse(call, parsed.error());
    return serve_here_(std::move(here), call->context->writer, call->context->user);
  }
  auto made = request_of(*call);
  if (!made) return refuse(call, made.error());
  HttpRequest asked = std::move(made).value();
  // Bodies are read here.
  asked.headers.erase("Accept-Encoding");
  asked.headers.set("Accept", "application/json");
  asked.method = "GET";
  server_->objects.record().when_current(
      [self = shared_from_this(), call, wanted, asked = std::move(asked)](const Result<void>& current) {
        if (!current) return fail(*call->context, current.error(), subject_of("*"));
        self->server_->post_blocking([self, call, wanted, asked] {
          if (!wanted.name.empty() && parse_resource_path(call->proxied.path)->name == wanted.name) {
            return self->find_cluster(call, asked);
          }
          if (wanted.verb == "list") return self->list_all(call, asked);
          answer_text(*call->context, 405, "Request verb " + wanted.verb + " is not support");
        });
      });
}

void MemberProxy::list_all(const CallPtr& call, HttpRequest request) {
  ask_all(*server_, request, all_clusters_, [call](const std::vector<ClusterAnswer>& answers) {
    const Value merged = merged_lists(answers);
    if (merged.is_null()) return answer_text(*call->context, 404, "not found");
    answer_json(*call->context, 200, to_json(merged), {});
  });
}

/// Which cluster has the object: the request is for that one.
void MemberProxy::find_cluster(const CallPtr& call, HttpRequest request) {
  const ResourcePath path = *parse_resource_path(call->proxied.path);
  request.target =
      encode_target((path.group.empty() ? "/api" : "/apis/" + path.group) + "/" + path.version +
                        (path.ns.empty() ? "" : "/namespaces/" + path.ns) + "/" + path.resource + "/" + path.name,
                    {});
  request.headers.erase("Content-Type");
  for (const char* name : {"Connection", "Upgrade"}) request.headers.erase(name);
  ask_all(*server_, request, all_clusters_, [self = shared_from_this(), call](const std::vector<ClusterAnswer>& found) {
    if (found.empty()) {
      return answer_text(*call->context, 404, "resource not found or don't have permission to get it");
    }
    if (found.size() == 1) {
      call->proxied.cluster = found[0].cluster;
      return self->reach(call);
    }
    std::string names;
    for (const ClusterAnswer& one : found) names += (names.empty() ? "" : ",") + one.cluster;
    answer_text(*call->context, 409, "conflict resource, exist in more than one cluster: " + names);
  });
}

void MemberProxy::record(const CallPtr& call, int status, std::function<void(Result<void>)> then) {
  // What the member does not permit is a denied request, also if it only reads.
  const bool denied = status == 401 || status == 403;
  if (!call->proxied.changes && !denied) return then(ok());
  record_proxied(*server_, *call->context, call->proxied, status, std::move(then));
}

/// The member may have carried out a change all the same.
void MemberProxy::unreached(const CallPtr& call, const Error& error) {
  const Error shown = unreachable(call->proxied.cluster, error);
  if (!call->context->writer->closed()) {
    log::info("proxy.member_failed", {log::kv("cluster", call->proxied.cluster),
                                      log::kv("user", call->context->user.name), log::kv("reason", error.message)});
  }
  record(call, http_status(shown.code), [call, shown](const Result<void>& recorded) {
    const StatusDetails subject = subject_of(call->proxied.cluster);
    if (!recorded) return fail(*call->context, recorded.error(), subject);
    if (shown.code == ErrorCode::kTooManyRequests) return fail(*call->context, shown, subject);
    fail_once(*call->context, shown, subject);
  });
}

void MemberProxy::refuse(const CallPtr& call, const Error& error) {
  record_refused_proxied(*server_, *call->context, http_status(error.code), error.message);
  fail(*call->context, error, StatusDetails{});
}

}  // namespace shiplog::api
