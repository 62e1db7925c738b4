#include "services/roles/lifecycle/decide.h"

namespace shiplog::lifecycle {

Decided decide_pod(const State& state, const ObjectKey& key, const Object& pod) {
  if (!has_grace_left(state, key, pod.value)) return Nothing{};
  if (state.find({"nodes", "", pod.value["spec"]["nodeName"].str()}) != nullptr) return Nothing{};
  return decide_one(DeletionRequested{.object = key}, {key, pod.revision});
}

bool has_grace_left(const State& state, const ObjectKey& key, const Value& object) {
  return state.fold_version() >= 2 && key.type == "pods" && deleting(object) &&
         object["metadata"]["deletionGracePeriodSeconds"].as_int() > 0;
}

}  // namespace shiplog::lifecycle
