#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "events/base/result.h"
#include "events/base/value.h"
#include "services/adapters/members/member_clients.h"
#include "services/api/pipeline/server.h"
#include "services/http/http.h"

namespace shiplog::api {

/// A cluster that answered with 200.
struct ClusterAnswer {
  std::string cluster;
  std::string body;
  std::shared_ptr<ByteLease> lease;  ///< of the body
};

/// Sends the request to every cluster and calls `done`, on a worker, with those that answered with 200 within 10
/// seconds, sorted by name. All others are left out: unreachable, without permission, with a body beyond the limits.
/// Blocks while clients are made.
void ask_all(const Server& server, const HttpRequest& request, const std::shared_ptr<ByteBudget>& budget,
             std::function<void(std::vector<ClusterAnswer>)> done);

/// The lists as one: that of the first cluster, with the items of the others behind its own, and without what only
/// holds of one cluster (resourceVersion, continue, remainingItemCount). What is no list is left out; null: none is
/// one.
Value merged_lists(const std::vector<ClusterAnswer>& answers);

}  // namespace shiplog::api
