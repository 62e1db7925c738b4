#pragma once

#include "events/decision.h"
#include "services/roles/unified_auth/proxy_grants.h"

namespace shiplog::unified_auth {

/// Brings the rights of one member's impersonator up to date (1.17): two Works with ClusterRole and ClusterRoleBinding
/// karmada-impersonator, which permit it to act there as those who may use the proxy of the cluster here. Pure. The key
/// is the Cluster.
///
/// - Owns: these two Works of each Cluster with an impersonatorSecretRef; the Cluster owns them, so they are removed
///   with it. Without the reference they are deleted: what nothing keeps up to date must not stay granted.
/// - Trigger: the Cluster, its execution space, the Works themselves, and ClusterRoles and ClusterRoleBindings that
///   permit the use of its proxy.
/// - Failures: kConflict, a Work of that name exists and is not the Cluster's: it is left alone.
Result<Decided> decide(const State& state, const ObjectKey& key, UtcMillis now);

/// The same with `grants`, which are those of `state`.
Result<Decided> decide_with(const State& state, const ProxyGrants& grants, const ObjectKey& key, UtcMillis now);

}  // namespace shiplog::unified_auth
