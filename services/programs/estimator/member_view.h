#pragma once

#include <functional>
#include <memory>
#include <string>

#include "events/base/random.h"
#include "events/base/result.h"
#include "events/base/time.h"
#include "services/programs/estimator/capacity.h"
#include "services/programs/estimator/member_client.h"

namespace shiplog::estimator {

/// The member's nodes, pods, Deployments and ReplicaSets, and its ResourceQuotas where they count. They are listed once
/// and watched from then on, so that an answer is as new as what the member has sent, and costs the member nothing.
/// Threads: any.
class MemberView {
 public:
  /// The objects are valid during the call.
  using Then = std::function<void(Result<const MemberObjects*>)>;

  MemberView(const std::string& cluster, MemberClient client, Random& random, bool with_quotas = false);
  /// What is under way in the member may call back until its network threads are stopped: stop() first, then these.
  ~MemberView();
  MemberView(const MemberView&) = delete;
  MemberView& operator=(const MemberView&) = delete;

  /// `then` is called once, on the thread of this, and must not block. The first callers wait some seconds for the
  /// lists. Error: kUnavailable, the member cannot be listed or watched, or did not answer within the last second and
  /// does not now: what was seen of it may be old.
  void with(Then then);

  /// Ends the watches, for good.
  void stop();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace shiplog::estimator
