#pragma once

#include <memory>

#include "services/api/request_context.h"
#include "services/requests/executor.h"

namespace shiplog::requests {

class RequestLedger;

/// Produced requests over HTTP, with any journal:
///
///   POST /shiplog/v1/requests[?wait=true]            one request, an array, or JSON lines
///   GET  /shiplog/v1/requests/results?id=A&id=B      their results, by long poll (&timeout=30s)
///
/// What was accepted is kept in memory until it is carried out: after a crash, results are unknown, and a request that
/// is sent again with its id is carried out once. A user sees only what it sent itself. Threads: any.
class RequestsEndpoint {
 public:
  RequestsEndpoint(std::shared_ptr<RequestExecutor> executor, Executor& timers);
  ~RequestsEndpoint();

  /// ServerOptions::requests. False: there is nothing at the path.
  bool serve(const api::RequestContextPtr& context);

 private:
  void post(const api::RequestContextPtr& context);
  void results(const api::RequestContextPtr& context);

  std::shared_ptr<RequestExecutor> executor_;
  Executor& timers_;
  std::shared_ptr<RequestLedger> ledger_;
};

}  // namespace shiplog::requests
