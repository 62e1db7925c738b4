#pragma once

#include <algorithm>
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
  /// What waits for slow members leaves some steps for changes.
  bool may_begin_routine(size_t steps_under_way) const {
    size_t sum = 0;
    for (const auto& part : parts) sum += part->queue.busy_with_routine();
    return sum < std::max<size_t>(1, steps_under_way - steps_under_way / 4);
  }
  void publish_depth(UtcMillis now) const {
    for (const Urgency urgency : kUrgencies) {
      size_t depth = 0;
      for (const auto& part : parts) depth += part->queue.ready(now, urgency);
      meters.set_depth(urgency, depth);
    }
  }
};

}  // namespace shiplog
