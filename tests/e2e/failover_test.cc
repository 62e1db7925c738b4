// Application failover with real processes: rules 3.2. It needs neither the gate Failover nor evictions for taints.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "events/base/json.h"
#include "events/base/time.h"
#include "events/state/object.h"
#include "tests/e2e/three_members.h"

namespace shiplog::e2e {
namespace {

const std::string kWeb = kDeployment + "web";

class ApplicationFailoverE2e : public ThreeMembers {
 protected:
  /// In YAML flow style, for one cluster at a time of `clusters`.
  static std::string failing_over(const std::string& clusters, const std::string& application) {
    return placed("web", "web",
                  "{clusterAffinity: {clusterNames: [" + clusters +
                      "]}, spreadConstraints: [{spreadByField: cluster, minGroups: 1, maxGroups: 1}]}",
                  "  propagateDeps: true\n  failover: {application: " + application + "}\n");
  }
  /// The image cannot be pulled in member1.
  static std::string broken_in_member1() {
    return R"(apiVersion: policy.karmada.io/v1alpha1
kind: OverridePolicy
metadata: {name: broken}
spec:
  resourceSelectors: [{apiVersion: apps/v1, kind: Deployment, name: web}]
  overrideRules:
  - targetCluster: {clusterNames: [member1]}
    overriders: {plaintext: [{path: /spec/template/spec/containers/0/image, operator: replace, value: "fail/nginx:1"}]}
---
)";
  }
  /// Placed on member1, and unhealthy there.
  void begin(const std::string& application) {
    apply(broken_in_member1() + failing_over("member1", application) + deployment("web"));
    expect_holders(kWeb, "member1");
  }
  Value binding() { return api_->get(kBindings + "web-deployment").json; }
  Value tasks() { return binding()["spec"]["gracefulEvictionTasks"]; }
  std::vector<Value> entries(const std::string& event) {
    const Value found = api_->get("/shiplog/v1/audit?order=oldest&event=" + event).json;
    return {found["items"].items().begin(), found["items"].items().end()};
  }
  static UtcMillis time_of(const Value& entry) { return parse_rfc3339(entry["time"].as_string()).value(); }

  int ticks_ = 0;
};

TEST_F(ApplicationFailoverE2e, GracefullyMovesItAndThenRemovesTheOldCopy_3_2_4_3_2_6) {
  begin("{decisionConditions: {tolerationSeconds: 3}, purgeMode: Gracefully}");
  EXPECT_TRUE(eventually([&] { return entries("FailoverTimerStarted").size() == 1; }));
  apply(failing_over("member1, member2", "{decisionConditions: {tolerationSeconds: 3}, purgeMode: Gracefully}"));
  EXPECT_TRUE(eventually([&] { return entries("EvictionStarted").size() == 1; }));
  const auto started = entries("FailoverTimerStarted");
  ASSERT_EQ(started.size(), 1U);
  EXPECT_GT(time_of(entries("EvictionStarted").front()).value - time_of(started.front()).value, 3000);
  expect_holders(kWeb, "member2");
  EXPECT_TRUE(eventually([&] { return tasks().is_null(); })) << to_json(tasks());

  const std::string table = fleet_.shiplogctl_ok({"history", "--failovers", "deployment/web"});
  for (const char* words : {"Deployment default/web", "member1 (1)", "member2 (1)", "Gracefully", "ApplicationFailure",
                            "the remaining clusters are healthy"}) {
    EXPECT_NE(table.find(words), std::string::npos) << table;
  }
  const Value all = parse_json(fleet_.shiplogctl_ok({"history", "--failovers", "-o", "json"})).value();
  ASSERT_EQ(all["items"].size(), 1U);
  EXPECT_EQ(all["items"][0]["to"][0]["cluster"], Value{"member2"});
  EXPECT_EQ(all["items"][0]["unplaced"], Value{0});
  EXPECT_GT(all["items"][0]["durationMillis"].as_int(), 0);
}

TEST_F(ApplicationFailoverE2e, NeverKeepsTheOldCopyUntilAUserEndsTheTask_3_2_7) {
  const std::string never = "{decisionConditions: {tolerationSeconds: 1}, purgeMode: Never}";
  begin(never);
  apply(failing_over("member1, member2", never));
  expect_holders(kWeb, "member1 member2");
  EXPECT_TRUE(eventually([&] { return tasks()[0]["suppressDeletion"].as_bool(); }));
  EXPECT_EQ(tasks()[0]["producer"], Value{"resource-binding-application-failover-controller"});
  EXPECT_EQ(holders(kWeb), "member1 member2");
  fleet_.kubectl_ok({"patch", "rb", "web-deployment", "--type=json", "-p",
                     R"([{"op":"replace","path":"/spec/gracefulEvictionTasks/0/suppressDeletion","value":false}])"});
  expect_holders(kWeb, "member2");
}

TEST_F(ApplicationFailoverE2e, AKillInTheMiddleOfATolerationNeitherLosesNorRestartsTheTimer_3_2_5) {
  const std::string patient = "{decisionConditions: {tolerationSeconds: 8}, purgeMode: Directly}";
  begin(patient);
  apply(failing_over("member1, member2", patient));
  EXPECT_TRUE(eventually([&] { return entries("FailoverTimerStarted").size() == 1; }));
  // Half of the time, by the clock of the journal.
  EXPECT_TRUE(eventually([&] {
    apply("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: clock}\ndata: {t: \"" + std::to_string(ticks_++) +
          "\"}\n");
    const Value newest = api_->get("/shiplog/v1/audit?limit=1").json["items"][0];
    return time_of(newest).value - time_of(entries("FailoverTimerStarted").front()).value > 4000;
  }));
  EXPECT_EQ(entries("EvictionStarted").size(), 0U);
  fleet_.kill("plane");
  fleet_.serve("plane", options());
  api_ = std::make_unique<ApiClient>(fleet_.kubeconfig("plane"));
  expect_holders(kWeb, "member2");
  ASSERT_EQ(entries("FailoverTimerStarted").size(), 1U) << "it did not begin again";
  ASSERT_EQ(entries("EvictionStarted").size(), 1U);
  const int64_t waited =
      time_of(entries("EvictionStarted").front()).value - time_of(entries("FailoverTimerStarted").front()).value;
  EXPECT_GT(waited, 8000);
}

}  // namespace
}  // namespace shiplog::e2e
