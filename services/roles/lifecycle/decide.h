#pragma once

#include "events/api.h"
#include "events/decision.h"

namespace shiplog::lifecycle {

/// What one object's life asks for next. Pure.
/// A Cluster: its execution space and finalizer, and when it leaves, the steps of CL-12 to CL-14.
/// A Namespace that is being deleted: its content goes, then its finalizer; while some stays, conditions say what
/// (NSP-5).
/// A CustomResourceDefinition that is being deleted: its objects go first (CRD-13).
/// A Pod that waits for a node to end it, where there is no such node: nobody will (DEL-9).
/// Anything else: owner references and the finalizers of cascading deletion (DEL-12 to DEL-14).
///
/// - Owns: execution namespaces, the finalizers of clusters, namespaces and definitions, owner references, and
///   deletions that follow from other deletions.
/// - Trigger: something is deleted or loses an owner, a cluster changes, or the last of what is waited for goes.
/// - Failures: none of its own; what foreign finalizers hold is waited for.
///
///   cluster: joined ──► has execution namespace and finalizer ──deleted──► namespace emptied
///            ──► no binding names it ──► gone
Result<Decided> decide(const State& state, const ObjectKey& key, UtcMillis now);

// The parts of it, each for an object that exists. Nothing: the next part decides.
Decided decide_cluster(const State& state, const ObjectKey& key, const Object& cluster);
Decided decide_namespace(const State& state, const ObjectKey& key, const Object& ns, UtcMillis now);
Decided decide_definition(const State& state, const ObjectKey& key, const Object& definition);
Decided decide_pod(const State& state, const ObjectKey& key, const Object& pod);
Decided decide_garbage(const State& state, const ObjectKey& key, const Object& object);

/// The deletion of `object` that follows from that of `because`: its namespace, owner, definition or cluster.
DeletionRequested deletion_because_of(const State& state, ObjectKey object, ObjectKey because,
                                      std::string propagation = "Background");

/// A pod that is being deleted and not yet ended by its node.
bool has_grace_left(const State& state, const ObjectKey& key, const Value& object);

/// One decision touches at most this many objects; the rest follows once it is folded.
inline constexpr size_t kMostAtOnce = 200;

}  // namespace shiplog::lifecycle
