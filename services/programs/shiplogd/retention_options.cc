#include "services/programs/shiplogd/retention_options.h"

#include <algorithm>
#include <array>

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
  app.add_option("--family-retention", words.families,
                 "For entries and decisions with events of a family, in place of --audit-retention and "
                 "--decision-retention; of an entry with several families the longest counts")
      ->delimiter(',')
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->type_name("FAMILY=AGE|none,...");
  app.add_option("--retention-interval", words.interval, "Look for what is to be deleted every so many seconds")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--snapshot-store", store,
                 "Where snapshots are copied to and fetched from, for processes on several machines")
      ->type_name("file:///DIR|http(s)://HOST/PATH");
}

namespace {

constexpr std::array<Family, 7> kFamilies = {Family::kApi,   Family::kScheduling, Family::kDispatch, Family::kTaint,
                                             Family::kQuota, Family::kCluster,    Family::kControl};

/// "dispatch=7d"; "none" keeps them for ever.
Result<std::pair<Family, Millis>> parse_family_age(const std::string& word) {
  const size_t equals = std::min(word.find('='), word.size());
  const std::string name = word.substr(0, equals);
  const auto family = std::ranges::find_if(kFamilies, [&](Family each) { return name_of(each) == name; });
  if (family == kFamilies.end()) {
    std::string all;
    for (const Family each : kFamilies) all += (all.empty() ? "" : ", ") + std::string{name_of(each)};
    return Error{ErrorCode::kInvalid,
                 "--family-retention=" + word + ": use FAMILY=AGE, where the family is one of " + all};
  }
  SHIPLOG_TRY(const auto age, parse_age("family-retention", equals == word.size() ? "" : word.substr(equals + 1)));
  return std::pair{*family, age.value_or(kForEver)};
}

}  // namespace

Result<void> read_retention(const RetentionWords& words, ServeOptions& options) {
  SHIPLOG_TRY(options.journal_retention, parse_journal_retention("journal-retention", words.journal));
  SHIPLOG_TRY(options.ephemera_retention, parse_journal_retention("ephemera-retention", words.ephemera));
  SHIPLOG_TRY(options.history_retention, parse_age("history-retention", words.history));
  SHIPLOG_TRY(options.audit_retention, parse_age("audit-retention", words.audit));
  SHIPLOG_TRY(options.decision_retention, parse_age("decision-retention", words.decisions));
  for (const std::string& word : words.families) {
    SHIPLOG_TRY(const auto family, parse_family_age(word));
    for (const auto& [named, age] : options.family_retention) {
      if (named == family.first) {
        return Error{ErrorCode::kInvalid,
                     "--family-retention names the family " + std::string{name_of(named)} + " twice"};
      }
    }
    options.family_retention.push_back(family);
  }
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
