#pragma once

#include "events/base/ids.h"
#include "events/base/result.h"
#include "events/base/time.h"
#include "events/decision.h"
#include "events/state/state.h"

namespace shiplog::binder {

/// Matches templates with policies. Pure.
/// `key` is one of two:
/// - a policy: it gets its permanent id and finalizer, and loses the finalizer once nothing carries its claim;
/// - a template (any other object): it is claimed by the policy that selects it, and its binding is put as policy and
///   template want it; or it is released, with its binding, from a deleted, terminating or no longer matching policy. A
///   policy with spec.preemption Always may preempt another (D-42), and a Lazy one waits for the user (D-47).
/// Nothing, also while it waits for a change that will trigger the key.
/// Errors: kForbidden, no selecting policy may claim it (decision 0028); kConflict, another object's binding has
/// the name; kUnavailable, waiting for dependent overrides; kInvalid and kNotFound, replicas or priority are
/// unknown. Source: docs/reference/propagation.md.
///
/// - Owns: bindings, but for their placement, evictions and status; the claims on templates; the finalizers of
///   policies.
/// - Trigger: a template or policy changes but for its status; a binding is edited; interpreters or options change.
/// - Failures: an interpreter fails, or waits for an answer; another policy or binding is in the way. Retried; the
///   template stays as it was.
///
///   unclaimed ──a policy selects it──► claimed, with a binding ──another policy preempts──► claimed by that policy
///       ▲                                 │
///       └──the policy is deleted, terminating or no longer selects it──┘
Result<Decided> decide(const State& state, const ObjectKey& key, UtcMillis now);

/// The policy that decide() would bind this template by, or would have, had it not failed; empty: none.
State::Name policy_for(const State& state, const ObjectKey& key);
/// The template with the claim of that policy: what decide() has interpreted. Null: no policy selects it.
Value template_to_bind(const State& state, const ObjectKey& key);

}  // namespace shiplog::binder
