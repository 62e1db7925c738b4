#pragma once

#include <optional>

#include "events/base/ids.h"
#include "events/base/result.h"
#include "events/base/value.h"
#include "projections/store/reader.h"

namespace shiplog::api {

/// The versions of one object, the newest `limit` (0: all): each with revision, time, verb, requester, cause and what
/// changed since the one before. The data of Secrets is omitted. `at`: the versions up to that revision. Empty: there
/// never was such an object.
Result<Value> history_of(const View& view, const ObjectKey& key, size_t limit, bool newest_first,
                         std::optional<Revision> at = {});

}  // namespace shiplog::api
