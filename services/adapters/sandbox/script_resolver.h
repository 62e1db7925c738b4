#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "services/adapters/sandbox/sandbox.h"
#include "services/interpreter/quarantine.h"
#include "services/interpreter/scripts.h"
#include "services/runtime/executor.h"
#include "services/runtime/question_resolver.h"

namespace shiplog {

/// Runs script questions in the sandbox and keeps the results that decisions read; other questions go to `others`.
/// A script's own error is a result too. Threads: the executor.
class ScriptResolver final : public QuestionResolver, public interpreter::ScriptResults {
 public:
  struct Options {
    Executor* executor = nullptr;
    QuestionResolver* others = nullptr;  ///< nullptr: other questions are answered with an error
    Sandbox::Options sandbox;
    size_t most_bytes = size_t{64} << 20;  ///< of results: at twice this size the older half is dropped
    /// A function of a customization has exceeded a limit; `question.address` names the customization. Calls `then`
    /// once this is recorded, or need not be.
    std::function<void(const Question& question, const interpreter::Overrun& overrun, std::function<void()> then)>
        overran;
  };
  explicit ScriptResolver(Options options);
  ~ScriptResolver() override { *alive_ = false; }

  /// A script question whose result is kept is answered with null as soon as find() returns it.
  void ask(const State& state, const QuestionPtr& question, const TraceContext& trace,
           std::function<void(Result<Value>)> answered) override;
  std::optional<Result<Value>> find(const std::string& basis, UtcMillis now) override;

  uint64_t calls() const { return sandbox_.calls(); }
  uint64_t killed() const { return sandbox_.killed(); }

 private:
  struct Kept {
    Result<Value> results;
    std::optional<int64_t> second;  // the only second that it is valid for
    size_t bytes = 0;
  };
  using Answered = std::function<void(Result<Value>)>;
  void take(const QuestionPtr& question, const std::string& id, const Sandbox::CallResult<Sandbox::Outcome>& outcome);
  void keep(const std::string& basis, Kept kept);

  Options options_;
  std::map<std::string, Kept> newer_, older_;
  size_t newer_bytes_ = 0;
  std::map<std::string, std::vector<Answered>> under_way_;  // by the content of the question
  uint64_t asked_ = 0;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
  Sandbox sandbox_;
};

}  // namespace shiplog
