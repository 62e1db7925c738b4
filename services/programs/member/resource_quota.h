#pragma once

#include <map>
#include <string>
#include <vector>

#include "events/decision.h"
#include "events/state/quota.h"
#include "services/programs/member/decision_changes.h"

namespace shiplog::member {

inline constexpr const char* kResourceQuotas = "resourcequotas";

/// The status of a ResourceQuota: hard as in the spec, used what the objects of its namespace use. Pure.
/// Source: pkg/controller/resourcequota, pkg/quota/v1/evaluator/core/pods.go.
Result<Decided> decide_resource_quota(const State& state, const ObjectKey& key, UtcMillis now);

/// What a change means for the quotas of its namespace: those that count it.
void wake_quotas(const State& state, const Change& change, std::vector<ObjectKey>& wake);
/// A quota may have room again: objects of this type in its namespace, which create pods.
void wake_limited(const State& state, const Change& change, const char* type, std::vector<ObjectKey>& wake);

/// Admits new pods of one namespace as an API server does: what they use is added to status.used of its ResourceQuotas
/// by the entry that creates them, bound to the revision at which there was room. So no two entries use the same room.
class PodQuotas {
 public:
  PodQuotas(const State& state, std::string_view ns);
  /// `quotas`: those of the namespace, as the API serves them.
  explicit PodQuotas(const std::vector<Value>& quotas);

  /// "" when the pod is admitted, and charged; otherwise the API server's message.
  std::string admit(const Value& pod);
  /// Adds the charges to the entry that creates the pods.
  void charge(Changes& changes) const;
  /// The quotas that were charged, with the new usage.
  std::vector<Value> charged() const;

 private:
  struct Quota {
    Value object;
    const Object* stored;  // nullptr: it was given as a value
    ResourceList hard, used;
    bool charged = false;
  };
  void add(const Value& quota, const Object* stored);
  static Value with_usage(const Quota& quota);
  std::vector<Quota> quotas_;  // by name
};

}  // namespace shiplog::member
