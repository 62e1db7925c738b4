#include "services/runtime/follow.h"

#include "services/runtime/answer_limits.h"
#include "tests/support/decided.h"
#include "tests/support/fake_task.h"

namespace shiplog {
namespace {

const ObjectKey kObject{"configmaps", "default", "games"};

/// Needs one answer about the object's data.basis for each of the words in its data.ask, and decides nothing else.
Result<Decided> decide(const State& state, const ObjectKey& key, UtcMillis) {
  NeedsAnswers waiting{{}, "waiting"};
  const Value& data = state.value_of(key)["data"];
  const std::string basis{data["basis"].as_string("basis")};
  for (const Value& word : data["ask"].items()) {
    const auto recorded = recorded_answer(state, key, "Guess", basis, word.str());
    if (recorded && recorded->failure.empty()) continue;
    auto question = std::make_shared<Question>();
    question->object = key;
    question->operation = "Guess";
    question->source = "oracle/a";
    question->basis = basis;
    question->qualifier = word.str();
    if (recorded) question->failure = recorded->failure;
    waiting.questions.push_back(std::move(question));
  }
  if (waiting.questions.empty()) return Nothing{};
  return waiting;
}

/// Answers on demand.
class Oracle final : public QuestionResolver {
 public:
  void ask(const State&, const QuestionPtr& question, const TraceContext& trace,
           std::function<void(Result<Value>)> answered) override {
    traces.push_back(trace);
    open_.emplace_back(question, std::move(answered));
  }
  std::vector<TraceContext> traces;  ///< of each question
  size_t open() const { return open_.size(); }
  void answer(const std::function<Result<Value>(const Question&)>& say) {
    for (auto& [question, answered] : std::exchange(open_, {})) answered(say(*question));
  }

 private:
  std::vector<std::pair<QuestionPtr, std::function<void(Result<Value>)>>> open_;
};

class FollowQuestions : public ::testing::Test {
 protected:
  FollowQuestions() { history_.object(kObject, R"({"apiVersion":"v1","kind":"ConfigMap","data":{"ask":["a","b"]}})"); }
  std::optional<Recorded> recorded(const char* word) {
    return recorded_answer(history_.state(), kObject, "Guess", "basis", word);
  }

  given::History history_;
  Oracle oracle_;
};

TEST_F(FollowQuestions, AnswersAreRecordedAndTheKeyDecidedAgain) {
  const auto task = std::make_shared<given::FakeTask>(history_, kObject);
  task->trace_context = {"4bf92f3577b34da6a3ce929d0e0e4736", true};
  follow(decide, task, {.resolver = &oracle_});
  EXPECT_EQ(oracle_.open(), 2U) << "all at once";
  for (const TraceContext& trace : oracle_.traces) EXPECT_EQ(trace, task->trace_context);
  EXPECT_EQ(task->finished, 0);
  oracle_.answer([](const Question& question) { return Value{"it is " + question.qualifier}; });
  EXPECT_EQ(task->finished, 1);
  EXPECT_EQ(task->folded.size(), 1U) << "one entry for answers of one basis";
  EXPECT_EQ(recorded("a")->answer, Value{"it is a"});
  EXPECT_EQ(recorded("b")->answer, Value{"it is b"});
  EXPECT_FALSE(decision_of(decide(history_.state(), kObject, {}))) << "nothing is left to ask";
}

TEST_F(FollowQuestions, AnAnswerOfAHostileServiceThatIsTooLargeIsAnError) {
  const auto task = std::make_shared<given::FakeTask>(history_, kObject);
  follow(decide, task, {.resolver = &oracle_});
  oracle_.answer(
      [](const Question& question) { return Value{std::string(question.qualifier == "a" ? 5U << 20U : 1U, 'x')}; });
  EXPECT_EQ(recorded("a")->failure,
            "oracle/a: the answer to Guess has 5242882 bytes, limit is " + std::to_string(kMostAnswerBytes));
  EXPECT_TRUE(recorded("a")->answer.is_null());
  EXPECT_EQ(recorded("b")->answer, Value{"x"}) << "that of others counts";
  ASSERT_TRUE(task->failure.has_value()) << "retried with back-off";
  EXPECT_EQ(task->failure->code, ErrorCode::kTooLarge);
}

TEST_F(FollowQuestions, TheReasonOfAFailureIsCut) {
  const auto task = std::make_shared<given::FakeTask>(history_, kObject);
  follow(decide, task, {.resolver = &oracle_});
  oracle_.answer([](const Question&) { return Error{ErrorCode::kUnavailable, std::string(5U << 20U, 'x')}; });
  EXPECT_LT(recorded("a")->failure.size(), 2 * kMostFailureBytes);
}

TEST_F(FollowQuestions, ManyLargeAnswersAreRecordedInSeveralEntries) {
  history_.object(kObject, R"({"apiVersion":"v1","kind":"ConfigMap","data":{"ask":["a","b","c","d","e"]}})");
  const auto task = std::make_shared<given::FakeTask>(history_, kObject);
  follow(decide, task, {.resolver = &oracle_});
  const std::string large(kMostAnswerBytes / 2 - 100, 'x');
  for (int rounds = 0; rounds < 5 && oracle_.open() > 0; ++rounds) {
    oracle_.answer([&](const Question&) { return Value{large}; });
  }
  EXPECT_EQ(task->finished, 1);
  EXPECT_EQ(task->folded.size(), 3U) << "two answers in each, one in the last";
  for (const char* word : {"a", "b", "c", "d", "e"}) EXPECT_EQ(recorded(word)->answer, Value{large}) << word;
}

TEST_F(FollowQuestions, AnswersThatAreNoLongerNeededAreNotRecorded) {
  const auto task = std::make_shared<given::FakeTask>(history_, kObject);
  follow(decide, task, {.resolver = &oracle_});
  history_.object(kObject, R"({"apiVersion":"v1","kind":"ConfigMap","data":{"ask":["b"]}})");
  oracle_.answer([](const Question&) { return Value{1}; });
  EXPECT_FALSE(recorded("a"));
  EXPECT_TRUE(recorded("b"));
  EXPECT_EQ(task->finished, 1);
}

TEST_F(FollowQuestions, AnAnswerAboutWhatHasChangedMeanwhileIsNoneAboutWhatIsThere) {
  const auto task = std::make_shared<given::FakeTask>(history_, kObject);
  follow(decide, task, {.resolver = &oracle_});
  history_.object(kObject, R"({"apiVersion":"v1","kind":"ConfigMap","data":{"ask":["a","b"],"basis":"new"}})");
  oracle_.answer([](const Question&) { return Value{1}; });
  EXPECT_TRUE(task->folded.empty());
  EXPECT_EQ(oracle_.open(), 2U) << "the new ones are asked";
}

TEST_F(FollowQuestions, AFailureIsRecordedOnceAndTriedAgain) {
  const auto fail = [](const Question& question) -> Result<Value> {
    if (question.qualifier == "a") return Value{1};
    return Error{ErrorCode::kUnavailable, "the oracle sleeps"};
  };
  const auto first = std::make_shared<given::FakeTask>(history_, kObject);
  follow(decide, first, {.resolver = &oracle_});
  oracle_.answer(fail);
  EXPECT_EQ(first->failure->message, "the oracle sleeps");
  EXPECT_EQ(recorded("b")->failure, "the oracle sleeps");
  EXPECT_EQ(recorded("a")->answer, Value{1}) << "what was answered is kept";

  const auto second = std::make_shared<given::FakeTask>(history_, kObject);
  follow(decide, second, {.resolver = &oracle_});
  EXPECT_EQ(oracle_.open(), 1U);
  oracle_.answer(fail);
  EXPECT_TRUE(second->folded.empty()) << "it has been said";
  EXPECT_EQ(second->finished, 1);
  EXPECT_TRUE(second->failure);
}

TEST_F(FollowQuestions, WithoutAResolverTheStepFails) {
  const auto task = std::make_shared<given::FakeTask>(history_, kObject);
  follow(decide, task);
  EXPECT_EQ(task->failure->message, "waiting");
}

/// Decides what it is given, one after the other.
class Answers {
 public:
  explicit Answers(std::vector<Result<Decided>> answers) : answers_{std::move(answers)} {}
  Decide decide() {
    return [this](const State&, const ObjectKey&, UtcMillis) {
      return answers_.at(std::min(taken++, answers_.size() - 1));
    };
  }
  size_t taken = 0;

 private:
  std::vector<Result<Decided>> answers_;
};

class Follow : public ::testing::Test {
 protected:
  Follow() { history_.object(kObject, R"({"apiVersion":"v1","kind":"ConfigMap"})"); }
  std::shared_ptr<given::FakeTask> followed(Answers& answers, FollowOptions options = {}) {
    auto task = std::make_shared<given::FakeTask>(history_, kObject);
    follow(answers.decide(), task, options);
    EXPECT_EQ(task->finished, 1);
    return task;
  }
  Decision update(Revision expected) const {
    Value value = history_.state().value_of(kObject);
    value.set("data", Value::object({{"a", "b"}}));
    return {{ObjectUpdated{kObject, std::move(value)}}, {{kObject, expected}}};
  }

  given::History history_;
};

TEST_F(Follow, NothingIsDoneUntilAChangeTriggersTheKey) {
  Answers answers{{Nothing{}}};
  const auto task = followed(answers);
  EXPECT_FALSE(task->looks_again);
  EXPECT_TRUE(task->folded.empty());
}

TEST_F(Follow, ALaterTimeIsWaitedFor) {
  Answers answers{{LookAgain{history_.now() + Millis{5000}}}};
  EXPECT_EQ(followed(answers)->look_again, Millis{5000});
  Answers past{{LookAgain{UtcMillis{history_.now().value - 5000}}}};
  EXPECT_EQ(followed(past)->look_again, Millis{1});
}

TEST_F(Follow, ADecisionIsAppendedAndTheKeyDecidedAgainAtItsTime) {
  for (const bool again : {false, true}) {
    Decision decision = update(history_.state().revision_of(kObject));
    if (again) decision.look_again = history_.now() + Millis{10'000};
    Answers answers{{decision}};
    const auto task = followed(answers);
    EXPECT_EQ(task->folded.size(), 1U);
    EXPECT_EQ(task->looks_again, again);
    EXPECT_EQ(task->observed, 0);
  }
}

TEST_F(Follow, WhatIsNotRecomputableIsAnObservation) {
  Answers answers{{update(history_.state().revision_of(kObject))}};
  EXPECT_EQ(followed(answers, {.recomputable = false})->observed, 1);
}

TEST_F(Follow, ARefusedDecisionIsDecidedAgainAFewTimes) {
  Answers second{{update(Revision{1}), update(history_.state().revision_of(kObject))}};
  const auto task = followed(second);
  EXPECT_EQ(task->folded.size(), 2U);
  EXPECT_FALSE(task->failure);
  Answers never{{update(Revision{1})}};
  EXPECT_EQ(followed(never)->failure->code, ErrorCode::kConflict);
  EXPECT_EQ(never.taken, 4U);
}

TEST_F(Follow, AnErrorIsRetried) {
  Answers answers{{Error{ErrorCode::kInvalid, "no placement"}}};
  EXPECT_EQ(followed(answers)->failure->message, "no placement");
}

}  // namespace
}  // namespace shiplog
