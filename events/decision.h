#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "events/base/ids.h"
#include "events/base/result.h"
#include "events/base/time.h"
#include "events/entry.h"
#include "events/state/answers.h"
#include "events/state/state.h"

namespace shiplog {

/// The actual state is the desired one until a change triggers the key.
struct Nothing {
  bool operator==(const Nothing&) const = default;
};

/// What a role computed for one key: the body of its entry. The runtime adds actor, time, as-of, cause
/// and fence.
struct Decision {
  std::vector<Event> events;
  std::vector<Expect> expects;  ///< the objects it was computed from, where a change of them would make it wrong
  /// When to decide again once this is folded; nullopt: when a change triggers the key. Not part of the entry.
  std::optional<UtcMillis> look_again = {};
  bool operator==(const Decision&) const = default;
};

/// Questions to external services (webhooks, estimators) or to the sandbox, whose answers have to be known before it
/// decides again.
struct NeedsAnswers {
  std::vector<QuestionPtr> questions;  ///< never empty
  std::string why;                     ///< what is being waited for, or why the last attempt failed
  bool operator==(const NeedsAnswers&) const = default;
};

/// Nothing to do before that time.
struct LookAgain {
  UtcMillis at;
  bool operator==(const LookAgain&) const = default;
};

/// What a decide function answers.
using Decided = std::variant<Nothing, Decision, NeedsAnswers, LookAgain>;

/// The shape of every decide function: pure, and run again later by `replay --verify` with the state as of the entry's
/// `as_of` and the entry's time. An Error: it cannot be decided (the message has the cause); the runtime retries.
using Decide = std::function<Result<Decided>(const State& state, const ObjectKey& key, UtcMillis now)>;

/// Collects the events of one decision. A decision that covers many objects adds them with try_add() until that returns
/// false, and is then continued: what is left follows from the state once this part is folded. So the size of a fleet
/// never makes an entry too large for the journal (kMaxEntryBytes in events/journal/journal.h).
class DecisionBuilder {
 public:
  /// One decision: so many events, and so many bytes as its entry will roughly have.
  static constexpr size_t kMostEvents = 2000;
  static constexpr size_t kMostBytes = size_t{3} << 20;

  explicit DecisionBuilder(size_t most_events = kMostEvents) : most_events_{most_events} {}

  /// False, and nothing is added: the event does not fit. The first one always does.
  [[nodiscard]] bool try_add(Event event);
  [[nodiscard]] bool try_add(Event event, Expect expect);
  /// Adds what belongs to the decision however full it is: the one event about the key itself.
  void add(Event event);
  void add(Event event, Expect expect);
  void expect(Expect expect) { decision_.expects.push_back(std::move(expect)); }

  bool empty() const { return decision_.events.empty(); }
  size_t size() const { return decision_.events.size(); }
  const std::vector<Expect>& expects() const { return decision_.expects; }

  /// The whole decision: Nothing without events.
  Decided build() &&;
  /// One of several: decided again at `again` once this is folded. Nothing without events.
  Decided build_and_look_again(UtcMillis again) &&;

 private:
  const size_t most_events_;
  size_t bytes_ = 0;
  Decision decision_;
};

/// A decision of one event about the object that it was computed from.
Decided decide_one(Event event, Expect expect);

}  // namespace shiplog
