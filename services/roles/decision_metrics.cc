#include "services/roles/decision_metrics.h"

#include <utility>

#include "events/event.h"
#include "events/explain/placement_facts.h"
#include "events/explain/policy_facts.h"
#include "events/state/binding.h"
#include "services/roles/taint/decide.h"

namespace shiplog {
namespace {

using metrics::CounterFamily;
using metrics::HistogramFamily;

/// OBS-5.
std::vector<double> karmada_buckets() { return metrics::exponential_buckets(0.001, 2, 12); }

template <class Pair, class Family>
Pair by_result(const Family& family) {
  return {family.with({"success"}), family.with({"error"})};
}

bool follows_replicas(const Explanation& why) {
  const auto* triggered = step_of<Triggered>(why);
  return triggered != nullptr && triggered->trigger == PlacementTrigger::kReplicasChanged;
}

}  // namespace

DecisionMetrics::DecisionMetrics(std::function<bool(std::string_view role)> acting) : acting_{std::move(acting)} {
  static const CounterFamily schedule_attempts{
      "karmada_scheduler_schedule_attempts_total", "Attempts to schedule a binding.", {"result", "schedule_type"}};
  static const HistogramFamily schedule_seconds{"karmada_scheduler_e2e_scheduling_duration_seconds",
                                                "Seconds from the begin of an attempt until its decision is stored.",
                                                {"result", "schedule_type"},
                                                karmada_buckets()};
  static const CounterFamily policy_attempts{
      "policy_apply_attempts_total", "Attempts to apply a policy to a template.", {"result"}};
  static const HistogramFamily policy_seconds{"resource_apply_policy_duration_seconds",
                                              "Seconds to apply a policy to a template.",
                                              {"result"},
                                              karmada_buckets()};
  static const CounterFamily preemptions{
      "policy_preemption_total", "Templates that a policy took from another one.", {"result"}};
  static const HistogramFamily binding_seconds{"binding_sync_work_duration_seconds",
                                               "Seconds to bring the Works of a binding up to date.",
                                               {"result"},
                                               karmada_buckets()};
  static const HistogramFamily work_seconds{"work_sync_workload_duration_seconds",
                                            "Seconds to bring a member up to date with a Work.",
                                            {"result"},
                                            karmada_buckets()};
  static const CounterFamily evictions{
      "eviction_processing_total", "Evictions of bindings from clusters that began.", {"name", "result"}};
  static const HistogramFamily eviction_seconds{"eviction_processing_latency_seconds",
                                                "Seconds of the steps in which evictions began.",
                                                {"name"},
                                                metrics::exponential_buckets(0.001, 2, 15)};
  for (const bool refused : {false, true}) {
    for (const bool scaled : {false, true}) {
      const char* result = refused ? "error" : "scheduled";
      const char* type = scaled ? "ScaleSchedule" : "ReconcileSchedule";
      schedules_[refused][scaled] = {schedule_attempts.with({result, type}), schedule_seconds.with({result, type})};
    }
  }
  policy_attempts_ = by_result<ResultCounters>(policy_attempts);
  policy_seconds_ = by_result<ResultDurations>(policy_seconds);
  preemptions_ = by_result<ResultCounters>(preemptions);
  binding_seconds_ = by_result<ResultDurations>(binding_seconds);
  work_seconds_ = by_result<ResultDurations>(work_seconds);
  for (const auto& [type, name] : {std::pair{type::kResourceBinding, "binding-eviction"},
                                   std::pair{type::kClusterResourceBinding, "cluster-binding-eviction"}}) {
    evictions_of(type) = {{evictions.with({name, "success"}), evictions.with({name, "error"})},
                          eviction_seconds.with({name})};
  }
}

void DecisionMetrics::on_folded(const State& /*state*/, const DecodedRecord& record, const Folded& folded) {
  const std::string& role = record.entry.fence.service;
  if (folded.refusal || role.empty() || !acting_(role)) return;
  for (const Event& event : record.entry.events) count(role, event);
}

void DecisionMetrics::count(std::string_view role, const Event& event) {
  if (const auto* placed = std::get_if<PlacementDecided>(&event)) {
    decided_[placed->binding] = {false, follows_replicas(placed->why)};
  } else if (const auto* refused = std::get_if<PlacementRefused>(&event)) {
    decided_[refused->binding] = {true, follows_replicas(refused->why)};
  } else if (const auto* bound = std::get_if<BindingPut>(&event); bound != nullptr && role == "binder") {
    policy_attempts_.add(false);
    if (step_of<PolicyPreempted>(bound->why) != nullptr) preemptions_.add(false);
  } else if (const auto* evicted = std::get_if<EvictionStarted>(&event); evicted != nullptr && role == "taint") {
    EvictionMeters& meters = evictions_of(evicted->binding.type);
    meters.count.add(false);
    meters.begun = true;
  }
}

void DecisionMetrics::count_schedule(const ObjectKey& key, double seconds, const Error* error) {
  const auto decided = decided_.extract(key);
  if (error == nullptr && decided.empty()) return;  // there was nothing to decide
  const FoldedDecision decision = decided.empty() ? FoldedDecision{true, false} : decided.mapped();
  const ScheduleMeters& meters = schedules_[decision.refused || error != nullptr][decision.scaled];
  meters.attempts.add();
  meters.seconds.observe(seconds);
}

DecisionMetrics::EvictionMeters& DecisionMetrics::evictions_of(std::string_view binding_type) {
  return evictions_[binding_type == type::kResourceBinding ? 1 : 0];
}

void DecisionMetrics::count_evictions(const ObjectKey& key, double seconds, const Error* error) {
  if (is_binding(key.type)) {  // it shows whether an eviction can begin
    if (error == nullptr) return;
    evictions_of(key.type).count.add(true);
    evictions_of(key.type).seconds.observe(seconds);
  } else if (key == taint::evictions_key()) {
    for (EvictionMeters& meters : evictions_) {
      if (std::exchange(meters.begun, false)) meters.seconds.observe(seconds);
    }
  }
}

void DecisionMetrics::on_step(std::string_view role, const ObjectKey& key, double seconds, const Error* error) {
  const bool failed = error != nullptr;
  if (role == "scheduler") {
    count_schedule(key, seconds, error);
  } else if (role == "binder") {
    if (failed) policy_attempts_.add(true);
    policy_seconds_.observe(seconds, failed);
  } else if (role == "dispatcher" && key.type == type::kWork) {
    work_seconds_.observe(seconds, failed);
  } else if (role == "dispatcher" && is_binding(key.type)) {
    binding_seconds_.observe(seconds, failed);
  } else if (role == "taint") {
    count_evictions(key, seconds, error);
  }
}

}  // namespace shiplog
