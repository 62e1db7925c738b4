#pragma once

#include <string>
#include <utility>
#include <vector>

#include "events/base/value.h"
#include "events/explain/policy_facts.h"
#include "events/state/claim.h"
#include "events/state/policy.h"
#include "events/state/state.h"

namespace shiplog::binder {

inline constexpr const char* kPolicyNamespaceAnnotation = annotation::kPolicyNamespace;
inline constexpr const char* kPolicyNameAnnotation = annotation::kPolicyName;
inline constexpr const char* kClusterPolicyNameAnnotation = annotation::kClusterPolicyName;

using shiplog::Claim;
using shiplog::claim_of;
/// Some part of a claim is there, even if not all of it.
bool has_claim_metadata(const Value& object);

/// Writes the claim by `policy` and removes any other (D-16).
void set_claim(Value& object, const Policy& policy);

/// Takes an annotation off, and the map with its last one.
void erase_annotation(Value& object, const char* key);

/// "PropagationPolicy default/nginx".
std::string described(const Policy& policy);

/// A policy and how it selects an object.
struct PolicyCandidate {
  const Policy* policy = nullptr;
  SelectorMatch match = SelectorMatch::kNone;
};

/// The policies that select an object.
struct Considered {
  std::vector<PolicyCandidate> candidates;  ///< by name
  /// Those not permitted to claim it (decision 0028), each with the cause.
  std::vector<std::pair<const Policy*, std::string>> objections;
};

/// The policy that an unclaimed object goes to: policies of its own namespace first, then cluster-scoped ones; among
/// them by priority, selector match and name (D-11, D-12). `considered` gets all that select it.
PolicyCandidate choose_policy(const State& state, const ObjectKey& key, const Value& object, Considered& considered);

/// Why the policy may not have an object that it selects (decision 0028); empty: it may.
std::string objection(const State& state, const Policy& policy, const ObjectKey& key, const Value& object);

/// The policy that takes the object from `holder`, whose claim it carries and which exists (D-42, D-43): one with
/// spec.preemption Always and a selector with this very namespace and name. Of the same kind, it must have the higher
/// priority; a PropagationPolicy takes from a ClusterPropagationPolicy whatever the priorities, and never the other way
/// round. Of several the one of highest priority, then the first by name. One not permitted to claim it (decision 0028)
/// takes nothing. None: no policy.
PolicyCandidate preemptor(const State& state, const ObjectKey& key, const Value& object, const Policy& holder);
/// The step that explains it.
PolicyPreempted preemption(const Policy& by, const Policy& holder);

}  // namespace shiplog::binder
