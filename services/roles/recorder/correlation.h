#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

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

/// The values of the keys that were used last. Each use touches as little memory as it can: of a busy fleet nearly
/// every key is new, and takes the place of another that is not in the processor's caches any more.
template <class T>
class RecentValues {
 public:
  explicit RecentValues(size_t most) : most_{most}, places_(std::bit_ceil(2 * most), kNone) {}

  /// The value of the key, which is now the one that was used last; `made` if it had none. Valid until the next call.
  T& use(const Hash128& key, const T& made) {
    size_t place = place_of(key);
    uint32_t slot = places_[place];
    if (slot != kNone) {
      take_out(slot);
    } else if (slots_.size() < most_) {
      slot = static_cast<uint32_t>(slots_.size());
      slots_.push_back({key, made, kNone, kNone});
      places_[place] = slot;
    } else {
      slot = oldest_;
      take_out(slot);
      forget(slots_[slot].key);
      place = place_of(key);  // what was behind the forgotten one may have moved
      slots_[slot].key = key;
      slots_[slot].value = made;
      places_[place] = slot;
    }
    put_first(slot);
    return slots_[slot].value;
  }

 private:
  static constexpr uint32_t kNone = UINT32_MAX;
  struct Slot {
    Hash128 key;
    T value;
    uint32_t newer, older;
  };

  size_t next(size_t place) const { return (place + 1) & (places_.size() - 1); }
  size_t wanted_place(const Hash128& key) const { return HashOfHash{}(key) & (places_.size() - 1); }
  /// Where it is, or the free place that it would get.
  size_t place_of(const Hash128& key) const {
    size_t place = wanted_place(key);
    while (places_[place] != kNone && slots_[places_[place]].key != key) place = next(place);
    return place;
  }

  void forget(const Hash128& key) {
    size_t free = place_of(key);
    // What stands behind it must still be found from the place that it wants.
    for (size_t place = next(free); places_[place] != kNone; place = next(place)) {
      const size_t wanted = wanted_place(slots_[places_[place]].key);
      const size_t mask = places_.size() - 1;
      if (((place - wanted) & mask) < ((place - free) & mask)) continue;
      places_[free] = places_[place];
      free = place;
    }
    places_[free] = kNone;
  }

  void take_out(uint32_t slot) {
    const Slot& at = slots_[slot];
    (at.newer == kNone ? newest_ : slots_[at.newer].older) = at.older;
    (at.older == kNone ? oldest_ : slots_[at.older].newer) = at.newer;
  }
  void put_first(uint32_t slot) {
    slots_[slot].newer = kNone;
    slots_[slot].older = newest_;
    (newest_ == kNone ? oldest_ : slots_[newest_].newer) = slot;
    newest_ = slot;
  }

  size_t most_;
  std::vector<Slot> slots_;
  std::vector<uint32_t> places_;  // of slots, by the hash of their key, or of the next free place
  uint32_t newest_ = kNone, oldest_ = kNone;
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
    std::vector<Hash128> messages;  // a few, sorted
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
