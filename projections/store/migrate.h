#pragma once

#include <string>

#include "events/base/result.h"

namespace shiplog::store {

/// Makes a database of this build's schema at `path` of one that another build made, table by table and column by
/// column: what both have is copied; a column that is new gets its default, or else an empty value. For a projection
/// whose journal is trimmed, which cannot be folded again: whether the result holds the same objects, State::restore
/// finds out, by their hash. `from` must be closed. Errors: kCorrupt, the tables have nothing in common; kIo.
Result<void> migrate_database(const std::string& from, const std::string& path);

}  // namespace shiplog::store
