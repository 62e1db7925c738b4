#include "services/roles/recorder/failed_runs.h"

#include <string_view>

namespace shiplog::recorder {
namespace {

const Value& newest_failure(const Value& object, std::string_view rule) {
  static const Value none;
  for (const Value& history : object["status"]["executionHistories"].items()) {
    if (history["ruleName"].as_string() != rule) continue;
    return history["failedExecutions"].size() == 0 ? none : history["failedExecutions"][0];
  }
  return none;
}

}  // namespace

void add_failed_runs(const Change& change, std::vector<EventDraft>& drafts) {
  if (change.removed()) return;
  for (const Value& history : change.after["status"]["executionHistories"].items()) {
    const std::string_view rule = history["ruleName"].as_string();
    const Value& failure = newest_failure(change.after, rule);
    if (failure.is_null() || failure == newest_failure(change.before, rule)) continue;
    const bool unstarted = history["nextExecutionTime"].is_null();
    drafts.push_back({change.after, "cronfederatedhpa-controller", true, unstarted ? "StartRuleFailed" : "ScaleFailed",
                      "rule " + std::string{rule} + ": " + failure["message"].str()});
  }
}

}  // namespace shiplog::recorder
