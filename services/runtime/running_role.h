#pragma once

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "services/runtime/queue.h"
#include "services/runtime/role.h"
#include "services/runtime/role_meters.h"
#include "services/runtime/roles.h"
#include "services/runtime/slot_owners.h"

namespace shiplog {

/// What one lease is for: the keys of a role, or those of one of its slots.
struct Roles::Part {
  enum class Phase { kFollowing, kTaking, kActing };

  Part(RunningRole& of, std::string name, std::optional<int> number);

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
  std::set<uint64_t> steps;                          // that run
  bool pumping = false;                              // a pump is posted
  bool woken = false;                                // by the entry that is being looked at
  UtcMillis armed;                                   // a timer is set for then
  std::array<size_t, kUrgencies.size()> depth = {};  // of the queue, by urgency, as last published
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
  bool crowded = false;                              // a part waits for steps of others to end
  bool looks_again = false;                          // for steps that have become slow, which do not count
  std::array<size_t, kUrgencies.size()> depth = {};  // of all parts

  std::string name() const { return std::string{service->name()}; }
  bool divided() const { return whole != nullptr; }
  Part& part_of(const ObjectKey& key) {
    return divided() ? *parts[static_cast<size_t>(service->slot_of_key(key))] : *parts.front();
  }
  /// Of all parts. Those of slow members do not count. While even with them routine may begin, which is nearly always,
  /// the parts are not gone through: then that sum, as if all were routine.
  ReconcileQueue::Steps steps(UtcMillis now, size_t steps_under_way) const {
    const size_t all = meters.running();
    if (const ReconcileQueue::Steps most{all, all}; may_begin_routine(most, steps_under_way)) return most;
    ReconcileQueue::Steps sum;
    for (const auto& part : parts) sum += part->queue.counted(now);
    return sum;
  }
  /// Changes find some steps left.
  static bool may_begin_routine(const ReconcileQueue::Steps& steps, size_t steps_under_way) {
    return steps.routine < std::max<size_t>(1, steps_under_way - steps_under_way / 4);
  }
  /// Only of this part: a role of many slots is not gone through for each change.
  void publish_depth(Part& part, UtcMillis now) {
    for (const Urgency urgency : kUrgencies) {
      size_t& published = part.depth[static_cast<size_t>(urgency)];
      size_t& sum = depth[static_cast<size_t>(urgency)];
      const size_t ready = part.queue.ready(now, urgency);
      sum = sum - published + ready;
      published = ready;
      meters.set_depth(urgency, sum);
    }
  }
};

inline Roles::Part::Part(RunningRole& of, std::string name, std::optional<int> number)
    : role{of},
      lease{std::move(name)},
      slot{number},
      meter{lease},
      queue{[service = of.service.get()](const ObjectKey& key) { return service->lane_of_key(key); }} {}

}  // namespace shiplog
