#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "events/base/ids.h"
#include "services/roles/collector/member_apis.h"
#include "services/roles/collector/member_resources.h"

namespace shiplog::collector {

/// What is known of one member, and remembered from one probe to the next.
struct FollowedMember {
  Value route;  ///< where it is reached; at another one there may be another member
  std::shared_ptr<MemberApis> apis;
  std::shared_ptr<MemberResources> resources = nullptr;  ///< nullptr: nodes and pods are not counted
  /// What is counted has differed from what is reported since then, too little to report it at once.
  std::optional<UtcMillis> differs_since = std::nullopt;
  uint64_t ends = 0;             ///< of watches, at the last probe
  bool rests = false;            ///< the last probe had nothing to report
  bool joined = false;           ///< its identity has been reported
  UtcMillis next_probe_at = {};  ///< while it is ready
  /// The Cluster's status was found to be what is known when these were as they are here.
  struct Compared {
    Revision cluster;
    uint64_t apis = 0, totals = 0;
    bool counted = false;
    bool operator==(const Compared&) const = default;
  };
  std::optional<Compared> reported = std::nullopt;
};

/// All members that are probed here. Threads: the fold thread.
class FollowedMembers {
 public:
  explicit FollowedMembers(Members& members) : members_{members} {}
  FollowedMembers(const FollowedMembers&) = delete;
  FollowedMembers& operator=(const FollowedMembers&) = delete;
  ~FollowedMembers();

  std::shared_ptr<FollowedMember> of(const std::string& cluster, const Value& route, bool counts_resources);
  void forget(const std::string& cluster);
  void forget_slot(int slot);

 private:
  static void close(FollowedMember& followed);

  Members& members_;
  const std::shared_ptr<PageGate> gate_ = std::make_shared<PageGate>();
  const std::shared_ptr<CommonValues> common_ = std::make_shared<CommonValues>();
  std::map<std::string, std::shared_ptr<FollowedMember>> followed_;
};

}  // namespace shiplog::collector
