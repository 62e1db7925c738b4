#pragma once

#include "events/decision.h"

namespace shiplog::dispatcher {

/// The Works that should exist. Pure. Other keys than these need no decision.
/// A ResourceBinding or ClusterResourceBinding: a Work for every target cluster, none elsewhere (B-1 to
/// B-7, B-23 to B-25); when it is terminating its Works are deleted, then its finalizer.
/// A Namespace: a Work for every member (B-27).
/// A terminating cluster, or one whose execution space does not exist yet, gets no new Works.
///
/// - Owns: Works and the condition WorksSynced; the effects in apply_work.h write Works to members.
/// - Trigger: the generation of a binding, a namespace, an override policy, a cluster's labels, an interpreter.
/// - Failures: a target cannot be rendered: the others are, and WorksSynced names it. A member that refuses or is
///   unreachable is retried with backoff.
///
///   Work: rendered ──the member accepts it──► applied ──no longer a target──► terminating ──pruned──► removed
///            │  ▲                               │
///            │  └──────generation changes───────┘
///            └──the member refuses──► not applied ──retried──► applied
Result<Decided> decide(const State& state, const ObjectKey& key, UtcMillis now);

/// A Namespace is carried to every member without a policy: neither reserved, nor `default`, nor one that
/// --skipped-propagating-namespaces leaves out, nor opted out.
bool synced_namespace(const FleetOptions& options, const Value& ns);

}  // namespace shiplog::dispatcher
