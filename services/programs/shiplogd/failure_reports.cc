#include "services/programs/shiplogd/failure_reports.h"

#include <utility>
#include <variant>

#include "services/roles/binder/decide.h"
#include "services/roles/recorder/recorder.h"

namespace shiplog {

void report_failure(Recorder& recorder, const State& state, std::string_view role, const ObjectKey& key,
                    const Error& error, UtcMillis now) {
  recorder::FailedStep step{role, key, error.message};
  if (role == "binder") {
    step.policy = binder::policy_for(state, key);
    step.interpreted = binder::template_to_bind(state, key);
    const auto decided = binder::decide(state, key, now);
    const auto* needs = decided ? std::get_if<NeedsAnswers>(&decided.value()) : nullptr;
    if (needs != nullptr) step.unanswered = needs->questions;
  }
  recorder.record_events(recorder::event_drafts_of_failure(state, step), now);
}

void report_lost_keys(Recorder& recorder, const State& state, const std::vector<ObjectKey>& lost, UtcMillis now) {
  std::vector<recorder::EventDraft> reports;
  for (const ObjectKey& key : lost) {
    const Object* object = state.find(key);
    if (object == nullptr) continue;
    reports.push_back({object->value, "shiplog-vault", true, "KeyLost",
                       "The key of this object is missing: it cannot be read and is not propagated. Restore the keys "
                       "from a backup, or replace or delete the object."});
  }
  if (!reports.empty()) recorder.record_events(std::move(reports), now);
}

}  // namespace shiplog
