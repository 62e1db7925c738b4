#pragma once

#include <vector>

#include "events/base/ids.h"
#include "events/base/result.h"
#include "projections/audit/audit_query.h"
#include "projections/store/reader.h"

namespace shiplog::api {

/// The entries that led to an object's version (the newest at or before `at`; nullopt: the newest), oldest first: its
/// own entry, that one's cause (of a deletion that follows from another: the deletion of the namespace, owner or
/// definition), and so on back to a user's request or to what was observed of a cluster, across objects: BindingPut,
/// PlacementDecided, WorkRendered, WorkStatusObserved, StatusAggregated. Where a cause is not known, the chain
/// continues with what last happened to the same object in another way. In between are the last request for the object
/// itself (a later policy is what causes the chain), and how the members took the Works that were rendered; with
/// `causes_only` they are left out. Empty: no such object.
Result<std::vector<AuditRow>> chain_of(const View& view, const ObjectKey& key, std::optional<Revision> at = {},
                                       bool causes_only = false);

}  // namespace shiplog::api
