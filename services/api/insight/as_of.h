#pragma once

#include <string_view>

#include "events/base/result.h"
#include "events/base/time.h"
#include "projections/store/reader.h"

namespace shiplog::api {

/// The revision that `text` means: a revision ("41"), the one current at a time ("2024-05-01T12:00:00Z"), or the one
/// current so long before `now` ("2h", "1h30m ago"). Error: kBadRequest, `text` is none of these, or lies outside what
/// is held; the message names `field` and the revisions and times that are.
Result<Revision> revision_of(const View& view, std::string_view field, std::string_view text, UtcMillis now);

/// The time of the entry that reached the revision, as RFC 3339 with milliseconds; empty: not held.
Result<std::string> time_of(const View& view, Revision revision);

}  // namespace shiplog::api
