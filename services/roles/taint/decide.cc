#include "services/roles/taint/decide.h"

#include "services/roles/taint/parts.h"

namespace shiplog::taint {
namespace {

constexpr const char* kPolicies = "taint-policies";

}  // namespace

ObjectKey policies_key(const std::string& cluster) { return {type::kCluster, kPolicies, cluster}; }

Result<std::optional<Decision>> decide(const State& state, const ObjectKey& key, UtcMillis now) {
  const ObjectKey subject{key.type, key.type == type::kCluster ? "" : key.ns, key.name};
  const Object* object = state.find(subject);
  if (object == nullptr) return std::optional<Decision>{};
  Decision decision;
  if (key.type == type::kCluster) {
    decision.events = key.ns == kPolicies ? decide_policies(state, subject) : decide_health(subject, object->value);
  } else if (is_binding(key.type)) {
    SHIPLOG_TRY(Evictions evictions, decide_evictions(state, key, object->value, now));
    decision.events = std::move(evictions.events);
  }
  if (decision.events.empty()) return std::optional<Decision>{};
  decision.expects.push_back({subject, object->revision});
  return std::optional<Decision>{std::move(decision)};
}

std::optional<UtcMillis> next_look(const State& state, const ObjectKey& binding, UtcMillis now) {
  const Object* object = state.find(binding);
  if (object == nullptr || !is_binding(binding.type)) return std::nullopt;
  const auto evictions = decide_evictions(state, binding, object->value, now);
  return evictions ? evictions.value().next : std::nullopt;
}

}  // namespace shiplog::taint
