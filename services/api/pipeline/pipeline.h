#pragma once

#include <functional>
#include <memory>

#include "services/api/pipeline/async.h"
#include "services/api/pipeline/write_request.h"

namespace shiplog::api {

/// What serves the requests that are no writes, once they are authenticated, authorized and limited.
struct ReadHandlers {
  /// Paths that name no resource. False: there is nothing at the path.
  std::function<bool(const RequestContextPtr&)> serve_path;
  /// get, list and watch.
  std::function<void(const RequestContextPtr&)> read;
  /// What other servers answer for (Server::elsewhere).
  std::function<void(RequestContext&&, const AggregatedVersion&)> forward = {};
  /// Paths below clusters/NAME/proxy; empty: there is no cluster proxy.
  std::function<void(RequestContext&&)> proxy = {};
  /// Paths below search/ and proxying/NAME/proxy of search.karmada.io; empty: there is no search.
  std::function<void(RequestContext&&)> search = {};
  /// log, exec, attach and portforward of a pod, if the server has ServerOptions::pod_actions.
  std::function<void(const RequestContextPtr&)> pod_action = {};
};

/// The life of every request; that of a write as a whole. Threads: any.
class Pipeline {
 public:
  /// `executor`: requests begin on it, and continue where what they wait for is completed (inline_executor()) or, in
  /// tests, where the executor is run.
  Pipeline(ServerPtr server, ReadHandlers reads, boost::asio::any_io_executor executor);

  /// Answers the request, here or later.
  void handle(HttpRequest request, std::shared_ptr<ResponseWriter> writer);
  /// The same for the request that a produced request stands for.
  void submit(HttpRequest request, std::shared_ptr<ResponseWriter> writer, Submission submission);

 private:
  ServerPtr server_;
  std::shared_ptr<const ReadHandlers> reads_;
  boost::asio::any_io_executor executor_;
};

/// A write that was carried out.
struct Written {
  Proposal proposal;
  Committed committed;
};

/// Reads, mutates, validates and commits; again if another write of the same object was first and the client names no
/// version.
awaitable<StageResult<Written>> carry_out(const Server& server, const RequestContext& context,
                                          const WriteRequest& write, Lane& lane);

/// Deletes every object of the collection that matches, all at once, and answers with the list (DEL-11).
awaitable<void> delete_collection(const Server& server, const RequestContext& context, const WriteRequest& write,
                                  Lane& lane);

}  // namespace shiplog::api
