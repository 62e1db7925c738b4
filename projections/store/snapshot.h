#pragma once

#include <string>

#include "events/base/result.h"
#include "projections/store/checkpoint.h"

namespace shiplog::store {

/// Copies the database at `path` to `target`, as of one moment, also while it is written. `target` appears whole or
/// not at all, and is on the disk when this returns.
Result<Checkpoint> write_snapshot(const std::string& path, const std::string& target);

/// Puts a copy of `snapshot` in the place of the database at `path`, which nobody has open. Errors: kNotFound;
/// kCorrupt; kUnavailable, made with another schema or fold version.
Result<Checkpoint> install_snapshot(const std::string& snapshot, const std::string& path);

/// Removes the file and what belongs to it. It need not exist.
Result<void> remove_database(const std::string& path);

}  // namespace shiplog::store
