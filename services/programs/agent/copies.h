#pragma once

#include <optional>
#include <string>
#include <vector>

#include "events/base/ids.h"
#include "events/base/time.h"
#include "events/base/value.h"
#include "events/event.h"

namespace shiplog::agent {

// How the copies in the agent's state relate to the objects of the control plane ("remote"). Pure.
//
//   metadata and spec   control plane ──► copy
//   status              at first control plane ──► copy, from then on copy ──► control plane; of conditions those that
//                       dispatcher and collector write, others stay the control plane's

/// One entry each, in this order; empty: the copy is as it should be.
using Entries = std::vector<std::vector<Event>>;

/// Brings the copy of a Work in line with the remote one, so that both have the same generation: what was applied is
/// recognized by it. `copy` nullptr: there is none yet. A Work of another uid, or whose generation has moved by more
/// than the fold counts for one change, is removed and made anew.
Entries take_in_work(const ObjectKey& key, const Value* copy, const Value& remote);

/// The same for the Cluster. The copy always has syncMode Push: for the roles here their member is one to connect to.
Entries take_in_cluster(const ObjectKey& key, const Value* copy, const Value& remote);

/// A JSON merge patch of works/status, which fails if the Work has changed; nullopt: the status is as it should be.
std::optional<Value> work_status_patch(const Value& copy, const Value& remote);

/// The Work as it is after the member has given it back; nullopt: it does not wait for that.
std::optional<Value> released_work(const Value& remote);

/// The Cluster with the copy's status, for a PUT that fails if it has changed; nullopt: it is as it should be. `now`:
/// the time of conditions that the control plane has changed meanwhile, and that change again by this.
std::optional<Value> cluster_with_status(const Value& copy, const Value& remote, UtcMillis now);

/// A CustomResourceDefinition with as much as tells how the manifest's kind is served in the member: from the Cluster's
/// status.apiEnablements. nullopt: the member does not serve it.
std::optional<Value> definition_for(const Value& cluster, const Value& manifest);

/// The same from the manifest of a CustomResourceDefinition.
Value slim_definition(const Value& manifest);

}  // namespace shiplog::agent
