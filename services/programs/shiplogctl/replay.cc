#include "services/programs/shiplogctl/replay.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

#include "events/fold/fold.h"
#include "services/programs/shiplogctl/replay_checks.h"
#include "services/programs/shiplogctl/replay_window.h"

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

  /// A record that was read. `reached`: the revision of the state.
  void plan(const ReplayRecord& record, Revision reached) {
    if (!is_decision(record.entry)) return;
    if (options_.verified && record.offset < options_.verified->next) return;
    const Revision as_of = record.entry.as_of;
    if (as_of < begin_) {
      ++result_.unverifiable;
    } else if (as_of < reached) {
      late_.push_back(record);
    } else {
      plan_.push({as_of, record.offset});
    }
  }

  // Entries that change no object keep the revision, and no decision sees them: the first boundary counts.
  void at_boundary(const State& state, ReplayWindow& window) {
    for (; !plan_.empty() && plan_.top().as_of <= state.revision(); plan_.pop()) {
      const auto [as_of, offset] = plan_.top();
      ++result_.decisions;
      if (CheckedRecord* checked = window.find(offset)) {
        checked->again = run_again(state, checked->record);
      } else {
        report(out_of_order(as_of, offset));
      }
    }
  }

  /// A fold version was activated. That changes no object, so two states have this revision: a decision that is
  /// appended later and differs on the first one was computed from the second.
  void at_activation(const State& state, ReplayWindow& window) const {
    window.for_each_decided([&](CheckedRecord& checked) {
      if (checked.record.entry.as_of != state.revision() || !difference_of(checked.record, *checked.again)) return;
      checked.again = run_again(state, checked.record);
    });
  }

  /// Those that were appended too late to be in the window with the state they were computed from. `state` is that
  /// which the replay began with, and `records` all after it.
  Result<void> run_late_ones(State state, const Records& records) {
    std::ranges::stable_sort(late_, {}, [](const ReplayRecord& record) { return record.entry.as_of; });
    state.defer_hashes();
    auto next = late_.begin();
    std::vector<std::pair<const ReplayRecord*, Difference>> differing;  // at this revision
    const auto report_all = [&] {
      for (const auto& [record, difference] : differing) report(difference);
      differing.clear();
    };
    while (true) {
      for (; next != late_.end() && next->entry.as_of <= state.revision(); ++next) {
        ++result_.decisions;
        if (auto difference = difference_of(*next, run_again(state, *next)))
          differing.emplace_back(&*next, *difference);
      }
      if (next == late_.end() && differing.empty()) return ok();
      SHIPLOG_TRY(const auto record, records());
      if (!record) break;
      const Revision before = state.revision();
      fold(state, record->entry);
      if (state.revision() != before) {
        report_all();
      } else if (activates(record->entry)) {
        std::erase_if(differing, [&](const auto& item) {
          return item.first->offset > record->offset && !difference_of(*item.first, run_again(state, *item.first));
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
  DecidedAgain run_again(const State& state, const ReplayRecord& record) const {
    const Revision as_of = record.entry.as_of;
    if (as_of == state.revision()) return decide_again(*options_.verify, state, record);
    Difference difference = difference_about(record);
    difference.recorded = described_events(record.entry.events);
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
  std::optional<Verifier> verifier;
  State beginning;
  if (options.verify != nullptr) {
    verifier.emplace(options, result, state.revision());
    beginning = state;
  }
  // The hashes of few revisions are compared with anything: computed at each they would be a third of the fold.
  state.defer_hashes();
  SHIPLOG_TRY(auto records, open());
  ReplayWindow window{std::move(records)};
  ReplayChecks checks;
  const auto report = [&](const std::vector<Difference>& differences) {
    for (const Difference& difference : differences) verifier->report(difference);
  };
  bool at_end = false;
  bool at_mark = !options.verified;
  while (!options.to || state.revision() < *options.to) {
    while (!window.full()) {
      const ReplayRecord* const read = window.read();
      if (read != nullptr && verifier) verifier->plan(*read, state.revision());
    }
    if (window.hash_needed(state.revision())) state.settle_hashes();
    if (verifier) verifier->at_boundary(state, window);
    SHIPLOG_TRY(auto record, window.pop());
    at_end = !record;
    if (!at_mark && (at_end || record->record.offset >= options.verified->next)) {
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
    const Folded folded = fold(state, record->record.entry);
    count(folded, result);
    result.last = record->record.offset;
    if (verifier && activates(record->record.entry)) verifier->at_activation(state, window);
    checks.add(*std::move(record));
    if (verifier && result.entries % kReportEvery == 0) report(checks.found());
    result.revision = state.revision();
    if (folded.stop) {
      result.stop = *folded.stop;
      break;
    }
    if (options.progress) options.progress(result);
  }
  auto rest = window.take_rest();
  for (CheckedRecord& left : rest) {  // of decisions on this state, appended later
    if (left.again) checks.add(std::move(left));
  }
  const auto differences = checks.finish();
  if (verifier) report(differences);
  if (verifier && !result.stop && verifier->has_late_ones()) {
    SHIPLOG_TRY(const auto again, open());
    SHIPLOG_TRY(verifier->run_late_ones(std::move(beginning), again));
  }
  if (verifier && at_end && !result.stop) verifier->at_end();
  state.end_deferred_hashes();
  result.objects = state.object_count();
  result.hash = state.hash();
  return result;
}

}  // namespace shiplog::ctl
