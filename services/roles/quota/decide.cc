#include "services/roles/quota/decide.h"

#include "events/state/condition.h"
#include "events/state/object.h"
#include "events/state/quota_check.h"
#include "events/state/static_quota.h"

namespace shiplog::quota {
namespace {

/// Before it, static assignments had no effect.
constexpr uint32_t kAssignmentsFoldVersion = 7;

/// What each member that has applied its ResourceQuota reports of it. Clusters are sorted by name.
Value reports_of_members(const State& state, const ObjectKey& key) {
  Value reports = Value::array();
  for (const auto& [cluster, view] : state.clusters()) {
    const Value& work = state.value_of(work_of_quota(key, cluster));
    if (quota_of_work(work) != key || deleting(work)) continue;
    if (condition_of(work, "Applied")["status"].as_string() != "True") continue;
    const Value& statuses = work["status"]["manifestStatuses"];
    if (statuses.size() == 0) continue;
    Value report = Value::object({{"clusterName", cluster}});
    for (const char* field : {"hard", "used"}) {
      const Value& amounts = statuses[0]["status"][field];
      if (amounts.is_object()) report.set(field, amounts);
    }
    reports.push_back(std::move(report));
  }
  return reports;
}

Value used_in(const Value& reports) {
  ResourceList sum;
  for (const Value& report : reports.items()) add_resources(sum, resource_list_from(report["used"]));
  return to_value(sum);
}

}  // namespace

Result<Decided> decide(const State& state, const ObjectKey& key, UtcMillis /*now*/) {
  const Object* object = state.find(key);
  if (object == nullptr || deleting(object->value)) return Nothing{};
  const Value& spec = object->value["spec"];
  const Value& status = object->value["status"];
  const bool assigns = state.fold_version() >= kAssignmentsFoldVersion;
  Value reports = assigns ? reports_of_members(state, key) : Value::array();
  const bool by_bindings = state.gates().quota_enforcement || spec["staticAssignments"].size() == 0;
  Value used = by_bindings ? overall_used(quota_from(object->value), state.quota_usage(key.ns)) : used_in(reports);
  const bool reported =
      reports == status["aggregatedStatus"] || (reports.size() == 0 && status["aggregatedStatus"].is_empty());
  if (status["overall"] == spec["overall"] && status["overallUsed"] == used && reported) return Nothing{};
  return decide_one(QuotaUsageChanged{key, spec["overall"], std::move(used), reported ? Value{} : std::move(reports)},
                    {key, object->revision});
}

}  // namespace shiplog::quota
