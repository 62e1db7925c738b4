#include "services/api/views/revision_view.h"

#include <gtest/gtest.h>

#include "events/base/json.h"
#include "tests/support/literals.h"

namespace shiplog::api {
namespace {

using test::json;

Value deployment(const std::string& status, int replicas = 4) {
  return json(R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web","namespace":"default","uid":"u",
      "resourceVersion":"77","annotations":{"propagationpolicy.karmada.io/name":"p","mine":"new",
      "kubectl.kubernetes.io/last-applied-configuration":"{}"}},"spec":{"replicas":)" +
              std::to_string(replicas) + R"(,"minReadySeconds":3,"selector":{"matchLabels":{"app":"web"}}},"status":)" +
              status + "}");
}

TemplateRevision revision(int64_t number = 2) {
  return {.workload = {"deployments.apps", "default", "web"},
          .number = number,
          .newest = true,
          .generation = 5,
          .created = "2026-01-01T00:00:00Z",
          .hash = "abc",
          .pod_template = R"({"metadata":{"labels":{"app":"web"}},"spec":{"containers":[]}})",
          .annotations = R"({"mine":"old"})"};
}

int64_t ready(const std::string& status, size_t age = 0, int replicas = 4) {
  return replica_set_view(deployment(status, replicas), revision(), age)["status"]["readyReplicas"].as_int();
}

TEST(ReplicaSetView, IsWhatTheDeploymentControllerWouldMake) {
  const Value set = replica_set_view(
      deployment(
          R"({"replicas":4,"updatedReplicas":4,"readyReplicas":4,"availableReplicas":4,"observedGeneration":5})"),
      revision(), 0);
  const std::string uid = set["metadata"]["uid"].str();
  EXPECT_EQ(uid.size(), 36U);
  Value expected = json(R"({"apiVersion":"apps/v1","kind":"ReplicaSet","metadata":{"name":"web-abc",
      "namespace":"default","resourceVersion":"77","generation":1,"creationTimestamp":"2026-01-01T00:00:00Z",
      "labels":{"app":"web","pod-template-hash":"abc","shiplog.io/view":"true"},
      "annotations":{"mine":"old","propagationpolicy.karmada.io/name":"p","deployment.kubernetes.io/revision":"2"},
      "ownerReferences":[{"apiVersion":"apps/v1","kind":"Deployment","name":"web","uid":"u","controller":true,
      "blockOwnerDeletion":true}]},"spec":{"replicas":4,"minReadySeconds":3,
      "selector":{"matchLabels":{"app":"web","pod-template-hash":"abc"}},
      "template":{"metadata":{"labels":{"app":"web","pod-template-hash":"abc"}},"spec":{"containers":[]}}},
      "status":{"replicas":4,"fullyLabeledReplicas":4,"readyReplicas":4,"availableReplicas":4,
      "observedGeneration":1}})");
  expected.edit("metadata").set("uid", uid);
  EXPECT_EQ(to_json(set), to_json(expected));
}

TEST(ReplicaSetView, CountsNoPodThatMayBeOfAnOlderTemplate) {
  EXPECT_EQ(ready(R"({"replicas":5,"updatedReplicas":2,"readyReplicas":4,"availableReplicas":4,
                      "unavailableReplicas":1,"observedGeneration":5})"),
            1);
  EXPECT_EQ(ready(R"({"replicas":5,"updatedReplicas":2,"readyReplicas":4,"availableReplicas":4,
                      "unavailableReplicas":1,"observedGeneration":5})",
                  1),
            3)
      << "of the template before it";
  EXPECT_EQ(ready(R"({"replicas":4,"updatedReplicas":4,"readyReplicas":4,"availableReplicas":4,
                      "observedGeneration":4})"),
            0)
      << "these pods have the template of generation 4";
  EXPECT_EQ(ready("{}"), 0);
}

TEST(ReplicaSetView, IsReadyOnceEveryClusterIs) {
  // Three clusters with the one replica of the Deployment each.
  EXPECT_EQ(ready(R"({"replicas":3,"updatedReplicas":3,"readyReplicas":2,"availableReplicas":2,
                      "unavailableReplicas":1,"observedGeneration":5})",
                  0, 1),
            0);
  EXPECT_EQ(ready(R"({"replicas":3,"updatedReplicas":3,"readyReplicas":3,"availableReplicas":3,
                      "observedGeneration":5})",
                  0, 1),
            1);
}

TEST(ControllerRevisionView, IsAPatchThatPutsTheTemplateBack) {
  Value set = deployment("{}");
  set.set("kind", "StatefulSet");
  const Value view = controller_revision_view(set, revision(3));
  EXPECT_EQ(view["revision"], Value{3});
  EXPECT_EQ(
      to_json(view["data"]),
      R"({"spec":{"template":{"$patch":"replace","metadata":{"labels":{"app":"web"}},"spec":{"containers":[]}}}})");
  EXPECT_EQ(view["metadata"]["labels"]["controller-revision-hash"].str(), "abc");
  EXPECT_EQ(view["metadata"]["labels"]["app"].str(), "web");
  EXPECT_EQ(view["metadata"]["ownerReferences"][0]["kind"].str(), "StatefulSet");
}

}  // namespace
}  // namespace shiplog::api
