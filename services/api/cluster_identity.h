#pragma once

#include <optional>
#include <string>

#include "services/api/stored_objects.h"

namespace shiplog::api {

/// The write gives the Cluster an id (the uid of the member's namespace kube-system) that it did not have before.
/// `old`: null if there is none.
bool takes_cluster_id(const Value& old, const Value& object);

/// Another Cluster than `object` that has the same spec.id: a member is registered once (1.3.2). nullopt: there is
/// none. Reads the projection: all Clusters.
Result<std::optional<std::string>> same_member(const StoredObjects& objects, const Value& object);

}  // namespace shiplog::api
