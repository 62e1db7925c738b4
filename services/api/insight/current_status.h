#pragma once

#include <string>
#include <vector>

#include "events/base/value.h"
#include "events/state/eviction.h"

// The status of an object as of a revision, in sentences for `why`. Pure.
namespace shiplog::api {

/// What is known of one member at that moment. A null Value: there is no such object.
struct MemberNow {
  std::string cluster;
  Value cluster_object;
  Value work;
  Value source;               ///< the binding, or the namespace that the Work is of
  std::string rendered_at;    ///< when the Work's present spec was rendered; empty: not known
  std::string render_failed;  ///< why the target could not be rendered; empty: it could
};

/// Sentences about one member: the cluster is unreachable or leaving, which of its NoExecute taints are tolerated and
/// for how long, the target could not be rendered, dispatching is suspended, which generation is applied and which is
/// not, why applying failed, and what the member reports of the object. Never empty.
std::vector<std::string> member_now(const MemberNow& member);

/// The graceful evictions in progress of a binding, as JSON: cluster, reason, message, producer, since, until (the end
/// of the grace period; absent: none) and waitsFor.
Value evictions_now(const Value& binding, const WorkOfCluster& work_of, Millis timeout);

/// The cluster has no NoExecute taint that drives the binding off, now or later: all are tolerated without an end, by
/// the placement that the scheduler used.
bool stays_for_all_taints(const Value& binding, const Value& cluster);

/// Sentences about application failovers that wait for their time, or cannot begin: `record` is the binding's failover
/// record (null: none), `preserves`: the gate StatefulFailoverInjection is on.
std::vector<std::string> failovers_now(const Value& binding, const Value& record, bool preserves);

}  // namespace shiplog::api
