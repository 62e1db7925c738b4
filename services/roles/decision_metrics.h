#pragma once

#include <functional>
#include <map>
#include <string_view>

#include "services/runtime/metrics.h"
#include "services/runtime/replica.h"

namespace shiplog {

/// What the roles of this process decide and do, in the metrics that Karmada's controllers and scheduler have (OBS-4 to
/// OBS-8). Only what this process did counts: `acting` returns for which roles it holds the lease. Threads: the fold
/// thread.
class DecisionMetrics final : public Observer {
 public:
  explicit DecisionMetrics(std::function<bool(std::string_view role)> acting);

  void on_folded(const State& state, const DecodedRecord& record, const Folded& folded) override;
  /// See Roles::Options.
  void on_step(std::string_view role, const ObjectKey& key, double seconds, const Error* error);

 private:
  struct ResultDurations {
    metrics::Histogram success, error;
    void observe(double seconds, bool failed) const { (failed ? error : success).observe(seconds); }
  };
  struct ResultCounters {
    metrics::Counter success, error;
    void add(bool failed) const { (failed ? error : success).add(); }
  };
  /// What was folded of the step of a key that runs.
  struct FoldedDecision {
    bool refused = false;  ///< no cluster was found
    bool scaled = false;   ///< the replicas had changed, nothing else
  };
  /// Of upstream's queue for ResourceBindings, and of that for ClusterResourceBindings.
  struct EvictionMeters {
    ResultCounters count;
    metrics::Histogram seconds;
    bool begun = false;  ///< in the step that runs
  };
  struct ScheduleMeters {
    metrics::Counter attempts;
    metrics::Histogram seconds;
  };
  void count(std::string_view role, const Event& event);
  void count_schedule(const ObjectKey& key, double seconds, const Error* error);
  void count_evictions(const ObjectKey& key, double seconds, const Error* error);
  EvictionMeters& evictions_of(std::string_view binding_type);

  std::function<bool(std::string_view role)> acting_;
  std::map<ObjectKey, FoldedDecision> decided_;  ///< of keys whose step has not ended yet
  ScheduleMeters schedules_[2][2];               ///< by refused, scaled
  ResultCounters policy_attempts_, preemptions_;
  ResultDurations policy_seconds_, binding_seconds_, work_seconds_;
  EvictionMeters evictions_[2];  ///< by whether the binding has a namespace
};

}  // namespace shiplog
