#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "events/base/networks.h"
#include "events/base/time.h"

namespace shiplog {

/// How the estimators of members are found and called (S-71, S-72). The options have the same names as upstream.
struct EstimatorOptions {
  bool enabled = false;   ///< --enable-scheduler-estimator
  int64_t port = 10352;   ///< --scheduler-estimator-port
  Millis timeout{3'000};  ///< --scheduler-estimator-timeout: for all clusters together
  std::string service_prefix = "karmada-scheduler-estimator";  ///< --scheduler-estimator-service-prefix
  std::string service_namespace = "karmada-system";            ///< --scheduler-estimator-service-namespace
  bool not_in_pull_mode = false;                               ///< --disable-scheduler-estimator-in-pull-mode
  /// Files. TLS is used if there is an authority or if verification is disabled; the certificate and its key identify
  /// the client.
  std::string ca_file, certificate_file, key_file;
  bool skip_verify = false;                                   ///< --insecure-skip-estimator-verify
  std::shared_ptr<const Networks> denied_networks = nullptr;  ///< --denied-networks
};

}  // namespace shiplog
