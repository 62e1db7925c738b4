#pragma once

#include <atomic>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "events/base/result.h"
#include "services/debugger/condition.h"
#include "services/debugger/timeline.h"

namespace shiplog::debugger {

/// Why the cursor came to rest.
struct Stop {
  enum class Reason {
    kMoved,        ///< as far as was asked for
    kCondition,    ///< a condition holds
    kBeginning,    ///< no entry before
    kEnd,          ///< no further entry
    kInterrupted,  ///< by the user; the cursor is where it was, or, forwards, where it came to
  };
  Reason reason = Reason::kMoved;
  std::vector<int> breakpoints;  ///< of kCondition: the numbers of those that stop here; empty: another condition
  bool operator==(const Stop&) const = default;
};

struct Breakpoint {
  int number = 0;
  BreakCondition condition;
};

/// The cursor of a debugger in a journal. No terminal, no clock.
/// Threads: one, but for interrupt().
class Session {
 public:
  explicit Session(JournalTimeline timeline) : timeline_{std::move(timeline)} {}

  JournalTimeline& timeline() { return timeline_; }
  const JournalTimeline& timeline() const { return timeline_; }
  const State& state() const { return timeline_.state(); }

  /// So many entries on or back. Errors: those of JournalTimeline::forward().
  Result<Stop> step(size_t entries);
  Result<Stop> step_back(size_t entries);
  /// To the next entry after which the state has another revision, or back to the first entry of the revision before.
  Result<Stop> step_revision();
  Result<Stop> step_revision_back();
  /// To the nearest entry at which one of the breakpoints stops; without one to the end or the beginning.
  Result<Stop> resume(bool forwards);
  /// The same for one condition instead of the breakpoints.
  Result<Stop> resume_until(const BreakCondition& condition, bool forwards);

  /// Behind the first entry with which the state reaches the revision; to the entry at the offset, or the first one
  /// behind it; to the last entry that is not later than the time. Error: kGone, there is none.
  Result<Stop> go_to_revision(Revision revision);
  Result<Stop> go_to_offset(Offset offset);
  Result<Stop> go_to_time(UtcMillis time);
  Result<Stop> go_to_position(size_t position);
  Result<Stop> go_to_end();

  int add_breakpoint(BreakCondition condition);
  /// False: there is none of that number.
  bool delete_breakpoint(int number);
  const std::vector<Breakpoint>& breakpoints() const { return breakpoints_; }

  /// Makes a long step return early. Any thread.
  void interrupt() { interrupted_.store(true); }
  void clear_interrupt() { interrupted_.store(false); }

 private:
  struct Watched {
    int number;
    ConditionWatch watch;
  };
  std::vector<Watched> watch_breakpoints() const;
  Result<Stop> run_forwards(std::vector<Watched> watched);
  Result<Stop> run_backwards(std::vector<Watched> watched);
  /// Moves as long as `on()` is true at the present position.
  template <class On>
  Result<Stop> forward_while(const On& on);

  JournalTimeline timeline_;
  std::vector<Breakpoint> breakpoints_;
  int last_number_ = 0;
  std::atomic<bool> interrupted_{false};
};

}  // namespace shiplog::debugger
