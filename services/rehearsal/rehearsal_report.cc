#include "services/rehearsal/rehearsal_report.h"

#include <algorithm>

namespace shiplog {
namespace {

Value seconds(Millis since) { return static_cast<double>(since.value) / 1000; }

Value targets(const std::vector<Target>& list) {
  Value value = Value::array();
  for (const Target& target : list) {
    Value one = Value::object({{"cluster", target.cluster}});
    if (target.replicas > 0) one.set("replicas", target.replicas);
    value.push_back(std::move(one));
  }
  return value;
}

Value words(const std::vector<std::string>& list) {
  Value value = Value::array();
  for (const std::string& word : list) value.push_back(word);
  return value;
}

Value to_value(const RehearsedWorkload& workload) {
  Value value = Value::object({{"kind", workload.kind},
                               {"name", workload.name},
                               {"replicas", workload.replicas},
                               {"from", targets(workload.before)},
                               {"to", targets(workload.after)},
                               {"moves", workload.moves()},
                               {"outcome", name_of(workload.outcome)}});
  if (!workload.ns.empty()) value.set("namespace", workload.ns);
  if (!workload.reason.empty()) value.set("reason", workload.reason);
  if (workload.evicted) value.set("evictedAfterSeconds", seconds(*workload.evicted));
  if (workload.placed) value.set("placedAfterSeconds", seconds(*workload.placed));
  if (workload.healthy) value.set("healthyAfterSeconds", seconds(*workload.healthy));
  return value;
}

}  // namespace

const char* name_of(WorkloadOutcome outcome) {
  switch (outcome) {
    case WorkloadOutcome::kHealthy:
      return "healthy";
    case WorkloadOutcome::kNotHealthy:
      return "not healthy yet";
    case WorkloadOutcome::kDoesNotFit:
      return "does not fit";
    case WorkloadOutcome::kStays:
      return "stays";
  }
  return "";
}

std::string duration_text(Millis duration) {
  const int64_t all = (duration.value + 500) / 1000;
  const int64_t hours = all / 3600;
  const int64_t minutes = all / 60 % 60;
  std::string text;
  if (hours > 0) text += std::to_string(hours) + "h";
  if (minutes > 0) text += std::to_string(minutes) + "m";
  if (all % 60 > 0 || text.empty()) text += std::to_string(all % 60) + "s";
  return text;
}

size_t RehearsalReport::count(WorkloadOutcome outcome) const {
  return static_cast<size_t>(std::ranges::count(workloads, outcome, &RehearsedWorkload::outcome));
}

Value to_value(const RehearsalReport& report) {
  Value workloads = Value::array();
  for (const RehearsedWorkload& workload : report.workloads) workloads.push_back(to_value(workload));
  Value quotas = Value::array();
  for (const RehearsedQuota& quota : report.quotas) {
    quotas.push_back(Value::object({{"namespace", quota.ns},
                                    {"name", quota.name},
                                    {"enforced", quota.enforced},
                                    {"overall", quota.overall},
                                    {"usedBefore", quota.used_before},
                                    {"usedAfter", quota.used_after},
                                    {"refusals", quota.refusals}}));
  }
  Value timeline = Value::array();
  for (const TimelineRow& row : report.timeline) {
    timeline.push_back(Value::object({{"atSeconds", seconds(row.at)},
                                      {"untilSeconds", seconds(row.until)},
                                      {"kind", row.kind},
                                      {"count", row.count},
                                      {"text", row.text}}));
  }
  Value health = Value::array();
  for (const HealthSample& sample : report.health) {
    health.push_back(Value::object({{"atSeconds", seconds(sample.at)},
                                    {"healthy", sample.healthy},
                                    {"evicting", sample.evicting},
                                    {"unhealthy", sample.unhealthy}}));
  }
  Value value = Value::object({{"kind", "Rehearsal"},
                               {"revision", report.revision.value},
                               {"began", rfc3339_millis(report.began)},
                               {"lengthSeconds", seconds(report.length)},
                               {"failedClusters", words(report.failed)},
                               {"taintedClusters", words(report.tainted)},
                               {"failedRegions", words(report.regions)},
                               {"clusters", report.clusters},
                               {"bindings", report.bindings},
                               {"attached", report.attached},
                               {"evictions", report.evictions},
                               {"workloads", std::move(workloads)},
                               {"quotas", std::move(quotas)},
                               {"timeline", std::move(timeline)},
                               {"health", std::move(health)},
                               {"unanswered", words(report.unanswered)}});
  value.set("allHealthyAfterSeconds", report.all_healthy ? seconds(*report.all_healthy) : Value{});
  value.set("eviction", Value::object({{"byNoExecuteTaints", report.evicts},
                                       {"ratePerSecond", report.eviction_rate},
                                       {"budget", report.eviction_budget},
                                       {"purgeMode", report.purge_mode},
                                       {"gracefulTimeout", report.eviction_timeout},
                                       {"featureGates", words(report.gates)}}));
  return value;
}

}  // namespace shiplog
