#include "services/roles/dispatcher/static_quota.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "events/state/static_quota.h"
#include "services/roles/dispatcher/put_work.h"
#include "services/roles/dispatcher/render.h"

namespace shiplog::dispatcher {
namespace {

/// Before it, static assignments had no effect.
constexpr uint32_t kAssignmentsFoldVersion = 7;

/// The first of the cluster counts. nullptr: it has none.
const Value* assignment_of(const Value& quota, const std::string& cluster) {
  const auto assignments = quota["spec"]["staticAssignments"].items();
  const auto found = std::ranges::find_if(
      assignments, [&](const Value& assignment) { return assignment["clusterName"].as_string() == cluster; });
  return found == assignments.end() ? nullptr : &*found;
}

Value resource_quota(const ObjectKey& key, const Value& assignment) {
  Value hard = Value::object();
  for (const auto& limit : assignment["hard"].members()) {
    // As the member's API server writes it, or the object would always differ from the manifest.
    hard.set(limit.key(), limit.value.is_int() ? Value{std::to_string(limit.value.as_int())} : limit.value);
  }
  return Value::object({{"apiVersion", "v1"},
                        {"kind", "ResourceQuota"},
                        {"metadata", Value::object({{"namespace", key.ns}, {"name", key.name}})},
                        {"spec", Value::object({{"hard", std::move(hard)}})}});
}

Value render(const ObjectKey& key, const Value& quota, const ObjectKey& work, const Value& assignment,
             const Value& before) {
  Source source;
  source.conflict_resolution = "abort";
  Value made = make_work(resource_quota(key, assignment), work, quota, source, false, false, before);
  Value& labels = made.edit("metadata").edit("labels");
  labels.set(label::kQuotaNamespace, key.ns);
  labels.set(label::kQuotaName, key.name);
  return made;
}

}  // namespace

Result<Decided> decide_static_quota(const State& state, const ObjectKey& key, UtcMillis now) {
  if (state.fold_version() < kAssignmentsFoldVersion) return Nothing{};
  const Value& quota = state.value_of(key);
  const bool stays = !quota.is_null() && !deleting(quota);
  DecisionBuilder decision;
  NewWorkStatus new_status{now};
  std::string foreign;
  for (const auto& [cluster, view] : state.clusters()) {
    const ObjectKey work = work_of_quota(key, cluster);
    const Value& present = state.value_of(work);
    const Value* assignment = stays ? assignment_of(quota, cluster) : nullptr;
    const bool ours = quota_of_work(present) == key;
    if (assignment == nullptr) {
      if (ours && !delete_work(state, work, decision)) return std::move(decision).build_and_look_again(now);
      continue;
    }
    if (!present.is_null() && !ours) {
      foreign = to_string(work);
      continue;
    }
    if (present.is_null() && !open_for_works(state, cluster)) continue;
    const auto make = [&](const Value& before) { return render(key, quota, work, *assignment, before); };
    if (!put_work(state, work, {"ResourceQuota", key.name.str(), cluster}, {}, make, new_status, decision)) {
      return std::move(decision).build_and_look_again(now);
    }
  }
  if (decision.empty() && !foreign.empty()) {
    return Error{ErrorCode::kConflict, to_string(key) + ": " + foreign +
                                           " belongs to a binding: a ResourceQuota of the same name is propagated"};
  }
  return foreign.empty() ? std::move(decision).build() : std::move(decision).build_and_look_again(now);
}

void wake_assigned(const State& state, const std::string& cluster, std::vector<ObjectKey>& wake) {
  for (const auto& [name, quota] : state.objects(type::kFederatedResourceQuota)) {
    if (assignment_of(quota.value, cluster) != nullptr) {
      wake.push_back({type::kFederatedResourceQuota, name.ns, name.name});
    }
  }
}

}  // namespace shiplog::dispatcher
