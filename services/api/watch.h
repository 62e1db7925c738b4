#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "services/api/pipeline/server.h"

namespace shiplog::api {

/// Calls `then` where it may block, once the store is current and has reached `wanted`: it is given a few seconds to
/// (LIST-11). An error is answered.
void when_reached(const ServerPtr& server, const RequestContextPtr& context, Revision wanted,
                  std::function<void()> then);

/// All running watches of a server. A watch holds no queue: it has a revision and pulls the changes after it, from
/// the feed or, when it is further behind, from history. For a client that does not read nothing is pulled, so it
/// costs nothing and loses nothing; it ends with 410 only when it falls behind what history still holds.
/// Threads: any; pulling happens on a thread of its own.
class Watches {
 public:
  explicit Watches(ServerPtr server);
  ~Watches();

  /// Answers the request with a stream, from the requested revision.
  void start(const RequestContextPtr& context, const ReadOptions& options);
  /// Calls back on a worker when the store has reached this revision, or has had the time to.
  void wait_for(Store& store, Revision revision, std::function<void()> then);
  size_t count() const;
  /// Ends every stream in an orderly way.
  void stop();

 private:
  class Session;
  struct Waiting {
    Store* store;
    Revision revision;
    std::chrono::steady_clock::time_point until;
    std::function<void()> then;
  };
  void on_published();
  void wake();
  void run();

  ServerPtr server_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::shared_ptr<Session>> sessions_;
  std::vector<Waiting> waiting_;
  bool published_ = false;
  bool stopping_ = false;
  std::vector<std::pair<Feed*, int64_t>> listening_;
  std::thread thread_;
};

}  // namespace shiplog::api
