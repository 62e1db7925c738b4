#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "services/runtime/metrics.h"
#include "services/runtime/queue.h"

namespace shiplog {

/// The metrics of one role's queue, steps and lease, named as client-go and controller-runtime name them: `workqueue_*`
/// and `leader_election_master_status` by `name`, `controller_runtime_*` by `controller`. Threads: one.
class RoleMeters {
 public:
  enum class StepResult { kSuccess, kRequeueAfter, kError };

  explicit RoleMeters(const std::string& role);
  RoleMeters(const RoleMeters&) = delete;
  RoleMeters& operator=(const RoleMeters&) = delete;

  /// A key was added to the queue, of which so many are due now, by urgency (QUE-4).
  void added() const { adds_.add(); }
  void set_depth(Urgency urgency, size_t depth) const {
    (urgency == Urgency::kChange ? depth_ : routine_depth_).set(static_cast<double>(depth));
  }

  /// A step begins, whose key was due for so long. The number identifies the step.
  uint64_t begin_step(double waited_seconds);
  /// How long the step occupied the fold thread before it returned or first waited.
  void decided(double seconds) const { decide_.observe(seconds); }
  /// Returns the seconds since the step began.
  double end_step(uint64_t step, StepResult result);
  /// The step does not count any more.
  void forget_step(uint64_t step);
  /// Steps that have begun, and neither ended nor been forgotten.
  size_t running() const { return running_.size(); }

 private:
  void publish();

  metrics::Gauge depth_, routine_depth_, unfinished_, longest_;
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

/// `leader_election_master_status` of one lease, of a role or of a slot of one. Threads: one.
class LeaseMeter {
 public:
  /// There is no series before the first set().
  explicit LeaseMeter(std::string lease) : lease_{std::move(lease)} {}
  /// Afterwards the process does not have the lease.
  ~LeaseMeter();
  LeaseMeter(const LeaseMeter&) = delete;
  LeaseMeter& operator=(const LeaseMeter&) = delete;

  void set(bool leading);
  /// The lease is one that no process has any more. The series stays, and is not a number: neither led nor not.
  void retire();

 private:
  const std::string lease_;
  std::optional<metrics::Gauge> gauge_;
};

}  // namespace shiplog
