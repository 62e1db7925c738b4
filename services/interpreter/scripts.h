#pragma once

#include <optional>
#include <string>

#include "events/base/result.h"
#include "events/state/answers.h"

/// Where Lua runs. A program that only decides (replay, the simulation) runs scripts in place. A process of the control
/// plane never does so on the fold thread: there a script that has to be run is a question (events/state/answers.h),
/// which is put to a sandbox process; deciding again finds the result here. A decision is made only when all results it
/// reads are known, and they follow from script and arguments alone, so it does not depend on where they were computed.
namespace shiplog::interpreter {

/// Results of scripts, by Question::basis. Threads: the fold thread.
class ScriptResults {
 public:
  virtual ~ScriptResults() = default;
  /// What the script returned, as a list; or its error. nullopt: it has to be run, as of `now` if it asks for the time.
  virtual std::optional<Result<Value>> find(const std::string& basis, UtcMillis now) = 0;
};

/// From now on scripts that are needed on this thread are not run in place. nullptr: they are again.
void run_scripts_elsewhere(ScriptResults* results);

/// What came of a call in the sandbox.
struct ScriptOutcome {
  Result<Value> results;    ///< a list; kInvalid: the script failed; kTooLarge: it went beyond a limit
  bool asked_time = false;  ///< the results are those of this second only
};
/// Runs what a script question requests, here and now: in the sandbox process.
ScriptOutcome run_script(const Value& request, UtcMillis now);

/// What the results of a script say to a question whose answer is not kept (Retain, InterpretStatus, InterpretHealth):
/// the object, the status, a bool. Error: kInvalid, naming the script.
Result<Value> read_results(const Question& question, const Value& results);

}  // namespace shiplog::interpreter
