#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "events/base/ids.h"
#include "events/base/result.h"
#include "events/entry.h"
#include "events/fold/fold.h"
#include "events/state/state.h"
#include "services/debugger/object_pattern.h"
#include "services/debugger/value_path.h"

namespace shiplog::debugger {

/// What a condition is about: an entry, what the fold made of it, and the state afterwards.
struct Moment {
  Offset offset;
  const Entry* entry = nullptr;    ///< nullptr: only the state is known, as before the first entry
  const Folded* folded = nullptr;  ///< of `entry`
  const State& state;
};

struct ConditionNode;

/// A condition as `break` and `bisect` take it. Terms are joined by `and`, `or`, `not` and parentheses; `and` binds
/// stronger than `or`. The grammar is in docs/guide/debugger.md.
class BreakCondition {
 public:
  static constexpr int kMostNesting = 64;
  static constexpr size_t kMostTerms = 256;

  /// Error: kBadRequest with the column and what was expected.
  static Result<BreakCondition> parse(std::string_view text);

  bool holds(const Moment& moment) const;
  /// It has no term about an entry, so it holds or not of a state alone.
  bool about_state_only() const;
  const std::string& text() const { return text_; }

 private:
  friend class ConditionWatch;
  std::string text_;
  std::shared_ptr<const ConditionNode> root_;
};

/// Follows a condition from entry to entry. A term about objects is looked up again only when an entry has changed one
/// of them.
class ConditionWatch {
 public:
  explicit ConditionWatch(BreakCondition condition) : condition_{std::move(condition)} {}

  /// Whether it holds at a moment that does not follow from the last one.
  bool begin(const Moment& moment);
  /// Whether to stop at an entry that follows the last moment: its condition holds; if it is only about the state:
  /// it has begun to hold.
  bool stops_at(const Moment& moment);
  /// At the last moment.
  bool held() const { return held_; }
  const BreakCondition& condition() const { return condition_; }

 private:
  BreakCondition condition_;
  bool held_ = false;
  std::vector<int8_t> known_;  // of each term: -1 unknown, else whether it held
};

}  // namespace shiplog::debugger
