#include "services/debugger/session.h"

#include <algorithm>

namespace shiplog::debugger {
namespace {

Stop moved() { return {Stop::Reason::kMoved, {}}; }

std::vector<int> hits(auto& watched, const Moment& moment, bool& any) {
  std::vector<int> numbers;
  for (auto& each : watched) {
    if (!each.watch.stops_at(moment)) continue;
    any = true;
    if (each.number != 0) numbers.push_back(each.number);
  }
  return numbers;
}

Error ends_before(const JournalTimeline& timeline, const std::string& what) {
  return {ErrorCode::kGone, "there is no " + what + ": the journal ends at revision " +
                                std::to_string(timeline.state().revision().value) + ", entry " +
                                std::to_string(timeline.position())};
}

}  // namespace

template <class On>
Result<Stop> Session::forward_while(const On& on) {
  while (on()) {
    if (interrupted_.load(std::memory_order_relaxed)) return Stop{Stop::Reason::kInterrupted, {}};
    SHIPLOG_TRY(const bool more, timeline_.forward());
    if (!more) return Stop{Stop::Reason::kEnd, {}};
  }
  return moved();
}

Result<Stop> Session::step(size_t entries) {
  const size_t begin = timeline_.position();
  return forward_while([&] { return timeline_.position() - begin < entries; });
}

Result<Stop> Session::step_back(size_t entries) {
  const size_t here = timeline_.position();
  if (here == 0) return Stop{Stop::Reason::kBeginning, {}};
  SHIPLOG_TRY(timeline_.go(here - std::min(entries, here)));
  return entries > here ? Stop{Stop::Reason::kBeginning, {}} : moved();
}

Result<Stop> Session::step_revision() {
  const Revision begin = state().revision();
  return forward_while([&] { return state().revision() == begin; });
}

Result<Stop> Session::step_revision_back() {
  const auto first = timeline_.position_of(state().revision());
  if (!first || *first == 0) {
    SHIPLOG_TRY(timeline_.go(0));
    return Stop{Stop::Reason::kBeginning, {}};
  }
  const Revision before = *first == 1 ? timeline_.first_revision() : timeline_.mark(*first - 1).revision;
  SHIPLOG_TRY(timeline_.go(timeline_.position_of(before).value_or(0)));
  return moved();
}

std::vector<Session::Watched> Session::watch_breakpoints() const {
  std::vector<Watched> watched;
  for (const Breakpoint& each : breakpoints_) watched.push_back({each.number, ConditionWatch{each.condition}});
  return watched;
}

Result<Stop> Session::resume(bool forwards) {
  return forwards ? run_forwards(watch_breakpoints()) : run_backwards(watch_breakpoints());
}

Result<Stop> Session::resume_until(const BreakCondition& condition, bool forwards) {
  std::vector<Watched> watched{{0, ConditionWatch{condition}}};
  return forwards ? run_forwards(std::move(watched)) : run_backwards(std::move(watched));
}

Result<Stop> Session::run_forwards(std::vector<Watched> watched) {
  for (Watched& each : watched) each.watch.begin(timeline_.moment());
  while (true) {
    if (interrupted_.load(std::memory_order_relaxed)) return Stop{Stop::Reason::kInterrupted, {}};
    SHIPLOG_TRY(const bool more, timeline_.forward());
    if (!more) return Stop{Stop::Reason::kEnd, {}};
    bool any = false;
    auto numbers = hits(watched, timeline_.moment(), any);
    if (any) return Stop{Stop::Reason::kCondition, std::move(numbers)};
  }
}

// From one kept state to the next, the last stretch first: each is folded once, and its last hit counts.
Result<Stop> Session::run_backwards(std::vector<Watched> watched) {
  const size_t origin = timeline_.position();
  if (origin == 0) return Stop{Stop::Reason::kBeginning, {}};
  for (size_t end = origin - 1; end > 0;) {
    const size_t begin = timeline_.kept_before(end);
    timeline_.enter_kept(begin);
    for (Watched& each : watched) each.watch.begin(timeline_.moment());
    size_t last_hit = 0;
    std::vector<int> last_numbers;
    while (timeline_.position() < end) {
      if (interrupted_.load(std::memory_order_relaxed)) {
        SHIPLOG_TRY(timeline_.go(origin));
        return Stop{Stop::Reason::kInterrupted, {}};
      }
      SHIPLOG_TRY(const bool more, timeline_.forward());
      if (!more) return ends_before(timeline_, "entry " + std::to_string(end));
      bool any = false;
      auto numbers = hits(watched, timeline_.moment(), any);
      if (!any) continue;
      last_hit = timeline_.position();
      last_numbers = std::move(numbers);
    }
    if (last_hit != 0) {
      SHIPLOG_TRY(timeline_.go(last_hit));
      return Stop{Stop::Reason::kCondition, std::move(last_numbers)};
    }
    end = begin;
  }
  SHIPLOG_TRY(timeline_.go(0));
  return Stop{Stop::Reason::kBeginning, {}};
}

Result<Stop> Session::go_to_revision(Revision revision) {
  if (revision < timeline_.first_revision()) {
    return Error{ErrorCode::kGone, "the debugger began at revision " +
                                       std::to_string(timeline_.first_revision().value) +
                                       ": name an older snapshot with --snapshot to see what was before"};
  }
  const Revision known =
      timeline_.known() == 0 ? timeline_.first_revision() : timeline_.mark(timeline_.known()).revision;
  if (known < revision) {
    SHIPLOG_TRY(timeline_.go(timeline_.known()));
    SHIPLOG_TRY(const Stop stop, forward_while([&] { return state().revision() < revision; }));
    if (stop.reason == Stop::Reason::kEnd) return ends_before(timeline_, "revision " + std::to_string(revision.value));
    return stop;
  }
  // A revision that lies within an entry is reached by that entry.
  size_t low = 0;
  size_t high = timeline_.known();
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    const Revision at = middle == 0 ? timeline_.first_revision() : timeline_.mark(middle).revision;
    if (at < revision) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return go_to_position(low);
}

Result<Stop> Session::go_to_offset(Offset offset) {
  size_t position = 1;
  while (position <= timeline_.known() && timeline_.mark(position).offset < offset) ++position;
  if (position <= timeline_.known()) return go_to_position(position);
  SHIPLOG_TRY(timeline_.go(timeline_.known()));
  const auto before = [&] { return timeline_.position() == 0 || timeline_.mark(timeline_.position()).offset < offset; };
  SHIPLOG_TRY(const Stop stop, forward_while(before));
  if (stop.reason == Stop::Reason::kEnd) return ends_before(timeline_, "offset " + std::to_string(offset.value));
  return stop;
}

// Times of entries may go back a little, as several processes write them: the last entry before the first later one.
Result<Stop> Session::go_to_time(UtcMillis time) {
  size_t position = 1;
  while (position <= timeline_.known() && timeline_.mark(position).time <= time) ++position;
  if (position <= timeline_.known()) return go_to_position(position - 1);
  SHIPLOG_TRY(timeline_.go(timeline_.known()));
  const auto before = [&] { return timeline_.position() == 0 || timeline_.mark(timeline_.position()).time <= time; };
  SHIPLOG_TRY(const Stop stop, forward_while(before));
  if (stop.reason != Stop::Reason::kMoved) return stop;
  return go_to_position(timeline_.position() - 1);
}

Result<Stop> Session::go_to_position(size_t position) {
  if (position <= timeline_.known()) {
    SHIPLOG_TRY(timeline_.go(position));
    return moved();
  }
  SHIPLOG_TRY(timeline_.go(timeline_.known()));
  SHIPLOG_TRY(const Stop stop, forward_while([&] { return timeline_.position() < position; }));
  if (stop.reason == Stop::Reason::kEnd) return ends_before(timeline_, "entry " + std::to_string(position));
  return stop;
}

Result<Stop> Session::go_to_end() {
  SHIPLOG_TRY(timeline_.go(timeline_.known()));
  return forward_while([] { return true; });
}

int Session::add_breakpoint(BreakCondition condition) {
  breakpoints_.push_back({++last_number_, std::move(condition)});
  return last_number_;
}

bool Session::delete_breakpoint(int number) {
  return std::erase_if(breakpoints_, [&](const Breakpoint& each) { return each.number == number; }) > 0;
}

}  // namespace shiplog::debugger
