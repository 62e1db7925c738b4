#include "services/roles/dispatcher/render_outcome.h"

#include <algorithm>

#include "events/state/answers.h"
#include "events/state/work.h"

namespace shiplog::dispatcher {

void RenderOutcome::failed(const std::string& cluster, const interpreter::Uninterpreted& why, Fact reason) {
  if (!why.questions.empty()) {
    waiting_.why = why.message;
    bool tried = false;
    for (const QuestionPtr& question : why.questions) {
      tried = tried || !question->failure.empty();
      // Targets with the same number of replicas have the same question.
      const bool known = std::ranges::any_of(waiting_.questions, [&](const QuestionPtr& waiting) {
        return waiting->operation == question->operation && waiting->basis == question->basis &&
               waiting->qualifier == question->qualifier;
      });
      if (!known) waiting_.questions.push_back(question);
    }
    if (!tried) return;
  }
  if (reason.empty()) reason = RenderFailed{why.message};
  failures_.push_back({cluster, why.message, std::move(reason)});
}

void RenderOutcome::report(const Object& object, DecisionBuilder& decision, int64_t generation) const {
  const Value& condition = condition_of(object.value, kWorksSyncedCondition);
  WorksSynced synced{source_, failures_.empty(), failures_.empty() ? "SyncWorkSucceed" : "SyncWorkFailed", "", {}};
  if (synced.succeeded) {
    if (!waiting_.questions.empty()) return;  // not known yet
    // Success is recorded after a failure, and for an eviction that waits for this generation.
    const bool failed_before = condition["status"].as_string() == "False";
    const bool confirmed = generation == 0 || condition["observedGeneration"].as_int() == generation;
    if (!failed_before && confirmed) return;
    synced.generation = generation;
    const bool cluster_scoped = source_.ns.empty();
    synced.message = source_.type == type::kNamespace
                         ? "Sync work of Namespace(" + source_.name + ") successful."
                         : std::string{"Sync work of "} +
                               (cluster_scoped ? "ClusterResourceBinding(" : "ResourceBinding(") +
                               (cluster_scoped ? "" : source_.ns + "/") + source_.name + ") successful.";
    synced.why.summary = TargetsRendered{failed_before};
  } else {
    for (const Failure& failure : failures_) synced.message += (synced.message.empty() ? "" : "; ") + failure.message;
    if (condition["status"].as_string() == "False" && condition["message"].as_string() == synced.message) return;
    synced.why.summary = TargetsFailed{static_cast<int64_t>(failures_.size())};
    for (const Failure& failure : failures_) {
      ClusterExplanation line;
      line.cluster = failure.cluster;
      synced.why.add(std::move(line), {{{"Override", false, failure.reason}}, {}});
    }
    std::ranges::sort(synced.why.clusters, {}, &ClusterExplanation::cluster);
  }
  decision.add(std::move(synced));
  if (decision.expects().empty()) decision.expect({source_, object.revision});
}

Decided RenderOutcome::concluded(DecisionBuilder decision, bool whole, UtcMillis now) const {
  // Which results of scripts are known here and now is no part of the state, so no decision may follow from it.
  const bool scripts =
      std::ranges::any_of(waiting_.questions, [](const QuestionPtr& question) { return question->script; });
  if (scripts || (decision.empty() && !waiting_.questions.empty())) return waiting_;
  if (whole && waiting_.questions.empty()) return std::move(decision).build();
  return std::move(decision).build_and_look_again(now);
}

}  // namespace shiplog::dispatcher
