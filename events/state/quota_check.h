#pragma once

#include <optional>
#include <string>

#include "events/explanation.h"
#include "events/state/quota.h"
#include "events/state/state.h"

namespace shiplog {

/// A FederatedResourceQuota that a change of usage does not fit.
struct QuotaExcess {
  ObjectKey quota;
  Fact why;             ///< QuotaExceeded
  std::string message;  ///< what conditions, Events and API answers show (Q-15, Q-19)
};

/// The first quota of the namespace, by name, that does not permit its bindings to use so much more: `more` may have
/// negative amounts. nullopt: all of them permit it. The fold's check, and the one with which roles find out before
/// they append. Does not look at the gate.
///
/// A quota that limits none of the changed resources does not count. One of which more is used requires that afterwards
/// every resource that it limits is within its limit. Where nothing that it limits grows, it permits the change
/// even beyond its limits (decision 0061).
std::optional<QuotaExcess> quota_excess(const State& state, std::string_view ns, const ResourceList& more);

/// Usage after the change without that before, resource by resource; without zeros.
ResourceList usage_difference(const ResourceList& before, const ResourceList& after);

/// Why a change of a ResourceBinding would be refused by the fold, so that roles need not append it; nullopt: it
/// would not. Null: there is no binding before. Without the gate FederatedQuotaEnforcement nothing is refused.
std::optional<QuotaExcess> quota_excess_of_change(const State& state, const ObjectKey& binding, const Value& before,
                                                  const Value& after);

/// status.overallUsed: of the usage what the quota limits, without sums of zero and below.
Value overall_used(const Quota& quota, const ResourceList& usage);

}  // namespace shiplog
