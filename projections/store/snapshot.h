#pragma once

#include <string>

#include "events/base/result.h"
#include "projections/store/checkpoint.h"

namespace shiplog::store {

/// Copies the database at `path` to `target`, as of one moment, also while it is being written. `target` appears
/// complete or not at all, and is on disk when this returns.
Result<Checkpoint> write_snapshot(const std::string& path, const std::string& target);

/// Checks every page of a snapshot. Errors: kNotFound; kCorrupt; kUnavailable, created with another schema or fold
/// version.
Result<Checkpoint> check_snapshot(const std::string& snapshot);

/// Replaces the database at `path`, which must be closed, by a copy of `snapshot`. Errors: kNotFound; kCorrupt;
/// kUnavailable, created with another schema or fold version.
Result<Checkpoint> install_snapshot(const std::string& snapshot, const std::string& path);

/// Removes the database file and its WAL files. It need not exist.
Result<void> remove_database(const std::string& path);

}  // namespace shiplog::store
