// The descheduler with real processes (5.4): what the nodes of a member cease to accept moves to another member.
#include <gtest/gtest.h>

#include "tests/support/fleet.h"

namespace shiplog::e2e {
namespace {

const std::string kPods = "/api/v1/namespaces/default/pods";
const std::string kWebBinding = "/apis/work.karmada.io/v1alpha2/namespaces/default/resourcebindings/web-deployment";

constexpr const char* kWebOnTwoClusters = R"(apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: {app: web}}
spec:
  replicas: 4
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: main, image: "nginx:1.27", resources: {requests: {cpu: "1"}}}]}
---
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: web}
spec:
  resourceSelectors: [{apiVersion: apps/v1, kind: Deployment, name: web}]
  placement:
    clusterAffinity: {clusterNames: [member1, member2]}
    replicaScheduling:
      replicaSchedulingType: Divided
      replicaDivisionPreference: Weighted
      weightPreference: {dynamicWeight: AvailableReplicas}
)";

class Descheduler : public ::testing::Test {
 protected:
  void SetUp() override {
    serve({});
    for (const char* name : {"member1", "member2"}) {
      fleet_.join(name, {"--nodes=1"});
      point(name, fleet_.estimator(name));
    }
    fleet_.kubectl_ok({"apply", "-f", "-"}, kWebOnTwoClusters);
    expect_placed(*api_, "web", "member1:2 member2:2");
    expect_ready("member1", 2);
    expect_ready("member2", 2);
  }
  void TearDown() override { expect_replay_equals(fleet_, *api_, "sqlite:" + fleet_.path("journal.db")); }

  void serve(const std::vector<std::string>& more) {
    std::vector<std::string> options = {"--journal=sqlite:" + fleet_.path("journal.db"),
                                        "--scheduler-estimator-timeout=2000", "--descheduling-interval=1s",
                                        "--unschedulable-threshold=1s"};
    options.insert(options.end(), more.begin(), more.end());
    fleet_.serve("plane", options);
    api_ = std::make_unique<ApiClient>(fleet_.kubeconfig("plane"));
  }
  void serve_again(const std::vector<std::string>& more) {
    fleet_.kill("plane");
    serve(more);
  }
  static std::vector<std::string> switched_on() {
    return {"--controllers=*,descheduler", "--enable-scheduler-estimator"};
  }
  void point(const std::string& cluster, const std::string& address) {
    fleet_.kubectl_ok({"annotate", "--overwrite", "cluster", cluster, "estimator.shiplog.io/address=" + address});
  }

  /// The pods of web in a member, and those of them that wait for a node.
  size_t pods(const std::string& member, bool waiting) {
    size_t count = 0;
    const Value listed = fleet_.api(member).get(kPods).json;
    for (const Value& pod : listed["items"].items()) count += waiting && !pod["spec"]["nodeName"].is_empty() ? 0 : 1;
    return count;
  }
  int64_t reported_ready(const std::string& cluster) {
    const Value binding = api_->get(kWebBinding).json;
    for (const Value& item : binding["status"]["aggregatedStatus"].items()) {
      if (item["clusterName"].as_string() == cluster) return item["status"]["readyReplicas"].as_int();
    }
    return -1;
  }
  void expect_ready(const std::string& cluster, int64_t replicas) {
    EXPECT_TRUE(eventually([&] { return reported_ready(cluster) == replicas; }))
        << cluster << " reports " << reported_ready(cluster) << " instead of " << replicas << "\n"
        << fleet_.log_tail("plane");
  }
  /// member1's node accepts no new pods, and `count` of its pods are lost.
  void lose_pods(size_t count) {
    fleet_.kubectl_ok({"cordon", "member1-node-1"}, "", "member1");
    const Value listed = fleet_.api("member1").get(kPods).json;
    for (const Value& pod : listed["items"].items()) {
      if (count-- == 0) break;
      fleet_.kubectl_ok({"delete", "pod", pod["metadata"]["name"].str()}, "", "member1");
    }
  }
  /// "DescheduleBindingSucceed: ..." of the binding and its template.
  std::string events(const std::string& reason) {
    return fleet_.kubectl_ok({"get", "events", "--field-selector=reason=" + reason, "-o",
                              R"(jsonpath={range .items[*]}{.involvedObject.kind} {.message}{"\n"}{end})"});
  }
  void expect_event(const std::string& reason, const std::string& text) {
    EXPECT_TRUE(eventually([&] { return events(reason).find(text) != std::string::npos; }))
        << text << " is not in " << events(reason) << "\n"
        << fleet_.log_tail("plane");
  }

  Fleet fleet_;
  std::unique_ptr<ApiClient> api_;
};

TEST_F(Descheduler, MovesWhatAMemberCannotScheduleToAnother_5_4_3) {
  serve_again(switched_on());
  lose_pods(1);
  expect_placed(*api_, "web", "member1:1 member2:3");
  expect_ready("member1", 1);
  expect_ready("member2", 3);
  EXPECT_TRUE(eventually([&] { return pods("member1", true) == 0 && pods("member1", false) == 1; }));
  const std::string message =
      "Binding has been descheduled, 1 total descheduled replica(s), 1 replica(s) in "
      "cluster(member1)";
  expect_event("DescheduleBindingSucceed", "ResourceBinding " + message);
  expect_event("DescheduleBindingSucceed", "Deployment " + message);

  // All of a member, by a control plane that was started again in between.
  fleet_.kill("plane");
  lose_pods(1);
  serve(switched_on());
  expect_placed(*api_, "web", "member2:4");
  expect_ready("member2", 4);
  // It stays there when member1 has room again: nothing is moved without a need.
  fleet_.kubectl_ok({"uncordon", "member1-node-1"}, "", "member1");
  fleet_.kubectl_ok({"scale", "deployment", "web", "--replicas=5"});
  EXPECT_TRUE(eventually([&] { return pods("member1", false) + pods("member2", false) == 5; }));
}

TEST_F(Descheduler, IsOffUntilAnOptionNamesIt_5_4_1) {
  serve_again({"--enable-scheduler-estimator"});
  lose_pods(2);
  EXPECT_TRUE(eventually([&] { return pods("member1", true) == 2; }));
  expect_ready("member1", 0);
  // A later change has gone all the way to a member and back: whatever was to be descheduled would have been.
  fleet_.kubectl_ok({"scale", "deployment", "web", "--replicas=6"});
  expect_placed(*api_, "web", "member1:2 member2:4");
  expect_ready("member2", 4);
  EXPECT_EQ(events("DescheduleBindingSucceed"), "");
  serve_again(switched_on());
  expect_placed(*api_, "web", "member2:6");
}

TEST_F(Descheduler, WithoutAnEstimatorReplicasStayAndAnEventTellsWhy_5_4_4) {
  fleet_.kill("estimator-member1");
  serve_again(switched_on());
  lose_pods(2);
  expect_event("DescheduleBindingFailed", "ResourceBinding the estimator of cluster member1 gave no answer: ");
  expect_placed(*api_, "web", "member1:2 member2:2");
  // The estimator of another cluster does not count.
  point("member1", read_file(fleet_.path("estimator-member2.address")));
  expect_event("DescheduleBindingFailed", "this is the estimator of cluster member2, not of member1");
  expect_placed(*api_, "web", "member1:2 member2:2");
  // One that can be reached again does.
  point("member1", fleet_.estimator("member1"));
  expect_placed(*api_, "web", "member2:4");
}

TEST_F(Descheduler, WithoutEstimatorsAtAllTheLogTellsWhy_5_4_2) {
  serve_again({"--controllers=*,descheduler"});
  EXPECT_TRUE(eventually([&] {
    return fleet_.log_tail("plane", 100'000).find("event=descheduler.idle") != std::string::npos;
  })) << fleet_.log_tail("plane");
  lose_pods(2);
  expect_ready("member1", 0);
  expect_placed(*api_, "web", "member1:2 member2:2");
}

}  // namespace
}  // namespace shiplog::e2e
