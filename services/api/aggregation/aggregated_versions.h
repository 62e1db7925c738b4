#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "events/base/error.h"
#include "events/base/value.h"
#include "services/api/aggregation/aggregated_api.h"
#include "services/api/aggregation/remote_openapi.h"
#include "services/roles/apiservice_availability/decide.h"

namespace shiplog {
class HttpClient;
}  // namespace shiplog

namespace shiplog::api {

using apiservice_availability::Availability;

/// A group and version that another server answers for, as it is known at one moment. Does not change.
struct AggregatedVersion {
  AggregatedApi api;
  std::shared_ptr<HttpClient> client;        ///< nullptr: there is no address, for which `availability` has the cause
  std::optional<Availability> availability;  ///< nullopt: nothing is observed yet
  std::shared_ptr<const Value> resources;    ///< of its discovery, as last observed; nullptr: never
  std::shared_ptr<const RemoteOpenApi> openapi;  ///< nullptr: none was observed

  /// Requests that its server has not answered yet. Shared by all moments.
  std::shared_ptr<std::atomic<int>> in_flight = std::make_shared<std::atomic<int>>(0);

  /// It answered when it was last asked.
  bool available() const { return availability && availability->available; }
};

/// All of them at one moment. Does not change.
struct AggregatedVersions {
  std::vector<AggregatedVersion> versions;  ///< groups and versions of higher priority first
  /// Of the groups that are served here: groupPriorityMinimum of their APIServices.
  std::map<std::string, int64_t, std::less<>> local_group_priorities;
  /// Of their versions, by the name of the APIService: versionPriority.
  std::map<std::string, int64_t, std::less<>> local_version_priorities;

  /// nullptr: no other server answers for it.
  const AggregatedVersion* find(std::string_view group, std::string_view version) const;
};

/// The error for a request that cannot be forwarded because of what is known of its server. nullopt: it may be.
std::optional<Error> refuse_unavailable(const AggregatedVersion& version);

}  // namespace shiplog::api
