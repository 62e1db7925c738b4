#include "services/runtime/roles.h"

#include <algorithm>
#include <utility>

#include "events/base/check.h"
#include "services/runtime/log.h"
#include "services/runtime/role_step.h"
#include "services/runtime/role_triggers.h"
#include "services/runtime/running_role.h"
#include "services/runtime/slot_owners.h"

namespace shiplog {
namespace {

constexpr Millis kLongestTimer{1'000};
constexpr Millis kLookAtSlotsEvery{100};
/// Of a process that is alone and acts for all slots: another one waits so much longer for its share.
constexpr Millis kLookAtSlotsAloneEvery{500};
constexpr int kLooksBeforeLeaving = 3;
constexpr int kLooksForSteps = 20;

}  // namespace
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
  bool alone = true;
  for (const auto& role : roles_) {
    if (!role->divided()) continue;
    share_slots(*role);
    alone = alone && role->candidates.size() == 1 &&
            std::ranges::all_of(role->parts, [](const auto& part) { return part->phase == Part::Phase::kActing; });
  }
  options_.executor->post_after(alone ? kLookAtSlotsAloneEvery : kLookAtSlotsEvery, [this, alive = alive_] {
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
  for (const auto& part : role.parts) {
    if (!std::exchange(part->starting, false)) continue;
    role.publish_depth(*part, now);
    arm(*part);
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
  part.role.publish_depth(part, options_.executor->now());
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
  for (const auto& role : roles_) {
    for (const Change& change : folded.changes) {
      wake_.clear();
      role->service->on_change(state, change, wake_);
      if (wake_.empty()) continue;
      const auto relation =
          is_measurement(change) ? ReconcileQueue::Relation::kHastens : ReconcileQueue::Relation::kCauses;
      for (const ObjectKey& key : wake_) {
        Part& part = role->part_of(key);
        if (part.phase != Part::Phase::kActing) continue;
        if (!std::exchange(part.woken, true)) woken_.push_back(&part);
        const int64_t priority = role->service->priority(state, key);
        if (part.queue.wake(key, now, cause, priority, urgency_of(change, key), relation)) role->meters.added();
      }
    }
    for (Part* part : woken_) {
      part->woken = false;
      role->publish_depth(*part, now);
      arm(*part);
    }
    woken_.clear();
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
  const UtcMillis now = options_.executor->now();
  const auto steps = part.role.steps(now, options_.steps_under_way);
  const bool routine = RunningRole::may_begin_routine(steps, options_.steps_under_way);
  if (!routine) note_crowded(part.role);
  const auto due = part.queue.next_due(routine);
  if (!due) return;
  if (*due <= now) {
    if (steps.all >= options_.steps_under_way) return note_crowded(part.role);
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

/// The end of a step is what a part waits for then; or that some do not count any more, as they wait for a slow member.
void Roles::note_crowded(RunningRole& role) {
  role.crowded = true;
  if (std::exchange(role.looks_again, true)) return;
  options_.executor->post_after(ReconcileQueue::kSlow, [this, alive = alive_, &role] {
    if (!*alive) return;
    role.looks_again = false;
    if (std::exchange(role.crowded, false)) arm_all(role);
  });
}

void Roles::pump(Part& part) {
  part.pumping = false;
  RunningRole& role = part.role;
  const uint64_t tenure = part.tenure;
  const auto goes_on = [&] { return part.phase == Part::Phase::kActing && part.tenure == tenure && part.leaving == 0; };
  // A bounded number of steps at a time: other services, and folding, get their turn in between.
  for (int steps = 0; steps < 64 && goes_on(); ++steps) {
    const UtcMillis now = options_.executor->now();
    const auto under_way = role.steps(now, options_.steps_under_way);
    if (under_way.all >= options_.steps_under_way) break;  // arm() notes that this part waits
    auto taken = part.queue.take(now, RunningRole::may_begin_routine(under_way, options_.steps_under_way));
    if (!taken) break;
    const metrics::Stopwatch watch;
    const uint64_t number =
        role.meters.begin_step(static_cast<double>((options_.executor->now() - taken->due).value) / 1000);
    part.steps.insert(number);
    role.service->reconcile(std::make_shared<Step>(*this, part, std::move(*taken), number));
    role.meters.decided(watch.seconds());
  }
  role.publish_depth(part, options_.executor->now());
  arm(part);
}

}  // namespace shiplog
