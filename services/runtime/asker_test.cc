#include "services/runtime/asker.h"

#include "tests/support/fake_task.h"

namespace shiplog {
namespace {

using given::json;

const ObjectKey kObject{"configmaps", "default", "games"};

/// Needs one answer about the object's data.basis for each of the words in its data.ask, and decides nothing else.
Result<std::optional<Decision>> decide(const State& state, const ObjectKey& key, UtcMillis) {
  Error waiting{ErrorCode::kUnavailable, "waiting"};
  const Value& data = state.value_of(key)["data"];
  const std::string basis{data["basis"].as_string("basis")};
  for (const Value& word : data["ask"].items()) {
    const auto recorded = recorded_answer(state, key, "Guess", basis, word.str());
    if (recorded && recorded->failure.empty()) continue;
    auto question = std::make_shared<Question>();
    question->object = key;
    question->operation = "Guess";
    question->asked = "oracle/a";
    question->basis = basis;
    question->qualifier = word.str();
    if (recorded) question->failure = recorded->failure;
    waiting.questions.push_back(std::move(question));
  }
  if (waiting.questions.empty()) return std::optional<Decision>{};
  return waiting;
}

/// Answers when it is told to.
class Oracle final : public Asker {
 public:
  void ask(const State&, const QuestionPtr& question, std::function<void(Result<Value>)> answered) override {
    open_.emplace_back(question, std::move(answered));
  }
  size_t open() const { return open_.size(); }
  void answer(const std::function<Result<Value>(const Question&)>& say) {
    for (auto& [question, answered] : std::exchange(open_, {})) answered(say(*question));
  }

 private:
  std::vector<std::pair<QuestionPtr, std::function<void(Result<Value>)>>> open_;
};

class Asking : public ::testing::Test {
 protected:
  Asking() { history_.object(kObject, R"({"apiVersion":"v1","kind":"ConfigMap","data":{"ask":["a","b"]}})"); }
  std::optional<Recorded> recorded(const char* word) {
    return recorded_answer(history_.state(), kObject, "Guess", "basis", word);
  }

  given::History history_;
  Oracle oracle_;
};

TEST_F(Asking, WhatIsAnsweredIsRecordedAndTheKeyLookedAtAgain) {
  const auto task = std::make_shared<given::FakeTask>(history_, kObject);
  decide_and_append(decide, task, Decides::kAllAtOnce, &oracle_);
  EXPECT_EQ(oracle_.open(), 2U) << "all at once";
  EXPECT_EQ(task->finished, 0);
  oracle_.answer([](const Question& question) { return Value{"it is " + question.qualifier}; });
  EXPECT_EQ(task->finished, 1);
  EXPECT_TRUE(task->looks_again);
  EXPECT_EQ(task->folded.size(), 1U) << "one entry for answers of one basis";
  EXPECT_EQ(recorded("a")->answer, Value{"it is a"});
  EXPECT_EQ(recorded("b")->answer, Value{"it is b"});
  EXPECT_FALSE(decide(history_.state(), kObject, {}).value()) << "nothing is left to ask";
}

TEST_F(Asking, WhatIsNotAskedAnyMoreIsNotRecorded) {
  const auto task = std::make_shared<given::FakeTask>(history_, kObject);
  decide_and_append(decide, task, Decides::kAllAtOnce, &oracle_);
  history_.object(kObject, R"({"apiVersion":"v1","kind":"ConfigMap","data":{"ask":["b"]}})");
  oracle_.answer([](const Question&) { return Value{1}; });
  EXPECT_FALSE(recorded("a"));
  EXPECT_TRUE(recorded("b"));
  EXPECT_EQ(task->finished, 1);
}

TEST_F(Asking, AnAnswerAboutWhatHasChangedMeanwhileIsNoneAboutWhatIsThere) {
  const auto task = std::make_shared<given::FakeTask>(history_, kObject);
  decide_and_append(decide, task, Decides::kAllAtOnce, &oracle_);
  history_.object(kObject, R"({"apiVersion":"v1","kind":"ConfigMap","data":{"ask":["a","b"],"basis":"new"}})");
  oracle_.answer([](const Question&) { return Value{1}; });
  EXPECT_TRUE(task->folded.empty());
  EXPECT_TRUE(task->looks_again) << "to ask about the new one";
}

TEST_F(Asking, AFailureIsRecordedOnceAndTriedAgain) {
  const auto fail = [](const Question& question) -> Result<Value> {
    if (question.qualifier == "a") return Value{1};
    return Error{ErrorCode::kUnavailable, "the oracle sleeps"};
  };
  const auto first = std::make_shared<given::FakeTask>(history_, kObject);
  decide_and_append(decide, first, Decides::kAllAtOnce, &oracle_);
  oracle_.answer(fail);
  EXPECT_EQ(first->failure->message, "the oracle sleeps");
  EXPECT_EQ(recorded("b")->failure, "the oracle sleeps");
  EXPECT_EQ(recorded("a")->answer, Value{1}) << "what was answered is kept";

  const auto second = std::make_shared<given::FakeTask>(history_, kObject);
  decide_and_append(decide, second, Decides::kAllAtOnce, &oracle_);
  EXPECT_EQ(oracle_.open(), 1U);
  oracle_.answer(fail);
  EXPECT_TRUE(second->folded.empty()) << "it has been said";
  EXPECT_EQ(second->finished, 1);
  EXPECT_TRUE(second->failure);
}

TEST_F(Asking, WithNobodyToAskTheStepFails) {
  const auto task = std::make_shared<given::FakeTask>(history_, kObject);
  decide_and_append(decide, task);
  EXPECT_EQ(task->failure->message, "waiting");
}

TEST_F(Asking, ADecisionThatWaitsForMoreIsLookedAtAgain) {
  for (const bool unfinished : {false, true}) {
    const auto task = std::make_shared<given::FakeTask>(history_, kObject);
    const auto some = [&](const State& state, const ObjectKey& key, UtcMillis) -> Result<std::optional<Decision>> {
      Decision decision{{ObjectUpdated{key, state.value_of(key)}}, {}};
      decision.unfinished = unfinished;
      return std::optional{std::move(decision)};
    };
    decide_and_append(some, task, Decides::kAllAtOnce, &oracle_);
    EXPECT_EQ(task->looks_again, unfinished);
  }
}

}  // namespace
}  // namespace shiplog
