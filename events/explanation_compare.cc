#include "events/explanation_compare.h"

#include <algorithm>
#include <variant>

namespace shiplog {
namespace {

bool is_text(const Fact& fact) { return std::holds_alternative<Text>(fact) && !fact.empty(); }

/// Every explanation has a summary.
bool is_of_earlier_build(const Explanation& why) { return is_text(why.summary); }

/// Both have the same clusters, and for each the same verdicts and scores, reasons apart.
bool same_judgements(const Explanation& recorded, const Explanation& recomputed) {
  const auto same_verdict = [](const Verdict& a, const Verdict& b) { return a.rule == b.rule && a.passed == b.passed; };
  return std::ranges::equal(
      recorded.clusters, recomputed.clusters, [&](const ClusterExplanation& a, const ClusterExplanation& b) {
        const Judgement& of_a = recorded.judgement_of(a);
        const Judgement& of_b = recomputed.judgement_of(b);
        return a.cluster == b.cluster && a.available_replicas == b.available_replicas && a.replicas == b.replicas &&
               of_a.scores == of_b.scores && std::ranges::equal(of_a.verdicts, of_b.verdicts, same_verdict);
      });
}

void take_form(const Explanation& recorded, Explanation& recomputed) {
  if (!is_of_earlier_build(recorded)) return;
  recomputed.summary = recorded.summary;
  recomputed.steps = recorded.steps;
  if (!same_judgements(recorded, recomputed)) return;  // that difference is what is reported
  recomputed.clusters = recorded.clusters;
  recomputed.judgements = recorded.judgements;
}

template <class Kind>
void take_form(const Kind& recorded, Kind& recomputed) {
  if constexpr (requires { recorded.why; }) {
    take_form(recorded.why, recomputed.why);
  } else if constexpr (requires { recorded.policy; }) {
    if (recorded.policy.empty()) recomputed.policy.clear();  // an earlier build had it in the reason alone
  }
}

/// What a quota is exceeded by was in the message alone.
void take_form(const QuotaRefused& recorded, QuotaRefused& recomputed) {
  if (recorded.why == Explanation{}) recomputed.why = {};
}

}  // namespace

void take_form_of(const std::vector<Event>& recorded, std::vector<Event>& recomputed) {
  for (size_t index = 0; index < std::min(recorded.size(), recomputed.size()); ++index) {
    std::visit(
        [&](const auto& event) {
          using Kind = std::decay_t<decltype(event)>;
          if (auto* same = std::get_if<Kind>(&recomputed[index])) take_form(event, *same);
        },
        static_cast<const EventVariant&>(recorded[index]));
  }
}

}  // namespace shiplog
