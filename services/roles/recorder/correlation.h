#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

#include "events/base/hash.h"
#include "events/base/time.h"
#include "services/roles/recorder/event_drafts.h"
#include "services/runtime/token_bucket.h"

namespace shiplog::recorder {

/// As client-go's EventCorrelator has them by default.
struct CorrelationLimits {
  size_t similar = 10;             ///< with so many different messages, Events are combined into one,
  Millis similar_within{600'000};  ///< unless none like them occurred for longer than this
  double burst = 25;               ///< Events of a component about an object at once,
  double per_second = 1.0 / 300;   ///< and in the long run
  size_t remembered = 4096;        ///< of each: the groups, the pairs of component and object, the Events
};

/// For tables whose keys are hashes. They are only looked up, never walked.
struct HashOfHash {
  size_t operator()(const Hash128& hash) const { return hash.lo; }
};

/// The values of the keys that were used last.
template <class T>
class RecentValues {
 public:
  explicit RecentValues(size_t most) : most_{most} { by_key_.reserve(most + 1); }

  /// The value of the key, which is now the one that was used last; `made` if it had none. Valid until the next call.
  T& use(const Hash128& key, const T& made) {
    if (const auto known = by_key_.find(key); known != by_key_.end()) {
      values_.splice(values_.begin(), values_, known->second);
      return values_.front().second;
    }
    values_.emplace_front(key, made);
    by_key_.emplace(key, values_.begin());
    if (values_.size() > most_) {
      by_key_.erase(values_.back().first);
      values_.pop_back();
    }
    return values_.front().second;
  }

 private:
  using Values = std::list<std::pair<Hash128, T>>;
  size_t most_;
  Values values_;  // the one that was used last is the first
  std::unordered_map<Hash128, typename Values::iterator, HashOfHash> by_key_;
};

/// What becomes of one Event.
struct Correlated {
  Hash128 identity;   ///< of the object that counts it
  int64_t count = 1;  ///< to add to it: this one, and those before that were filtered
  UtcMillis first;    ///< the time of the first of these
  bool operator==(const Correlated&) const = default;
};

/// Combines similar Events and filters those of a component that reports too much about one object. What is decided
/// depends on the Events and times that it was called with alone.
/// - Events that differ only in their message are similar. From the tenth different message on they are one Event, with
///   the newest message behind "(combined from similar events): ".
/// - An Event that is filtered is counted by the next one of the same identity.
/// Source: client-go tools/record/events_cache.go.
class EventCorrelation {
 public:
  explicit EventCorrelation(const CorrelationLimits& limits = {})
      : limits_{limits}, similar_{limits.remembered}, budgets_{limits.remembered}, filtered_{limits.remembered} {}

  /// `at`: when it happened; `now`: by the clock of this process. Changes the draft's message if it is combined with
  /// others. nullopt: it is filtered.
  std::optional<Correlated> correlate(EventDraft& draft, UtcMillis at, UtcMillis now);

 private:
  struct Similar {
    std::set<Hash128> messages;
    UtcMillis last;
  };
  struct Filtered {
    int64_t count = 0;
    UtcMillis first;
  };
  bool combines(const Hash128& group, const EventDraft& draft, UtcMillis now);

  CorrelationLimits limits_;
  RecentValues<Similar> similar_;
  RecentValues<TokenBucket> budgets_;
  RecentValues<Filtered> filtered_;
};

}  // namespace shiplog::recorder
