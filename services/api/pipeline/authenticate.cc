#include <string_view>

#include "services/api/auth/authentication.h"
#include "services/api/pipeline/stages.h"
#include "services/runtime/log.h"

namespace shiplog::api {
namespace {

/// How a cluster that registers finds the control plane, before it can trust it or is known to it.
constexpr std::string_view kClusterInfo = "/api/v1/namespaces/kube-public/configmaps/cluster-info";

bool is_public(const HttpRequest& request) { return request.method == "GET" && request.path == kClusterInfo; }

}  // namespace

awaitable<StageResult<User>> authenticate(const Server& server, const HttpRequest& request) {
  if (auto user = certificate_user(request.peer)) co_return std::move(*user);
  if (const auto token = bearer_token(request)) {
    // Reads what the token depends on: not on an I/O thread.
    Lane lane{&server, nullptr, false};
    co_await continue_on(lane);
    auto identity = identify(server.token_sources(), *token, {kTokenIssuer});
    if (identity) co_return std::move(identity.value().user);
    log::info("request.unauthorized",
              {log::kv("peer", request.peer.address), log::kv("reason", identity.error().message)});
    // The reason is for the operator; a client that guesses tokens learns nothing.
    co_return Error{ErrorCode::kUnauthorized, "Unauthorized"};
  }
  if ((!server.options.anonymous && !is_public(request)) || request.peer.stranger ||
      request.headers.contains("Authorization")) {
    co_return Error{ErrorCode::kUnauthorized, "Unauthorized"};
  }
  co_return User{kAnonymousUser, {kUnauthenticatedGroup}, "", {}};
}

}  // namespace shiplog::api
