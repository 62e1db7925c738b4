#include "services/adapters/sandbox/script_resolver.h"

#include <algorithm>
#include <future>

#include <gtest/gtest.h>

#include "events/base/json.h"
#include "services/runtime/thread_loop.h"

namespace shiplog {
namespace {

class ScriptResolverTest : public ::testing::Test {
 protected:
  ScriptResolverTest()
      : resolver_{{.executor = &loop_,
                   .sandbox = {.program = SHIPLOGD, .processes = 1, .clock = &loop_},
                   .overran = [this](const Question& question, const interpreter::Overrun& overrun,
                                     const std::function<void()>& then) {
                     overruns_.push_back(question.address["name"].str() + " " + overrun.operation + " " +
                                         overrun.reason);
                     then();
                   }}} {}
  ~ScriptResolverTest() override { loop_.stop(); }

  static QuestionPtr question(const char* body, const char* basis, const char* customization) {
    Question question;
    question.script = true;
    question.operation = basis[0] == '\0' ? "InterpretHealth" : "InterpretReplica";
    question.source = "here";
    question.basis = basis;
    question.request =
        Value::object({{"script", std::string{"function F() "} + body + " end"}, {"function", "F"}, {"results", 1}});
    if (customization != nullptr) question.address = Value::object({{"name", customization}});
    return std::make_shared<const Question>(std::move(question));
  }

  /// The answers to these questions, in the order in which they arrive.
  std::vector<Result<Value>> ask(const std::vector<QuestionPtr>& questions) {
    std::vector<Result<Value>> answers;
    std::promise<void> all;
    loop_.post([&] {
      for (const QuestionPtr& each : questions) {
        resolver_.ask(state_, each, {}, [&](Result<Value> answer) {
          answers.push_back(std::move(answer));
          if (answers.size() == questions.size()) all.set_value();
        });
      }
    });
    all.get_future().wait();
    return answers;
  }
  std::optional<Result<Value>> known(const char* basis, UtcMillis now) {
    std::optional<Result<Value>> found;
    loop_.call([&] { found = resolver_.find(basis, now); });
    return found;
  }

  ThreadLoop loop_;
  State state_;
  std::vector<std::string> overruns_;
  ScriptResolver resolver_;
};

TEST_F(ScriptResolverTest, KeepsWhatDecisionsRead) {
  const auto same = question("return 7", "b", "c");
  EXPECT_FALSE(known("b", {}));
  const auto answers = ask({same, same});
  EXPECT_TRUE(std::ranges::all_of(answers, [](const auto& answer) { return bool{answer}; }));
  EXPECT_EQ(resolver_.calls(), 1U) << "the same question waits for the same result";
  EXPECT_EQ(to_json(known("b", {})->value()), "[7]");
  EXPECT_TRUE(ask({question("return nil + 1", "e", "c")}).front()) << "its error is a result";
  EXPECT_EQ(known("e", {})->error().code, ErrorCode::kInvalid);
}

TEST_F(ScriptResolverTest, AResultThatDependsOnTheTimeIsValidForOneSecond) {
  ask({question("return os.time()", "t", "c")});
  const UtcMillis now = loop_.now();
  EXPECT_FALSE(known("t", now + Millis{60'000}));
}

TEST_F(ScriptResolverTest, AnswersAboutMembersObjectsAreNotKept) {
  EXPECT_EQ(ask({question("return true", "", "c")}).front().value(), Value{true});
  EXPECT_EQ(ask({question("return 1", "", "c")}).front().error().message, "here: it returned a number, not a boolean");
}

TEST_F(ScriptResolverTest, AnOverrunIsReportedOnceRecordedAndAnswered) {
  const auto answer = ask({question("while true do end", "o", "c")}).front();
  EXPECT_EQ(answer.error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(overruns_, std::vector<std::string>{"c InterpretReplica StepLimitExceeded"});
  EXPECT_FALSE(known("o", {}));
  EXPECT_TRUE(ask({question("while true do end", "built-in", nullptr)}).front());
  EXPECT_EQ(known("built-in", {})->error().code, ErrorCode::kInvalid) << "nothing to quarantine: final for this object";
  EXPECT_EQ(overruns_.size(), 1U);
}

}  // namespace
}  // namespace shiplog
