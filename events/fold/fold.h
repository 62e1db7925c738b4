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

/// The newest meaning of events this build knows.
inline constexpr uint32_t kFoldVersion = 1;

/// Why an entry changed nothing. The same on every replica; stays in the audit trail.
struct Refusal {
  ErrorCode code = ErrorCode::kConflict;
  std::string reason;
  bool operator==(const Refusal&) const = default;
};

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

}  // namespace shiplog
