#pragma once

#include <optional>

#include "events/api.h"
#include "events/decision.h"

namespace shiplog::lifecycle {

/// The next step in the life of one object. Pure.
/// A Cluster: its execution space and finalizer, and when it is terminating, the steps of CL-12 to CL-14.
/// A terminating Namespace: after kNamespaceDelay its content is deleted, then its finalizer; while some stays,
/// conditions report what (NSP-5).
/// A terminating CustomResourceDefinition: its objects are deleted first (CRD-13). One whose names other kinds have: it
/// gets them when they are free (CRD-3).
/// A Pod that waits for a node to end it, where there is no such node: none will (DEL-9).
/// A ResourceInterpreterCustomization with a new spec: functions that were in quarantine are run again.
/// A finished Job with ttlSecondsAfterFinished: it is deleted when that time is over. Members' Jobs have no such time.
/// Anything else: owner references and the finalizers of cascading deletion (DEL-12 to DEL-14).
///
/// - Owns: execution namespaces, the finalizers of clusters, namespaces and definitions, owner references, and
///   deletions that follow from other deletions.
/// - Trigger: something is deleted or loses an owner, a cluster or a customization changes, a Job has finished, or the
///   last of what is waited for is deleted.
/// - Failures: none of its own; what foreign finalizers hold is waited for.
///
///   cluster: joined ──► has execution namespace and finalizer ──deleted──► namespace emptied
///            ──► no binding names it ──► removed
Result<Decided> decide(const State& state, const ObjectKey& key, UtcMillis now);

/// The same in a cluster where no webhook protects objects from deletion: its label (D-41) is one like any other.
Result<Decided> decide_unprotected(const State& state, const ObjectKey& key, UtcMillis now);

enum class DeletionProtection { kOn, kOff };

/// Clients read and update a terminating namespace: for so long its content stays, as with kube-controller-manager. The
/// execution space of a leaving cluster is not waited for: there is only what the control plane itself wrote.
inline constexpr Millis kNamespaceDelay{5'000};

// The parts of it, each for an object that exists. Nothing: the next part decides.
Decided decide_cluster(const State& state, const ObjectKey& key, const Object& cluster);
Decided decide_namespace(const State& state, const ObjectKey& key, const Object& ns, UtcMillis now,
                         DeletionProtection protection);
Decided decide_definition(const State& state, const ObjectKey& key, const Object& definition);
Decided decide_names(const State& state, const ObjectKey& key, const Object& definition, UtcMillis now);
Decided decide_customization(const ObjectKey& key, const Object& customization, UtcMillis now);
Decided decide_pod(const State& state, const ObjectKey& key, const Object& pod);
Decided decide_job(const ObjectKey& key, const Object& job, UtcMillis now);
Decided decide_garbage(const State& state, const ObjectKey& key, const Object& object, DeletionProtection protection);

/// When the object, if it is a finished Job, is to be deleted. The time of its end is that of its condition Complete or
/// Failed, else its completionTime. nullopt: it stays, or is being deleted.
std::optional<UtcMillis> expiry_of_job(const ObjectKey& key, const Value& object);

/// The deletion of `object` that follows from that of `because`: its namespace, owner, definition or cluster.
DeletionRequested deletion_because_of(const State& state, ObjectKey object, ObjectKey because,
                                      std::string propagation = "Background");

/// A pod that is being deleted and not yet ended by its node.
bool has_grace_left(const State& state, const ObjectKey& key, const Value& object);

/// One decision touches at most this many objects; the rest follows once it is folded.
inline constexpr size_t kMostAtOnce = 200;

}  // namespace shiplog::lifecycle
