#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "events/event.h"
#include "services/runtime/queue.h"
#include "services/runtime/role.h"
#include "services/runtime/role_meters.h"
#include "services/runtime/roles.h"
#include "services/runtime/running_role.h"
#include "services/runtime/trace.h"

namespace shiplog {

/// The names of the events, each once and in their order, with its number where there are several:
/// "WorkApplied,WorkStatusObserved(64)".
std::string event_names(const std::vector<Event>& events);

/// One step of one key; outlives the tenure it began in, but is void then.
class Roles::Step final : public Task, public std::enable_shared_from_this<Roles::Step> {
 public:
  Step(Roles& roles, Part& part, ReconcileQueue::Taken taken, uint64_t number)
      : roles_{roles},
        part_{part},
        role_{part.role},
        taken_{std::move(taken)},
        trace_{trace_from_journal(taken_.cause.trace_id)},
        number_{number},
        tenure_{part.tenure},
        alive_{roles.alive_} {}

  const ObjectKey& key() const override { return taken_.key; }
  const State& state() const override { return roles_.options_.replica->state(); }
  UtcMillis now() const override {
    // Remembered: the entry must carry the very time its decision was computed with.
    return asked_now_ = roles_.options_.executor->now();
  }

  const TraceContext& trace() override;
  void begin_trace() override {
    trace_ = {};
    taken_.cause = {};
  }

  void append_decision(Decision decision, Appended then) override {
    append("decide", std::move(decision), std::move(then));
  }
  void append_observation(Decision seen, Appended then) override {
    append("observe", std::move(seen), std::move(then));
  }

  void done(Millis look_again) override;
  void retry(const Error& error) override;
  std::function<void()> waker(Millis delay) override;

 private:
  bool is_void() const { return !*alive_ || tenure_ != part_.tenure; }

  /// True when the step no longer counts.
  bool finish();
  void make_room();
  void measure(RoleMeters::StepResult result, const Error* error);
  void append(const char* verb, Decision decision, Appended then);

  Roles& roles_;
  Part& part_;
  RunningRole& role_;
  ReconcileQueue::Taken taken_;
  TraceContext trace_;  // no id: not begun yet
  uint64_t number_;
  uint64_t tenure_;
  std::shared_ptr<bool> alive_;
  bool finished_ = false;
  mutable UtcMillis asked_now_;
};

}  // namespace shiplog
