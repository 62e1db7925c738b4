#include "services/roles/collector/followed_members.h"

#include <utility>

#include "events/slots.h"

namespace shiplog::collector {

FollowedMembers::~FollowedMembers() {
  for (const auto& [cluster, followed] : followed_) {
    if (followed->resources != nullptr) followed->resources->abandon();
  }
}

std::shared_ptr<FollowedMember> FollowedMembers::of(const std::string& cluster, const Value& route,
                                                    bool counts_resources) {
  std::shared_ptr<FollowedMember>& followed = followed_[cluster];
  if (followed == nullptr || followed->route != route) {
    if (followed != nullptr) close(*followed);
    followed = std::make_shared<FollowedMember>(
        FollowedMember{.route = route, .apis = std::make_shared<MemberApis>(members_, cluster, common_)});
  }
  if (!counts_resources) {
    close(*followed);
  } else if (followed->resources == nullptr) {
    followed->resources = std::make_shared<MemberResources>(members_, gate_, cluster);
  }
  return followed;
}

void FollowedMembers::forget(const std::string& cluster) {
  const auto found = followed_.find(cluster);
  if (found == followed_.end()) return;
  close(*found->second);
  followed_.erase(found);
}

void FollowedMembers::forget_slot(int slot) {
  std::erase_if(followed_, [slot](const auto& each) {
    if (slot_of(each.first) != slot) return false;
    close(*each.second);
    return true;
  });
}

void FollowedMembers::close(FollowedMember& followed) {
  if (const auto resources = std::exchange(followed.resources, nullptr)) resources->close();
}

}  // namespace shiplog::collector
