#include "services/runtime/leaders.h"

#include <mutex>
#include <utility>

namespace shiplog {
namespace {

constexpr Millis kLookEvery{1000};

}  // namespace

struct Leaders::Impl : std::enable_shared_from_this<Impl> {
  Election* election = nullptr;
  Executor* executor = nullptr;
  std::vector<std::string> roles;
  mutable std::mutex mutex;
  std::vector<RoleLeadership> seen;  // guarded by mutex

  void look() {
    std::vector<RoleLeadership> now;
    for (const std::string& role : roles) {
      if (const auto led = election->led(role)) now.push_back({role, *led, executor->now()});
    }
    {
      const std::lock_guard lock{mutex};
      for (RoleLeadership& one : now) {
        for (const RoleLeadership& before : seen) {
          if (before.role == one.role && before.led == one.led) one.since = before.since;
        }
      }
      seen = std::move(now);
    }
    executor->post_after(kLookEvery, [weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->look();
    });
  }
};

Leaders::Leaders(Election& election, Executor& executor, std::vector<std::string> roles)
    : impl_{std::make_shared<Impl>()} {
  impl_->election = &election;
  impl_->executor = &executor;
  impl_->roles = std::move(roles);
}

void Leaders::start() { impl_->look(); }

std::vector<RoleLeadership> Leaders::now() const {
  const std::lock_guard lock{impl_->mutex};
  return impl_->seen;
}

}  // namespace shiplog
