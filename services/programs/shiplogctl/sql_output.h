#pragma once

#include <iosfwd>
#include <string>

#include "events/base/result.h"
#include "events/base/value.h"
#include "services/programs/shiplogctl/terminal.h"

namespace shiplog::ctl {

/// Prints an answer of /shiplog/v1/sql as "table" (or ""), "json", "jsonl", "csv", "yaml" or "parquet".
Result<void> print_sql(const Value& answer, const std::string& output, const Terminal& terminal, std::ostream& out);

}  // namespace shiplog::ctl
