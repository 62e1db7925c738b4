#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "events/base/random.h"
#include "services/api/kind_registry.h"
#include "services/api/produced.h"
#include "services/api/store.h"
#include "services/http/server.h"
#include "services/requests/contract.h"
#include "services/requests/window.h"
#include "services/runtime/executor.h"
#include "services/runtime/workers.h"

namespace shiplog::requests {

/// How a request came to this process.
struct RequestOrigin {
  RequestRecord record = {};
  /// The committed position of the record's partition (RequestSource::done_before).
  std::shared_ptr<const std::atomic<int64_t>> done_before = {};
  std::optional<api::User> user = {};  ///< whose request it is, if it brings no token
  HttpPeer peer = {};                  ///< address of the client, if known
  std::string traceparent = {}, tracestate = {};
  /// True: the partition belongs to another consumer now. Nothing more is begun.
  std::shared_ptr<const std::atomic<bool>> abandoned = {};
};

/// Carries produced requests out as the HTTP requests that they mean, and finds the one result of each.
///
///   map ─▶ serve as over HTTP ─┬▶ carried out ─────────────────────────────────▶ result
///     ▲                        ├▶ 429, 503, 504: later, until the deadline
///     └────────────────────────┤
///                              ├▶ settled before ─▶ audit trail ───────────────▶ result of the first time
///                              └▶ refused, expired, unchanged ─▶ settle ─┬▶ ──▶ result
///                                     (of a record: an entry that        └▶ settled before ─▶ audit trail ...
///                                      keeps any other from settling it)
///
/// Threads: any. Destroyed after the server that `submit` leads to has stopped.
class RequestExecutor {
 public:
  struct Options {
    std::function<void(HttpRequest, std::shared_ptr<ResponseWriter>, api::Submission)> submit;
    /// Appends to the record (ApiServer::settle).
    std::function<void(Entry, std::function<void(Result<Outcome>)>)> settle;
    api::Store* record = nullptr;
    api::KindRegistry* kinds = nullptr;
    Executor* executor = nullptr;
    Random* random = nullptr;  ///< thread-safe
  };
  /// nullopt: abandoned, there is no result.
  using Done = std::function<void(std::optional<RecordOutcome>)>;

  explicit RequestExecutor(Options options);
  ~RequestExecutor();

  /// Calls `done` once, on a thread of its own.
  void execute(ProducedRequest request, RequestOrigin origin, Done done);

  /// What the audit trail knows of a user's request. Blocks. nullopt: nothing.
  Result<std::optional<ProducedResult>> result_of_user(const std::string& user, const std::string& id);

  Workers& workers();
  void stop();

 private:
  struct Shared;
  class Run;
  std::shared_ptr<Shared> shared_;
};

}  // namespace shiplog::requests
