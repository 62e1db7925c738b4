#pragma once

#include <functional>
#include <memory>

#include "events/base/result.h"
#include "events/base/time.h"
#include "services/http/client.h"
#include "services/programs/estimator/capacity.h"

namespace shiplog::estimator {

/// The member's nodes, pods, Deployments and ReplicaSets, as its API lists them. They are listed when somebody asks and
/// what is known is older than `fresh_for`: nobody asking costs the member nothing, and many asking no more than one
/// list at a time. Threads: any.
class MemberView {
 public:
  using Seen = std::shared_ptr<const Member>;

  MemberView(std::shared_ptr<HttpClient> client, const Clock& clock, Millis fresh_for);
  ~MemberView();

  /// `then` comes once, here or on a network thread, and must not block. Error: kUnavailable, the member cannot be
  /// listed.
  void with(std::function<void(Result<Seen>)> then);

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace shiplog::estimator
