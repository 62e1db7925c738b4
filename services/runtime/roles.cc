#include "services/runtime/roles.h"

#include <algorithm>
#include <set>
#include <utility>

#include "events/base/check.h"
#include "services/runtime/log.h"
#include "services/runtime/role_meters.h"
#include "services/runtime/role_triggers.h"
#include "services/runtime/slot_owners.h"
#include "services/runtime/trace.h"

namespace shiplog {
namespace {

constexpr Millis kLongestTimer{1'000};
constexpr Millis kLookAtSlotsEvery{100};
constexpr int kLooksBeforeLeaving = 3;
constexpr int kLooksForSteps = 20;

/// How many of a role's steps may be routine: what waits for slow members leaves some for changes.
size_t routine_steps(size_t all) { return std::max<size_t>(1, all - all / 4); }

}  // namespace

/// What one lease is for: the keys of a role, or those of one of its slots.
struct Roles::Part {
  enum class Phase { kFollowing, kTaking, kActing };

  Part(RunningRole& of, std::string name, std::optional<int> number)
      : role{of}, lease{std::move(name)}, slot{number}, meter{lease} {}

  RunningRole& role;
  const std::string lease;
  const std::optional<int> slot;
  LeaseMeter meter;
  bool campaigning = false;
  Phase phase = Phase::kFollowing;
  bool leading = false;   // as the election reports
  uint64_t epoch = 0;     // of our lease, while acting
  uint64_t tenure = 0;    // grows each time acting begins or ends: steps of an older tenure are void
  bool starting = false;  // acting, but the role has not been asked for its keys yet
  int leaving = 0;        // looks since another process should have the slot; no steps begin meanwhile
  ReconcileQueue queue;
  std::set<uint64_t> steps;  // that run
  bool pumping = false;      // a pump is posted
  UtcMillis armed;           // a timer is set for then
};

struct Roles::RunningRole {
  RunningRole(std::unique_ptr<Role> role, bool by_slots)
      : service{std::move(role)}, divisible{by_slots}, meters{name()} {
    parts.push_back(std::make_unique<Part>(*this, name(), std::nullopt));
    if (!divisible) parts.front()->meter.set(false);
  }

  std::unique_ptr<Role> service;
  const bool divisible;
  RoleMeters meters;
  std::vector<std::unique_ptr<Part>> parts;  // by slot, or the whole role
  std::unique_ptr<Part> whole;               // once the role is divided: steps may still refer to it
  std::vector<std::string> candidates;       // for the slots, at the last look
  SlotOwners owners;                         // that they should have
  int unchanged = 0;                         // looks since the candidates changed
  bool start_posted = false;
  bool crowded = false;  // a part waits for steps of others to end

  std::string name() const { return std::string{service->name()}; }
  bool divided() const { return whole != nullptr; }
  Part& part_of(const ObjectKey& key) {
    return divided() ? *parts[static_cast<size_t>(service->slot_of_key(key))] : *parts.front();
  }
  size_t busy() const {
    size_t sum = 0;
    for (const auto& part : parts) sum += part->queue.busy();
    return sum;
  }
  bool may_begin_routine(size_t steps_under_way) const {
    size_t sum = 0;
    for (const auto& part : parts) sum += part->queue.busy_with_routine();
    return sum < routine_steps(steps_under_way);
  }
  void publish_depth(UtcMillis now) const {
    for (const Urgency urgency : kUrgencies) {
      size_t depth = 0;
      for (const auto& part : parts) depth += part->queue.ready(now, urgency);
      meters.set_depth(urgency, depth);
    }
  }
};

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

  const TraceContext& trace() override {
    if (trace_.id.empty()) trace_ = new_trace(*roles_.options_.random);
    return trace_;
  }
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

  void done(Millis look_again) override {
    if (finish()) return;
    measure(look_again.value > 0 ? RoleMeters::StepResult::kRequeueAfter : RoleMeters::StepResult::kSuccess, nullptr);
    std::optional<UtcMillis> at;
    if (look_again.value > 0) at = now() + look_again;
    part_.queue.done(taken_.key, now(), at);
    make_room();
  }

  void retry(const Error& error) override {
    if (finish()) return;
    measure(RoleMeters::StepResult::kError, &error);
    const bool routine = error.code == ErrorCode::kConflict || part_.queue.failures(taken_.key) > 0;
    log::write(routine ? log::Level::kDebug : log::Level::kWarn, role_.name() + ".retry",
               {log::kv("key", to_string(taken_.key)), log::kv("code", shiplog::name_of(error.code)),
                log::kv("reason", error.message), log::kv("trace_id", trace().id)});
    if (roles_.options_.on_retry && error.code != ErrorCode::kConflict) {
      roles_.options_.on_retry(role_.service->name(), taken_.key, error);
    }
    part_.queue.retry(taken_.key, now(), *roles_.options_.random);
    make_room();
  }

  std::function<void()> waker(Millis delay) override {
    return [&roles = roles_, &part = part_, key = taken_.key, delay, tenure = tenure_, alive = alive_] {
      if (!*alive || tenure != part.tenure) return;
      roles.options_.executor->post_after(delay, [&roles, &part, key, tenure, alive] {
        if (!*alive || tenure != part.tenure) return;
        const UtcMillis now = roles.options_.executor->now();
        if (part.queue.wake(key, now, {})) part.role.meters.added();
        part.role.publish_depth(now);
        roles.arm(part);
      });
    };
  }

 private:
  bool is_void() const { return !*alive_ || tenure_ != part_.tenure; }

  /// True when the step no longer counts.
  bool finish() {
    if (is_void()) return true;
    SHIPLOG_CHECK(!finished_, "a step ends once");
    finished_ = true;
    return false;
  }

  void make_room() {
    roles_.arm(part_);
    if (std::exchange(role_.crowded, false)) roles_.arm_all(role_);
  }

  void measure(RoleMeters::StepResult result, const Error* error) {
    part_.steps.erase(number_);
    const double seconds = role_.meters.end_step(number_, result);
    if (roles_.options_.on_step) roles_.options_.on_step(role_.service->name(), taken_.key, seconds, error);
  }

  void append(const char* verb, Decision decision, Appended then) {
    if (is_void()) return;
    Entry entry;
    entry.time = asked_now_ == UtcMillis{} ? now() : asked_now_;
    entry.actor = {.user = "system:shiplog:" + role_.name(),
                   .groups = {"system:shiplog"},
                   .service = role_.name(),
                   .source_ip = "",
                   .user_agent = roles_.options_.user_agent};
    entry.request = {verb, to_string(taken_.key)};
    // What was observed of many objects at once has no single cause.
    const bool decided = std::string_view{verb} == "decide";
    if (decided || decision.events.size() == 1) entry.cause = taken_.cause;
    entry.cause.trace_id = journaled(trace());
    entry.as_of = state().revision();
    entry.fence = {part_.lease, part_.epoch};
    entry.fold_version = state().fold_version();
    entry.expects = std::move(decision.expects);
    entry.events = std::move(decision.events);
    std::string names;
    for (const Event& event : entry.events) names += (names.empty() ? "" : ",") + std::string{shiplog::name_of(event)};
    roles_.options_.replica->append(
        std::move(entry), [self = shared_from_this(), names, decided, then = std::move(then)](Result<Outcome> outcome) {
          if (self->is_void()) return;
          if (!outcome) return then(outcome.error());
          if (outcome.value().refusal) {
            return then(Error{outcome.value().refusal->code, outcome.value().refusal->reason});
          }
          log::info(self->role_.name() + (decided ? ".decided" : ".observed"),
                    {log::kv("key", to_string(self->taken_.key)), log::kv("events", names),
                     log::kv("revision", outcome.value().revision.value), log::kv("trace_id", self->trace().id)});
          then(outcome.value().revision);
        });
  }

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

Roles::Roles(Options options) : options_{std::move(options)} { options_.replica->add_observer(*this); }

Roles::~Roles() { *alive_ = false; }

void Roles::add(std::unique_ptr<Role> service, bool divided) {
  roles_.push_back(std::make_unique<RunningRole>(std::move(service), divided));
}

void Roles::start() {
  options_.replica->when_caught_up([this, alive = alive_] {
    if (!*alive) return;
    for (const auto& role : roles_) {
      if (role->divisible) options_.election->announce(role->name());
      if (!role->divisible || options_.replica->state().fold_version() < kSlotsFoldVersion) {
        campaign(*role->parts.front());
      } else if (!role->divided()) {
        divide(*role);
      }
      looking_at_slots_ = looking_at_slots_ || role->divisible;
    }
    if (looking_at_slots_) look_at_slots();
  });
}

void Roles::stop() {
  looking_at_slots_ = false;
  for (const auto& role : roles_) {
    for (const auto& part : role->parts) end(*part);
  }
  options_.election->resign();
}

bool Roles::acting(std::string_view service) const {
  for (const auto& role : roles_) {
    if (role->service->name() != role_of_lease(service)) continue;
    return std::ranges::any_of(role->parts, [&](const auto& part) {
      return part->phase == Part::Phase::kActing && (service == role->service->name() || service == part->lease);
    });
  }
  return false;
}

size_t Roles::due_or_busy() const {
  size_t sum = 0;
  for (const auto& role : roles_) {
    for (const auto& part : role->parts) {
      sum += part->queue.busy();
      if (const auto due = part->queue.next_due(); due && *due <= options_.executor->now()) ++sum;
    }
  }
  return sum;
}

std::string Roles::with_due_or_busy_keys() const {
  std::string names;
  for (const auto& role : roles_) {
    for (const auto& part : role->parts) {
      const auto due = part->queue.next_due();
      const bool is_due = due && *due <= options_.executor->now();
      if (part->queue.busy() > 0 || is_due) names += (names.empty() ? "" : ", ") + part->lease;
    }
  }
  return names;
}

std::vector<RoleFigures> Roles::figures() const {
  std::vector<RoleFigures> figures;
  const UtcMillis now = options_.executor->now();
  for (const auto& role : roles_) {
    RoleFigures sum{.role = role->name()};
    for (const auto& part : role->parts) {
      if (part->phase == Part::Phase::kActing) {
        sum.acting = true;
        if (part->slot) {
          sum.slots.push_back(*part->slot);
        } else {
          sum.epoch = part->epoch;
        }
      }
      const auto backlog = part->queue.backlog(now);
      sum.queued += backlog.keys;
      sum.busy += part->queue.busy();
      sum.retries += part->queue.retries();
      sum.waiting = std::max(sum.waiting, backlog.waiting);
    }
    figures.push_back(std::move(sum));
  }
  return figures;
}

void Roles::campaign(Part& part) {
  part.campaigning = true;
  part.meter.set(false);
  options_.election->campaign(part.lease, [this, alive = alive_, &part](bool leading) {
    if (*alive && part.campaigning) lead(part, leading);
  });
}

void Roles::withdraw(Part& part) {
  end(part);
  part.campaigning = false;
  part.leading = false;
  options_.election->withdraw(part.lease);
}

/// From now on the role's slots have the leases. All processes come to this at the same entry of the journal, so those
/// that have read it do not wait for one that has not: the fold refuses what that one still appends.
void Roles::divide(RunningRole& role) {
  if (role.parts.front()->campaigning) withdraw(*role.parts.front());
  role.whole = std::move(role.parts.front());
  role.whole->meter.retire();
  role.parts.clear();
  for (int slot = 0; slot < kSlots; ++slot) {
    role.parts.push_back(std::make_unique<Part>(role, slot_lease(role.service->name(), slot), slot));
    role.parts.back()->meter.set(false);
  }
}

void Roles::look_at_slots() {
  if (!looking_at_slots_) return;
  for (const auto& role : roles_) {
    if (role->divided()) share_slots(*role);
  }
  options_.executor->post_after(kLookAtSlotsEvery, [this, alive = alive_] {
    if (*alive) look_at_slots();
  });
}

void Roles::share_slots(RunningRole& role) {
  auto candidates = options_.election->candidates(role.name());
  ++role.unchanged;
  if (candidates != role.candidates) {
    role.candidates = std::move(candidates);
    role.owners = owners_of_slots(role.candidates);
    role.unchanged = 0;
  }
  for (const auto& part : role.parts) {
    if (role.owners[static_cast<size_t>(*part->slot)] != options_.election->identity()) {
      leave_slot(*part);
    } else if (!part->campaigning) {
      campaign(*part);
    } else if (std::exchange(part->leaving, 0) > 0) {
      arm(*part);
    }
  }
}

void Roles::leave_slot(Part& part) {
  // A candidate that is there one moment and gone the next is no reason to move.
  if (!part.campaigning || part.role.unchanged < kLooksBeforeLeaving) return;
  ++part.leaving;
  // An answer of a member may take long; the step is void without it, and the next holder begins it anew.
  if (part.queue.busy() == 0 || part.leaving > kLooksForSteps) withdraw(part);
}

void Roles::lead(Part& part, bool leading) {
  part.leading = leading;
  if (!leading) {
    end(part);
  } else if (part.phase == Part::Phase::kFollowing) {
    take_lease(part);
  }
}

void Roles::take_lease(Part& part) {
  part.phase = Part::Phase::kTaking;
  const State& state = options_.replica->state();
  const std::string role = part.role.name();
  Entry entry;
  entry.actor = {.user = "system:shiplog:" + role,
                 .groups = {"system:shiplog"},
                 .service = role,
                 .source_ip = "",
                 .user_agent = options_.user_agent};
  entry.as_of = state.revision();
  entry.fold_version = state.fold_version();
  const uint64_t epoch = state.lease(part.lease).epoch + 1;
  entry.events = {LeaseTaken{part.lease, options_.election->identity(), epoch}};
  options_.replica->append(std::move(entry), [this, alive = alive_, &part, epoch](Result<Outcome> outcome) {
    if (!*alive || part.phase != Part::Phase::kTaking) return;
    part.phase = Part::Phase::kFollowing;
    if (!part.leading) return;
    if (outcome && !outcome.value().refusal && options_.replica->state().lease(part.lease).epoch == epoch) {
      part.epoch = epoch;
      begin(part);
      return;
    }
    // Another process took that epoch, or the journal is unavailable: try again while the election makes us leader.
    options_.executor->post_after(Millis{100}, [this, alive, &part] {
      if (*alive && part.leading && part.phase == Part::Phase::kFollowing) take_lease(part);
    });
  });
}

void Roles::begin(Part& part) {
  part.phase = Part::Phase::kActing;
  ++part.tenure;
  part.leaving = 0;
  part.starting = true;
  part.meter.set(true);
  log::info("lease.taken", {log::kv("service", part.lease), log::kv("epoch", part.epoch),
                            log::kv("revision", options_.replica->state().revision().value)});
  if (!part.slot) return start_keys(part.role);
  // Several slots are usually gained at once, and the role goes through the whole state for its keys.
  if (std::exchange(part.role.start_posted, true)) return;
  options_.executor->post([this, alive = alive_, &role = part.role] {
    if (*alive) start_keys(role);
  });
}

/// What is decided depends on the fold version: the role goes through all of its keys, as when it starts.
void Roles::look_anew(RunningRole& role) {
  bool acts = false;
  for (const auto& part : role.parts) {
    if (part->phase != Part::Phase::kActing) continue;
    part->starting = true;
    acts = true;
  }
  if (!acts || std::exchange(role.start_posted, true)) return;
  options_.executor->post([this, alive = alive_, &role] {
    if (*alive) start_keys(role);
  });
}

void Roles::start_keys(RunningRole& role) {
  role.start_posted = false;
  std::vector<ObjectKey> wake;
  role.service->on_start(options_.replica->state(), wake);
  const UtcMillis now = options_.executor->now();
  const Cause cause{options_.replica->state().revision(), {}, ""};
  for (const ObjectKey& key : wake) {
    Part& part = role.part_of(key);
    if (!part.starting) continue;
    const int64_t priority = role.service->priority(options_.replica->state(), key);
    if (part.queue.wake(key, now, cause, priority, Urgency::kRoutine)) role.meters.added();
  }
  role.publish_depth(now);
  for (const auto& part : role.parts) {
    if (std::exchange(part->starting, false)) arm(*part);
  }
}

void Roles::end(Part& part) {
  if (part.phase == Part::Phase::kFollowing) return;
  const bool acted = part.phase == Part::Phase::kActing;
  part.phase = Part::Phase::kFollowing;
  ++part.tenure;
  part.starting = false;
  part.leaving = 0;
  part.queue.clear();
  part.meter.set(false);
  for (const uint64_t step : std::exchange(part.steps, {})) part.role.meters.forget_step(step);
  part.role.publish_depth(options_.executor->now());
  if (!acted) return;
  if (part.slot) {
    part.role.service->on_slot_lost(*part.slot);
  } else {
    part.role.service->on_stop();
  }
  log::info("lease.released", {log::kv("service", part.lease), log::kv("epoch", part.epoch)});
  if (std::exchange(part.role.crowded, false)) arm_all(part.role);
}

void Roles::on_folded(const State& state, const DecodedRecord& record, const Folded& folded) {
  if (folded.refusal) return;
  for (const Event& event : record.entry.events) {
    if (const auto* taken = std::get_if<LeaseTaken>(&event)) on_lease_taken(*taken);
    if (!std::holds_alternative<FoldVersionActivated>(event)) continue;
    for (const auto& role : roles_) {
      if (role->divisible && !role->divided() && state.fold_version() >= kSlotsFoldVersion) {
        divide(*role);
      } else {
        look_anew(*role);
      }
    }
  }
  if (folded.changes.empty()) return;
  const UtcMillis now = options_.executor->now();
  const Cause cause{folded.revision, record.entry.id, record.entry.cause.trace_id};
  std::vector<ObjectKey> wake;
  for (const auto& role : roles_) {
    bool woken = false;
    for (const Change& change : folded.changes) {
      wake.clear();
      role->service->on_change(state, change, wake);
      if (wake.empty()) continue;
      const auto relation =
          is_measurement(change) ? ReconcileQueue::Relation::kHastens : ReconcileQueue::Relation::kCauses;
      for (const ObjectKey& key : wake) {
        Part& part = role->part_of(key);
        if (part.phase != Part::Phase::kActing) continue;
        woken = true;
        const int64_t priority = role->service->priority(state, key);
        if (part.queue.wake(key, now, cause, priority, urgency_of(change, key), relation)) role->meters.added();
      }
    }
    if (!woken) continue;
    role->publish_depth(now);
    for (const auto& part : role->parts) arm(*part);
  }
}

void Roles::on_lease_taken(const LeaseTaken& taken) {
  for (const auto& role : roles_) {
    for (const auto& part : role->parts) {
      if (part->lease != taken.service || part->phase != Part::Phase::kActing) continue;
      if (taken.epoch <= part->epoch) continue;
      log::warn("lease.lost", {log::kv("service", taken.service), log::kv("holder", taken.holder)});
      end(*part);
      if (!part->leading) continue;
      // Later than the election needs to notice that this process was replaced while it was frozen.
      options_.executor->post_after(Millis{500}, [this, alive = alive_, &lost = *part] {
        if (*alive && lost.leading && lost.phase == Part::Phase::kFollowing) take_lease(lost);
      });
    }
  }
}

void Roles::arm_all(RunningRole& role) {
  for (const auto& part : role.parts) arm(*part);
}

void Roles::arm(Part& part) {
  if (part.phase != Part::Phase::kActing || part.pumping || part.leaving > 0) return;
  // Where routine has all the steps that it may have, the end of one is what its next key waits for.
  const bool routine = part.role.may_begin_routine(options_.steps_under_way);
  if (!routine) part.role.crowded = true;
  const auto due = part.queue.next_due(routine);
  if (!due) return;
  const UtcMillis now = options_.executor->now();
  if (*due <= now) {
    if (part.role.busy() >= options_.steps_under_way) {
      part.role.crowded = true;
      return;
    }
    part.pumping = true;
    options_.executor->post([this, alive = alive_, &part] {
      if (*alive) pump(part);
    });
  } else if (part.armed <= now || *due < part.armed) {
    // Looked at once a second at least: a clock that was set forward makes keys due before a timer notices.
    const UtcMillis at = std::min(*due, now + kLongestTimer);
    part.armed = at;
    options_.executor->post_after(at - now, [this, alive = alive_, &part, at] {
      if (!*alive) return;
      if (part.armed == at) part.armed = UtcMillis{};
      arm(part);
    });
  }
}

void Roles::pump(Part& part) {
  part.pumping = false;
  RunningRole& role = part.role;
  const uint64_t tenure = part.tenure;
  const auto goes_on = [&] { return part.phase == Part::Phase::kActing && part.tenure == tenure && part.leaving == 0; };
  // A bounded number of steps at a time: other services, and folding, get their turn in between.
  for (int steps = 0; steps < 64 && goes_on(); ++steps) {
    if (role.busy() >= options_.steps_under_way) break;  // arm() notes that this part waits
    auto taken = part.queue.take(options_.executor->now(), role.may_begin_routine(options_.steps_under_way));
    if (!taken) break;
    const metrics::Stopwatch watch;
    const uint64_t number =
        role.meters.begin_step(static_cast<double>((options_.executor->now() - taken->due).value) / 1000);
    part.steps.insert(number);
    role.service->reconcile(std::make_shared<Step>(*this, part, std::move(*taken), number));
    role.meters.decided(watch.seconds());
  }
  role.publish_depth(options_.executor->now());
  arm(part);
}

}  // namespace shiplog
