#include "services/runtime/roles.h"

#include <algorithm>
#include <utility>

#include "events/base/check.h"
#include "services/runtime/log.h"
#include "services/runtime/role_meters.h"
#include "services/runtime/trace.h"

namespace shiplog {
namespace {

constexpr Millis kLongestTimer{1'000};

}  // namespace

struct Roles::RunningRole {
  enum class Phase { kFollowing, kTaking, kActing };

  explicit RunningRole(std::unique_ptr<Role> role) : service{std::move(role)}, meters{name()} {}

  std::unique_ptr<Role> service;
  RoleMeters meters;
  Phase phase = Phase::kFollowing;
  bool leading = false;  // as the election reports
  uint64_t epoch = 0;    // of our lease, while acting
  uint64_t tenure = 0;   // grows each time acting begins or ends: steps of an older tenure are void
  ReconcileQueue queue;
  bool pumping = false;  // a pump is posted
  UtcMillis armed;       // a timer is set for then

  std::string name() const { return std::string{service->name()}; }
};

/// One step of one key; outlives the tenure it began in, but is void then.
class Roles::Step final : public Task, public std::enable_shared_from_this<Roles::Step> {
 public:
  Step(Roles& roles, RunningRole& role, ReconcileQueue::Taken taken, uint64_t number)
      : roles_{roles},
        role_{role},
        taken_{std::move(taken)},
        trace_{trace_from_journal(taken_.cause.trace_id)},
        number_{number},
        tenure_{role.tenure},
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
  void begin_trace() override { trace_ = {}; }

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
    role_.queue.done(taken_.key, now(), at);
    roles_.arm(role_);
  }

  void retry(const Error& error) override {
    if (finish()) return;
    measure(RoleMeters::StepResult::kError, &error);
    const bool routine = error.code == ErrorCode::kConflict || role_.queue.failures(taken_.key) > 0;
    log::write(routine ? log::Level::kDebug : log::Level::kWarn, role_.name() + ".retry",
               {log::kv("key", to_string(taken_.key)), log::kv("code", shiplog::name_of(error.code)),
                log::kv("reason", error.message), log::kv("trace_id", trace().id)});
    if (roles_.options_.on_retry && error.code != ErrorCode::kConflict) {
      roles_.options_.on_retry(role_.service->name(), taken_.key, error);
    }
    role_.queue.retry(taken_.key, now(), *roles_.options_.random);
    roles_.arm(role_);
  }

 private:
  bool is_void() const { return !*alive_ || tenure_ != role_.tenure; }

  /// True when the step no longer counts.
  bool finish() {
    if (is_void()) return true;
    SHIPLOG_CHECK(!finished_, "a step ends once");
    finished_ = true;
    return false;
  }

  void measure(RoleMeters::StepResult result, const Error* error) {
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
    entry.fence = {role_.name(), role_.epoch};
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

void Roles::add(std::unique_ptr<Role> service) { roles_.push_back(std::make_unique<RunningRole>(std::move(service))); }

void Roles::start() {
  options_.replica->when_caught_up([this, alive = alive_] {
    if (!*alive) return;
    for (const auto& role : roles_) {
      options_.election->campaign(role->name(), [this, alive, role = role.get()](bool leading) {
        if (*alive) lead(*role, leading);
      });
    }
  });
}

void Roles::stop() {
  for (const auto& role : roles_) end(*role);
  options_.election->resign();
}

bool Roles::acting(std::string_view service) const {
  return std::ranges::any_of(roles_, [&](const auto& role) {
    return role->service->name() == service && role->phase == RunningRole::Phase::kActing;
  });
}

size_t Roles::due_or_busy() const {
  size_t sum = 0;
  for (const auto& role : roles_) {
    sum += role->queue.busy();
    if (const auto due = role->queue.next_due(); due && *due <= options_.executor->now()) ++sum;
  }
  return sum;
}

std::string Roles::with_due_or_busy_keys() const {
  std::string names;
  for (const auto& role : roles_) {
    const auto due = role->queue.next_due();
    const bool is_due = due && *due <= options_.executor->now();
    if (role->queue.busy() > 0 || is_due) names += (names.empty() ? "" : ", ") + role->name();
  }
  return names;
}

std::vector<RoleFigures> Roles::figures() const {
  std::vector<RoleFigures> figures;
  const UtcMillis now = options_.executor->now();
  for (const auto& role : roles_) {
    const bool acting = role->phase == RunningRole::Phase::kActing;
    const auto backlog = role->queue.backlog(now);
    figures.push_back({.role = role->name(),
                       .acting = acting,
                       .epoch = acting ? role->epoch : 0,
                       .queued = backlog.keys,
                       .busy = role->queue.busy(),
                       .retries = role->queue.retries(),
                       .waiting = backlog.waiting});
  }
  return figures;
}

void Roles::lead(RunningRole& role, bool leading) {
  role.leading = leading;
  if (!leading) {
    end(role);
  } else if (role.phase == RunningRole::Phase::kFollowing) {
    take_lease(role);
  }
}

void Roles::take_lease(RunningRole& role) {
  role.phase = RunningRole::Phase::kTaking;
  const State& state = options_.replica->state();
  Entry entry;
  entry.actor = {.user = "system:shiplog:" + role.name(),
                 .groups = {"system:shiplog"},
                 .service = role.name(),
                 .source_ip = "",
                 .user_agent = options_.user_agent};
  entry.as_of = state.revision();
  entry.fold_version = state.fold_version();
  const uint64_t epoch = state.lease(role.name()).epoch + 1;
  entry.events = {LeaseTaken{role.name(), options_.election->identity(), epoch}};
  options_.replica->append(std::move(entry), [this, alive = alive_, &role, epoch](Result<Outcome> outcome) {
    if (!*alive || role.phase != RunningRole::Phase::kTaking) return;
    role.phase = RunningRole::Phase::kFollowing;
    if (!role.leading) return;
    if (outcome && !outcome.value().refusal && options_.replica->state().lease(role.name()).epoch == epoch) {
      role.epoch = epoch;
      begin(role);
      return;
    }
    // Another process took that epoch, or the journal is unavailable: try again while the election makes us leader.
    options_.executor->post_after(Millis{100}, [this, alive, &role] {
      if (*alive && role.leading && role.phase == RunningRole::Phase::kFollowing) take_lease(role);
    });
  });
}

void Roles::begin(RunningRole& role) {
  role.phase = RunningRole::Phase::kActing;
  ++role.tenure;
  role.meters.set_leading(true);
  log::info("lease.taken", {log::kv("service", role.name()), log::kv("epoch", role.epoch),
                            log::kv("revision", options_.replica->state().revision().value)});
  std::vector<ObjectKey> wake;
  role.service->on_start(options_.replica->state(), wake);
  const UtcMillis now = options_.executor->now();
  const Cause cause{options_.replica->state().revision(), {}, ""};
  for (const ObjectKey& key : wake) {
    if (role.queue.wake(key, now, cause, role.service->priority(options_.replica->state(), key))) role.meters.added();
  }
  role.meters.set_depth(role.queue.ready(now));
  arm(role);
}

void Roles::end(RunningRole& role) {
  if (role.phase == RunningRole::Phase::kFollowing) return;
  const bool acted = role.phase == RunningRole::Phase::kActing;
  role.phase = RunningRole::Phase::kFollowing;
  ++role.tenure;
  role.queue.clear();
  role.meters.set_leading(false);
  role.meters.set_depth(0);
  role.meters.forget_steps();
  if (!acted) return;
  role.service->on_stop();
  log::info("lease.released", {log::kv("service", role.name()), log::kv("epoch", role.epoch)});
}

void Roles::on_folded(const State& state, const DecodedRecord& record, const Folded& folded) {
  if (folded.refusal) return;
  for (const Event& event : record.entry.events) {
    const auto* taken = std::get_if<LeaseTaken>(&event);
    if (taken == nullptr) continue;
    for (const auto& role : roles_) {
      if (role->name() != taken->service || role->phase != RunningRole::Phase::kActing) continue;
      if (taken->epoch <= role->epoch) continue;
      log::warn("lease.lost", {log::kv("service", taken->service), log::kv("holder", taken->holder)});
      end(*role);
      if (role->leading) {
        // Later than the election needs to notice that this process was replaced while it was frozen.
        options_.executor->post_after(Millis{500}, [this, alive = alive_, role = role.get()] {
          if (*alive && role->leading && role->phase == RunningRole::Phase::kFollowing) take_lease(*role);
        });
      }
    }
  }
  if (folded.changes.empty()) return;
  const UtcMillis now = options_.executor->now();
  const Cause cause{folded.revision, record.entry.id, record.entry.cause.trace_id};
  std::vector<ObjectKey> wake;
  for (const auto& role : roles_) {
    wake.clear();
    for (const Change& change : folded.changes) role->service->on_change(state, change, wake);
    if (role->phase != RunningRole::Phase::kActing) continue;
    for (const ObjectKey& key : wake) {
      if (role->queue.wake(key, now, cause, role->service->priority(state, key))) role->meters.added();
    }
    if (!wake.empty()) role->meters.set_depth(role->queue.ready(now));
    arm(*role);
  }
}

void Roles::arm(RunningRole& role) {
  if (role.phase != RunningRole::Phase::kActing || role.pumping) return;
  const auto due = role.queue.next_due();
  if (!due || role.queue.busy() >= options_.steps_under_way) return;
  const UtcMillis now = options_.executor->now();
  if (*due <= now) {
    role.pumping = true;
    options_.executor->post([this, alive = alive_, &role] {
      if (*alive) pump(role);
    });
  } else if (role.armed <= now || *due < role.armed) {
    // Looked at once a second at least: a clock that was set forward makes keys due before a timer notices.
    const UtcMillis at = std::min(*due, now + kLongestTimer);
    role.armed = at;
    options_.executor->post_after(at - now, [this, alive = alive_, &role, at] {
      if (!*alive) return;
      if (role.armed == at) role.armed = UtcMillis{};
      arm(role);
    });
  }
}

void Roles::pump(RunningRole& role) {
  role.pumping = false;
  const uint64_t tenure = role.tenure;
  // A bounded number of steps at a time: other services, and folding, get their turn in between.
  for (int steps = 0; steps < 64 && role.phase == RunningRole::Phase::kActing && role.tenure == tenure; ++steps) {
    if (role.queue.busy() >= options_.steps_under_way) break;  // done() arms again
    auto taken = role.queue.take(options_.executor->now());
    if (!taken) break;
    const metrics::Stopwatch watch;
    const uint64_t number =
        role.meters.begin_step(static_cast<double>((options_.executor->now() - taken->due).value) / 1000);
    role.service->reconcile(std::make_shared<Step>(*this, role, std::move(*taken), number));
    role.meters.decided(watch.seconds());
  }
  role.meters.set_depth(role.queue.ready(options_.executor->now()));
  arm(role);
}

}  // namespace shiplog
