#include "services/api/pod_security/secured_namespaces.h"

namespace shiplog::api {

void SecuredNamespaces::load(const State& state) {
  const std::lock_guard lock{mutex_};
  for (const auto& [name, object] : state.objects(type::kNamespace)) take(name.name.str(), object.value);
}

void SecuredNamespaces::on_folded(const State&, const DecodedRecord&, const Folded& folded) {
  for (const Change& change : folded.changes) {
    if (change.object.type != type::kNamespace) continue;
    const std::lock_guard lock{mutex_};
    take(change.object.name.str(), change.removed() ? Value{} : change.after);
  }
}

void SecuredNamespaces::take(const std::string& name, const Value& ns) {
  const PodSecurityPolicy policy = pod_security_of(ns["metadata"]["labels"]).first;
  if (policy.is_privileged()) {
    policies_.erase(name);
  } else {
    policies_[name] = policy;
  }
  none_.store(policies_.empty());
}

PodSecurityPolicy SecuredNamespaces::policy_of(std::string_view ns) const {
  if (none_.load()) return {};
  const std::lock_guard lock{mutex_};
  const auto found = policies_.find(ns);
  return found == policies_.end() ? PodSecurityPolicy{} : found->second;
}

}  // namespace shiplog::api
