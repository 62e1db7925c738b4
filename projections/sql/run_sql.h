#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "events/base/ids.h"
#include "events/base/result.h"
#include "events/base/time.h"

namespace shiplog {

/// NULL, integer, real or text.
using SqlValue = std::variant<std::monostate, int64_t, double, std::string>;

struct SqlRequest {
  std::string statement;
  std::vector<std::pair<std::string, SqlValue>> parameters;  ///< of :name
  size_t most_rows = 1'000;
  size_t most_bytes = size_t{16} << 20U;  ///< of the rows as JSON; the last one may exceed it
  int64_t memory_bytes = int64_t{256} << 20U;
  std::chrono::steady_clock::time_point deadline;
  std::function<bool()> cancelled = [] { return false; };
  UtcMillis now;       ///< what moment('1h') counts from
  std::string secret;  ///< letters and digits that no user can guess
  /// An object or explanation of this type as JSON without what no reader may see.
  std::function<Result<std::string>(std::string_view type, std::string_view json)> without_secrets;
};

struct SqlAnswer {
  std::vector<std::string> columns;
  std::string rows;  ///< "[...],[...]": JSON arrays
  size_t count = 0;
  const char* truncated = "";  ///< "rows" or "bytes": which limit ended it; empty: it is complete
  Revision revision;           ///< as of which it was answered
};

/// Runs one SELECT of a user over sql_views() of the projection at `path`, and over nothing else. Besides SQLite's, it
/// may call utc(MS), the time as text, and moment(TEXT), milliseconds of a time or of so long before now.
/// Blocks. Errors: kBadRequest, the statement cannot be run, with the reason; kTimeout; kTooLarge, memory;
/// kUnavailable, it was cancelled, or the file is being made anew; kCorrupt; kIo. Threads: any.
Result<SqlAnswer> run_sql(const std::string& path, const SqlRequest& request);

}  // namespace shiplog
