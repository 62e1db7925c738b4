#include "services/roles/remedy/decide.h"

#include <string>

#include <gtest/gtest.h>

#include "events/base/json.h"
#include "tests/support/given.h"

namespace shiplog::remedy {
namespace {

using given::History;

const ObjectKey kCluster{type::kCluster, "", "m1"};

class RemedyActions : public testing::Test {
 protected:
  RemedyActions() { condition("False"); }

  void condition(const std::string& status) {
    history_.object(kCluster, R"({"apiVersion":"cluster.karmada.io/v1alpha1","kind":"Cluster","status":{"conditions":[
        {"type":"ServiceDomainNameResolutionReady","status":")" +
                                  status + R"("}]}})");
  }
  void remedy(const std::string& name, const std::string& spec) {
    history_.object({kRemedy, "", name}, R"({"spec":)" + spec + "}");
  }
  std::string actions() {
    EXPECT_LE(history_.settle(decide, kCluster), 1);
    return to_json(history_.state().value_of(kCluster)["status"]["remedyActions"]);
  }

  History history_;
};

std::string when(const std::string& operation, const std::string& status,
                 const std::string& type = "ServiceDomainNameResolutionReady") {
  return R"({"clusterConditionMatch":{"conditionType":")" + type + R"(","operator":")" + operation +
         R"(","conditionStatus":")" + status + R"("}})";
}

std::string acts(const std::string& matches, const std::string& action = "TrafficControl") {
  return R"({"decisionMatches":[)" + matches + R"(],"actions":[")" + action + R"("]})";
}

TEST_F(RemedyActions, AreThoseOfTheRemediesThatMatchTheClusterSorted_5_6_1_5_6_3_5_6_5) {
  EXPECT_EQ(actions(), "null");
  remedy("dns", acts(when("Equal", "False")));
  remedy("other", acts(when("Equal", "False"), "Alert"));
  remedy("same", acts(when("Equal", "False")));
  remedy("never", acts(when("Equal", "True"), "Reboot"));
  EXPECT_EQ(actions(), R"(["Alert","TrafficControl"])");
  history_.remove({kRemedy, "", "other"});
  EXPECT_EQ(actions(), R"(["TrafficControl"])");
  condition("True");
  EXPECT_EQ(actions(), R"(["Reboot"])");
  history_.remove({kRemedy, "", "never"});
  EXPECT_EQ(actions(), "null") << "they end with the last one";
}

TEST_F(RemedyActions, OneOfItsMatchesIsEnough_5_6_2) {
  remedy("dns", acts(when("Equal", "True") + "," + when("NotEqual", "True")));
  EXPECT_EQ(actions(), R"(["TrafficControl"])");
}

TEST_F(RemedyActions, AConditionThatTheClusterDoesNotHaveMatchesNothing_5_6_2) {
  remedy("other", acts(when("NotEqual", "True", "Ready")));
  EXPECT_EQ(actions(), "null");
}

TEST_F(RemedyActions, WithoutMatchesItAlwaysActsWithAnEmptyListNever_5_6_2) {
  remedy("always", R"({"actions":["TrafficControl"]})");
  EXPECT_EQ(actions(), R"(["TrafficControl"])");
  remedy("always", acts(""));
  EXPECT_EQ(actions(), "null");
}

TEST_F(RemedyActions, TheClustersOfARemedyAreThoseItNames_5_6_1) {
  remedy("there", R"({"clusterAffinity":{"clusterNames":["m2"]},"actions":["TrafficControl"]})");
  EXPECT_EQ(actions(), "null");
  remedy("there", R"({"clusterAffinity":{"clusterNames":["m2","m1"]},"actions":["TrafficControl"]})");
  EXPECT_EQ(actions(), R"(["TrafficControl"])");
  remedy("there", R"({"clusterAffinity":{},"actions":["TrafficControl"]})");
  EXPECT_EQ(actions(), "null") << "an affinity that names no cluster";
}

TEST_F(RemedyActions, StayAsTheyAreWhileTheControllerIsOff) {
  remedy("always", R"({"actions":["TrafficControl"]})");
  history_.accept({OptionsSet{{{"controllers", {"*", "-remedy"}}}}});
  EXPECT_EQ(actions(), "null");
}

}  // namespace
}  // namespace shiplog::remedy
