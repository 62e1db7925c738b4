#pragma once

#include <string>
#include <vector>

#include "events/base/ids.h"
#include "events/base/value.h"
#include "events/entry.h"
#include "events/fold/fold.h"
#include "events/state/answers.h"
#include "events/state/state.h"
#include "services/interpreter/customizations.h"

namespace shiplog::recorder {

/// A Kubernetes Event about one object, before it is stored. Reasons, texts and components are upstream's.
struct EventDraft {
  Value object;           ///< the regarding object, whole: it shares its content with the state's
  const char* component;  ///< the reporting component: "resource-detector", "default-scheduler", ...
  bool warning = false;
  const char* reason;
  std::string message;
  bool operator==(const EventDraft& other) const;
};

/// The Events about one accepted entry. Pure; `state` is as of the entry. Nothing for a refused one.
/// Source: D-27, D-28, D-32, D-46, S-9, S-25, S-78, B-6, B-21, B-29, B-34, B-36, E-3, E-6, T-3, T-4,
/// T-10, T-11; TN-2, TN-13, TN-30, Q-17, Q-19; KIND-19; 5.4.4; 5.8.7; 5.9.5; 1.17.3.
std::vector<EventDraft> event_drafts_of(const State& state, const Entry& entry, const Folded& folded);

/// A step of a role that failed and is retried, which leaves nothing in the journal.
struct FailedStep {
  std::string_view role;
  ObjectKey key;
  std::string error;
  State::Name policy = {};                   ///< of the binder: the policy that selects the template; empty: none does
  std::vector<QuestionPtr> unanswered = {};  ///< of the binder: the questions that the step waits for
  /// Of the binder: the template as it was interpreted, for results of scripts are known by their arguments; null: as
  /// it is in the state.
  Value interpreted = {};
};
/// Source: D-27, D-28, D-32, D-46, B-29, T-10.
std::vector<EventDraft> event_drafts_of_failure(const State& state, const FailedStep& step);

/// The status or the health of an object in a member could not be interpreted; `error` is upstream's sentence.
/// Source: T-3, T-4.
std::vector<EventDraft> event_drafts_of_unread(const State& state, const ObjectKey& work,
                                               interpreter::InterpreterOperation operation, const std::string& error);

/// The referrers of an attached binding, which stays as it is, disagree. Source: B-34.
std::vector<EventDraft> event_drafts_of_conflict(const State& state, const ObjectKey& attached,
                                                 const DependencyPolicyConflict& conflict);

}  // namespace shiplog::recorder
