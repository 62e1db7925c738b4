#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "events/base/time.h"
#include "services/roles/collector/summary_change.h"

namespace shiplog::agent {

/// Of `shiplogd agent`, with the names and defaults of karmada-agent.
struct AgentOptions {
  std::string cluster;
  std::string cluster_namespace = "karmada-cluster";  ///< of the Lease and of what is reported as Secrets
  std::string provider, region;
  std::vector<std::string> zones;
  std::string api_endpoint;   ///< of the member, as it is entered into the Cluster; empty: the one that is used here
  std::string proxy_address;  ///< spec.proxyURL
  bool reports_credentials = true, reports_impersonator = true;

  std::string karmada_kubeconfig, karmada_context;  ///< the control plane
  std::string karmada_kubeconfig_namespace = "karmada-system";
  std::string kubeconfig, context;  ///< the member; empty: the service account of the pod that it runs in

  Millis status_every{10'000};
  Millis success_threshold{30'000}, failure_threshold{30'000};
  Millis lease_duration{40'000};
  double lease_renew_fraction = 0.25;
  bool counts_resources = true;
  collector::SummaryThresholds summaries;
  size_t works_at_once = 5;

  bool rotates_certificate = false;
  Millis rotation_check_every{300'000};
  double rotation_threshold = 0.2;  ///< of the certificate's lifetime: rotated when no more is left

  std::string user_agent = "shiplogd-agent";
};

}  // namespace shiplog::agent
