#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "events/base/hash.h"
#include "events/base/result.h"
#include "events/decision.h"
#include "events/entry.h"
#include "events/state/state.h"

namespace shiplog::ctl {

class SharedWork;

/// Every service's decide function, by the role of the lease that its entries have in fence.service.
using Decides = std::map<std::string, Decide>;

/// A recorded decision that differs when recomputed.
struct Difference {
  Offset offset;
  Revision as_of;  ///< that it was decided from
  std::string service;
  std::string key;
  std::string recorded;
  std::string recomputed;
  bool operator==(const Difference&) const = default;
};

/// What a recorded decision is when it is made again: a Decision to compare it with; or why it cannot be made, a
/// Difference without what is recorded.
using DecidedAgain = std::variant<Decision, Difference>;

struct DecidedComparison;

struct ReplayRecord {
  Offset offset;
  Entry entry;
  size_t bytes = 0;  ///< as stored
  /// Of a decision whose events are not decoded: all of its bytes; `entry` has no events then. They are decoded only if
  /// the decision, made again, is another one.
  std::string undecoded = {};
  /// nullptr: it is no decision; or it is not made again; or it was, and its bytes are those that are recorded.
  std::shared_ptr<DecidedComparison> again = {};
};

/// The records of a journal from the first on, some a call; none: there are no more.
using Records = std::function<Result<std::vector<ReplayRecord>>()>;

struct Replayed {
  uint64_t entries = 0;
  uint64_t accepted = 0;
  uint64_t refused = 0;       ///< without the duplicates
  uint64_t duplicates = 0;    ///< duplicates of entries that were folded before
  uint64_t decisions = 0;     ///< run again
  uint64_t unverifiable = 0;  ///< decisions that were computed from states before the one that the replay began with
  uint64_t differences = 0;
  uint64_t objects = 0;
  Revision revision;
  Hash128 hash;  ///< of the whole state
  Offset last;   ///< offset of the last folded entry
  /// Why the fold must not go on, in a sentence: a recorded state hash that differs, with both hashes; or an entry that
  /// needs a newer build.
  std::optional<std::string> stop;
};

/// How far a journal was verified before, without a difference.
struct VerifiedMark {
  Offset next;  ///< the first offset after it
  Revision revision;
  std::string state_hash;
  bool operator==(const VerifiedMark&) const = default;
};

struct ReplayOptions {
  std::optional<Revision> to;       ///< stop after the entry that reaches it
  const Decides* verify = nullptr;  ///< run recorded decisions again with these
  /// Decisions before it are not run again. The replay stops if the state there has another revision or hash.
  std::optional<VerifiedMark> verified = {};
  std::function<void(const Replayed&)> progress;   ///< after every entry; may be empty
  std::function<void(const Difference&)> differs;  ///< may be empty
  SharedWork* work = nullptr;                      ///< other threads that decide, too; nullptr: there are none
  std::string journal = {};                        ///< its name, for errors
};

/// Folds a journal from its first entry into `state` (empty before), or from the first one after what `state` covers.
/// With `verify`, every entry that a service decided is decided again, with the state as of its as_of and the entry's
/// own time, and compared: events, explanations and expectations. `open` begins to read from that entry; it is called
/// again if decisions were appended thousands of entries after the state they were computed from. Errors: those of
/// reading; kGone, `to` is beyond the end.
Result<Replayed> replay(const std::function<Result<Records>()>& open, const ReplayOptions& options, State& state);

}  // namespace shiplog::ctl
