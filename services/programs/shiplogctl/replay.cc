#include "services/programs/shiplogctl/replay.h"

#include <algorithm>
#include <deque>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

#include "events/codec/codec.h"
#include "events/event.h"
#include "events/explanation_compare.h"
#include "events/fold/fold.h"
#include "events/slots.h"

namespace shiplog::ctl {
namespace {

bool is_decision(const Entry& entry) { return entry.request.verb == "decide"; }

struct DecidedAt {
  Revision as_of;
  Offset offset;
  auto operator<=>(const DecidedAt&) const = default;
};

std::string described(const Event& event) {
  std::string text{name_of(event)};
  if (const ObjectKey subject = subject_of(event); !subject.empty()) text += " " + to_string(subject);
  if (const std::string summary = summary_of(event); !summary.empty()) text += ": " + summary;
  return text;
}

std::string described(const std::vector<Event>& events) {
  if (events.empty()) return "nothing";
  std::string text;
  for (const Event& event : events) text += (text.empty() ? "" : "; ") + described(event);
  return text;
}

std::string described(const std::vector<Expect>& expects) {
  if (expects.empty()) return "no object";
  std::string text;
  for (const Expect& expect : expects) {
    text +=
        (text.empty() ? "" : ", ") + to_string(expect.object) + " at revision " + std::to_string(expect.revision.value);
  }
  return text;
}

// Bytes decide: the journal keeps text that is no UTF-8 in a repaired form, and equal entries give equal bytes.
bool same_bytes(const Entry& recorded, const Decision& recomputed) {
  Entry twin = recorded;
  twin.events = recomputed.events;
  twin.expects = recomputed.expects;
  return encode(twin) == encode(recorded);
}

// The difference of the two, each as text; `recorded` and `recomputed` of `difference` are filled in.
void tell_apart(const Entry& recorded, const Decision& recomputed, Difference& difference) {
  difference.recorded = described(recorded.events);
  difference.recomputed = described(recomputed.events);
  if (difference.recorded != difference.recomputed) return;
  if (recorded.events == recomputed.events) {
    difference.recorded = "expects " + described(recorded.expects);
    difference.recomputed = "expects " + described(recomputed.expects);
    return;
  }
  const auto [old_event, new_event] = std::ranges::mismatch(recorded.events, recomputed.events);
  difference.recorded = described(*old_event);
  difference.recomputed = described(*new_event) + " (the same in short: its explanation or another field differs)";
}

/// How far is read ahead of the fold: decisions are found there that were computed from the present state. Few are
/// appended later than that.
constexpr size_t kWindowEntries = 8192;
constexpr size_t kWindowBytes = size_t{64} << 20U;

/// The records that are read, and not folded yet.
class Window {
 public:
  explicit Window(Records records) : records_{std::move(records)} {}

  bool full() const { return ended_ || buffer_.size() >= kWindowEntries || bytes_ >= kWindowBytes; }
  /// The next record, which is now in the window; nullptr: the end.
  Result<const ReplayRecord*> read() {
    SHIPLOG_TRY(auto record, records_());
    ended_ = !record;
    if (ended_) return nullptr;
    bytes_ += record->bytes;
    buffer_.push_back(std::move(*record));
    return &buffer_.back();
  }
  /// The next record to fold; nullopt: the end.
  Result<std::optional<ReplayRecord>> pop() {
    if (buffer_.empty()) return records_();
    std::optional<ReplayRecord> first{std::move(buffer_.front())};
    buffer_.pop_front();
    bytes_ -= first->bytes;
    return first;
  }
  /// nullptr: it is folded already.
  const ReplayRecord* find(Offset offset) const {
    const auto found = std::ranges::lower_bound(buffer_, offset, {}, &ReplayRecord::offset);
    return found == buffer_.end() || found->offset != offset ? nullptr : &*found;
  }

 private:
  Records records_;
  std::deque<ReplayRecord> buffer_;
  size_t bytes_ = 0;
  bool ended_ = false;
};

/// Runs decisions again as the fold reaches the revisions they were computed from.
class Verifier {
 public:
  /// `begin`: the revision of the state that the replay begins with.
  Verifier(const ReplayOptions& options, Replayed& result, Revision begin)
      : options_{options}, result_{result}, begin_{begin} {}

  /// Reads on until the window is full. `reached`: the revision of the state.
  Result<void> read_ahead(Window& window, Revision reached) {
    while (!window.full()) {
      SHIPLOG_TRY(const ReplayRecord* record, window.read());
      if (record == nullptr || !is_decision(record->entry)) continue;
      if (options_.verified && record->offset < options_.verified->next) continue;
      const Revision as_of = record->entry.as_of;
      if (as_of < begin_) {
        ++result_.unverifiable;
      } else if (as_of < reached) {
        late_.push_back(*record);
      } else {
        plan_.push({as_of, record->offset});
      }
    }
    return ok();
  }

  // Entries that change no object keep the revision, and no decision sees them: the first boundary counts.
  void at_boundary(const State& state, const Window& window) {
    for (; !plan_.empty() && plan_.top().as_of <= state.revision(); plan_.pop()) {
      const auto [as_of, offset] = plan_.top();
      ++result_.decisions;
      if (const ReplayRecord* record = window.find(offset)) {
        run_again(state, *record);
      } else {
        report(out_of_order(as_of, offset));
      }
    }
  }

  /// Those that were appended too late to be in the window with the state they were computed from. `state` is that
  /// which the replay began with, and `records` all after it.
  Result<void> run_late_ones(State state, const Records& records) {
    std::ranges::stable_sort(late_, {}, [](const ReplayRecord& record) { return record.entry.as_of; });
    auto next = late_.begin();
    while (true) {
      for (; next != late_.end() && next->entry.as_of <= state.revision(); ++next) {
        ++result_.decisions;
        run_again(state, *next);
      }
      if (next == late_.end()) return ok();
      SHIPLOG_TRY(const auto record, records());
      if (!record) return ok();
      fold(state, record->entry);
    }
  }
  bool has_late_ones() const { return !late_.empty(); }

  /// What is left names revisions that the journal does not reach.
  void at_end() {
    for (; !plan_.empty(); plan_.pop()) {
      ++result_.decisions;
      report(out_of_order(plan_.top().as_of, plan_.top().offset));
    }
  }

 private:
  void run_again(const State& state, const ReplayRecord& record) {
    const Revision as_of = record.entry.as_of;
    if (as_of != state.revision()) {
      report({record.offset, as_of, record.entry.fence.service, record.entry.request.path,
              described(record.entry.events),
              "revision " + std::to_string(as_of.value) + " lies within an entry: no service ever saw that state"});
    } else if (auto difference = verify(*options_.verify, state, record)) {
      report(*difference);
    }
  }
  static Difference out_of_order(Revision as_of, Offset offset) {
    return {offset,
            as_of,
            "",
            "",
            "decided as of revision " + std::to_string(as_of.value),
            "the entry stands before the state that it was computed from"};
  }
  void report(const Difference& difference) {
    ++result_.differences;
    if (options_.differs) options_.differs(difference);
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

std::optional<Difference> verify(const Decides& decides, const State& as_of, const ReplayRecord& record) {
  const Entry& entry = record.entry;
  Difference difference{record.offset, entry.as_of, entry.fence.service, entry.request.path, "", ""};
  const auto differs = [&](std::string how) {
    difference.recorded = described(entry.events);
    difference.recomputed = std::move(how);
    return difference;
  };
  const auto decide = decides.find(std::string{role_of_lease(entry.fence.service)});
  if (decide == decides.end()) {
    return differs("no service \"" + entry.fence.service + "\" in this build can decide it again");
  }
  const auto key = parse_object_key(entry.request.path);
  if (!key) return differs("its key cannot be read: " + key.error().message);
  auto decided = decide->second(as_of, key.value(), entry.time);
  if (!decided) return differs("an error: " + decided.error().message);
  if (const auto* needs = std::get_if<NeedsAnswers>(&decided.value())) return differs("questions: " + needs->why);
  auto* decision = std::get_if<Decision>(&decided.value());
  Decision recomputed = decision == nullptr ? Decision{} : std::move(*decision);
  take_form_of(entry.events, recomputed.events);
  if ((recomputed.events == entry.events && recomputed.expects == entry.expects) || same_bytes(entry, recomputed)) {
    return std::nullopt;
  }
  tell_apart(entry, recomputed, difference);
  return difference;
}

Result<Replayed> replay(const std::function<Result<Records>()>& open, const ReplayOptions& options, State& state) {
  Replayed result;
  std::optional<Verifier> verifier;
  State beginning;
  if (options.verify != nullptr) {
    verifier.emplace(options, result, state.revision());
    beginning = state;
  }
  SHIPLOG_TRY(auto records, open());
  Window window{std::move(records)};
  bool at_end = false;
  bool at_mark = !options.verified;
  while (!options.to || state.revision() < *options.to) {
    if (verifier) {
      SHIPLOG_TRY(verifier->read_ahead(window, state.revision()));
      verifier->at_boundary(state, window);
    }
    SHIPLOG_TRY(const auto record, window.pop());
    at_end = !record;
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
    const Folded folded = fold(state, record->entry);
    count(folded, result);
    result.last = record->offset;
    result.revision = state.revision();
    if (folded.stop) {
      result.stop = *folded.stop;
      break;
    }
    if (options.progress) options.progress(result);
  }
  if (verifier && !result.stop && verifier->has_late_ones()) {
    SHIPLOG_TRY(const auto again, open());
    SHIPLOG_TRY(verifier->run_late_ones(std::move(beginning), again));
  }
  if (verifier && at_end && !result.stop) verifier->at_end();
  result.objects = state.object_count();
  result.hash = state.hash();
  return result;
}

}  // namespace shiplog::ctl
