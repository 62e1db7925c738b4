#include "services/runtime/asker.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

namespace shiplog {
namespace {

/// The questions of one step, and what has been answered so far.
struct Round {
  std::vector<std::pair<QuestionPtr, Result<Value>>> answered;
  size_t asked = 0;
};

bool same(const Question& a, const Question& b) {
  return a.object == b.object && a.operation == b.operation && a.basis == b.basis && a.qualifier == b.qualifier;
}

/// One event for the answers to questions of one basis.
std::vector<Event> events_of(const Round& round, const std::vector<QuestionPtr>& still_asked) {
  std::map<std::tuple<ObjectKey, std::string, std::string>, QuestionAnswered> events;
  for (const auto& [question, answer] : round.answered) {
    if (question->script) continue;
    const auto asked = std::ranges::find_if(still_asked, [&](const auto& one) { return same(*one, *question); });
    if (asked == still_asked.end()) continue;
    if (!answer && answer.error().message == (*asked)->failure) continue;
    QuestionAnswered& event = events[{question->object, question->operation, question->basis}];
    event.object = question->object;
    event.operation = question->operation;
    event.asked = question->asked;
    event.basis = question->basis;
    if (event.answers.is_null()) event.answers = Value::object();
    event.answers.set(question->qualifier, answer ? Value::object({{"answer", answer.value()}})
                                                  : Value::object({{"failure", answer.error().message}}));
  }
  std::vector<Event> list;
  for (auto& [key, event] : events) list.emplace_back(std::move(event));
  return list;
}

void record(const Decide& decide, const TaskPtr& task, const Round& round) {
  std::optional<Error> failure;
  for (const auto& [question, answer] : round.answered) {
    if (!answer && !failure) failure = answer.error();
  }
  const auto end = [task, failure](const Result<void>& recorded) {
    if (failure) return task->retry(*failure);
    if (!recorded) return task->retry(recorded.error());
    task->done(Millis{1});
  };
  // What was asked about may have changed while the answer was on its way.
  const auto again = decide(task->state(), task->key(), task->now());
  Decision seen;
  if (!again) seen.events = events_of(round, again.error().questions);
  if (seen.events.empty()) return end(ok());
  task->append_observation(std::move(seen), [end](const Result<Revision>& appended) {
    end(appended ? Result<void>{ok()} : Result<void>{appended.error()});
  });
}

/// All that was needed were results of scripts, which are known now.
bool only_scripts(const Round& round) {
  return std::ranges::all_of(round.answered, [](const auto& one) { return one.first->script && one.second; });
}

}  // namespace

void ask_and_append(const Decide& decide, const TaskPtr& task, const Error& waiting, Asker* asker,
                    std::function<void()> decide_again) {
  if (asker == nullptr || waiting.questions.empty()) return task->retry(waiting);
  auto round = std::make_shared<Round>();
  round->asked = waiting.questions.size();
  for (const QuestionPtr& question : waiting.questions) {
    asker->ask(task->state(), question, [decide, task, decide_again, round, question](Result<Value> answer) {
      round->answered.emplace_back(question, std::move(answer));
      if (round->answered.size() < round->asked) return;
      only_scripts(*round) ? decide_again() : record(decide, task, *round);
    });
  }
}

}  // namespace shiplog
