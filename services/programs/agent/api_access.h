#pragma once

#include <cstdlib>
#include <memory>
#include <string>

#include "events/base/networks.h"
#include "events/base/random.h"
#include "events/state/state.h"
#include "services/adapters/members/https_members.h"
#include "services/adapters/members/members.h"
#include "services/http/client_target.h"
#include "services/http/environment_proxy.h"
#include "services/http/io_threads.h"
#include "services/runtime/executor.h"

namespace shiplog::agent {

/// One API server, reached as the control plane reaches its members, with the same limits of what an answer may take.
/// Its address and credentials may be replaced: requests under way end as they began. Threads: the executor.
class ApiAccess {
 public:
  struct Options {
    std::string name;  ///< under which it is asked for, and of which errors speak
    Executor* executor = nullptr;
    Random* random = nullptr;
    std::shared_ptr<IoThreads> io;
    std::string user_agent;
    EnvironmentVariable environment = std::getenv;  ///< may name a proxy, as for kubectl
  };
  explicit ApiAccess(Options options);

  /// From the next request on. Nothing happens if it is the present one.
  void use(const ClientTarget& target);

  Members& server() { return members_; }
  const std::string& name() const { return options_.name; }
  const ClientTarget& target() const { return target_; }

 private:
  Options options_;
  ClientTarget target_;
  State addresses_;  // one Cluster and its Secret: what HttpsMembers reads
  HttpsMembers members_;
};

/// The HTTP status of an answer; 0: there is none.
int status_of(const Result<MemberResponse>& response);
/// The error of a request whose answer is not the expected one. `what`: what it was for, "reading Secret x".
Error call_error(const Result<MemberResponse>& response, const std::string& what);

}  // namespace shiplog::agent
