// Who has a say in evictions and hand-overs, and who reads of failovers.
#include "events/base/json.h"
#include "tests/contract/contract.h"

namespace shiplog::e2e {
namespace {

const std::string kRbac = "/apis/rbac.authorization.k8s.io/v1";
const std::string kClusters = "/apis/cluster.karmada.io/v1alpha1/clusters";
const std::string kBindings = "/apis/work.karmada.io/v1alpha2/namespaces/default/resourcebindings";
const std::string kFailovers = "/shiplog/v1/failovers";

/// A request of the administrator with impersonation of any user.
Answer as(const std::string& user, const std::string& method, const std::string& target, const std::string& body = {},
          HttpHeaders more = {}) {
  more.add("Impersonate-User", user);
  return api().call(method, target, body, std::move(more));
}

Answer patch_as(const std::string& user, const std::string& target, const std::string& merge) {
  return as(user, "PATCH", target, merge, {{"Content-Type", "application/merge-patch+json"}});
}

/// Gives a user a role of Kubernetes, in namespace default or in all.
void grant(const std::string& user, const std::string& cluster_role, bool everywhere = false) {
  const Value made = json(R"({"metadata":{"name":")" + user + "-" + cluster_role +
                          R"("},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":")" +
                          cluster_role + R"("},"subjects":[{"apiGroup":"rbac.authorization.k8s.io","kind":"User",
      "name":")" + user + R"("}]})");
  const std::string path = everywhere ? "/clusterrolebindings" : "/namespaces/default/rolebindings";
  ASSERT_EQ(api().post(kRbac + path, made).status, 201);
}

TEST(Evictions, ATenantNeitherReleasesNorHurriesThem_TN_38_TN_39) {
  grant("tenant", "admin");
  ASSERT_EQ(api().post(kClusters, json(R"({"metadata":{"name":"m1"},"spec":{"syncMode":"Pull"}})")).status, 201);
  ASSERT_EQ(api()
                .post("/apis/policy.karmada.io/v1alpha1/namespaces/default/propagationpolicies",
                      json(R"({"metadata":{"name":"db"},"spec":{"resourceSelectors":[{"apiVersion":"apps/v1",
      "kind":"Deployment","name":"db"}],"placement":{}}})"))
                .status,
            201);
  ASSERT_EQ(api().post(kDeployments, deployment("db")).status, 201);
  const std::string released = R"({"metadata":{"annotations":{"eviction.shiplog.io/released":"true"}}})";
  const std::string cluster = kClusters + "/m1";
  const std::string binding = kBindings + "/db-deployment";
  EXPECT_TRUE(eventually([&] { return as("tenant", "GET", binding).status == 200; }))
      << "a tenant with all rights in the namespace";

  // The Cluster, whose annotation, taints and conditions decide.
  expect_failure(patch_as("tenant", cluster, released), 403, "Forbidden");
  expect_failure(patch_as("tenant", cluster, R"({"spec":{"taints":[{"key":"a","effect":"NoExecute"}]}})"), 403,
                 "Forbidden");
  expect_failure(patch_as("tenant", cluster + "/status", R"({"status":{"conditions":[]}})"), 403, "Forbidden");
  expect_failure(as("tenant", "POST", "/apis/policy.karmada.io/v1alpha1/clustertaintpolicies",
                    R"({"metadata":{"name":"mine"},"spec":{"taints":[{"key":"a","effect":"NoSchedule"}]}})"),
                 403, "Forbidden");
  // The binding: where it is, what it tolerates, what its tasks report to have happened, what is reported of it.
  const std::vector<std::string> merges = {
      released, R"({"metadata":{"annotations":{"policy.karmada.io/applied-placement":"{\"clusterTolerations\":[]}"}}})",
      R"({"spec":{"clusters":[{"name":"m3","replicas":1}]}})", R"({"spec":{"schedulePriority":{"priority":1000}}})",
      R"({"spec":{"failover":{"application":{"decisionConditions":{"tolerationSeconds":0},"purgeMode":"Directly"}}}})"};
  for (const std::string& merge : merges) {
    expect_failure(patch_as("tenant", binding, merge), 403, "Forbidden", "is written by the control plane");
  }
  expect_failure(patch_as("tenant", binding + "/status", R"({"status":{"aggregatedStatus":[]}})"), 403, "Forbidden");
  // A task is the tenant's to end: the step that was taken last stays (RemovingTheTaskDoesNotShortenIt).
  EXPECT_EQ(patch_as("tenant", binding, R"({"spec":{"gracefulEvictionTasks":null}})").status, 200);
  // What the control plane remembers of evictions and hand-overs is no resource, for an administrator neither.
  for (const char* record : {"failoverrecords", "evictionrecords"}) {
    for (const char* method : {"GET", "PATCH", "DELETE"}) {
      const std::string path = "/apis/control.shiplog.io/v1/namespaces/default/" + std::string{record} + "/fleet";
      EXPECT_EQ(as("tenant", method, path, "{}", {{"Content-Type", "application/merge-patch+json"}}).status, 403);
      EXPECT_EQ(api().call(method, path, "{}", {{"Content-Type", "application/merge-patch+json"}}).status, 404);
    }
  }
  EXPECT_TRUE(api().get(cluster).json["metadata"]["annotations"]["eviction.shiplog.io/released"].is_null());
}

TEST(Failovers, AreReadByThoseWhoMayGetThePath) {  // AUTHZ-1
  grant("reader", "view");
  grant("editor", "edit");
  for (const char* user : {"reader", "editor", "stranger"}) {
    const Answer refused = as(user, "GET", kFailovers + "?namespace=default");
    expect_failure(refused, 403, "Forbidden",
                   "forbidden: User \"" + std::string{user} + "\" cannot get path \"/shiplog/v1/failovers\"");
  }
  ASSERT_EQ(api()
                .post(kRbac + "/clusterroles", json(R"({"metadata":{"name":"failover-reader"},
      "rules":[{"verbs":["get"],"nonResourceURLs":["/shiplog/v1/failovers"]}]})"))
                .status,
            201);
  grant("auditor", "failover-reader", true);
  const Answer all = as("auditor", "GET", kFailovers);
  ASSERT_EQ(all.status, 200) << all;
  EXPECT_EQ(all.json["kind"], Value{"FailoverList"});
  EXPECT_EQ(as("auditor", "GET", "/shiplog/v1/history?kind=ns&name=default").status, 403) << "this path alone";
  expect_failure(api().call("DELETE", kFailovers), 405, "MethodNotAllowed");
  expect_failure(api().get(kFailovers + "?limit=-1"), 400, "BadRequest", "limit");
  expect_failure(api().get(kFailovers + "?kind=ship&name=x"), 404, "NotFound", "ship");
  const Ran none = plane().shiplogctl({"history", "--failovers", "deployment/none"});
  EXPECT_EQ(none.code, 0);
  EXPECT_TRUE(none.says("No failovers found")) << none;
}

}  // namespace
}  // namespace shiplog::e2e
