#include "services/adapters/sandbox/script_resolver.h"

#include <utility>

namespace shiplog {
namespace {

bool is_overrun(const Result<Sandbox::Outcome>& outcome) {
  return !outcome && (outcome.error().code == ErrorCode::kTooLarge || outcome.error().code == ErrorCode::kTimeout);
}

const char* reason_of(const Error& error) {
  if (error.code == ErrorCode::kTimeout) {
    return error.message.find("processor time") == std::string::npos ? "Crashed" : "TimeLimitExceeded";
  }
  return error.message.find(" steps") == std::string::npos ? "MemoryLimitExceeded" : "StepLimitExceeded";
}

}  // namespace

ScriptResolver::ScriptResolver(Options options) : options_{std::move(options)}, sandbox_{options_.sandbox} {}

std::optional<Result<Value>> ScriptResolver::find(const std::string& basis, UtcMillis now) {
  const auto usable = [&](const Kept& kept) { return !kept.second || *kept.second == now.value / 1000; };
  if (const auto known = newer_.find(basis); known != newer_.end()) {
    if (!usable(known->second)) return std::nullopt;
    return known->second.results;
  }
  const auto known = older_.find(basis);
  if (known == older_.end() || !usable(known->second)) return std::nullopt;
  Kept kept = std::move(known->second);
  older_.erase(known);
  auto results = kept.results;
  keep(basis, std::move(kept));
  return results;
}

void ScriptResolver::keep(const std::string& basis, Kept kept) {
  if (newer_bytes_ > options_.most_bytes) {
    older_ = std::exchange(newer_, {});
    newer_bytes_ = 0;
  }
  newer_bytes_ += kept.bytes;
  newer_.insert_or_assign(basis, std::move(kept));
}

void ScriptResolver::ask(const State& state, const QuestionPtr& question, Answered answered) {
  if (!question->script) {
    if (options_.others != nullptr) return options_.others->ask(state, question, std::move(answered));
    options_.executor->post([answered] {
      answered(Error{ErrorCode::kUnavailable, "no resolver is configured for this question"});
    });
    return;
  }
  // The same question, while it is being run, waits for the same result.
  const std::string id = question->basis.empty() ? "#" + std::to_string(++asked_) : question->basis;
  auto& waiting = under_way_[id];
  waiting.push_back(std::move(answered));
  if (waiting.size() > 1) return;
  sandbox_.run(question->asked, question->request,
               [this, question, id, executor = options_.executor, alive = alive_](Result<Sandbox::Outcome> outcome) {
                 executor->post([this, question, id, alive, outcome = std::move(outcome)] {
                   if (*alive) take(question, id, outcome);
                 });
               });
}

void ScriptResolver::take(const QuestionPtr& question, const std::string& id, const Result<Sandbox::Outcome>& outcome) {
  const auto waiting = std::exchange(under_way_[id], {});
  under_way_.erase(id);
  const auto answer_all = [waiting](const Result<Value>& answer) {
    for (const Answered& answered : waiting) answered(answer);
  };
  if (!outcome && outcome.error().code == ErrorCode::kUnavailable)
    return answer_all(outcome.error().context(question->asked));
  if (is_overrun(outcome) && question->address.is_object()) {
    const interpreter::Overrun overrun{question->operation, question->address["namespace"].str(),
                                       reason_of(outcome.error()), outcome.error().message};
    const Error stopped{ErrorCode::kUnavailable, question->asked + ": " + outcome.error().message};
    return options_.overran(*question, overrun, [answer_all, stopped] { answer_all(stopped); });
  }
  // If an object makes a built-in script exceed its limits, that result is final for the object.
  Result<Value> results = outcome ? Result<Value>{outcome.value().results}
                                  : Result<Value>{Error{ErrorCode::kInvalid, outcome.error().message}};
  if (question->basis.empty()) {
    return answer_all(results ? interpreter::read_results(*question, results.value())
                              : Result<Value>{results.error().context(question->asked)});
  }
  Kept kept{std::move(results), {}, id.size() + (outcome ? outcome.value().bytes : size_t{1024})};
  if (outcome && outcome.value().asked_time) kept.second = outcome.value().now.value / 1000;
  keep(id, std::move(kept));
  answer_all(Value{});
}

}  // namespace shiplog
