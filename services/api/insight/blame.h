#pragma once

#include <optional>

#include "events/base/ids.h"
#include "events/base/result.h"
#include "events/base/value.h"
#include "projections/store/reader.h"

namespace shiplog::api {

/// Which part of an object.
struct BlameQuestion {
  ObjectKey object;
  std::optional<Revision> at = {};  ///< nullopt: now
  std::string field = {};           ///< a path and what is below it; empty: the whole object
  bool with_status = false;
  size_t versions = 2000;  ///< at most so many are examined, the newest
};

/// Each value of the object as it is, or was, with the version that gave it this value: {path, value, origin}, where
/// origin is an index into the list `origins`. Sorted by path. Where no more versions are examined, a value that an
/// older one gave has no origin, and `examinedFrom` is the revision of the oldest one that was; `olderDeleted`: those
/// before it are no longer kept. The data of Secrets is omitted. null: there is no such object then. Blocks on the
/// projection.
Result<Value> blame_of(const View& view, const BlameQuestion& question);

}  // namespace shiplog::api
