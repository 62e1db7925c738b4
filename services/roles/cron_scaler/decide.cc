#include "services/roles/cron_scaler/decide.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "events/state/object.h"
#include "services/cron/cron_schedule.h"
#include "services/roles/cron_scaler/execution.h"

namespace shiplog::cron_scaler {
namespace {

constexpr int64_t kKept = 3;  // of successful and failed executions each, if the rule does not say

/// One rule, with what the status has of it.
struct RuleRecord {
  const Value* rule;
  Value history;
  std::optional<UtcMillis> due;   ///< the run that is to be made now
  std::optional<UtcMillis> next;  ///< the one after
};

std::optional<UtcMillis> time_in(const Value& value) {
  const auto parsed = parse_rfc3339(value.as_string());
  return parsed ? std::optional{parsed.value()} : std::nullopt;
}

/// Adds the newest execution in front, and drops those above the limit.
void record(Value& history, const char* list, Value execution, int64_t limit) {
  Value kept = Value::array();
  if (limit > 0) kept.push_back(std::move(execution));
  for (const Value& each : history[list].items()) {
    if (static_cast<int64_t>(kept.size()) < limit) kept.push_back(each);
  }
  history.set(list, std::move(kept));
}

void record_failure(RuleRecord& record_of, UtcMillis scheduled, UtcMillis now, const std::string& message) {
  record(record_of.history, "failedExecutions",
         Value::object({{"executionTime", rfc3339(now)}, {"message", message}, {"scheduleTime", rfc3339(scheduled)}}),
         (*record_of.rule)["failedHistoryLimit"].as_int(kKept));
}

void record_success(RuleRecord& record_of, UtcMillis now) {
  const Value& rule = *record_of.rule;
  Value execution =
      Value::object({{"executionTime", rfc3339(now)}, {"scheduleTime", rfc3339(record_of.due.value_or(now))}});
  for (const auto& [applied, wanted] :
       {std::pair{"appliedReplicas", "targetReplicas"}, std::pair{"appliedMinReplicas", "targetMinReplicas"},
        std::pair{"appliedMaxReplicas", "targetMaxReplicas"}}) {
    if (rule[wanted].is_int()) execution.set(applied, rule[wanted]);
  }
  record(record_of.history, "successfulExecutions", std::move(execution), rule["successfulHistoryLimit"].as_int(kKept));
}

/// The newest run that the status has, unless it is far ahead of `now`: a clock was wrong then.
std::optional<UtcMillis> last_run(const Value& history, UtcMillis now) {
  std::optional<UtcMillis> last;
  for (const char* list : {"successfulExecutions", "failedExecutions"}) {
    if (history[list].size() == 0) continue;
    const auto time = time_in(history[list][0]["scheduleTime"]);
    if (time && *time <= now + kMadeUpFor && (!last || *time > *last)) last = time;
  }
  return last;
}

/// Sets when the rule is due. What the status has recorded counts only if the schedule, as it is now, has that time.
void plan(RuleRecord& record_of, const cron::CronSchedule& schedule, const cron::TimeZone& zone, UtcMillis now) {
  const auto recorded = time_in(record_of.history["nextExecutionTime"]);
  const UtcMillis from = std::max(now, last_run(record_of.history, now).value_or(now));
  if (schedule.every().value > 0) {
    if (recorded && *recorded > now && *recorded <= now + schedule.every()) {
      record_of.next = recorded;
      return;
    }
  } else if (recorded && *recorded <= now && schedule.next(zone, UtcMillis{recorded->value - 1}) != recorded) {
    record_of.next = schedule.next(zone, from);
    return;
  }
  if (recorded && *recorded <= now && now <= *recorded + kMadeUpFor) record_of.due = recorded;
  record_of.next = schedule.next(zone, from);
}

/// A rule that cannot be started has no next time. It is reported once, not with every decision.
void report_unstarted(RuleRecord& record_of, UtcMillis now, const std::string& message) {
  const Value& failures = record_of.history["failedExecutions"];
  const bool known = failures.size() > 0 && failures[0]["message"].as_string() == message &&
                     record_of.history["nextExecutionTime"].is_null();
  if (!known) record_failure(record_of, now, now, message);
}

/// The rules with what follows from their schedules.
std::vector<RuleRecord> planned(const Value& object, UtcMillis now, const FindTimeZone& find_time_zone) {
  std::vector<RuleRecord> records;
  for (const Value& rule : object["spec"]["rules"].items()) {
    RuleRecord record_of{&rule, Value::object({{"ruleName", rule["name"]}}), {}, {}};
    for (const Value& history : object["status"]["executionHistories"].items()) {
      if (history["ruleName"] == rule["name"]) record_of.history = history;
    }
    if (!rule["suspend"].as_bool()) {
      const auto schedule = cron::CronSchedule::parse(rule["schedule"].as_string());
      const auto zone = find_time_zone(rule["timeZone"].str());
      if (!schedule) {
        report_unstarted(record_of, now, "schedule: " + schedule.error().message);
      } else if (!zone) {
        report_unstarted(record_of, now, "timeZone: " + zone.error().message);
      } else {
        plan(record_of, schedule.value(), *zone.value(), now);
      }
    }
    records.push_back(std::move(record_of));
  }
  return records;
}

/// Makes the runs that are due, in the order of their times. The target as it is after them; nullopt: nothing is due,
/// or it cannot be scaled.
std::optional<ScaleTarget> make_runs(const State& state, const Value& object, std::vector<RuleRecord>& records,
                                     UtcMillis now) {
  std::vector<RuleRecord*> due;
  for (RuleRecord& each : records) {
    if (each.due) due.push_back(&each);
  }
  if (due.empty()) return std::nullopt;
  std::ranges::stable_sort(due, {}, [](const RuleRecord* each) { return *each->due; });
  auto target = find_target(state, object);
  for (RuleRecord* each : due) {
    const auto done = target ? carry_out(*each->rule, target.value()) : Result<void>{target.error()};
    if (done) {
      record_success(*each, now);
    } else {
      record_failure(*each, *each->due, now, done.error().message);
    }
  }
  if (!target) return std::nullopt;
  return std::move(target).value();
}

}  // namespace

Result<Decided> decide(const State& state, const ObjectKey& key, UtcMillis now, const FindTimeZone& find_time_zone) {
  const Object* object = state.find(key);
  if (object == nullptr || deleting(object->value) || !state.options().controller_on(kController)) return Nothing{};
  std::vector<RuleRecord> records = planned(object->value, now, find_time_zone);
  const auto target = make_runs(state, object->value, records, now);

  Value histories = Value::array();
  std::optional<UtcMillis> next;
  for (RuleRecord& each : records) {
    if (each.next) {
      each.history.set("nextExecutionTime", rfc3339(*each.next));
      next = next ? std::min(*next, *each.next) : *each.next;
    } else {
      each.history.erase("nextExecutionTime");
    }
    histories.push_back(std::move(each.history));
  }
  Value wanted = object->value;
  if (wanted["status"]["executionHistories"] != histories) {
    wanted.edit("status").set("executionHistories", std::move(histories));
  }
  DecisionBuilder decision;
  if (target) {
    const Object* before = state.find(target->key);
    if (before->value != target->value) {
      decision.add(ObjectUpdated{target->key, target->value}, {target->key, before->revision});
    }
  }
  if (wanted != object->value) decision.add(StatusUpdated{key, std::move(wanted)}, {key, object->revision});
  if (decision.empty()) return next ? Decided{LookAgain{*next}} : Decided{Nothing{}};
  return next ? std::move(decision).build_and_look_again(*next) : std::move(decision).build();
}

}  // namespace shiplog::cron_scaler
