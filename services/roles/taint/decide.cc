#include "services/roles/taint/decide.h"

#include "services/roles/taint/decisions.h"
#include "services/roles/taint/fleet_evictions.h"

namespace shiplog::taint {
namespace {

constexpr const char* kPolicies = "taint-policies";
constexpr const char* kEvictions = "evictions";

}  // namespace

ObjectKey policies_key(const std::string& cluster) { return {type::kCluster, kPolicies, cluster}; }

ObjectKey evictions_key() { return {type::kCluster, kEvictions, "fleet"}; }

Result<Decided> decide(const State& state, const ObjectKey& key, UtcMillis now) {
  if (key == evictions_key()) return decide_fleet_evictions(state, now).decided;
  const ObjectKey subject{key.type, key.type == type::kCluster ? "" : key.ns, key.name};
  const Object* object = state.find(subject);
  if (object == nullptr) return Nothing{};
  Evictions found;
  std::optional<Error> refused;
  if (key.type == type::kCluster) {
    found.events =
        key.ns == kPolicies ? decide_policies(state, subject, refused) : decide_health(subject, object->value);
  } else if (is_binding(key.type)) {
    SHIPLOG_TRY(found, decide_evictions(state, key, object->value, now));
  }
  DecisionBuilder decision;
  for (Event& event : found.events) {
    if (!decision.try_add(std::move(event))) break;  // a step for the rest
  }
  if (decision.empty() && refused) return *refused;
  if (decision.empty()) return found.next ? Decided{LookAgain{*found.next}} : Nothing{};
  decision.expect({subject, object->revision});
  return std::move(decision).build_and_look_again(now);
}

}  // namespace shiplog::taint
