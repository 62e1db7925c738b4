#pragma once

#include <optional>
#include <string>

#include "events/base/ids.h"
#include "events/base/result.h"
#include "events/base/value.h"
#include "projections/history/history_query.h"
#include "projections/store/reader.h"

namespace shiplog::api {

/// "m1:2 m2:1", or "none".
std::string targets_text(const Value& targets);

/// The version of a binding that gave it its present spec.clusters, if they are not those of its last placement.
/// `binding`: as of `at` (nullopt: of the view); `placed`: the revision of that placement; nullopt: it never was.
/// nullopt: they are those, or history no longer holds the version. Blocks on the projection.
Result<std::optional<VersionRow>> targets_changed(const View& view, const ObjectKey& key, const Value& binding,
                                                  std::optional<Revision> placed, std::optional<Revision> at);

}  // namespace shiplog::api
