#include "services/roles/remedy/role.h"

#include <gtest/gtest.h>

#include "services/roles/remedy/decide.h"
#include "tests/support/fake_task.h"

namespace shiplog {
namespace {

using given::History;
using given::json;
using given::woken;
using Keys = std::vector<ObjectKey>;

const ObjectKey kFirst{type::kCluster, "", "m1"};
const ObjectKey kSecond{type::kCluster, "", "m2"};
const ObjectKey kDns{remedy::kRemedy, "", "dns"};

Value cluster(const ObjectKey& key, const std::string& status) {
  return History::named(
      key, json(R"({"apiVersion":"cluster.karmada.io/v1alpha1","kind":"Cluster","status":)" + status + "}"));
}

TEST(RemedyRole, ARemedyTriggersAllClusters_5_6_4) {
  History history;
  for (const ObjectKey& key : {kFirst, kSecond}) history.put(key, cluster(key, "{}"));
  const auto role = make_remedy_role();
  const Value dns = History::named(kDns, json(R"({"spec":{"actions":["TrafficControl"]}})"));
  EXPECT_EQ(woken(*role, history, {ObjectCreated{kDns, dns}}), (Keys{kFirst, kSecond}));
  EXPECT_EQ(woken(*role, history, {DeletionRequested{kDns}}), (Keys{kFirst, kSecond}));
}

TEST(RemedyRole, AClusterIsTriggeredByItsConditionsAndActionsOnly_5_6_4) {
  History history;
  history.put(kFirst, cluster(kFirst, "{}"));
  const auto role = make_remedy_role();
  const auto reports = [&](const std::string& status) {
    return woken(*role, history, {StatusUpdated{kFirst, cluster(kFirst, status)}});
  };
  EXPECT_EQ(reports(R"({"kubernetesVersion":"v1.31.0"})"), Keys{});
  EXPECT_EQ(reports(R"({"conditions":[{"type":"Ready","status":"True"}]})"), Keys{kFirst});
  EXPECT_EQ(reports(R"({"conditions":[{"type":"Ready","status":"True"}],"remedyActions":["Alert"]})"), Keys{kFirst});
  EXPECT_EQ(reports(R"({"conditions":[{"type":"Ready","status":"True"}],"remedyActions":["Alert"],"nodeSummary":{}})"),
            Keys{});
}

}  // namespace
}  // namespace shiplog
