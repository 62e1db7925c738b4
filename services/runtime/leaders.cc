#include "services/runtime/leaders.h"

#include <algorithm>
#include <mutex>
#include <utility>

namespace shiplog {
namespace {

constexpr Millis kCheckEvery{1000};
constexpr Millis kCheckAtFirstEvery{50};
constexpr Millis kFirstLeases{2000};
/// Longer than a takeover, whether the holder has ended or is frozen.
constexpr Millis kTakeover{3000};

}  // namespace

struct Leaders::Impl : std::enable_shared_from_this<Impl> {
  struct SeenRole {
    RoleLeadership now;
    bool expected = false;
    bool was_led = false;
  };

  Options options;
  UtcMillis started;
  mutable std::mutex mutex;
  std::vector<SeenRole> seen;    // guarded by mutex
  bool checked = false;          // guarded by mutex
  std::string unled = {};        // guarded by mutex
  bool after_takeovers = false;  // the first two seconds are over; guarded by mutex

  void check() {
    std::vector<SeenRole> now;
    for (const std::string& role : options.roles) {
      const auto led = options.election->led(role);
      if (!led) continue;
      now.push_back({{role, *led, options.executor->now()}, options.expected && options.expected(role), *led});
    }
    const bool all = update(std::move(now));
    options.executor->post_after(all ? kCheckEvery : kCheckAtFirstEvery, [weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->check();
    });
  }

  /// False: check again soon.
  bool update(std::vector<SeenRole> now) {
    const UtcMillis time = options.executor->now();
    const std::lock_guard lock{mutex};
    std::string names;
    size_t missing_roles = 0;
    for (SeenRole& role : now) {
      const auto before = std::ranges::find(seen, role.now.role, [](const SeenRole& old) { return old.now.role; });
      if (before != seen.end()) {
        role.was_led = role.was_led || before->was_led;
        if (before->now.led == role.now.led) role.now.since = before->now.since;
      }
      if (role.now.led || !role.expected || (role.was_led && time - role.now.since < kTakeover)) continue;
      names += (names.empty() ? "" : ", ") + role.now.role;
      ++missing_roles;
    }
    unled = names.empty() ? "" : "no process leads for the role" + std::string{missing_roles > 1 ? "s " : " "} + names;
    seen = std::move(now);
    checked = true;
    after_takeovers = time - started >= kFirstLeases;
    return unled.empty() || after_takeovers;
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
  for (const auto& role : impl_->seen) roles.push_back(role.now);
  return roles;
}

std::string Leaders::missing() const {
  const std::lock_guard lock{impl_->mutex};
  return impl_->checked ? impl_->unled : "it is not known yet which roles have a leader";
}

}  // namespace shiplog
