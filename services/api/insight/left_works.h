#pragma once

#include <optional>
#include <set>
#include <string>

#include "events/base/ids.h"
#include "projections/store/reader.h"

namespace shiplog::api {

/// The clusters whose execution spaces have a Work of this name: of an object without a binding, what is still to be
/// taken from these members. Blocks on the projection.
Result<std::set<std::string>> clusters_with_work(const View& view, const std::string& work, std::optional<Revision> at);

}  // namespace shiplog::api
