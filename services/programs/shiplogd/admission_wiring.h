#pragma once

#include <memory>

#include "services/api/admission_policies/admission_policies.h"
#include "services/api/api_server.h"
#include "services/api/pod_security/secured_namespaces.h"
#include "services/api/webhooks/webhooks.h"

namespace shiplog {

/// What the admission of a control plane knows of its state: webhooks, policies, and the labels of namespaces.
class AdmissionWiring {
 public:
  /// Before the record starts. This outlives the replica.
  void observe(Replica& replica);
  /// Takes in the state that the record was restored with. Threads: the executor.
  void load(const State& state);
  /// `denied_networks`: those that no webhook may be in.
  void enable_in(api::ApiServer::Options& options, std::shared_ptr<const Networks> denied_networks);
  /// No webhook is called any more.
  void stop() { webhooks_.stop(); }

 private:
  api::Webhooks webhooks_;
  api::AdmissionPoliciesInForce validating_{api::kValidatingTypes}, mutating_{api::kMutatingTypes};
  api::SecuredNamespaces namespaces_;
};

}  // namespace shiplog
