#include "services/api/aggregation/aggregated_versions.h"

#include <algorithm>

namespace shiplog::api {

const AggregatedVersion* AggregatedVersions::find(std::string_view group, std::string_view version) const {
  const auto found = std::ranges::find_if(
      versions, [&](const AggregatedVersion& each) { return each.api.group == group && each.api.version == version; });
  return found == versions.end() ? nullptr : &*found;
}

std::optional<Error> refuse_unavailable(const AggregatedVersion& version) {
  const bool failed = version.availability && !version.availability->available;
  if (version.client != nullptr && !failed) return std::nullopt;
  const std::string cause =
      failed ? version.availability->reason + ": " + version.availability->message : "its Service has no address";
  return Error{ErrorCode::kUnavailable, "APIService " + version.api.name + " is not available: " + cause};
}

}  // namespace shiplog::api
