// Application failover with real processes: rules 3.2. It needs neither the gate Failover nor evictions for taints.
#include <algorithm>
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
  /// Of the copy in member1: a new one elsewhere is unhealthy, too, until it is ready.
  std::vector<Value> timers_of_member1() {
    std::vector<Value> timers = entries("FailoverTimerStarted");
    std::erase_if(timers, [](const Value& entry) {
      return std::ranges::none_of(entry["events"].items(), [](const Value& event) {
        return event["summary"].as_string().starts_with("in member1");
      });
    });
    return timers;
  }
  static UtcMillis time_of(const Value& entry) { return parse_rfc3339(entry["time"].as_string()).value(); }

  int ticks_ = 0;
};

TEST_F(ApplicationFailoverE2e, GracefullyMovesItAndThenRemovesTheOldCopy_3_2_4_3_2_6) {
  begin("{decisionConditions: {tolerationSeconds: 3}, purgeMode: Gracefully}");
  EXPECT_TRUE(eventually([&] { return timers_of_member1().size() == 1; }));
  apply(failing_over("member1, member2", "{decisionConditions: {tolerationSeconds: 3}, purgeMode: Gracefully}"));
  EXPECT_TRUE(eventually([&] { return entries("EvictionStarted").size() == 1; }));
  const auto started = timers_of_member1();
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
  const auto of_namespace = [&](const std::string& ns) {
    return parse_json(fleet_.shiplogctl_ok({"history", "--failovers", "-n", ns, "-o", "json"})).value()["items"].size();
  };
  EXPECT_EQ(of_namespace("default"), 1U);
  EXPECT_EQ(of_namespace("kube-system"), 0U);
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
  EXPECT_TRUE(eventually([&] { return timers_of_member1().size() == 1; }));
  // Half of the time, by the clock of the journal.
  EXPECT_TRUE(eventually([&] {
    apply("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: clock}\ndata: {t: \"" + std::to_string(ticks_++) +
          "\"}\n");
    const Value newest = api_->get("/shiplog/v1/audit?limit=1").json["items"][0];
    return time_of(newest).value - time_of(timers_of_member1().front()).value > 4000;
  }));
  EXPECT_EQ(entries("EvictionStarted").size(), 0U);
  fleet_.kill("plane");
  fleet_.serve("plane", options());
  api_ = std::make_unique<ApiClient>(fleet_.kubeconfig("plane"));
  expect_holders(kWeb, "member2");
  ASSERT_EQ(timers_of_member1().size(), 1U) << "it did not begin again";
  ASSERT_EQ(entries("EvictionStarted").size(), 1U);
  const int64_t waited = time_of(entries("EvictionStarted").front()).value - time_of(timers_of_member1().front()).value;
  EXPECT_GT(waited, 8000);
}

/// A kind of which no controller of a member knows: what its status is, and when, is up to the test.
class PreservedStateE2e : public ApplicationFailoverE2e {
 protected:
  std::vector<std::string> options() const override { return {"--feature-gates=StatefulFailoverInjection=true"}; }

  void SetUp() override {
    ApplicationFailoverE2e::SetUp();
    // Without a status the script fails: a new copy is Unknown, and no timer runs.
    apply(R"(apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: streams.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Stream, plural: streams, singular: stream}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
---
apiVersion: policy.karmada.io/v1alpha1
kind: ClusterPropagationPolicy
metadata: {name: streams}
spec:
  resourceSelectors: [{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, name: streams.example.com}]
  placement: {}
---
apiVersion: config.karmada.io/v1alpha1
kind: ResourceInterpreterCustomization
metadata: {name: streams}
spec:
  target: {apiVersion: example.com/v1, kind: Stream}
  customizations:
    healthInterpretation:
      luaScript: |
        function InterpretHealth(o)
          return o.status.state == "RUNNING"
        end
)");
    // Only where the kind is reported to be served it can be placed.
    for (const std::string& member : kMembers) {
      EXPECT_TRUE(eventually([&] {
        const Value cluster = api_->get("/apis/cluster.karmada.io/v1alpha1/clusters/" + member).json;
        return to_json(cluster["status"]["apiEnablements"]).find("example.com/v1") != std::string::npos;
      })) << member;
    }
  }
  std::string label_in(const std::string& member) {
    return fleet_.api(member).get(kStream).json["metadata"]["labels"]["example.io/job-id"].str();
  }
  void report(const std::string& member, const std::string& status) {
    fleet_.kubectl_ok(
        {"patch", "stream", "orders", "--subresource=status", "--type=merge", "-p", R"({"status":)" + status + "}"}, {},
        member);
  }

  const std::string kStream = "/apis/example.com/v1/namespaces/default/streams/orders";
};

TEST_F(PreservedStateE2e, ASecondFailoverBeforeItWasHealthyKeepsTheState_3_4_4_3_4_5) {  // upstream issue 6232
  apply(R"(apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: orders}
spec:
  resourceSelectors: [{apiVersion: example.com/v1, kind: Stream, name: orders}]
  placement:
    clusterAffinities:
    - {affinityName: one, clusterNames: [member1]}
    - {affinityName: two, clusterNames: [member2]}
    - {affinityName: three, clusterNames: [member3]}
  propagateDeps: true
  failover:
    application:
      decisionConditions: {tolerationSeconds: 1}
      purgeMode: Directly
      statePreservation: {rules: [{aliasLabelName: example.io/job-id, jsonPath: "{ .jobID }"}]}
---
apiVersion: example.com/v1
kind: Stream
metadata: {name: orders}
spec: {parallelism: 2}
)");
  expect_holders(kStream, "member1");
  report("member1", R"({"state":"FAILED","jobID":"a1"})");
  expect_holders(kStream, "member2");
  EXPECT_TRUE(eventually([&] { return label_in("member2") == "a1"; })) << label_in("member2");

  // It fails as well, and has an id under which nothing was saved.
  report("member2", R"({"state":"FAILED","jobID":"b2"})");
  expect_holders(kStream, "member3");
  EXPECT_TRUE(eventually([&] { return label_in("member3") == "a1"; })) << label_in("member3");

  report("member3", R"({"state":"RUNNING","jobID":"c3"})");
  EXPECT_TRUE(eventually([&] {
    return api_->get(kBindings + "orders-stream").json["spec"]["gracefulEvictionTasks"].is_null();
  })) << to_json(api_->get(kBindings + "orders-stream").json["spec"]);
  EXPECT_TRUE(eventually([&] { return label_in("member3").empty(); })) << "3.4.6: it has its own state now";
  EXPECT_EQ(entries("EvictionStarted").size(), 2U);
}

}  // namespace
}  // namespace shiplog::e2e
