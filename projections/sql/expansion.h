#pragma once

#include <string_view>

#include "events/base/result.h"

namespace shiplog {

/// How often SQLite may copy the common table expressions of one statement.
inline constexpr int kMostExpansions = 1'000;

/// Refuses a statement whose common table expressions use each other so often that SQLite would take minutes and
/// gigabytes only to read it: "WITH a AS (...), b AS (SELECT * FROM a, a), c AS (SELECT * FROM b, b), ..." doubles with
/// each of them, and SQLite copies an expression wherever it is used, before any limit of it applies. Pure.
/// Error: kBadRequest.
Result<void> check_expansion(std::string_view sql);

}  // namespace shiplog
