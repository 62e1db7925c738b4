#pragma once

#include <vector>

#include "services/api/request.h"
#include "services/api/status.h"
#include "services/api/stored_objects.h"

/// Read-only views: objects that clients expect beside a workload, computed when they are read and never stored or
/// propagated. They are in answers to get and list, not in watches.
namespace shiplog::api {

/// ReplicaSets and ControllerRevisions: of a server whose Deployments have none, because their pods run elsewhere.
bool has_views(const Kind& kind);

/// The view with the name of the request's path; null: there is none. Blocks on the projection.
Result<Value> view_of(const StoredObjects& objects, const Kind& kind, const ObjectKey& key);

/// Adds to `items` the views that belong to the list, unless an object is stored under the name, and sorts. Blocks.
Result<void> add_views(const StoredObjects& objects, const Kind& kind, const std::string& ns,
                       const ReadOptions& options, std::vector<Value>& items);

/// The views that belong to a list: not to one of the past, nor to one that begins a watch (resourceVersion 0), which
/// would never see them change.
bool lists_views(const Kind& kind, const ReadOptions& options);

/// What a write to a view is answered with.
Error view_is_read_only(const StatusDetails& subject, const Value& view);

}  // namespace shiplog::api
