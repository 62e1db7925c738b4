#pragma once

#include <functional>
#include <optional>
#include <string>

#include "events/decision.h"

namespace shiplog::apiservice_availability {

inline constexpr const char* kApiServices = "apiservices.apiregistration.k8s.io";

/// Whether requests for the group and version of an APIService reach a server that answers them.
struct Availability {
  bool available = false;
  std::string reason;  ///< kube-aggregator's word: Passed, Local, ServiceNotFound, FailedDiscoveryCheck, ...
  std::string message;
  bool operator==(const Availability&) const = default;
};

/// What was observed of the APIService of that name; nullopt: nothing yet.
using Observe = std::function<std::optional<Availability>(const std::string& name)>;

/// Keeps the condition Available of one APIService that names a Service (GRP-2). Those without a Service get theirs
/// when they are written.
///
/// - Owns: the condition Available.
/// - Trigger: the APIService changes; while it exists, `observe` is asked again every second.
/// - Failures: none of its own. Refused when the APIService has moved on: it is decided again.
Decided decide(const State& state, const ObjectKey& key, UtcMillis now, const Observe& observe);

}  // namespace shiplog::apiservice_availability
