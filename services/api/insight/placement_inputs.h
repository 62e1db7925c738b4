#pragma once

#include <optional>
#include <string>

#include "services/api/insight/why.h"

namespace shiplog::api {

/// The binding, the fleet and what else a placement of it is decided from, as of a revision.
/// nullopt: the revision is before the kept history, or there was no such binding.
Result<std::optional<PlacementInputs>> placement_inputs(const View& view, const ObjectKey& binding,
                                                        const std::string& template_type, Revision at, UtcMillis now);

}  // namespace shiplog::api
