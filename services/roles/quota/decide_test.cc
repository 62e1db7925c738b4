#include "services/roles/quota/decide.h"

#include <gtest/gtest.h>

#include "tests/support/given.h"

namespace shiplog::quota {
namespace {

using given::History;
using given::json;

const ObjectKey kQuota{type::kFederatedResourceQuota, "default", "q"};

ObjectKey binding(const std::string& name, const std::string& ns = "default") {
  return {type::kResourceBinding, ns, name};
}

constexpr const char* kTwoReplicas = R"({"spec": {"clusters": [{"name": "m1", "replicas": 2}],
    "replicaRequirements": {"resourceRequest": {"cpu": "250m", "memory": "1Gi"}}}})";

TEST(QuotaDecide, SumsTheNamespaceAndKeepsToTheQuotasResources) {  // Q-17, Q-1, Q-7, Q-14
  History history;
  history.object(kQuota, R"({"spec": {"overall": {"cpu": "2", "pods": "5"}}})");
  history.object(binding("a"), kTwoReplicas).object(binding("b"), kTwoReplicas);
  history.object(binding("c", "other"), kTwoReplicas);
  EXPECT_EQ(history.settle(decide, kQuota), 1);
  const Value& status = history.state().value_of(kQuota)["status"];
  EXPECT_EQ(status["overall"], json(R"({"cpu": "2", "pods": "5"})"));
  EXPECT_EQ(status["overallUsed"], json(R"({"cpu": "1"})"));
}

TEST(QuotaDecide, RecordsNothingTwice) {  // Q-16
  History history;
  history.object(kQuota, R"({"spec": {"overall": {"cpu": "2"}}})");
  EXPECT_EQ(history.settle(decide, kQuota), 1);
  EXPECT_FALSE(decision_of(decide(history.state(), kQuota, history.now())));
  history.object(binding("a"), kTwoReplicas);
  EXPECT_TRUE(decision_of(decide(history.state(), kQuota, history.now())));
}

TEST(QuotaDecide, UsageFallsWhenABindingGoes) {  // Q-16
  History history;
  history.object(kQuota, R"({"spec": {"overall": {"cpu": "2"}}})").object(binding("a"), kTwoReplicas);
  history.settle(decide, kQuota);
  history.remove(binding("a"));
  EXPECT_EQ(history.settle(decide, kQuota), 1);
  EXPECT_EQ(history.state().value_of(kQuota)["status"]["overallUsed"], json("{}"));
}

TEST(QuotaDecide, ADeletedOrTerminatingQuotaIsIgnored) {
  History history;
  EXPECT_FALSE(decision_of(decide(history.state(), kQuota, history.now())));
  history.object(kQuota, R"({"metadata": {"finalizers": ["x"]}, "spec": {"overall": {"cpu": "2"}}})");
  history.remove(kQuota);
  EXPECT_FALSE(decision_of(decide(history.state(), kQuota, history.now())));
}

}  // namespace
}  // namespace shiplog::quota
