#include "services/programs/shiplogd/admission_wiring.h"

#include <utility>

namespace shiplog {

void AdmissionWiring::observe(Replica& replica) {
  replica.add_observer(webhooks_);
  replica.add_observer(validating_);
  replica.add_observer(mutating_);
  replica.add_observer(namespaces_);
}

void AdmissionWiring::load(const State& state) {
  webhooks_.load(state);
  validating_.load(state);
  mutating_.load(state);
  namespaces_.load(state);
}

void AdmissionWiring::enable_in(api::ApiServer::Options& options, std::shared_ptr<const Networks> denied_networks) {
  webhooks_.deny(std::move(denied_networks));
  options.webhooks = &webhooks_;
  options.policies = &validating_;
  options.mutating_policies = &mutating_;
  options.secured_namespaces = &namespaces_;
}

}  // namespace shiplog
