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

/// The newest meaning of events this build knows. A journal is at version 1 until a FoldVersionActivated in it says
/// otherwise; what came before that entry goes on being folded as it was.
///   1  as first released
///   2  a Deployment's generation counts its annotations, and that of a custom resource without a status subresource
///      its status (META-6); a pod on a node waits for its grace period (DEL-9); uids say that they are random (META-1)
///   3  a placement that puts a binding beside one that it is to stay apart from, or away from those that it is to stay
///      with, is refused (M-11, M-12)
///   4  a template's status has conditions, and a StatefulSet's its generation and revisions; a Service that asks for a
///      cluster IP or node port of another one is refused; an eviction ends on health observed of the present placement
///      (conditions WorksSynced and StatusCollected with an observedGeneration); a deletion that follows from another
///      says so; a custom resource is placed where its definition is going to be served
inline constexpr uint32_t kFoldVersion = 4;

/// Why an entry changed nothing. The same on every replica; stays in the audit trail.
struct Refusal {
  ErrorCode code = ErrorCode::kConflict;
  std::string reason;
  bool operator==(const Refusal&) const = default;
};

/// A cluster IP or node port that a Service asks for belongs to another one.
Refusal address_taken(const std::string& address);
bool is_address_taken(const Refusal& refusal);

/// What folding one entry came to.
struct Folded {
  std::optional<Refusal> refusal;
  bool duplicate = false;       ///< the twin of an entry folded before; refusal says so too
  std::vector<Change> changes;  ///< in revision order; empty when refused
  Revision revision;            ///< of the state afterwards
  /// Set when this replica must not go on: the state hash differs from a recorded one, or a newer build is needed.
  std::optional<std::string> stop;
};

/// Applies one entry, whole or not at all. Deterministic: no clock, no chance, no I/O.
/// Refuses: a twin of a remembered entry id; a fence older than the newest lease of its service; an unmet expectation;
/// an event that cannot be applied (object missing, namespace missing or terminating, quota exceeded).
Folded fold(State& state, const Entry& entry);

/// What fold() would refuse the entry for now; nullopt: it would be accepted. Changes nothing.
std::optional<Refusal> would_refuse(const State& state, const Entry& entry);

}  // namespace shiplog
