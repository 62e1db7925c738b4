#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "events/base/result.h"
#include "services/runtime/health.h"

namespace shiplog {

class HttpServer;

/// Serves health checks and metrics without TLS and without authentication, for kubelets and Prometheus: every
/// client that reaches the port may read them. Nothing else is served. Has limits of its own, so that it takes little
/// from the process.
class ProbeServer {
 public:
  struct Options {
    std::string host;
    uint16_t port = 0;     ///< 0: a free one
    bool health = false;   ///< serves /healthz, /livez and /readyz
    bool metrics = false;  ///< serves /metrics
    HealthChecks checks = {};
  };

  /// Error: kIo, cannot listen, naming the address.
  static Result<std::unique_ptr<ProbeServer>> start(const Options& options);
  ~ProbeServer();

  /// "http://127.0.0.1:10357"
  std::string url() const;

 private:
  explicit ProbeServer(std::unique_ptr<HttpServer> http);
  std::unique_ptr<HttpServer> http_;
};

}  // namespace shiplog
