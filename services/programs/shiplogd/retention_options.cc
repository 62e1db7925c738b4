#include "services/programs/shiplogd/retention_options.h"

#include <CLI/CLI.hpp>

namespace shiplog {

void add_retention(CLI::App& app, RetentionWords& words, std::string& store) {
  const auto add = [&](const char* name, std::string& value, const char* what, const char* type) {
    app.add_option(name, value, what)->type_name(type)->capture_default_str();
  };
  add("--journal-retention", words.journal,
      "Trim the journal to what is younger or to the newest bytes, behind a verified snapshot", "AGE|SIZE|none");
  add("--ephemera-retention", words.ephemera, "The same for the journal of Events and Leases", "AGE|SIZE|none");
  add("--history-retention", words.history, "Delete older versions of objects that have a newer one", "AGE|none");
  add("--audit-retention", words.audit, "Delete older entries of the audit trail, unless a version refers to them",
      "AGE|none");
  add("--decision-retention", words.decisions, "Delete older explanations of decisions", "AGE|none");
  app.add_option("--retention-interval", words.interval, "Look for what is to be deleted every so many seconds")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--snapshot-store", store,
                 "Where snapshots are copied to and fetched from, for processes on several machines")
      ->type_name("file:///DIR|http(s)://HOST/PATH");
}

Result<void> read_retention(const RetentionWords& words, ServeOptions& options) {
  SHIPLOG_TRY(options.journal_retention, parse_journal_retention("journal-retention", words.journal));
  SHIPLOG_TRY(options.ephemera_retention, parse_journal_retention("ephemera-retention", words.ephemera));
  SHIPLOG_TRY(options.history_retention, parse_age("history-retention", words.history));
  SHIPLOG_TRY(options.audit_retention, parse_age("audit-retention", words.audit));
  SHIPLOG_TRY(options.decision_retention, parse_age("decision-retention", words.decisions));
  options.retention_interval = Millis{words.interval * 1000};
  const auto& history = options.history_retention;
  if (options.audit_retention && (!history || *options.audit_retention < *history)) {
    return Error{ErrorCode::kInvalid,
                 "--audit-retention=" + words.audit + " is shorter than --history-retention=" + words.history +
                     ": history shows who made each version, and finds the revision of a time, in the audit trail"};
  }
  return ok();
}

}  // namespace shiplog
