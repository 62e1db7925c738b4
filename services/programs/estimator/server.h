#pragma once

#include <memory>
#include <string>

#include "events/base/result.h"
#include "events/base/time.h"
#include "services/programs/estimator/member_view.h"

namespace shiplog::estimator {

/// Serves the estimators' protocol (S-71, S-73, S-74) for one member over gRPC. Requests for another cluster are
/// refused.
class EstimatorServer {
 public:
  struct Options {
    std::string cluster;                   ///< the member that this estimator serves
    std::string listen;                    ///< "HOST:PORT"; port 0: any free port
    std::string certificate_pem, key_pem;  ///< empty: no TLS
    std::string client_ca_pem;             ///< CA of client certificates
    bool requires_client_certificate = false;
    MemberView* member = nullptr;  ///< must outlive the server
    const Clock* clock = nullptr;
  };
  /// Listens. Errors: kIo, cannot listen; kBadRequest, certificates that cannot be read.
  static Result<std::unique_ptr<EstimatorServer>> start(const Options& options);
  ~EstimatorServer();

  int port() const;

 private:
  struct Impl;
  explicit EstimatorServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace shiplog::estimator
