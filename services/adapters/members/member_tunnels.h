#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "events/base/result.h"
#include "events/base/time.h"
#include "services/http/client.h"
#include "services/http/tunnel.h"
#include "services/runtime/executor.h"
#include "services/runtime/metrics.h"

namespace shiplog {

/// The tunnels that agents of pull members keep open to this process, by cluster, and connections through them. A
/// member that no agent has opened one for is connected to directly, which works where there is a route; one that had
/// some lately is not: then its agent is disconnected. The metric `shiplog_member_tunnels` has their number. Threads:
/// any.
class MemberTunnels {
 public:
  struct Options {
    std::shared_ptr<IoThreads> io;
    Executor* executor = nullptr;  ///< for timers
    size_t most_waiting = 16;      ///< of one cluster
    Millis take_timeout{3'000};    ///< for the agent to connect; less than a client's connect_timeout
    Millis wait_for_one{1'500};    ///< when all are in use
    Millis remembered{600'000};    ///< so long a cluster without a tunnel is not connected to directly
    TunnelTiming timing = {};
  };
  explicit MemberTunnels(Options options);
  ~MemberTunnels();
  MemberTunnels(const MemberTunnels&) = delete;
  MemberTunnels& operator=(const MemberTunnels&) = delete;

  /// Whether the cluster may have one more waiting. Error: kTooManyRequests.
  Result<void> check(const std::string& cluster) const;
  /// A tunnel to the cluster, which the caller has authenticated. One too many is closed.
  void offer(const std::string& cluster, std::shared_ptr<ByteStream> stream);

  /// Errors of the connection: kUnavailable, no tunnel is there, or the member is not reachable through it.
  HttpClient::Dial dialer(const std::string& cluster);

  size_t waiting(const std::string& cluster) const;
  size_t waiting() const;
  /// That are taken and have not ended.
  size_t in_use(const std::string& cluster) const;

 private:
  struct Shared;
  std::shared_ptr<Shared> shared_;
  std::unique_ptr<metrics::ScrapeHook> hook_;
};

}  // namespace shiplog
