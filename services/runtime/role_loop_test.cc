#include "services/runtime/role_loop.h"

#include <optional>

#include <gtest/gtest.h>

#include "services/runtime/manual_executor.h"

namespace shiplog {
namespace {

const ObjectKey kKey{type::kNamespace, "", "a"};

/// Counts its steps, and keeps the waker of the last one.
class Sleeper final : public Role {
 public:
  explicit Sleeper(std::shared_ptr<int> steps) : steps_{std::move(steps)} {}
  std::string_view name() const override { return "sleeper"; }
  void on_change(const State&, const Change&, std::vector<ObjectKey>&) override {}
  void on_start(const State&, std::vector<ObjectKey>& keys) override { keys.push_back(kKey); }
  void reconcile(TaskPtr task) override {
    ++*steps_;
    wake = task->waker(Millis{20});
    if (keep != nullptr) *keep = task;
    task->done();
  }

  std::function<void()> wake;
  TaskPtr* keep = nullptr;

 private:
  std::shared_ptr<int> steps_;
};

class RoleLoopTest : public ::testing::Test {
 protected:
  RoleLoopTest() {
    auto role = std::make_unique<Sleeper>(steps_);
    role_ = role.get();
    RoleLoop::Options options;
    options.state = &state_;
    options.executor = &executor_;
    loop_.emplace(options);
    loop_->add(std::move(role));
    executor_.run();
  }

  State state_;
  ManualExecutor executor_;
  std::optional<RoleLoop> loop_;
  std::shared_ptr<int> steps_ = std::make_shared<int>(0);
  Sleeper* role_ = nullptr;
};

TEST_F(RoleLoopTest, AWakerTriggersItsKeyAfterItsDelayUntilTheRoleStops) {
  executor_.run(Millis{1'000});
  EXPECT_EQ(*steps_, 1) << "it rests";
  role_->wake();
  executor_.run(Millis{19});
  EXPECT_EQ(*steps_, 1);
  executor_.run(Millis{1});
  EXPECT_EQ(*steps_, 2);
  const std::function<void()> wake = role_->wake;
  wake();
  loop_->stop("sleeper");
  executor_.run(Millis{1'000});
  wake();
  executor_.run(Millis{1'000});
  EXPECT_EQ(*steps_, 2);
}

TEST_F(RoleLoopTest, ARoleThatKeepsAWakerEndsWithTheLoop) {
  const std::function<void()> wake = role_->wake;
  loop_.reset();
  EXPECT_EQ(steps_.use_count(), 1) << "the role is still there";
  wake();
  executor_.run(Millis{1'000});
  EXPECT_EQ(*steps_, 1);
}

TEST_F(RoleLoopTest, AnAnswerThatArrivesAfterTheLoopFindsNothing) {
  Entry entry;
  entry.events = {ObjectCreated{kKey, Value::object({{"metadata", Value::object({{"name", "a"}})}})}};
  ASSERT_FALSE(loop_->write(std::move(entry)).refusal);
  TaskPtr task;
  role_->keep = &task;
  role_->wake();
  executor_.run(Millis{20});
  ASSERT_FALSE(task->state().value_of(kKey).is_null());
  loop_->stop("sleeper");
  EXPECT_TRUE(task->state().value_of(kKey).is_null());
  loop_.reset();
  EXPECT_TRUE(task->state().value_of(kKey).is_null());
  EXPECT_EQ(task->now(), UtcMillis{});
  bool answered = false;
  task->append_observation({{ObjectRemoved{kKey}}, {}}, [&](const Result<Revision>&) { answered = true; });
  task->retry({ErrorCode::kUnavailable, "the member does not answer"});
  task->waker(Millis{20})();
  task->trace();
  executor_.run(Millis{1'000});
  EXPECT_FALSE(answered);
}

}  // namespace
}  // namespace shiplog
