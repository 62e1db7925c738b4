#pragma once

#include <optional>
#include <string>
#include <vector>

#include "events/base/ids.h"
#include "events/base/value.h"
#include "projections/store/reader.h"

namespace shiplog::api {

/// The policies that select a template, but for the one that has it, sorted: "PropagationPolicy default/web",
/// "ClusterPropagationPolicy web". Those that are being deleted are left out. Blocks on the projection.
Result<std::vector<std::string>> other_policies(const View& view, std::optional<Revision> at, const Value& object);

}  // namespace shiplog::api
