#include "services/runtime/leaders.h"

#include <set>

#include <gtest/gtest.h>

#include "services/runtime/manual_executor.h"

namespace shiplog {
namespace {

class KnownElection final : public Election {
 public:
  const std::string& identity() const override { return identity_; }
  void campaign(const std::string&, std::function<void(bool)>) override {}
  std::optional<bool> led(const std::string& service) override {
    if (service == "unknown") return std::nullopt;
    return leading.contains(service);
  }
  void resign() override {}

  std::set<std::string> leading;

 private:
  std::string identity_ = "api-only";
};

TEST(Leaders, TellWhichRolesAreLedAndSinceWhen) {
  ManualExecutor executor;
  KnownElection election;
  election.leading = {"scheduler"};
  Leaders leaders{election, executor, {"scheduler", "binder", "unknown"}};
  EXPECT_TRUE(leaders.now().empty());
  leaders.start();
  const UtcMillis start = executor.now();
  ASSERT_EQ(leaders.now().size(), 2U);
  EXPECT_TRUE(leaders.now()[0].led);
  EXPECT_FALSE(leaders.now()[1].led);
  executor.run(Millis{5000});
  EXPECT_EQ(leaders.now()[0].since, start);
  election.leading.clear();
  executor.run(Millis{5000});
  EXPECT_FALSE(leaders.now()[0].led);
  EXPECT_GT(leaders.now()[0].since, start);
  EXPECT_EQ(leaders.now()[1].since, start);
}

}  // namespace
}  // namespace shiplog
