#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "events/base/value.h"
#include "events/kinds/kinds.h"
#include "services/api/aggregation/aggregated_versions.h"

namespace shiplog::api {

/// The verbs a kind is served with: what discovery advertises is exactly what works (DISC-5).
Value verbs_of(const Kind& kind);

/// What is served below an object of a kind.
struct Subresource {
  std::string name;
  std::string group, version, kind;  ///< of its body
  Value verbs;
};
/// `pod_actions`: pods have log, exec, attach and portforward.
std::vector<Subresource> subresources_of(const Kind& kind, bool pod_actions);

/// GET /api (DISC-1).
Value api_versions(const std::string& server_address);
/// GET / (PATH-8). `remote` here and below: what other servers answer for; nullptr: nothing.
Value root_paths(const Kinds& kinds, const AggregatedVersions* remote = nullptr);
/// GET /apis (DISC-2): APIGroupList, built-in groups first. Groups of other servers come where the priorities of their
/// APIServices place them.
Value group_list(const Kinds& kinds, const AggregatedVersions* remote = nullptr);
/// GET /apis/GROUP (DISC-3); null: unknown.
Value group(const Kinds& kinds, std::string_view name, const AggregatedVersions* remote = nullptr);
/// GET /api/v1 and /apis/GROUP/VERSION (DISC-4); null: unknown. `pod_actions`: pods have log, exec, attach and
/// portforward.
Value resource_list(const Kinds& kinds, std::string_view group, std::string_view version, bool pod_actions = false);
/// The aggregated form (DISC-7, DISC-8) of /api (`core`) or /apis; `version` is "v2" or "v2beta1". What another server
/// serves is as it was when that one last answered, and stale if it does not answer now.
Value aggregated(const Kinds& kinds, bool core, std::string_view version, const AggregatedVersions* remote = nullptr,
                 bool pod_actions = false);
/// Which aggregated version an Accept header requests before the plain form; nullopt: none that is served.
std::optional<std::string> aggregated_version(std::string_view accept);

/// GET /version (DISC-14).
Value version_info(const std::string& shiplog_version);

}  // namespace shiplog::api
