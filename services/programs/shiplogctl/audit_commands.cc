#include <algorithm>
#include <ostream>

#include <CLI/CLI.hpp>

#include "projections/sql/saved_queries.h"
#include "services/programs/shiplogctl/program.h"

namespace shiplog::ctl {

void Program::add_audit_sql(CLI::App& audit) {
  auto* sub = add(audit, "sql", "Query entries, changes and decisions with SQL", [this]() -> Result<int> {
    if (sql_.list) {
      print_saved_queries(to_);
      return 0;
    }
    usage_ = true;
    SHIPLOG_TRY(const Value question, sql_question(sql_));
    usage_ = false;
    if (sql_.show) {
      to_.out << question["statement"].str() << std::endl;
      return 0;
    }
    SHIPLOG_TRY(auto plane, access_.connect());
    SHIPLOG_TRY(audit_sql(plane, question, sql_, to_));
    return 0;
  });
  sub->add_option("STATEMENT", sql_.statement, "One SELECT over the views: entries, events, refusals, changes, ...");
  sub->add_option("-f,--file", sql_.file, "Read the statement from this file; -: from standard input")
      ->type_name("FILE");
  auto* query =
      sub->add_option("--query", sql_.query, "Run this predefined query; --list shows them")->type_name("NAME");
  for (const SavedQuery& saved : saved_queries()) values_[query].push_back(saved.name);
  sub->add_option("--param", sql_.parameters, "The value of a parameter :NAME; can be repeated")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
  sub->add_flag("--list", sql_.list, "List the predefined queries instead");
  sub->add_flag("--show", sql_.show, "Print the statement instead of running it");
  sub->add_option("--limit", sql_.limit, "At most this many rows; 0: as many as the server answers")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  sub->add_option("--timeout", sql_.timeout, "End the statement after this time, at most 50s")
      ->type_name("DURATION")
      ->capture_default_str();
  sub->add_option("--to", sql_.to, "Write to this file")->type_name("FILE");
  add_output(*sub, sql_.output, {"table", "json", "jsonl", "csv", "parquet", "yaml"});
}

void Program::add_audit_export(CLI::App& audit) {
  auto* sub = add(audit, "export", "Write entries to a file: all, or those that the options of `audit` select",
                  [this]() -> Result<int> {
                    export_.filter = audit_;
                    export_.filter.ns = access_.ns;
                    SHIPLOG_TRY(auto plane, access_.connect());
                    SHIPLOG_TRY(audit_export(plane, export_, to_));
                    return 0;
                  });
  const std::vector<std::string> formats = {"jsonl", "csv", "parquet", "cloudevents"};
  values_[sub->add_option("--format", export_.format, "jsonl, csv, parquet or cloudevents (as the feeds have them)")
              ->required()
              ->check(CLI::IsMember(formats))
              ->type_name("FORMAT")] = formats;
  sub->add_option("-o,--output", export_.file, "Write to this file, which must not exist (default: standard output)")
      ->type_name("FILE");
  sub->add_option("--from", export_.from, "Begin with the entry at this offset")
      ->check(CLI::NonNegativeNumber)
      ->type_name("OFFSET");
  sub->add_flag("--append", export_.append, "Continue the file behind its last complete record");
  sub->footer(
      "Which entries: --user, --service, --verb, --kind, --name, -n, --family, --trace, --since, --until, "
      "--refused, as for `" +
      app_->get_name() + " audit`.");
}

}  // namespace shiplog::ctl
