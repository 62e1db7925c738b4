#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "events/base/ids.h"
#include "events/base/result.h"
#include "events/base/time.h"
#include "events/entry.h"
#include "events/state/state.h"

namespace shiplog {

/// What a service computed for one key: the body of the entry that will carry it. The runtime adds who, when, as-of,
/// cause and fence.
struct Decision {
  std::vector<Event> events;
  std::vector<Expect> expects;  ///< the objects it was computed from, where a change of them would make it wrong
  /// Something is left that has to be asked about first: the key wants another look once this is folded. Not part of
  /// what is appended.
  bool unfinished = false;
  bool operator==(const Decision&) const = default;
};

/// The shape of every decide function: pure, and run again later by `replay --verify` with the state as of the entry's
/// `as_of` and the entry's time. nullopt: all is as it should be. An Error: cannot be decided (the message says why).
using Decide = std::function<Result<std::optional<Decision>>(const State& state, const ObjectKey& key, UtcMillis now)>;

}  // namespace shiplog
