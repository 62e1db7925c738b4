#pragma once

#include <optional>
#include <string>
#include <vector>

#include "events/base/ids.h"
#include "events/base/result.h"
#include "events/base/value.h"
#include "projections/store/reader.h"

namespace shiplog::api {

/// The policies that must not claim the template they select (decision 0028), a sentence for each, by name; none while
/// the options require no check. `at`: as of this revision; nullopt: the view's.
Result<std::vector<std::string>> policy_objections(const View& view, std::optional<Revision> at, const ObjectKey& key,
                                                   const Value& object);

}  // namespace shiplog::api
