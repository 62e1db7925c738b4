#pragma once

#include <functional>

#include "events/base/result.h"
#include "events/decision.h"
#include "events/state/answers.h"
#include "services/runtime/role.h"

namespace shiplog {

/// Puts questions to those outside that they are for. Threads: called on, and calls back on, the fold thread;
/// `answered` comes once, never inside the call, and not at all once the asker is gone.
class Asker {
 public:
  virtual ~Asker() = default;
  /// What was answered, as it is to be recorded. Errors: kUnavailable, kTimeout, kTooLarge: nobody could be asked, or
  /// what came is no answer; the message names who was asked, and is the same for the same cause.
  virtual void ask(const State& state, const QuestionPtr& question, std::function<void(Result<Value>)> answered) = 0;
};

/// One step of a key that cannot be decided before `waiting.questions` are answered: asks them all at once, records
/// what is still asked then (a failure only when it is another than before), and has the key looked at again: at once,
/// or after a failure with backoff. Results of scripts are not recorded: when only these were needed, `decide_again` is
/// called as soon as they are known. Without an asker the step fails with `waiting`.
void ask_and_append(const Decide& decide, const TaskPtr& task, const Error& waiting, Asker* asker,
                    std::function<void()> decide_again);

}  // namespace shiplog
