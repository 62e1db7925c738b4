#include "services/adapters/sandbox/sandbox.h"

#include <csignal>
#include <future>

#include <gtest/gtest.h>

#include "events/base/json.h"
#include "events/base/system.h"

namespace shiplog {
namespace {

class SandboxTest : public ::testing::Test {
 protected:
  Sandbox::CallResult<Sandbox::Outcome> run(Sandbox& sandbox, const char* body) {
    std::promise<Sandbox::CallResult<Sandbox::Outcome>> ended;
    const Value request = Value::object({{"script", std::string{"function F(o) "} + body + " end"},
                                         {"function", "F"},
                                         {"arguments", Value::array({Value::object({{"n", 9007199254740993}})})},
                                         {"results", 2}});
    sandbox.run("c", request,
                [&](Sandbox::CallResult<Sandbox::Outcome> outcome) { ended.set_value(std::move(outcome)); });
    return ended.get_future().get();
  }
  Sandbox::Options options(Millis processor = Millis{1'000}) {
    return {.program = SHIPLOGD, .processes = 1, .processor = processor, .clock = &clock_};
  }
  SystemClock clock_;
};

TEST_F(SandboxTest, ReturnsResultsAndErrors) {
  Sandbox sandbox{options()};
  const auto outcome = run(sandbox, "return o, {x = 0.5}");
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_EQ(to_json(outcome.value().results), R"([{"n":9007199254740993},{"x":0.5}])");
  EXPECT_FALSE(outcome.value().asked_time);
  EXPECT_TRUE(run(sandbox, "return os.time()").value().asked_time);
  EXPECT_EQ(run(sandbox, "return nil + 1").error().message,
            "luaScript:1: attempt to perform arithmetic on a nil value");
  EXPECT_EQ(run(sandbox, "return nil + 1").error().code, ErrorCode::kInvalid);
  const auto endless = run(sandbox, "while true do end").error();
  EXPECT_EQ(endless.code, ErrorCode::kTooLarge);
  EXPECT_EQ(endless.exceeded, "StepLimitExceeded");
  const auto growing = run(sandbox, "local s = 'x' while true do s = s .. s end").error();
  EXPECT_EQ(growing.code, ErrorCode::kTooLarge);
  EXPECT_EQ(growing.exceeded, "MemoryLimitExceeded");
  EXPECT_TRUE(run(sandbox, "return 1")) << "and continues";
  EXPECT_EQ(sandbox.killed(), 0U);
}

// Arithmetic on a string reads all of it in one instruction, which a count of instructions does not measure.
constexpr const char* kUncounted =
    "local s = ('1'):rep(400000) local t = s .. s while true do local x = t + 1 x = t + 1 x = t + 1 end";

TEST_F(SandboxTest, KillsAScriptWhoseCostIsNotCountedInSteps) {
  Sandbox sandbox{options(Millis{1})};
  const auto outcome = run(sandbox, kUncounted);
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, ErrorCode::kTimeout) << outcome.error().message;
  EXPECT_EQ(outcome.error().exceeded, "TimeLimitExceeded");
  EXPECT_EQ(sandbox.killed(), 1U);
}

TEST_F(SandboxTest, AProgramThatCannotBeStartedIsUnavailableAndNotTheScriptsError) {
  Sandbox::Options nowhere = options();
  nowhere.program = "/nonexistent/shiplogd";
  Sandbox sandbox{nowhere};
  EXPECT_EQ(run(sandbox, "return 1").error().code, ErrorCode::kUnavailable);
}

TEST_F(SandboxTest, EndsWhileAScriptRuns) {
  auto sandbox = std::make_unique<Sandbox>(options(Millis{60'000}));
  const Value request = Value::object(
      {{"script", std::string{"function F() "} + kUncounted + " end"}, {"function", "F"}, {"results", 1}});
  sandbox->run("c", request, [](const Sandbox::CallResult<Sandbox::Outcome>&) {});
  sandbox.reset();
}

}  // namespace
}  // namespace shiplog
