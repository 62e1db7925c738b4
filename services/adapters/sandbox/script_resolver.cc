#include "services/adapters/sandbox/script_resolver.h"

#include <utility>

namespace shiplog {
namespace {

/// Of one script: what is decided from its results contains them, and has to fit into an entry of the journal.
constexpr size_t kMostResultBytes = size_t{2} << 20;

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

void ScriptResolver::ask(const State& state, const QuestionPtr& question, const TraceContext& trace,
                         Answered answered) {
  if (!question->script) {
    if (options_.others != nullptr) return options_.others->ask(state, question, trace, std::move(answered));
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
  sandbox_.run(question->source, question->request,
               [this, question, id, executor = options_.executor,
                alive = alive_](Sandbox::CallResult<Sandbox::Outcome> outcome) {
                 executor->post([this, question, id, alive, outcome = std::move(outcome)] {
                   if (*alive) take(question, id, outcome);
                 });
               });
}

void ScriptResolver::take(const QuestionPtr& question, const std::string& id,
                          const Sandbox::CallResult<Sandbox::Outcome>& outcome) {
  const auto waiting = std::exchange(under_way_[id], {});
  under_way_.erase(id);
  const auto answer_all = [waiting](const Result<Value>& answer) {
    for (const Answered& answered : waiting) answered(answer);
  };
  if (!outcome && outcome.error().code == ErrorCode::kUnavailable)
    return answer_all(outcome.error().context(question->source));
  if (!outcome && !outcome.error().exceeded.empty() && question->address.is_object()) {
    const interpreter::Overrun overrun{question->operation, question->address["namespace"].str(),
                                       outcome.error().exceeded, outcome.error().message};
    const Error stopped{ErrorCode::kUnavailable, question->source + ": " + outcome.error().message};
    return options_.overran(*question, overrun, [answer_all, stopped] { answer_all(stopped); });
  }
  // If an object makes a built-in script exceed its limits, that result is final for the object.
  Result<Value> results = outcome ? Result<Value>{outcome.value().results}
                                  : Result<Value>{Error{ErrorCode::kInvalid, outcome.error().message}};
  if (outcome && outcome.value().bytes > kMostResultBytes) {
    results = Error{ErrorCode::kInvalid, "the results have " + std::to_string(outcome.value().bytes) +
                                             " bytes, limit is " + std::to_string(kMostResultBytes)};
  }
  if (question->basis.empty()) {
    return answer_all(results ? interpreter::read_results(*question, results.value())
                              : Result<Value>{results.error().context(question->source)});
  }
  Kept kept{std::move(results), {}, id.size() + (outcome ? outcome.value().bytes : size_t{1024})};
  if (outcome && outcome.value().asked_time) kept.second = outcome.value().now.value / 1000;
  keep(id, std::move(kept));
  answer_all(Value{});
}

}  // namespace shiplog
