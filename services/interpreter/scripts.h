#pragma once

#include <optional>
#include <string>

#include "events/base/result.h"
#include "events/state/answers.h"

/// Where Lua runs. A program that only decides (replay, the simulation) runs scripts in place. A process of the control
/// plane never does so on the fold thread: there, a script that must be run is a question (events/state/answers.h) for
/// a sandbox process, and the next decision finds the result here. A decision is made only when all results that it
/// reads are known, and results depend only on script and arguments, so the decision does not depend on where they were
/// computed.
namespace shiplog::interpreter {

/// Results of scripts, by Question::basis. Threads: the fold thread.
class ScriptResults {
 public:
  virtual ~ScriptResults() = default;
  /// The script's results as a list, or its error. nullopt: it must be run, as of `now` if it reads the time.
  virtual std::optional<Result<Value>> find(const std::string& basis, UtcMillis now) = 0;
};

/// From now on scripts that this thread needs are not run in place. nullptr: they are run in place again.
void run_scripts_elsewhere(ScriptResults* results);

/// The outcome of a call in the sandbox.
struct ScriptOutcome {
  Result<Value> results;      ///< a list; kInvalid: the script failed; kTooLarge: it exceeded a limit
  bool asked_time = false;    ///< the results are valid for this second only
  std::string exceeded = {};  ///< with kTooLarge, as Overrun::reason: "StepLimitExceeded", "MemoryLimitExceeded"
};
/// Runs a script question synchronously: in the sandbox process.
ScriptOutcome run_script(const Value& request, UtcMillis now);

/// Converts a script's results to the answer of a question whose answer is not kept (Retain, InterpretStatus,
/// InterpretHealth): the object, the status, a bool. Error: kInvalid, naming the script.
Result<Value> read_results(const Question& question, const Value& results);

}  // namespace shiplog::interpreter
