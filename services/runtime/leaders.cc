#include "services/runtime/leaders.h"

#include <algorithm>
#include <mutex>
#include <string_view>
#include <utility>

#include "events/slots.h"

namespace shiplog {
namespace {

constexpr Millis kCheckEvery{1000};
constexpr Millis kCheckAtFirstEvery{50};
constexpr Millis kFirstLeases{2000};
/// Longer than a takeover, whether the holder has ended or is frozen.
constexpr Millis kTakeover{3000};

}  // namespace

struct Leaders::Impl : std::enable_shared_from_this<Impl> {
  struct SeenLease {
    std::string lease;
    bool led = false;
    UtcMillis since;
    bool expected = false;
    bool was_led = false;
  };

  Options options;
  UtcMillis started;
  mutable std::mutex mutex;
  std::vector<SeenLease> seen;   // guarded by mutex
  bool checked = false;          // guarded by mutex
  std::string unled = {};        // guarded by mutex
  std::string trouble = {};      // guarded by mutex
  bool after_takeovers = false;  // the first two seconds are over; guarded by mutex

  void check() {
    std::vector<SeenLease> now;
    for (const std::string& role : options.roles) {
      const bool expected = options.expected && options.expected(role);
      std::vector<std::string> leases = {role};
      if (options.divided && options.divided(role)) {
        leases.clear();
        for (int slot = 0; slot < kSlots; ++slot) leases.push_back(slot_lease(role, slot));
      }
      for (const std::string& lease : leases) {
        const auto led = options.election->led(lease);
        if (!led || (!*led && options.idle && options.idle(role))) continue;
        now.push_back({lease, *led, options.executor->now(), expected, *led});
      }
    }
    const bool all = update(std::move(now), options.election->trouble());
    options.executor->post_after(all ? kCheckEvery : kCheckAtFirstEvery, [weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->check();
    });
  }

  /// The lease as it was; of a slot of a role that was divided meanwhile, that of the role.
  const SeenLease* before(const std::string& lease) const {
    for (const std::string_view name : {std::string_view{lease}, role_of_lease(lease)}) {
      const auto found = std::ranges::find(seen, name, &SeenLease::lease);
      if (found != seen.end()) return &*found;
    }
    return nullptr;
  }

  /// False: check again soon.
  bool update(std::vector<SeenLease> now, std::string not_known) {
    const UtcMillis time = options.executor->now();
    const std::lock_guard lock{mutex};
    trouble = std::move(not_known);
    std::vector<RoleLeadership> missing;
    for (SeenLease& lease : now) {
      if (const SeenLease* old = before(lease.lease)) {
        lease.was_led = lease.was_led || old->was_led;
        if (old->led == lease.led) lease.since = old->since;
      }
      if (lease.led || !lease.expected || (lease.was_led && time - lease.since < kTakeover)) continue;
      add(missing, lease);
    }
    std::string names;
    for (const RoleLeadership& role : missing) {
      names += (names.empty() ? "" : ", ") + role.role;
      if (role.unled_slots.empty() || role.unled_slots.size() == kSlots) continue;
      names += role.unled_slots.size() > 1 ? " (slots" : " (slot";
      for (const int slot : role.unled_slots)
        names += (slot == role.unled_slots[0] ? " " : ", ") + std::to_string(slot);
      names += ")";
    }
    unled = names.empty() ? "" : "no process leads for the role" + std::string{missing.size() > 1 ? "s " : " "} + names;
    seen = std::move(now);
    checked = true;
    after_takeovers = time - started >= kFirstLeases;
    return unled.empty() || after_takeovers;
  }

  /// The leases of a role follow each other. A role is not led since the first of its slots is not, and is led since
  /// the last one is.
  static void add(std::vector<RoleLeadership>& roles, const SeenLease& lease) {
    const std::string_view role = role_of_lease(lease.lease);
    if (roles.empty() || roles.back().role != role) {
      roles.push_back({std::string{role}, lease.led, lease.expected, lease.since, {}});
    }
    RoleLeadership& sum = roles.back();
    if (sum.led == lease.led) {
      sum.since = lease.led ? std::max(sum.since, lease.since) : std::min(sum.since, lease.since);
    } else if (sum.led) {
      sum.led = false;
      sum.since = lease.since;
    }
    const auto slot = slot_of_lease(lease.lease);
    if (slot && !lease.led) sum.unled_slots.push_back(*slot);
  }
};

Leaders::Leaders(Options options) : impl_{std::make_shared<Impl>()} { impl_->options = std::move(options); }

void Leaders::start() {
  impl_->started = impl_->options.executor->now();
  impl_->check();
}

std::vector<RoleLeadership> Leaders::now() const {
  const std::lock_guard lock{impl_->mutex};
  std::vector<RoleLeadership> roles;
  if (!impl_->after_takeovers) return roles;
  for (const auto& lease : impl_->seen) Impl::add(roles, lease);
  return roles;
}

std::string Leaders::missing() const {
  const std::lock_guard lock{impl_->mutex};
  if (!impl_->checked) return "it is not known yet which roles have a leader";
  return impl_->trouble.empty() ? impl_->unled : "it is not known which roles have a leader: " + impl_->trouble;
}

}  // namespace shiplog
