#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "services/adapters/members/member_clients.h"
#include "services/adapters/members/member_tunnels.h"
#include "services/api/search/search_cache.h"
#include "services/http/io_threads.h"
#include "services/runtime/executor.h"
#include "services/runtime/replica.h"

namespace shiplog {

/// How the process that serves the API reaches members: for requests of users, and for the search cache. Of other
/// processes, which do not start it, it does nothing.
class MemberAccess {
 public:
  struct Options {
    Replica* record = nullptr;
    Executor* executor = nullptr;  ///< the record's
    const api::KindRegistry* kinds = nullptr;
    Random* random = nullptr;  ///< thread-safe
    std::function<Result<Value>(Value)> open;
    std::string user_agent;
    std::shared_ptr<const Networks> denied_networks;
    size_t search_cache_bytes = 0;
  };
  /// Before the record starts.
  void start(Options options);
  /// Takes in what a restored state holds.
  void load(const State& state);
  /// No request is begun from here on.
  void close();
  /// After close(). What is under way holds its client, and clients these threads: they could outlive main().
  void stop_threads();

  MemberClients& clients() { return clients_; }
  api::SearchCache& search() { return search_; }
  /// nullptr: not started, or closed.
  MemberTunnels* tunnels() { return tunnels_.get(); }

 private:
  std::shared_ptr<IoThreads> io_;
  MemberClients clients_;
  api::SearchCache search_;
  std::unique_ptr<MemberTunnels> tunnels_;
};

}  // namespace shiplog
