#pragma once

#include <optional>
#include <string>

#include "events/base/ids.h"
#include "events/base/result.h"
#include "events/base/value.h"
#include "projections/store/reader.h"

namespace shiplog::api {

/// What is compared: the objects of a type (empty: of all), in a namespace (nullopt: all), with a name (empty: all), at
/// two revisions.
struct ComparisonQuestion {
  Revision from, to;
  std::string type = {};
  std::optional<std::string> ns = {};
  std::string name = {};
  std::string user = {};           ///< only objects that this user or service changed in between; empty: all
  size_t limit = 1000;             ///< of objects
  size_t most_versions = 200'000;  ///< that are read; a comparison occupies a thread of the server
};

/// The objects that are not the same at both revisions, sorted by key: {object, operation, changes, versions}, where
/// versions has the origin of each change in between, and `more` is true if there are more than `limit`. An object that
/// was changed and changed back is left out. Errors: kGone, `from` is no longer kept; kBadRequest, there are too many
/// versions in between. Blocks on the projection.
Result<Value> compare(const View& view, const ComparisonQuestion& question);

}  // namespace shiplog::api
