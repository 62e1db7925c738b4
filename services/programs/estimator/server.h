#pragma once

#include <memory>
#include <string>

#include "events/base/result.h"
#include "events/base/time.h"
#include "services/programs/estimator/member_view.h"

namespace shiplog::estimator {

/// Answers the estimators' protocol (S-71, S-73, S-74) for one member, over gRPC. A request for another cluster is
/// refused.
class Server {
 public:
  struct Options {
    std::string cluster;                   ///< whose estimator this is
    std::string listen;                    ///< "HOST:PORT"; port 0 takes a free one
    std::string certificate_pem, key_pem;  ///< empty: no TLS
    std::string client_ca_pem;     ///< who may have signed the certificates of those who ask; empty: anybody asks
    MemberView* member = nullptr;  ///< outlives the server
    const Clock* clock = nullptr;
  };
  /// Listens. Errors: kIo, cannot listen; kBadRequest, certificates that cannot be read.
  static Result<std::unique_ptr<Server>> start(const Options& options);
  ~Server();

  int port() const;

 private:
  struct Impl;
  explicit Server(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace shiplog::estimator
