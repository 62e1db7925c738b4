#include <algorithm>
#include <string>
#include <vector>

#include "services/programs/member/condition.h"
#include "services/programs/member/decide.h"
#include "services/programs/member/decision_changes.h"
#include "services/programs/member/kinds.h"
#include "services/programs/member/ownership.h"
#include "services/programs/member/schedule.h"

namespace shiplog::member {
namespace {

constexpr const char* kScheduledAt = "batch.kubernetes.io/cronjob-scheduled-timestamp";

std::string scheduled_at(const Owned& job) { return std::string{annotation_of(job.object->value, kScheduledAt)}; }

Value job_for(const Value& cron, const ObjectKey& at, UtcMillis when) {
  const Value& pattern = cron["spec"]["jobTemplate"];
  Value metadata = Value::object({{"name", at.name},
                                  {"namespace", at.ns},
                                  {"generation", 1},
                                  {"ownerReferences", Value::array({controller_reference(cron)})}});
  if (!pattern["metadata"]["labels"].is_empty()) metadata.set("labels", pattern["metadata"]["labels"]);
  if (!pattern["metadata"]["annotations"].is_empty()) metadata.set("annotations", pattern["metadata"]["annotations"]);
  metadata.edit("annotations").set(kScheduledAt, rfc3339(when));
  Value spec = pattern["spec"];
  if (!spec.contains("completions") && !spec.contains("parallelism")) spec.set("completions", 1);
  if (!spec.contains("parallelism")) spec.set("parallelism", 1);
  if (!spec.contains("backoffLimit")) spec.set("backoffLimit", 6);
  return Value::object({{"apiVersion", "batch/v1"},
                        {"kind", "Job"},
                        {"metadata", metadata},
                        {"spec", spec},
                        {"status", Value::object()}});
}

/// Deletes finished Jobs beyond the limit, oldest first.
void forget(std::vector<Owned> jobs, const Value& limit, int64_t fallback, Changes& changes) {
  const auto keep = static_cast<size_t>(std::max<int64_t>(0, limit.as_int(fallback)));
  std::ranges::stable_sort(jobs, {}, scheduled_at);
  for (size_t i = 0; i + keep < jobs.size(); ++i) changes.remove(jobs[i].key, *jobs[i].object);
}

UtcMillis last_scheduled(const Value& cron) {
  for (const std::string_view text :
       {cron["status"]["lastScheduleTime"].as_string(), cron["metadata"]["creationTimestamp"].as_string()}) {
    if (const auto time = parse_rfc3339(text)) return time.value();
  }
  return {};
}

}  // namespace

Result<Decided> decide_cron_job(const State& state, const ObjectKey& key, UtcMillis now) {
  const Object* object = state.find(key);
  if (object == nullptr || deleting(object->value)) return Nothing{};
  const Value& cron = object->value;
  const Value& spec = cron["spec"];
  const std::string_view zone = spec["timeZone"].as_string("UTC");
  if (zone != "UTC" && zone != "Etc/UTC") {
    return Error{ErrorCode::kInvalid, to_string(key) + ": spec.timeZone: a trial member knows only UTC"};
  }
  SHIPLOG_TRY(const Schedule schedule, Schedule::parse(spec["schedule"].as_string()));

  std::vector<Owned> active;
  std::vector<Owned> succeeded;
  std::vector<Owned> failed;
  Value seen = cron;
  Value& status = seen.edit("status");
  for (const Owned& job : controlled_by(state, cron, kJobs)) {
    const Value& value = job.object->value;
    (condition_holds(value, "Complete") ? succeeded
     : condition_holds(value, "Failed") ? failed
                                        : active)
        .push_back(job);
    const std::string_view done = value["status"]["completionTime"].as_string();
    if (done > status["lastSuccessfulTime"].as_string()) status.set("lastSuccessfulTime", done);
  }

  Changes changes;
  forget(succeeded, spec["successfulJobsHistoryLimit"], 3, changes);
  forget(failed, spec["failedJobsHistoryLimit"], 1, changes);
  const auto due = schedule.latest(last_scheduled(cron), now);
  const bool too_late = due && !spec["startingDeadlineSeconds"].is_null() &&
                        *due + Millis{spec["startingDeadlineSeconds"].as_int() * 1000} < now;
  const std::string_view concurrency = spec["concurrencyPolicy"].as_string();
  if (due && !too_late && !spec["suspend"].as_bool() && (concurrency != "Forbid" || active.empty())) {
    if (concurrency == "Replace") {
      for (const Owned& job : active) changes.remove(job.key, *job.object);
      active.clear();
    }
    // Named after its minute, so that it cannot be created twice.
    const ObjectKey at{kJobs, key.ns, generated_name(key.name, std::to_string(due->value / 60'000))};
    if (state.find(at) == nullptr) changes.create(at, job_for(cron, at, *due));
    status.set("lastScheduleTime", rfc3339(*due));
  }
  status.erase("active");
  for (const Owned& job : active) {
    status.edit("active").push_back(
        Value::object({{"apiVersion", "batch/v1"},
                       {"kind", "Job"},
                       {"name", job.key.name},
                       {"namespace", job.key.ns},
                       {"uid", uid_of(job.object->value)},
                       {"resourceVersion", job.object->value["metadata"]["resourceVersion"]}}));
  }
  if (cron["status"].is_empty() && status.is_empty()) return changes.take();
  changes.update_status(key, *object, std::move(seen));
  return changes.take();
}

Millis look_again_cron_job(const State& state, const ObjectKey& key, UtcMillis now) {
  const auto schedule = Schedule::parse(state.value_of(key)["spec"]["schedule"].as_string());
  if (!schedule) return Millis{0};
  return schedule.value().next_check(now) - now;
}

}  // namespace shiplog::member
