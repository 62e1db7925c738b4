#include "services/programs/shiplogctl/replay.h"

#include <algorithm>
#include <deque>
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

/// Reads ahead of the fold as far as decisions on the present state lie.
class Ahead {
 public:
  explicit Ahead(Records records) : records_{std::move(records)} {}

  /// The next record to fold; nullopt: the end.
  Result<std::optional<ReplayRecord>> pop() {
    if (buffer_.empty()) return records_();
    std::optional<ReplayRecord> first{std::move(buffer_.front())};
    buffer_.pop_front();
    return first;
  }

  /// A record not popped yet; nullptr: there is none at this offset.
  Result<const ReplayRecord*> find(Offset offset) {
    while (buffer_.empty() || buffer_.back().offset < offset) {
      SHIPLOG_TRY(auto record, records_());
      if (!record) return nullptr;
      buffer_.push_back(std::move(*record));
    }
    const auto found = std::ranges::lower_bound(buffer_, offset, {}, &ReplayRecord::offset);
    return found == buffer_.end() || found->offset != offset ? nullptr : &*found;
  }

 private:
  Records records_;
  std::deque<ReplayRecord> buffer_;
};

/// Runs decisions again as the fold reaches the revisions they were computed from.
class Verifier {
 public:
  /// `begin`: the revision of the state that the replay begins with.
  Verifier(const ReplayOptions& options, Replayed& result, Revision begin)
      : options_{options}, result_{result}, begin_{begin} {}

  Result<void> note_decisions(const Records& records) {
    while (true) {
      SHIPLOG_TRY(const auto record, records());
      if (!record) break;
      if (!is_decision(record->entry)) continue;
      if (record->entry.as_of < begin_) {
        ++result_.unverifiable;
      } else {
        plan_.push_back({record->entry.as_of, record->offset});
      }
    }
    std::ranges::sort(plan_);
    return ok();
  }

  // Entries that change no object keep the revision, and no decision sees them: the first boundary counts.
  Result<void> at_boundary(const State& state, Ahead& ahead) {
    for (; next_ < plan_.size() && plan_[next_].as_of <= state.revision(); ++next_) {
      SHIPLOG_TRY(const ReplayRecord* record, ahead.find(plan_[next_].offset));
      ++result_.decisions;
      if (record == nullptr) {
        report({plan_[next_].offset, plan_[next_].as_of, "", "",
                "decided as of revision " + std::to_string(plan_[next_].as_of.value),
                "the entry stands before the state that it was computed from"});
      } else if (plan_[next_].as_of != state.revision()) {
        report({record->offset, plan_[next_].as_of, record->entry.fence.service, record->entry.request.path,
                described(record->entry.events),
                "revision " + std::to_string(plan_[next_].as_of.value) +
                    " lies within an entry: no service ever saw that state"});
      } else if (auto difference = verify(*options_.verify, state, *record)) {
        report(*difference);
      }
    }
    return ok();
  }

 private:
  void report(const Difference& difference) {
    ++result_.differences;
    if (options_.differs) options_.differs(difference);
  }

  const ReplayOptions& options_;
  Replayed& result_;
  const Revision begin_;
  std::vector<DecidedAt> plan_;
  size_t next_ = 0;
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

}  // namespace

std::optional<Difference> verify(const Decides& decides, const State& as_of, const ReplayRecord& record) {
  const Entry& entry = record.entry;
  Difference difference{record.offset,           entry.as_of, entry.fence.service, entry.request.path,
                        described(entry.events), ""};
  const auto decide = decides.find(std::string{role_of_lease(entry.fence.service)});
  if (decide == decides.end()) {
    difference.recomputed = "no service \"" + entry.fence.service + "\" in this build can decide it again";
    return difference;
  }
  const auto key = parse_object_key(entry.request.path);
  if (!key) {
    difference.recomputed = "its key cannot be read: " + key.error().message;
    return difference;
  }
  const auto decided = decide->second(as_of, key.value(), entry.time);
  if (!decided) {
    difference.recomputed = "an error: " + decided.error().message;
    return difference;
  }
  if (const auto* needs = std::get_if<NeedsAnswers>(&decided.value())) {
    difference.recomputed = "questions: " + needs->why;
    return difference;
  }
  const auto* decision = std::get_if<Decision>(&decided.value());
  Decision recomputed = decision == nullptr ? Decision{} : *decision;
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
  if (options.verify != nullptr) {
    verifier.emplace(options, result, state.revision());
    SHIPLOG_TRY(const Records records, open());
    SHIPLOG_TRY(verifier->note_decisions(records));
  }
  SHIPLOG_TRY(auto records, open());
  Ahead ahead{std::move(records)};
  while (!options.to || state.revision() < *options.to) {
    if (verifier) {
      SHIPLOG_TRY(verifier->at_boundary(state, ahead));
    }
    SHIPLOG_TRY(const auto record, ahead.pop());
    if (!record) {
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
  result.objects = state.object_count();
  result.hash = state.hash();
  return result;
}

}  // namespace shiplog::ctl
