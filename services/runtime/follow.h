#pragma once

#include "events/decision.h"
#include "services/runtime/question_resolver.h"
#include "services/runtime/role.h"

namespace shiplog {

struct FollowOptions {
  QuestionResolver* resolver = nullptr;  ///< outlives the role; nullptr: what needs answers is retried as failed
  /// False: the entry is an observation, since it does not follow from (state, key, now) alone.
  bool recomputable = true;
};

/// One step of a key, as what `decide` answers demands. The only place that follows a decision:
///
///            ┌──────────────────────── refused: decides again ◄───────────────────────┐
///            ▼                                                                        │
///   decide ──┬─ Nothing ──────► done                                                  │
///            ├─ LookAgain ────► done, again at that time                              │
///            ├─ Decision ─────► appended ──┬─ folded ──► done, again when requested   │
///            │                             └─ refused ────────────────────────────────┘
///            ├─ NeedsAnswers ─► all sent at once ──► recorded ──► decides again
///            └─ Error ────────► retried with backoff
///
/// Of the answers those are recorded that are still needed then; a failure to answer only when it differs from the last
/// one, and the step is then retried with backoff. Results of scripts are not recorded. After a few refusals, and after
/// many rounds of questions, the step is retried with backoff too.
void follow(const Decide& decide, const TaskPtr& task, FollowOptions options = {});

}  // namespace shiplog
