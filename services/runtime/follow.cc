#include "services/runtime/follow.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "events/base/check.h"
#include "events/base/json.h"
#include "events/base/utf8.h"
#include "services/runtime/answer_limits.h"

namespace shiplog {
namespace {

/// Decided again at once: against the state that the decision was refused for.
constexpr int kMostRefusals = 3;
/// A script may be needed because of what another has returned.
constexpr int kMostRounds = 32;

/// One step of a key: outlives the call, in the callbacks of its appends and questions.
struct Following {
  Decide decide;
  TaskPtr task;
  FollowOptions options;
  int refusals = 0;
  int rounds = 0;
};

/// The questions that were sent at once, and the answers so far.
struct AnswerRound {
  std::vector<std::pair<QuestionPtr, Result<Value>>> answered;
  size_t sent = 0;
};

void take(Following step);

bool same(const Question& a, const Question& b) {
  return a.object == b.object && a.operation == b.operation && a.basis == b.basis && a.qualifier == b.qualifier;
}

/// The answer, unless a service has sent more than is recorded.
Result<Value> within_limit(const Question& question, Result<Value> answer) {
  if (!answer) {
    Error error = answer.error();
    if (error.message.size() > kMostFailureBytes) error.message = printable(error.message, kMostFailureBytes);
    return error;
  }
  const size_t bytes = to_json(answer.value()).size();
  if (bytes <= kMostAnswerBytes) return answer;
  return Error{ErrorCode::kTooLarge, question.source + ": the answer to " + question.operation + " has " +
                                         std::to_string(bytes) + " bytes, limit is " +
                                         std::to_string(kMostAnswerBytes)};
}

/// One event for the answers to questions of one basis. What does not fit into one entry is sent again once these are
/// recorded.
std::vector<Event> events_of(const AnswerRound& round, const std::vector<QuestionPtr>& still_open) {
  std::map<std::tuple<ObjectKey, std::string, std::string>, QuestionAnswered> events;
  size_t total = 0;
  for (const auto& [question, answer] : round.answered) {
    if (question->script) continue;
    const auto open = std::ranges::find_if(still_open, [&](const auto& other) { return same(*other, *question); });
    if (open == still_open.end()) continue;
    if (!answer && answer.error().message == (*open)->failure) continue;
    const Value recorded =
        answer ? Value::object({{"answer", answer.value()}}) : Value::object({{"failure", answer.error().message}});
    const size_t bytes = to_json(recorded).size();
    if (total > 0 && total + bytes > kMostAnswerBytes) continue;
    total += bytes;
    QuestionAnswered& event = events[{question->object, question->operation, question->basis}];
    event.object = question->object;
    event.operation = question->operation;
    event.asked = question->source;
    event.basis = question->basis;
    if (event.answers.is_null()) event.answers = Value::object();
    event.answers.set(question->qualifier, recorded);
  }
  std::vector<Event> list;
  for (auto& [key, event] : events) list.emplace_back(std::move(event));
  return list;
}

std::optional<Error> failure_in(const AnswerRound& round) {
  for (const auto& [question, answer] : round.answered) {
    if (!answer) return answer.error();
  }
  return std::nullopt;
}

/// The answers are there: recorded, as far as they are needed, then decided again.
void record(Following step, const AnswerRound& round) {
  const auto failure = failure_in(round);
  ++step.rounds;
  const auto next = [step, failure] {
    if (failure) return step.task->retry(*failure);
    take(step);
  };
  const auto recorded = [](const auto& answer) { return !answer.first->script; };
  if (std::ranges::none_of(round.answered, recorded)) return next();
  // The subject may have changed before the answer arrived.
  auto again = step.decide(step.task->state(), step.task->key(), step.task->now());
  const auto* needs = again ? std::get_if<NeedsAnswers>(&again.value()) : nullptr;
  Decision seen;
  if (needs != nullptr) seen.events = events_of(round, needs->questions);
  if (seen.events.empty()) return next();
  step.task->append_observation(std::move(seen), [task = step.task, failure, next](const Result<Revision>& appended) {
    if (!appended) return task->retry(failure ? *failure : appended.error());
    next();
  });
}

void ask(Following step, const NeedsAnswers& needs) {
  // Without a question no answer would end the step.
  SHIPLOG_CHECK(!needs.questions.empty(), "what needs answers has questions");
  if (step.options.resolver == nullptr || step.rounds == kMostRounds) {
    return step.task->retry(Error{ErrorCode::kUnavailable, needs.why});
  }
  auto round = std::make_shared<AnswerRound>();
  round->sent = needs.questions.size();
  for (const QuestionPtr& question : needs.questions) {
    step.options.resolver->ask(
        step.task->state(), question, step.task->trace(), [step, round, question](Result<Value> answer) {
          round->answered.emplace_back(
              question, question->script ? std::move(answer) : within_limit(*question, std::move(answer)));
          if (round->answered.size() == round->sent) record(step, *round);
        });
  }
}

void append(Following step, Decision decision) {
  const auto again = decision.look_again;
  const TaskPtr task = step.task;
  const bool recomputable = step.options.recomputable;
  auto appended = [step = std::move(step), again](const Result<Revision>& folded) mutable {
    const TaskPtr& key = step.task;
    if (folded) return key->done(again ? Millis{std::max<int64_t>(1, (*again - key->now()).value)} : Millis{0});
    const ErrorCode code = folded.error().code;
    const bool refused = code == ErrorCode::kConflict || code == ErrorCode::kForbidden;
    if (!refused || step.refusals == kMostRefusals) return key->retry(folded.error());
    ++step.refusals;
    take(std::move(step));
  };
  recomputable ? task->append_decision(std::move(decision), std::move(appended))
               : task->append_observation(std::move(decision), std::move(appended));
}

void take(Following step) {
  Task& task = *step.task;
  auto decided = step.decide(task.state(), task.key(), task.now());
  if (!decided) return task.retry(decided.error());
  Decided& answer = decided.value();
  if (auto* decision = std::get_if<Decision>(&answer)) return append(std::move(step), std::move(*decision));
  if (const auto* needs = std::get_if<NeedsAnswers>(&answer)) return ask(std::move(step), *needs);
  const auto* look_again = std::get_if<LookAgain>(&answer);
  if (look_again == nullptr) return task.done();
  task.done(Millis{std::max<int64_t>(1, (look_again->at - task.now()).value)});
}

}  // namespace

void follow(const Decide& decide, const TaskPtr& task, FollowOptions options) { take({decide, task, options}); }

}  // namespace shiplog
