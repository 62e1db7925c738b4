#pragma once

#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "events/base/error.h"
#include "events/base/random.h"
#include "services/http/client.h"
#include "services/http/environment_proxy.h"
#include "services/http/tunnel.h"
#include "services/runtime/executor.h"

namespace shiplog::agent {

/// Keeps some unused tunnels open to the control plane, through which it reaches the member's API server and nothing
/// else. Whenever one is used, the next one is opened. Behind one address there may be several API servers: a tunnel is
/// replaced now and then, so that each of them gets some in time. Threads: the executor.
class TunnelKeeper {
 public:
  struct Options {
    std::string cluster;
    Executor* executor = nullptr;
    Random* random = nullptr;
    std::shared_ptr<IoThreads> io;
    std::string user_agent;
    EnvironmentVariable environment = std::getenv;  ///< may name a proxy, as for kubectl
    size_t waiting = 4;
    Millis spread_every{30'000};
    /// Called when one cannot be opened, and with nullptr when one is.
    std::function<void(const Error* error)> trouble = {};
  };
  explicit TunnelKeeper(Options options);
  ~TunnelKeeper();
  TunnelKeeper(const TunnelKeeper&) = delete;
  TunnelKeeper& operator=(const TunnelKeeper&) = delete;

  /// Where tunnels are opened, and where they lead: to host and port of the member's url. From now on.
  void use(const ClientTarget& control_plane, const std::string& member_url);

 private:
  struct Open {
    std::string server;  ///< that it ends at, by its own name
    std::shared_ptr<ByteStream> stream;
  };
  void fill();
  void open();
  void opened(uint64_t generation, Result<HttpClient::Upgraded> upgraded);
  void failed(const Error& error);
  void spread();
  void later(Millis delay, std::function<void()> run);

  const Options options_;
  std::shared_ptr<HttpClient> client_;
  TunnelTarget target_;
  uint64_t generation_ = 0;  // of client_
  uint64_t numbers_ = 0;
  std::map<uint64_t, Open> waiting_;
  size_t opening_ = 0;
  int failures_ = 0;
  bool paused_ = false;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

/// Host and port of "https://host:6443".
Result<TunnelTarget> tunnel_target(const std::string& url);

}  // namespace shiplog::agent
