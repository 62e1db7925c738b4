#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "services/programs/member/condition.h"
#include "services/programs/member/decide.h"
#include "services/programs/member/decision_changes.h"
#include "services/programs/member/kinds.h"
#include "services/programs/member/ownership.h"
#include "services/programs/member/pod.h"
#include "services/programs/member/resource_quota.h"

namespace shiplog::member {
namespace {

constexpr const char* kIndex = "batch.kubernetes.io/job-completion-index";

bool finished(const Value& job) { return condition_holds(job, "Complete") || condition_holds(job, "Failed"); }

int64_t index_of(const Value& pod) {
  const std::string_view text = annotation_of(pod, kIndex);
  int64_t index = -1;
  std::from_chars(text.data(), text.data() + text.size(), index);
  return index;
}

/// "0-2,4"
std::string ranges_of(const std::set<int64_t>& indexes) {
  std::string text;
  for (auto entry = indexes.begin(); entry != indexes.end();) {
    const int64_t first = *entry;
    int64_t last = first;
    while (++entry != indexes.end() && *entry == last + 1) last = *entry;
    if (!text.empty()) text += ",";
    text += std::to_string(first);
    if (last > first) text += (last == first + 1 ? "," : "-") + std::to_string(last);
  }
  return text;
}

Millis until(const Value& since, const Value& seconds, UtcMillis now) {
  const auto from = parse_rfc3339(since.as_string());
  if (!from || seconds.is_null()) return Millis{0};
  return from.value() + Millis{seconds.as_int() * 1000} - now;
}

UtcMillis finish_time(const Value& job) {
  for (const char* type : {"Complete", "Failed"}) {
    if (const auto time = parse_rfc3339(condition_of(job, type)["lastTransitionTime"].as_string())) return time.value();
  }
  return {};
}

/// Source: pkg/controller/job (syncJob, manageJob), without pod failure policies.
class JobSync {
 public:
  JobSync(const State& state, const ObjectKey& key, const Object& object, UtcMillis now)
      : state_{state}, key_{key}, object_{object}, job_{object.value}, now_{now}, quotas_{state, key.ns} {
    indexed_ = job_["spec"]["completionMode"].as_string() == "Indexed";
    for (const Owned& pod : controlled_by(state, job_, kPods)) {
      const Value& value = pod.object->value;
      const std::string_view phase = value["status"]["phase"].as_string();
      if (phase == "Succeeded") {
        ++succeeded_;
        if (indexed_) done_.insert(index_of(value));
      } else if (phase == "Failed") {
        ++failed_;
      } else if (!deleting(value)) {
        ready_ += is_ready(value) ? 1 : 0;
        active_.push_back(pod);
      }
    }
    if (indexed_) succeeded_ = static_cast<int64_t>(done_.size());
  }

  Decided decide() {
    if (finished(job_)) return clean_up();
    const Value& spec = job_["spec"];
    const bool suspended = spec["suspend"].as_bool();
    const Value& completions = spec["completions"];
    const int64_t parallelism = std::max<int64_t>(0, spec["parallelism"].as_int(1));
    const bool complete =
        completions.is_null() ? succeeded_ > 0 && active_.empty() : succeeded_ >= completions.as_int();
    const bool late = !spec["activeDeadlineSeconds"].is_null() && !job_["status"]["startTime"].is_empty() &&
                      until(job_["status"]["startTime"], spec["activeDeadlineSeconds"], now_).value <= 0;
    if (complete)
      return finish({"True", "CompletionsReached", "Reached expected number of succeeded pods"}, "Complete");
    if (failed_ > spec["backoffLimit"].as_int(6)) {
      return finish({"True", "BackoffLimitExceeded", "Job has reached the specified backoff limit"}, "Failed");
    }
    if (late) {
      return finish({"True", "DeadlineExceeded", "Job was active longer than specified deadline"}, "Failed");
    }
    int64_t wanted = parallelism;
    if (!completions.is_null()) wanted = std::min(parallelism, completions.as_int() - succeeded_);
    // A work queue: after the first success no new pods are started.
    if (completions.is_null() && succeeded_ > 0) wanted = std::min(wanted, static_cast<int64_t>(active_.size()));
    if (suspended) wanted = 0;
    if (!deleting(job_)) adjust(static_cast<size_t>(std::max<int64_t>(0, wanted)));
    if (!changes_.empty()) {
      quotas_.charge(changes_);
      changes_.expect(key_, object_);
      return changes_.take();
    }
    Value seen = job_;
    Value& status = seen.edit("status");
    if (suspended) {
      set_condition(status, "Suspended", {"True", "JobSuspended", "Job suspended"}, now_);
      status.erase("startTime");
    } else {
      if (!condition_of(job_, "Suspended").is_null()) {
        set_condition(status, "Suspended", {"False", "JobResumed", "Job resumed"}, now_);
      }
      if (status["startTime"].is_empty()) status.set("startTime", rfc3339(now_));
    }
    count(status);
    changes_.update_status(key_, object_, std::move(seen));
    return changes_.take();
  }

 private:
  void count(Value& status) const {
    set_count(status, "active", static_cast<int64_t>(active_.size()));
    set_count(status, "succeeded", succeeded_);
    set_count(status, "failed", failed_);
    status.set("ready", ready_);
    status.set("terminating", 0);
    status.set("uncountedTerminatedPods", Value::object());
    if (indexed_ && !done_.empty()) status.set("completedIndexes", ranges_of(done_));
  }

  void adjust(size_t wanted) {
    for (size_t i = wanted; i < active_.size() && changes_.size() < kMostAtOnce; ++i) {
      changes_.remove(active_[i].key, *active_[i].object);
    }
    std::set<int64_t> taken = done_;
    for (const Owned& pod : active_) taken.insert(index_of(pod.object->value));
    int64_t index = 0;
    for (size_t i = active_.size(); i < wanted && changes_.size() < kMostAtOnce; ++i) {
      while (taken.contains(index)) ++index;
      create(i, index++);
    }
  }

  void create(size_t nth, int64_t index) {
    std::string base = key_.name.str();
    if (indexed_) base += "-" + std::to_string(index);
    const std::string name = generated_name(base, name_suffix(uid_of(job_), state_.revision(), nth));
    Value pod = new_pod(job_, name, job_["spec"]["template"]);
    Value& metadata = pod.edit("metadata");
    metadata.set("generateName", base + "-");
    Value& labels = metadata.edit("labels");
    for (const char* prefix : {"", "batch.kubernetes.io/"}) {
      labels.set(std::string{prefix} + "controller-uid", uid_of(job_));
      labels.set(std::string{prefix} + "job-name", key_.name);
    }
    if (indexed_) {
      labels.set(kIndex, std::to_string(index));
      metadata.edit("annotations").set(kIndex, std::to_string(index));
      pod.edit("spec").set("hostname", key_.name + "-" + std::to_string(index));
    }
    if (quotas_.admit(pod).empty()) changes_.create({kPods, key_.ns, name}, std::move(pod));
  }

  Decided finish(const ConditionFields& fields, std::string_view type) {
    for (const Owned& pod : active_) {
      if (changes_.size() < kMostAtOnce) changes_.remove(pod.key, *pod.object);
    }
    if (!changes_.empty()) {  // the remaining pods first: a finished Job is not reconciled again
      changes_.expect(key_, object_);
      return changes_.take();
    }
    Value seen = job_;
    Value& status = seen.edit("status");
    if (status["startTime"].is_empty()) status.set("startTime", rfc3339(now_));
    count(status);
    if (type == "Complete") {
      status.set("completionTime", rfc3339(now_));
      set_condition(status, "SuccessCriteriaMet", fields, now_);
    } else {
      set_condition(status, "FailureTarget", fields, now_);
    }
    set_condition(status, type, fields, now_);
    for (Value& condition : status.edit("conditions").edit_items()) {
      if (condition["lastProbeTime"].is_empty()) condition.set("lastProbeTime", rfc3339(now_));
    }
    changes_.update_status(key_, object_, std::move(seen));
    return changes_.take();
  }

  /// ttlSecondsAfterFinished. Its pods are removed by garbage collection.
  Decided clean_up() {
    const Value& ttl = job_["spec"]["ttlSecondsAfterFinished"];
    if (ttl.is_null() || deleting(job_)) return Nothing{};
    if (finish_time(job_) + Millis{ttl.as_int() * 1000} > now_) return Nothing{};
    changes_.remove(key_, object_);
    return changes_.take();
  }

  const State& state_;
  const ObjectKey& key_;
  const Object& object_;
  const Value& job_;
  UtcMillis now_;
  bool indexed_ = false;
  std::vector<Owned> active_;
  std::set<int64_t> done_;  // indexes
  int64_t succeeded_ = 0;
  int64_t failed_ = 0;
  int64_t ready_ = 0;
  PodQuotas quotas_;
  Changes changes_;
};

}  // namespace

Result<Decided> decide_job(const State& state, const ObjectKey& key, UtcMillis now) {
  const Object* object = state.find(key);
  if (object == nullptr) return Nothing{};
  const Value& spec = object->value["spec"];
  for (const char* field : {"podFailurePolicy", "successPolicy", "backoffLimitPerIndex", "maxFailedIndexes"}) {
    if (spec[field].is_empty()) continue;
    return Error{ErrorCode::kInvalid, to_string(key) + ": spec." + field + " is not simulated by a trial member"};
  }
  return JobSync{state, key, *object, now}.decide();
}

Millis look_again_job(const State& state, const ObjectKey& key, UtcMillis now) {
  const Value& job = state.value_of(key);
  if (job.is_null()) return Millis{0};
  const Value& spec = job["spec"];
  Millis wait{0};
  if (!finished(job)) {
    wait = until(job["status"]["startTime"], spec["activeDeadlineSeconds"], now);
  } else if (!spec["ttlSecondsAfterFinished"].is_null()) {
    wait = finish_time(job) + Millis{spec["ttlSecondsAfterFinished"].as_int() * 1000} - now;
  }
  return Millis{std::max<int64_t>(0, wait.value)};
}

}  // namespace shiplog::member
