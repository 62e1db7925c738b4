#pragma once

#include <optional>
#include <string>

#include "events/base/ids.h"
#include "events/base/value.h"
#include "projections/store/reader.h"

namespace shiplog::api {

/// Why a template has no binding, and is in no member, in words. Blocks on the projection.
Result<std::string> unclaimed_because(const View& view, std::optional<Revision> at, const ObjectKey& key,
                                      const Value& object);

}  // namespace shiplog::api
