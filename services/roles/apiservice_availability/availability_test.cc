#include <map>
#include <optional>
#include <string>
#include <variant>

#include "events/state/condition.h"
#include "services/roles/apiservice_availability/role.h"
#include "tests/support/fake_task.h"
#include "tests/support/given.h"

namespace shiplog::apiservice_availability {
namespace {

using given::FakeTask;
using given::History;

const ObjectKey kMetrics{kApiServices, "", "v1beta1.metrics.example.com"};
const ObjectKey kApps{kApiServices, "", "v1.apps"};
constexpr const char* kRemote =
    R"({"spec":{"group":"metrics.example.com","version":"v1beta1","service":{"namespace":"default","name":"m"}}})";

class ApiServiceAvailability : public ::testing::Test {
 protected:
  const Value& condition() { return condition_of(history_.state().value_of(kMetrics), "Available"); }
  Observe observe() {
    return [this](const std::string& name) {
      const auto found = observed_.find(name);
      return found == observed_.end() ? std::nullopt : std::optional{found->second};
    };
  }
  Decided decided() { return decide(history_.state(), kMetrics, history_.now(), observe()); }

  History history_;
  std::map<std::string, Availability> observed_;
};

TEST_F(ApiServiceAvailability, WhatIsObservedBecomesTheConditionOnce) {
  history_.object(kMetrics, kRemote);
  EXPECT_TRUE(std::holds_alternative<LookAgain>(decided())) << "nothing is observed yet";

  observed_[kMetrics.name.str()] = {false, "ServiceNotFound", "service/m in \"default\" is not present"};
  const auto role = make_apiservice_availability_role(observe());
  std::vector<ObjectKey> keys;
  role->on_start(history_.state(), keys);
  ASSERT_EQ(keys, std::vector{kMetrics});
  const auto task = std::make_shared<FakeTask>(history_, keys.front());
  role->reconcile(task);
  ASSERT_EQ(task->folded.size(), 1U);
  EXPECT_EQ(condition()["status"].as_string(), "False");
  EXPECT_EQ(condition()["reason"].as_string(), "ServiceNotFound");
  const std::string since = condition()["lastTransitionTime"].str();
  EXPECT_TRUE(std::holds_alternative<LookAgain>(decided())) << "it is written once";

  observed_[kMetrics.name.str()] = {false, "FailedDiscoveryCheck", "refused"};
  history_.accept(std::get<Decision>(decided()));
  EXPECT_EQ(condition()["reason"].as_string(), "FailedDiscoveryCheck");
  EXPECT_EQ(condition()["lastTransitionTime"].as_string(), since) << "it was unavailable before, too";

  observed_[kMetrics.name.str()] = {true, "Passed", "all checks passed"};
  history_.accept(std::get<Decision>(decided()));
  EXPECT_EQ(condition()["status"].as_string(), "True");
  EXPECT_NE(condition()["lastTransitionTime"].as_string(), since);
}

TEST_F(ApiServiceAvailability, OneWithoutAServiceOrThatIsDeletedIsLeftAlone) {
  history_.object(kApps, R"({"spec":{"group":"apps","version":"v1"}})");
  observed_[kApps.name.str()] = {false, "FailedDiscoveryCheck", "never"};
  const auto role = make_apiservice_availability_role(observe());
  std::vector<ObjectKey> keys;
  role->on_start(history_.state(), keys);
  EXPECT_TRUE(keys.empty());
  EXPECT_TRUE(std::holds_alternative<Nothing>(decide(history_.state(), kApps, history_.now(), observe())));
  EXPECT_TRUE(std::holds_alternative<Nothing>(decided())) << "there is none";
}

}  // namespace
}  // namespace shiplog::apiservice_availability
