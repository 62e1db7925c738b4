#include "services/api/admission_policies/admission_policies.h"

namespace shiplog::api {

void AdmissionPoliciesInForce::load(const State& state) {
  const std::lock_guard lock{mutex_};
  for (const auto& [name, object] : state.objects(types_.policies)) {
    policies_[name.name.str()] = std::make_shared<const AdmissionPolicy>(object.value);
  }
  for (const auto& [name, object] : state.objects(types_.bindings)) {
    bindings_[name.name.str()] = std::make_shared<const AdmissionPolicyBinding>(policy_binding_of(object.value));
  }
  publish();
}

void AdmissionPoliciesInForce::on_folded(const State&, const DecodedRecord&, const Folded& folded) {
  for (const Change& change : folded.changes) {
    const bool policy = change.object.type == types_.policies;
    if (!policy && change.object.type != types_.bindings) continue;
    const std::lock_guard lock{mutex_};
    const std::string name = change.object.name.str();
    if (policy && change.removed()) {
      policies_.erase(name);
    } else if (policy) {
      policies_[name] = std::make_shared<const AdmissionPolicy>(change.after);
    } else if (change.removed()) {
      bindings_.erase(name);
    } else {
      bindings_[name] = std::make_shared<const AdmissionPolicyBinding>(policy_binding_of(change.after));
    }
    publish();
  }
}

void AdmissionPoliciesInForce::publish() {
  std::map<std::string, BoundPolicy> bound;
  for (const auto& [name, binding] : bindings_) {
    const auto policy = policies_.find(binding->policy);
    if (policy == policies_.end()) continue;
    BoundPolicy& entry = bound[binding->policy];
    entry.policy = policy->second;
    entry.bindings.push_back(binding);
  }
  auto list = std::make_shared<std::vector<BoundPolicy>>();
  for (auto& [name, entry] : bound) list->push_back(std::move(entry));
  none_.store(list->empty());
  bound_ = std::move(list);
}

AdmissionPoliciesInForce::Bound AdmissionPoliciesInForce::in_force() const {
  const std::lock_guard lock{mutex_};
  return bound_;
}

}  // namespace shiplog::api
