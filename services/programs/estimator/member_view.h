#pragma once

#include <functional>
#include <memory>

#include "events/base/result.h"
#include "events/base/time.h"
#include "services/programs/estimator/capacity.h"
#include "services/programs/estimator/member_client.h"

namespace shiplog::estimator {

/// The member's nodes, pods, Deployments and ReplicaSets, and its ResourceQuotas where they count, as its API lists
/// them. They are listed when a caller needs
/// them and the cached objects are older than `fresh_for`. Without callers the member receives no requests, and any
/// number of callers cause at most one list at a time. Threads: any.
class MemberView {
 public:
  using MemberObjectsPtr = std::shared_ptr<const MemberObjects>;

  MemberView(MemberClient client, const Clock& clock, Millis fresh_for, bool with_quotas = false);
  ~MemberView();

  /// `then` is called once, on this or on a network thread, and must not block. Error: kUnavailable, the member cannot
  /// be listed.
  void with(std::function<void(Result<MemberObjectsPtr>)> then);

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace shiplog::estimator
