#pragma once

#include "events/decision.h"
#include "events/kinds/kinds.h"

namespace shiplog::apiservice_registration {

inline constexpr const char* kApiServices = "apiservices.apiregistration.k8s.io";

/// Keeps an APIService for each group and version that is served (GRP-2), as clients look there to see what is
/// available: those of `compiled` and of the CustomResourceDefinitions in the state. Pure. There is one key, all of
/// them.
///
/// - Owns: APIServices with the label kube-aggregator.kubernetes.io/automanaged; others are left alone.
/// - Trigger: a CustomResourceDefinition changes, or an APIService is removed.
/// - Failures: none of its own. Refused when another writer was first: it is decided again.
Decided decide(const State& state, UtcMillis now, const Kinds& compiled);

}  // namespace shiplog::apiservice_registration
