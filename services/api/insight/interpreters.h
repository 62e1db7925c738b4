#pragma once

#include <optional>

#include "events/base/ids.h"
#include "events/base/value.h"
#include "projections/store/reader.h"

namespace shiplog::api {

/// Who reads the status and the health of the objects of a kind, and sums them up: {status, health, aggregation}.
/// `resource`: spec.resource of a binding. Blocks on the projection.
Result<Value> interpreters_of(const View& view, std::optional<Revision> at, const Value& resource);

}  // namespace shiplog::api
