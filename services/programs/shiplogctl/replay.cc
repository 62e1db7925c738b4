#include "services/programs/shiplogctl/replay.h"

#include <algorithm>
#include <deque>
#include <functional>
#include <memory>
#include <queue>
#include <utility>
#include <vector>

#include "events/fold/fold.h"
#include "services/programs/shiplogctl/replay_checks.h"
#include "services/programs/shiplogctl/replay_window.h"
#include "services/programs/shiplogctl/shared_work.h"

namespace shiplog::ctl {
namespace {

constexpr size_t kReportEvery = 4096;

bool activates(const Entry& entry) {
  return std::ranges::any_of(entry.events,
                             [](const Event& event) { return std::holds_alternative<FoldVersionActivated>(event); });
}

bool is_decision(const Entry& entry) { return entry.request.verb == "decide"; }

struct DecidedAt {
  Revision as_of;
  Offset offset;
  auto operator<=>(const DecidedAt&) const = default;
};

/// Runs decisions again as the fold reaches the revisions they were computed from.
class Verifier {
 public:
  /// `begin`: the revision of the state that the replay begins with.
  Verifier(const ReplayOptions& options, Replayed& result, Revision begin)
      : options_{options}, result_{result}, begin_{begin} {}
  /// The records of its comparisons are not used any more.
  ~Verifier() {
    for (const auto& comparisons : comparisons_) std::ranges::for_each(*comparisons, abandon);
  }
  Verifier(const Verifier&) = delete;
  Verifier& operator=(const Verifier&) = delete;

  /// A record that was read. `reached`: the revision of the state.
  void plan(const ReplayRecord& record, Revision reached) {
    if (!is_decision(record.entry)) return;
    if (options_.verified && record.offset < options_.verified->next) return;
    const Revision as_of = record.entry.as_of;
    if (as_of < begin_) {
      ++result_.unverifiable;
    } else if (as_of < reached) {
      ReplayRecord late = record;
      // One that cannot be decoded is an error when the fold gets there.
      if (late.undecoded.empty() || decode_events(late)) late_.push_back(std::move(late));
    } else {
      plan_.push({as_of, record.offset});
    }
  }

  // Entries that change no object keep the revision, and no decision sees them: the first boundary counts.
  void at_boundary(const State& state, ReplayWindow& window) {
    std::vector<ReplayRecord*> due;
    for (; !plan_.empty() && plan_.top().as_of <= state.revision(); plan_.pop()) {
      const auto [as_of, offset] = plan_.top();
      ++result_.decisions;
      if (ReplayRecord* record = window.find(offset)) {
        due.push_back(record);
      } else {
        report(out_of_order(as_of, offset));
      }
    }
    if (due.empty()) return;
    const auto comparisons = std::make_shared<Comparisons>(due.size());
    for (size_t which = 0; which < due.size(); ++which) {
      (*comparisons)[which].record = due[which];
      due[which]->again = {comparisons, &(*comparisons)[which]};
    }
    const auto decide = [&](size_t which) {
      DecidedComparison& comparison = (*comparisons)[which];
      comparison.decided = run_again(state, *comparison.record);
    };
    if (options_.work != nullptr && due.size() > 1) {
      options_.work->for_each(due.size(), decide);
    } else {
      for (size_t which = 0; which < due.size(); ++which) decide(which);
    }
    if (options_.work != nullptr) {
      // The fold does not need them at once. It begins with the first: who begins with the last seldom makes it wait.
      options_.work->offer(due.size(), [comparisons](size_t which) { compare((*comparisons).rbegin()[which]); });
    }
    while (!comparisons_.empty() && over(*comparisons_.front())) comparisons_.pop_front();
    comparisons_.push_back(comparisons);
  }

  /// Ends all comparisons that are under way.
  void finish(ReplayWindow& window) const { window.for_each_decided(finish_comparison); }

  /// A fold version was activated. That changes no object, so two states have this revision: a decision that is
  /// appended later and differs on the first one was computed from the second.
  void at_activation(const State& state, ReplayWindow& window) const {
    finish(window);
    window.for_each_decided([&](ReplayRecord& record) {
      if (record.entry.as_of != state.revision() || !difference_of(record)) return;
      record.again->decided = run_again(state, record);
    });
  }

  /// Those that were appended too late to be in the window with the state they were computed from. `state` is that
  /// which the replay began with, and `records` all after it.
  Result<void> run_late_ones(State state, const Records& records) {
    std::ranges::stable_sort(late_, {}, [](const ReplayRecord& record) { return record.entry.as_of; });
    state.defer_hashes();
    auto next = late_.begin();
    std::vector<std::pair<ReplayRecord*, Difference>> differing;  // at this revision
    const auto report_all = [&] {
      for (const auto& [record, difference] : differing) report(difference);
      differing.clear();
    };
    const auto difference_on = [&](ReplayRecord& record) {
      record.again = std::make_shared<DecidedComparison>();
      record.again->decided = run_again(state, record);
      return difference_of(record);
    };
    ReplayWindow window{records};
    while (true) {
      for (; next != late_.end() && next->entry.as_of <= state.revision(); ++next) {
        ++result_.decisions;
        if (auto difference = difference_on(*next)) differing.emplace_back(&*next, *difference);
      }
      if (next == late_.end() && differing.empty()) return ok();
      if (!window.full()) window.read();
      SHIPLOG_TRY(ReplayRecord* const record, window.pop());
      if (record == nullptr) break;
      const Revision before = state.revision();
      if (!record->undecoded.empty()) {
        SHIPLOG_TRY(decode_events(*record));
      }
      fold(state, record->entry);
      if (state.revision() != before) {
        report_all();
      } else if (activates(record->entry)) {
        std::erase_if(differing, [&](const auto& item) {
          return item.first->offset > record->offset && !difference_on(*item.first);
        });
      }
    }
    report_all();
    return ok();
  }
  bool has_late_ones() const { return !late_.empty(); }

  /// What is left names revisions that the journal does not reach.
  void at_end() {
    for (; !plan_.empty(); plan_.pop()) {
      ++result_.decisions;
      report(out_of_order(plan_.top().as_of, plan_.top().offset));
    }
  }

  void report(const Difference& difference) {
    ++result_.differences;
    if (options_.differs) options_.differs(difference);
  }

 private:
  using Comparisons = std::vector<DecidedComparison>;  // of one revision; they stay where they are

  static bool over(const Comparisons& comparisons) {
    return std::ranges::all_of(comparisons,
                               [](const DecidedComparison& each) { return each.stage == DecidedComparison::kOver; });
  }

  /// Several threads do it at once, with different records.
  DecidedAgain run_again(const State& state, const ReplayRecord& record) const {
    const Revision as_of = record.entry.as_of;
    if (as_of == state.revision()) return decide_again(*options_.verify, state, record);
    Difference difference = difference_about(record);
    difference.recomputed =
        "revision " + std::to_string(as_of.value) + " lies within an entry: no service ever saw that state";
    return difference;
  }
  static Difference out_of_order(Revision as_of, Offset offset) {
    return {offset,
            as_of,
            "",
            "",
            "decided as of revision " + std::to_string(as_of.value),
            "the entry stands before the state that it was computed from"};
  }

  const ReplayOptions& options_;
  Replayed& result_;
  const Revision begin_;
  std::priority_queue<DecidedAt, std::vector<DecidedAt>, std::greater<>> plan_;
  std::deque<std::shared_ptr<Comparisons>> comparisons_;  // that may be under way
  std::vector<ReplayRecord> late_;
};

void count(const Folded& folded, Replayed& result) {
  ++result.entries;
  if (folded.duplicate) {
    ++result.duplicates;
  } else if (folded.refusal) {
    ++result.refused;
  } else {
    ++result.accepted;
  }
}

/// Why what was verified before is no longer what the journal has there; nullopt: it is the same.
std::optional<std::string> differs_from(const VerifiedMark& mark, const State& state, bool at_end) {
  const std::string verified = "up to offset " + std::to_string(mark.next.value) + " the journal was verified";
  if (at_end) return verified + ", and it ends before: entries are missing";
  const std::string hash = to_string(state.hash());
  if (state.revision() == mark.revision && hash == mark.state_hash) return std::nullopt;
  return verified + " with revision " + std::to_string(mark.revision.value) + " and state hash " + mark.state_hash +
         ", and now it has revision " + std::to_string(state.revision().value) + " and state hash " + hash +
         " there: it was changed since";
}

}  // namespace

Result<Replayed> replay(const std::function<Result<Records>()>& open, const ReplayOptions& options, State& state) {
  Replayed result;
  State beginning;
  if (options.verify != nullptr) beginning = state;
  // The hashes of few revisions are compared with anything: computed at each they would be a third of the fold.
  state.defer_hashes();
  SHIPLOG_TRY(auto records, open());
  ReplayWindow window{std::move(records), options.work};
  std::optional<Verifier> verifier;  // after the window, whose records it uses
  if (options.verify != nullptr) verifier.emplace(options, result, state.revision());
  ReplayChecks checks;
  const auto report = [&](const std::vector<Difference>& differences) {
    for (const Difference& difference : differences) verifier->report(difference);
  };
  const State::ForEach for_each = [&](size_t count, const std::function<void(size_t)>& use) {
    if (options.work != nullptr) return options.work->for_each(count, use);
    for (size_t number = 0; number < count; ++number) use(number);
  };
  bool at_end = false;
  bool at_mark = !options.verified;
  while (!options.to || state.revision() < *options.to) {
    while (!window.full()) {
      for (const ReplayRecord& read : window.read()) {
        if (verifier) verifier->plan(read, state.revision());
      }
    }
    if (window.hash_needed(state.revision())) state.settle_hashes(for_each);
    if (verifier) verifier->at_boundary(state, window);
    SHIPLOG_TRY(ReplayRecord* const record, window.pop());
    at_end = record == nullptr;
    if (!at_mark && (at_end || record->offset >= options.verified->next)) {
      at_mark = true;
      const bool missing = at_end && result.last.value + 1 < options.verified->next.value;
      result.stop = differs_from(*options.verified, state, missing);
      if (result.stop) break;
    }
    if (at_end) {
      if (!options.to) break;
      return Error{ErrorCode::kGone, "the journal ends at revision " + std::to_string(state.revision().value) +
                                         ": there is no revision " + std::to_string(options.to->value) + " yet"};
    }
    finish_comparison(*record);
    if (!record->undecoded.empty()) {
      if (const auto decoded = decode_events(*record); !decoded) {
        const std::string where = options.journal + ", offset " + std::to_string(record->offset.value);
        return decoded.error().context(where);
      }
    }
    if (const EntryId* const following = window.following()) state.expect(*following);
    const Folded folded = fold(state, record->entry);
    count(folded, result);
    result.last = record->offset;
    if (verifier && activates(record->entry)) verifier->at_activation(state, window);
    if (record->again) checks.add(std::move(*record));
    if (verifier && result.entries % kReportEvery == 0) report(checks.found());
    result.revision = state.revision();
    if (folded.stop) {
      result.stop = *folded.stop;
      break;
    }
    if (options.progress) options.progress(result);
  }
  // Of decisions on this state, appended later.
  if (verifier) verifier->finish(window);
  window.for_each_decided([&](ReplayRecord& left) { checks.add(std::move(left)); });
  const auto differences = checks.finish();
  if (verifier) report(differences);
  if (verifier && !result.stop && verifier->has_late_ones()) {
    SHIPLOG_TRY(const auto again, open());
    SHIPLOG_TRY(verifier->run_late_ones(std::move(beginning), again));
  }
  if (verifier && at_end && !result.stop) verifier->at_end();
  state.end_deferred_hashes(for_each);
  result.objects = state.object_count();
  result.hash = state.hash();
  return result;
}

}  // namespace shiplog::ctl
