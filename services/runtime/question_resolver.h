#pragma once

#include <functional>

#include "events/base/result.h"
#include "events/state/answers.h"
#include "events/state/state.h"
#include "services/runtime/trace.h"

namespace shiplog {

/// Gets answers to questions from the external services that they are for. Threads: called on, and calls back on, the
/// fold thread; `answered` is called once, never inside the call, and not at all once the resolver is destroyed.
class QuestionResolver {
 public:
  virtual ~QuestionResolver() = default;
  /// The answer, as it is to be recorded. Errors: kUnavailable, kTimeout, kTooLarge: the service cannot be reached, or
  /// what it returned is no answer; the message names the service, and is the same for the same cause.
  /// The calls belong to `trace`; an empty one: to a new trace.
  virtual void ask(const State& state, const QuestionPtr& question, const TraceContext& trace,
                   std::function<void(Result<Value>)> answered) = 0;
};

}  // namespace shiplog
