#include <algorithm>
#include <limits>

#include "events/state/protection.h"
#include "services/roles/lifecycle/decide.h"

namespace shiplog::lifecycle {
namespace {

/// The condition that reports the end of the Job; nullptr: it has not ended.
const Value* end_of(const Value& job) {
  for (const Value& condition : job["status"]["conditions"].items()) {
    const auto type = condition["type"].as_string();
    if ((type == "Complete" || type == "Failed") && condition["status"].as_string() == "True") return &condition;
  }
  return nullptr;
}

}  // namespace

std::optional<UtcMillis> expiry_of_job(const ObjectKey& key, const Value& object) {
  if (key.type != "jobs.batch" || deleting(object)) return std::nullopt;
  const Value& ttl = object["spec"]["ttlSecondsAfterFinished"];
  const Value* const end = end_of(object);
  if (!ttl.is_int() || end == nullptr) return std::nullopt;
  auto finished = parse_rfc3339((*end)["lastTransitionTime"].as_string());
  if (!finished) finished = parse_rfc3339(object["status"]["completionTime"].as_string());
  if (!finished) return std::nullopt;
  constexpr int64_t kLongest = std::numeric_limits<int32_t>::max();  // the field has 32 bits
  return finished.value() + Millis{1000 * std::clamp<int64_t>(ttl.as_int(), 0, kLongest)};
}

Decided decide_job(const ObjectKey& key, const Object& job, UtcMillis now) {
  const auto expiry = expiry_of_job(key, job.value);
  if (!expiry || deletion_protected(job.value)) return Nothing{};  // D-41
  if (*expiry > now) return LookAgain{*expiry};
  // Of a deletion without a policy the dependents of a Job, here its binding, would stay (DEL-10).
  return decide_one(DeletionRequested{.object = key, .propagation = "Background"}, {key, job.revision});
}

}  // namespace shiplog::lifecycle
