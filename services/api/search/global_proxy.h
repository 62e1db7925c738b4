#pragma once

#include <functional>
#include <memory>
#include <string>

#include "services/api/concurrency_limiter.h"
#include "services/api/pipeline/async.h"
#include "services/api/pipeline/rejection.h"
#include "services/api/pipeline/server.h"
#include "services/api/search/search_cache.h"
#include "services/api/search/search_watch.h"
#include "services/api/search_request.h"
#include "services/runtime/workers.h"

namespace shiplog::api {

/// Serves search.karmada.io/v1alpha1/search/cache and .../proxying/NAME/proxy (6.2, 6.4): reads of kinds that a
/// ResourceRegistry names from the cache, other requests for objects of these in the member that has the object, and
/// all else as if the path behind the prefix had been requested. Threads: any.
class GlobalProxy : public std::enable_shared_from_this<GlobalProxy> {
 public:
  struct Routes {
    /// Of a request whose path is one of clusters/NAME/proxy.
    std::function<void(RequestContext)> to_member;
    /// Handles a request of a user who is known already as one to this server.
    std::function<void(HttpRequest, std::shared_ptr<ResponseWriter>, const User&)> here;
  };
  GlobalProxy(ServerPtr server, SearchCache& cache, Routes routes);

  /// Notices of the cache reach the watches from here on.
  void start();
  /// Of a request that is authenticated and permitted. Answers it.
  void serve(RequestContext draft);
  /// Ends the watches; nothing is served any more.
  void stop();

 private:
  struct Call;
  using CallPtr = std::shared_ptr<Call>;

  awaitable<void> route(CallPtr call);
  awaitable<void> route_search(CallPtr call);
  void search(const CallPtr& call, const Kind& kind);
  /// Of a list that is sent in parts. Error: kTooManyRequests.
  Result<std::shared_ptr<void>> place_for_list(const User& user);
  void send_list(const RequestContextPtr& context, CachedList list);
  void read(const RequestContextPtr& native);
  void get(const RequestContextPtr& native);
  void list(const RequestContextPtr& native);
  void to_member(const CallPtr& call, const Kind& kind, const ResourcePath& path);
  void here(const CallPtr& call);
  /// Secrets may be read only by users who may also read them in the control plane. Other kinds: always.
  awaitable<StageResult<void>> may_read(const Call& call, const Kind& kind);
  void settle(const Kind& kind, std::function<void()> then);
  /// Runs `then` on a reader once the objects of the kind are listed, or have not been for a while.
  void when_settled(const Kind& kind, std::function<void()> then, int tries = 0);

  ServerPtr server_;
  SearchCache& cache_;
  const Routes routes_;
  /// Lists and watches read many objects: requests for one object, or to a member, do not wait for them.
  Workers readers_, listers_;
  /// Of lists that are sent in parts: each holds a part, for as long as its client takes.
  ConcurrencyLimiter lists_;
  std::shared_ptr<SearchWatches> watches_;
};

}  // namespace shiplog::api
