#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "events/base/result.h"
#include "events/sqlite/connection.h"

namespace shiplog {

/// A row of the table `version`, as its schema describes it, with its JSON as it was written. The texts belong to the
/// row that it was read from.
struct StoredVersion {
  int64_t revision = 0, object = 0, type = 0;
  std::string_view ns, name;
  int64_t operation = 0, offset = 0, event_index = 0, previous = 0;
  std::string_view json;
};

/// How many columns stored_version() reads.
inline constexpr int kVersionColumns = 10;
/// These columns, for a SELECT from `version` under this name. The JSON is NULL if the row does not match its checksum.
/// `base`: the name of a version_base that is joined to it; empty: none is.
std::string version_columns(const std::string& alias, const std::string& base = {});

/// Reads and verifies a row; `first` is the index of the first of those columns.
/// Error: kCorrupt, the row is not what was written, with the file, the revision and what to do.
Result<StoredVersion> stored_version(const sqlite::Connection& connection, const sqlite::Statement& row, int first = 0);

}  // namespace shiplog
