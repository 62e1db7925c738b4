#pragma once

#include <optional>
#include <string>
#include <vector>

#include "events/base/error.h"
#include "events/base/ids.h"
#include "events/entry.h"
#include "events/state/object.h"
#include "events/state/state.h"

namespace shiplog {

/// The newest fold version of this build. A journal is at version 1 until a FoldVersionActivated in it changes
/// that; earlier entries are still folded at their version.
///   1  as first released
///   2  a Deployment's generation counts its annotations, and that of a custom resource without a status subresource
///      its status (META-6); a pod on a node waits for its grace period (DEL-9); uids are marked as random (META-1)
///   3  a placement that puts a binding where its anti-affinity excludes it, or not where its affinity requires it,
///      is refused (M-11, M-12)
///   4  a template's status has conditions, and a StatefulSet's its generation and revisions; a Service that requests a
///      cluster IP or node port of another one is refused; an eviction ends on health observed of the present placement
///      (conditions WorksSynced and StatusCollected with an observedGeneration); a deletion that follows from another
///      has its cause; a custom resource is placed where its definition is going to be served
///   5  an entry that settles a produced request is refused when its record is settled already, or the request was
///      carried out (Entry::source, State::settled)
///   6  the lease of a slot ends the one of its whole role, which nobody can take any more (events/slots.h)
///   7  quotas and affinity groups refuse placements only where their feature gates are on; decisions read the gates
///      and options of evictions, taint policies and preemption; a quota refuses growth unless all that it limits fits,
///      and its usage is written with its cause; static assignments of quotas take effect; a request for a fresh
///      placement that the scheduler would overlook is marked (state/reschedule_request.h); terminating namespaces are
///      emptied after 5 seconds; a cluster has one eviction task of a binding at most, and evictions are paced
///   8  requests to members are recorded (MemberRequested); a Cluster that takes the id of another one is refused; the
///      group audit.shiplog.io has its APIService
///   9  what is observed of a Cluster may be a patch of its status
///   10  the group node.k8s.io has its APIService; a kind is of the definition that serves it (state/served_kind.h)
///   11  the group resource.k8s.io has its APIService
inline constexpr uint32_t kFoldVersion = 11;

/// Why an entry changed nothing. The same on every replica; stays in the audit trail.
struct Refusal {
  ErrorCode code = ErrorCode::kConflict;
  std::string reason;
  /// The object that is missing, exists already, changed since or is being deleted, also the namespace of a new object,
  /// and the quota that is exceeded; nullopt: the reason is another one. Not stored.
  std::optional<ObjectKey> about = {};
  /// A cluster IP or node port that a Service requests belongs to another one. Not stored.
  bool address_taken = false;
  /// The member whose id a Cluster takes is registered as another one. Not stored.
  bool member_taken = false;
  /// The produced request that the entry is to settle is settled already. Not stored.
  bool settled = false;
  bool operator==(const Refusal&) const = default;
};

/// The result of folding one entry.
struct Folded {
  std::optional<Refusal> refusal;
  bool duplicate = false;       ///< the same entry was folded before; refusal reports it too
  std::vector<Change> changes;  ///< in revision order; empty when refused
  Revision revision;            ///< of the state afterwards
  /// Set when this replica must not go on: the state hash differs from a recorded one, or a newer build is needed.
  std::optional<std::string> stop;
};

/// Applies one entry, whole or not at all. Deterministic: no clock, no chance, no I/O.
/// Refuses: a remembered entry id; a fence older than the newest lease of its service; an unmet expectation; a produced
/// request that is settled; an event that cannot be applied (object or namespace missing or going, quota exceeded).
Folded fold(State& state, const Entry& entry);

/// What fold() would refuse the entry for now; nullopt: it would be accepted. Changes nothing.
std::optional<Refusal> would_refuse(const State& state, const Entry& entry);

}  // namespace shiplog
