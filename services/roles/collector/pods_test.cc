#include "services/roles/collector/pods.h"

#include <gtest/gtest.h>

#include "events/base/json.h"
#include "events/state/work.h"
#include "services/roles/collector/role.h"
#include "services/roles/dispatcher/role.h"
#include "services/roles/lifecycle/role.h"
#include "tests/support/stage.h"

namespace shiplog {
namespace {

using namespace testing;
using collector::pods_path;
using collector::problem_of;

Value json(const char* text) { return parse_json(text).value(); }

TEST(CollectorPods, AWorkloadsPodsAreFoundByItsSelector) {
  EXPECT_EQ(pods_path(json(R"({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"namespace": "shop"},
    "spec": {"selector": {"matchLabels": {"app": "web", "example.com/tier": "x"}}}})")),
            "/api/v1/namespaces/shop/pods?limit=50&labelSelector=app%3Dweb%2Cexample.com%2Ftier%3Dx");
  EXPECT_EQ(
      pods_path(json(R"({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"namespace": "shop", "name": "j"}})")),
      "/api/v1/namespaces/shop/pods?limit=50&labelSelector=job-name%3Dj");
  EXPECT_EQ(pods_path(json(R"({"apiVersion": "apps/v1", "kind": "Deployment", "spec": {"selector": {}}})")), "")
      << "not the pods of the whole namespace";
  EXPECT_EQ(pods_path(json(R"({"apiVersion": "v1", "kind": "ConfigMap"})")), "");
}

TEST(CollectorPods, ContainersThatWaitAndPodsWithoutANodeAreProblems) {
  EXPECT_EQ(
      problem_of(json(R"([
    {"metadata": {"name": "a"}, "status": {"containerStatuses": [{"name": "c", "state": {"waiting": {"reason": "ContainerCreating"}}}]}},
    {"metadata": {"name": "b"}, "status": {"containerStatuses": [{"name": "c", "state": {"waiting": {
      "reason": "ImagePullBackOff", "message": "Back-off pulling image x"}}}]}},
    {"metadata": {"name": "d"}, "status": {"conditions": [{"type": "PodScheduled", "status": "False",
      "reason": "Unschedulable", "message": "0/1 nodes"}]}}])")),
      (collector::PodProblem{"ImagePullBackOff", "pod b, container c: Back-off pulling image x; and 1 more pods"}));
  EXPECT_EQ(problem_of(json(R"([{"metadata": {"name": "a"}, "status": {"phase": "Running"}}])")),
            collector::PodProblem{});
}

TEST(CollectorPods, AnUnhealthyWorkloadsReasonIsAConditionOfItsWorkUntilItIsHealthy) {
  Stage stage;
  stage.add(make_lifecycle_role());
  stage.add(make_dispatcher_role(stage.members()));
  stage.add(make_collector_role(stage.members()));
  FakeMember& member = stage.members().member("m1");
  stage.put(cluster_key("m1"), cluster_object("m1"));
  stage.run(Millis{500});
  const Value web = deployment("default", "web", 1);
  const ObjectKey web_key{"deployments.apps", "default", "web"};
  stage.put(web_key, web);
  const Value made = binding(web, {{"m1", 1}});
  stage.put(testing::binding_key(made), made);
  stage.run(Millis{1000});
  Value pod = json(R"({"status": {"containerStatuses": [{"name": "c", "state": {"waiting": {
    "reason": "ImagePullBackOff", "message": "Back-off"}}}]}})");
  pod.set(
      "metadata",
      Value::object({{"name", "web-1"}, {"namespace", "default"}, {"labels", web["spec"]["selector"]["matchLabels"]}}));
  member.put({"pods", "default", "web-1"}, pod);
  member.set_status(web_key, json(R"({"observedGeneration": 1, "replicas": 1, "unavailableReplicas": 1})"));
  const auto condition = [&] { return condition_of(stage.state().value_of(work_key("m1", web)), "PodsReady"); };
  stage.run(Millis{2000});
  EXPECT_TRUE(condition().is_null()) << "a rollout takes some seconds";
  stage.run(Millis{5000});
  EXPECT_EQ(condition()["status"], "False");
  EXPECT_EQ(condition()["reason"], "ImagePullBackOff");
  EXPECT_EQ(condition()["message"], "pod web-1, container c: Back-off");
  const Revision told = stage.state().revision_of(work_key("m1", web));
  stage.run(Millis{60'000});
  EXPECT_EQ(stage.state().revision_of(work_key("m1", web)), told) << "it is told once";
  member.set_status(web_key, json(R"({"observedGeneration": 1, "replicas": 1, "updatedReplicas": 1, "readyReplicas": 1,
                                      "availableReplicas": 1})"));
  stage.run(Millis{3000});
  EXPECT_TRUE(condition().is_null());
}

}  // namespace
}  // namespace shiplog
