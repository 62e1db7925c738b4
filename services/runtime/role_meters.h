#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "services/runtime/metrics.h"

namespace shiplog {

/// The metrics of one role's queue, steps and lease, named as client-go and controller-runtime name them: `workqueue_*`
/// and `leader_election_master_status` by `name`, `controller_runtime_*` by `controller`. Threads: one.
class RoleMeters {
 public:
  enum class StepResult { kSuccess, kRequeueAfter, kError };

  explicit RoleMeters(const std::string& role);
  /// Afterwards the process does not lead for the role.
  ~RoleMeters() { set_leading(false); }
  RoleMeters(const RoleMeters&) = delete;
  RoleMeters& operator=(const RoleMeters&) = delete;

  void set_leading(bool leading) const { leading_.set(leading ? 1 : 0); }
  /// A key was added to the queue, of which so many are due now.
  void added() const { adds_.add(); }
  void set_depth(size_t depth) const { depth_.set(static_cast<double>(depth)); }

  /// A step begins, whose key was due for so long. The number identifies the step.
  uint64_t begin_step(double waited_seconds);
  /// How long the step occupied the fold thread before it returned or first waited.
  void decided(double seconds) const { decide_.observe(seconds); }
  /// Returns the seconds since the step began.
  double end_step(uint64_t step, StepResult result);
  /// The steps that run do not count any more.
  void forget_steps();

 private:
  void publish();

  metrics::Gauge leading_, depth_, unfinished_, longest_;
  metrics::Counter adds_, retries_, successes_, requeues_, errors_;
  metrics::Histogram waited_, worked_, reconciled_, decide_;
  uint64_t last_step_ = 0;
  std::map<uint64_t, double> running_;  ///< by step: when it began
  double begin_sum_ = 0;
  // Of running_, for the scrape.
  std::atomic<size_t> published_count_{0};
  std::atomic<double> published_sum_{0}, published_oldest_{0};
  const metrics::ScrapeHook hook_;
};

}  // namespace shiplog
