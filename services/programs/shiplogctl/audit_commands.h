#pragma once

#include <string>
#include <vector>

#include "events/base/result.h"
#include "events/base/value.h"
#include "services/programs/shiplogctl/commands.h"
#include "services/programs/shiplogctl/connection.h"
#include "services/programs/shiplogctl/terminal.h"

namespace shiplog::ctl {

struct AuditSqlOptions {
  std::string statement;                ///< or `file`, or `query`
  std::string file;                     ///< "-": standard input
  std::string query;                    ///< name of a predefined one
  std::vector<std::string> parameters;  ///< NAME=VALUE
  std::string output;                   ///< "", "table", "json", "jsonl", "csv", "parquet", "yaml"
  std::string to;                       ///< a file; empty: standard output
  std::string timeout = "10s";
  int64_t limit = 1'000;  ///< 0: as many as the server answers
  bool list = false;      ///< the predefined ones, instead
  bool show = false;      ///< the statement, instead
};
/// The statement, with its parameters, that the options mean. Errors: kBadRequest, kNotFound.
Result<Value> sql_question(const AuditSqlOptions& options);
/// What --list and --show print.
void print_saved_queries(const Output& to);
/// `question`: what sql_question() made of the options.
Result<void> audit_sql(ServerConnection& plane, const Value& question, const AuditSqlOptions& options,
                       const Output& to);

struct AuditExportOptions {
  AuditOptions filter;  ///< without its limit and output
  std::string format;   ///< "jsonl", "csv", "parquet", "cloudevents"
  std::string file;     ///< empty: standard output
  int64_t from = 0;     ///< offset of the first entry
  bool append = false;  ///< to the file, behind what is complete of it
};
/// Streams; holds no more than a row group. Errors name how to continue.
Result<void> audit_export(ServerConnection& plane, const AuditExportOptions& options, const Output& to);

}  // namespace shiplog::ctl
