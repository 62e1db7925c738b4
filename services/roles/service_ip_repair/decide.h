#pragma once

#include <functional>

#include "events/decision.h"

namespace shiplog::service_ip_repair {

/// A Service with the addresses that it lacks; the stored one is `service`. Errors: no address is free, or its own
/// addresses are not valid.
using AllocateAddresses = std::function<Result<Value>(const ObjectKey& key, const Value& service)>;

/// The Service is served under a cluster IP and has none.
bool lacks_cluster_ip(const Value& service);

/// Gives one Service of a journal from before allocation the addresses that it lacks. Pure but for `allocate`, which
/// draws them at random; other keys need no decision.
///
/// - Owns: spec.clusterIP and node ports of Services that have none; the API server gives them to all others.
/// - Trigger: the start, and a change of a Service that lacks its cluster IP.
/// - Failures: the range has no free address. Refused when the Service has moved on or another Service has been given
///   the address: it is decided again.
Result<Decided> decide(const State& state, const ObjectKey& key, const AllocateAddresses& allocate);

}  // namespace shiplog::service_ip_repair
