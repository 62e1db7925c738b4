#include "services/runtime/role_meters.h"

#include <chrono>
#include <limits>

namespace shiplog {
namespace {

using metrics::CounterFamily;
using metrics::GaugeFamily;
using metrics::HistogramFamily;

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// As client-go's: 10 ns to 10 s.
std::vector<double> queue_buckets() { return metrics::exponential_buckets(1e-8, 10, 10); }

const GaugeFamily& leading_family() {
  static const GaugeFamily family{"leader_election_master_status",
                                  "1 while this process has the lease of the role, or of the slot of one, else 0.",
                                  {"name"}};
  return family;
}
const GaugeFamily& depth_family() {
  static const GaugeFamily family{
      "workqueue_depth",
      "Keys that are due and not being worked on; priority 0: for a change of their own, -100: at a start, "
      "or for a policy or option that concerns many.",
      {"name", "priority"}};
  return family;
}
const GaugeFamily& unfinished_family() {
  static const GaugeFamily family{
      "workqueue_unfinished_work_seconds", "Seconds that the steps which run now have taken, in sum.", {"name"}};
  return family;
}
const GaugeFamily& longest_family() {
  static const GaugeFamily family{"workqueue_longest_running_processor_seconds",
                                  "Seconds that the longest of the steps which run now has taken.",
                                  {"name"}};
  return family;
}
const CounterFamily& adds_family() {
  static const CounterFamily family{"workqueue_adds_total", "Keys added to the queue.", {"name"}};
  return family;
}
const CounterFamily& retries_family() {
  static const CounterFamily family{"workqueue_retries_total", "Steps that failed and are retried.", {"name"}};
  return family;
}
const HistogramFamily& waited_family() {
  static const HistogramFamily family{
      "workqueue_queue_duration_seconds", "Seconds from when a key is due to its step.", {"name"}, queue_buckets()};
  return family;
}
const HistogramFamily& worked_family() {
  static const HistogramFamily family{
      "workqueue_work_duration_seconds", "Seconds from the begin of a step to its end.", {"name"}, queue_buckets()};
  return family;
}
const CounterFamily& results_family() {
  static const CounterFamily family{"controller_runtime_reconcile_total",
                                    "Steps by result: success, requeue_after (at a later time), error.",
                                    {"controller", "result"}};
  return family;
}
const HistogramFamily& reconciled_family() {
  static const HistogramFamily family{
      "controller_runtime_reconcile_time_seconds",
      "Seconds from the begin of a step to its end.",
      {"controller"},
      {0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.25, 1.5,
       1.75,  2.0,  2.5,   3.0,  3.5, 4.0,  4.5, 5,    6,   7,    8,   9,    10,  15,  20,  25,  30,  40,  50,   60}};
  return family;
}
const HistogramFamily& decide_family() {
  static const HistogramFamily family{"shiplog_decide_duration_seconds",
                                      "Seconds that a step occupies the fold thread before it ends or first waits.",
                                      {"role"},
                                      metrics::exponential_buckets(0.000004, 4, 10)};
  return family;
}

}  // namespace

RoleMeters::RoleMeters(const std::string& role)
    : depth_{depth_family().with({role, "0"})},
      routine_depth_{depth_family().with({role, "-100"})},
      unfinished_{unfinished_family().with({role})},
      longest_{longest_family().with({role})},
      adds_{adds_family().with({role})},
      retries_{retries_family().with({role})},
      successes_{results_family().with({role, "success"})},
      requeues_{results_family().with({role, "requeue_after"})},
      errors_{results_family().with({role, "error"})},
      waited_{waited_family().with({role})},
      worked_{worked_family().with({role})},
      reconciled_{reconciled_family().with({role})},
      decide_{decide_family().with({role})},
      hook_{[this] {
        const auto count = static_cast<double>(published_count_.load(std::memory_order_relaxed));
        const double now = seconds_now();
        unfinished_.set(count == 0 ? 0 : count * now - published_sum_.load(std::memory_order_relaxed));
        longest_.set(count == 0 ? 0 : now - published_oldest_.load(std::memory_order_relaxed));
      }} {}

void RoleMeters::publish() {
  published_sum_.store(begin_sum_, std::memory_order_relaxed);
  if (!running_.empty()) published_oldest_.store(running_.begin()->second, std::memory_order_relaxed);
  published_count_.store(running_.size(), std::memory_order_relaxed);
}

uint64_t RoleMeters::begin_step(double waited_seconds) {
  waited_.observe(waited_seconds);
  const double now = seconds_now();
  running_.emplace_hint(running_.end(), ++last_step_, now);
  begin_sum_ += now;
  publish();
  return last_step_;
}

double RoleMeters::end_step(uint64_t step, StepResult result) {
  const auto begun = running_.find(step);
  if (begun == running_.end()) return 0;  // forgotten
  const double seconds = seconds_now() - begun->second;
  begin_sum_ -= begun->second;
  running_.erase(begun);
  if (running_.empty()) begin_sum_ = 0;  // what rounding has left
  publish();
  worked_.observe(seconds);
  reconciled_.observe(seconds);
  if (result == StepResult::kError) retries_.add();
  (result == StepResult::kSuccess ? successes_ : result == StepResult::kRequeueAfter ? requeues_ : errors_).add();
  return seconds;
}

void RoleMeters::forget_step(uint64_t step) {
  const auto begun = running_.find(step);
  if (begun == running_.end()) return;
  begin_sum_ -= begun->second;
  running_.erase(begun);
  if (running_.empty()) begin_sum_ = 0;
  publish();
}

LeaseMeter::~LeaseMeter() {
  if (gauge_) gauge_->set(0);
}

void LeaseMeter::set(bool leading) {
  if (!gauge_) gauge_ = leading_family().with({lease_});
  gauge_->set(leading ? 1 : 0);
}

void LeaseMeter::retire() {
  if (gauge_) gauge_->set(std::numeric_limits<double>::quiet_NaN());
  gauge_.reset();
}

}  // namespace shiplog
