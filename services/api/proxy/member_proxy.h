#pragma once

#include <functional>
#include <memory>
#include <string>

#include "services/adapters/members/member_clients.h"
#include "services/api/pipeline/server.h"
#include "services/api/proxied_request.h"

namespace shiplog::api {

/// Serves clusters/NAME/proxy: passes requests on to the API server of a member, as the user that sends them, with the
/// credentials of the member's impersonator. Bodies pass unchanged, responses at the pace of the client, and
/// connections are upgraded for exec, attach and port-forward. What a request changes, or may change, has an entry in
/// the journal before its response is passed on. Threads: any.
class MemberProxy : public std::enable_shared_from_this<MemberProxy> {
 public:
  /// Handles a request of a user who is known already as one to this server.
  using ServeHere = std::function<void(HttpRequest, std::shared_ptr<ResponseWriter>, const User&)>;
  MemberProxy(ServerPtr server, ServeHere serve_here);

  /// Of a request that is authenticated and permitted. Answers and counts it.
  void serve(RequestContext draft);

 private:
  struct Call;
  using CallPtr = std::shared_ptr<Call>;

  Result<HttpRequest> request_of(const Call& call) const;
  void reach(const CallPtr& call);
  /// clusters/*/proxy.
  void serve_all(const CallPtr& call);
  void list_all(const CallPtr& call, HttpRequest request);
  void find_cluster(const CallPtr& call, HttpRequest request);
  void send(const CallPtr& call, const MemberClients::Borrowed& borrowed);
  void upgrade(const CallPtr& call, const MemberClients::Borrowed& borrowed, HttpRequest request);
  void answer_upgrade(const CallPtr& call, const MemberClients::Borrowed& borrowed, HttpClient::Upgraded upgraded);
  /// Records what a request did, if it may have changed something, and calls `then` when that is in the journal.
  void record(const CallPtr& call, int status, std::function<void(Result<void>)> then);
  void unreached(const CallPtr& call, const Error& error);
  void refuse(const CallPtr& call, const Error& error);

  ServerPtr server_;
  ServeHere serve_here_;
  std::shared_ptr<ByteBudget> all_clusters_;  // responses that are being merged
};

}  // namespace shiplog::api
