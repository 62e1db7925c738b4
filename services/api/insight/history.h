#pragma once

#include <optional>
#include <string>

#include "events/base/ids.h"
#include "events/base/result.h"
#include "events/base/value.h"
#include "projections/history/history_query.h"
#include "projections/store/reader.h"

namespace shiplog::api {

/// The versions of one object, the newest `limit` (0: all): each with revision, time, verb, requester, cause and what
/// changed since the one before. The data of Secrets is omitted. `at`: the versions up to that revision. Empty: there
/// never was such an object.
Result<Value> history_of(const View& view, const ObjectKey& key, size_t limit, bool newest_first,
                         std::optional<Revision> at = {});

/// Where a version is from: revision, time, offset, operation, who, why (the event, its summary, what led to it), verb
/// and trace.
Result<Value> origin_of(const View& view, const VersionRow& version);
/// What changed between two stored versions of the object, as a list. The data of Secrets is omitted.
Result<Value> changes_between(const ObjectKey& key, const std::string& before, const std::string& after);

/// Whether the field is part of a Secret's data; it is shown as kHidden.
bool is_secret_path(const ObjectKey& key, const std::string& path);
inline constexpr const char* kHidden = "(secret)";

}  // namespace shiplog::api
