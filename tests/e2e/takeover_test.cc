// Members that already run the namespaces and workloads that are created in the control plane. All requests use
// kubectl, with three real members.
#include <map>
#include <string>

#include <gtest/gtest.h>

#include "events/base/json.h"
#include "tests/e2e/three_members.h"

namespace shiplog::e2e {
namespace {

const std::string kShop = "/api/v1/namespaces/shop";
const std::string kWeb = "/apis/apps/v1/namespaces/shop/deployments/web";
const std::string kShopBinding = "/apis/work.karmada.io/v1alpha2/namespaces/shop/resourcebindings/web-deployment";

const std::string kManifests = R"(
apiVersion: v1
kind: Namespace
metadata: {name: shop}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: main, image: "nginx:1.27"}]}
)";

const std::string kPolicy = R"(
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: web, namespace: shop}
spec:
  resourceSelectors: [{apiVersion: apps/v1, kind: Deployment, name: web}]
  placement: {clusterAffinity: {clusterNames: [member1, member2, member3]}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: added, namespace: shop}
data: {text: x}
---
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: added, namespace: shop}
spec:
  resourceSelectors: [{apiVersion: v1, kind: ConfigMap, name: added}]
  placement: {clusterAffinity: {clusterNames: [member1, member2, member3]}}
)";

class Takeover : public ThreeMembers {
 protected:
  void SetUp() override {
    fleet_.serve();
    for (const std::string& name : kMembers) {
      fleet_.member(name);
      fleet_.kubectl_ok({"apply", "-f", "-"}, kManifests, name);
      EXPECT_TRUE(eventually([&] { return fleet_.api(name).get(kWeb).json["status"]["readyReplicas"].as_int() == 2; }));
      pods_[name] = pods(name);
      fleet_.shiplogctl_ok({"join", name, "--cluster-kubeconfig", fleet_.kubeconfig(name)});
    }
    api_ = std::make_unique<ApiClient>(fleet_.kubeconfig("plane"));
    apply(kManifests + "---" + kPolicy);
  }

  /// Name, uid and start of every pod of the namespace on a member.
  std::string pods(const std::string& member) {
    return fleet_.kubectl_ok(
        {"get", "pods", "-n", "shop", "--sort-by=.metadata.name", "-o",
         R"(jsonpath={range .items[*]}{.metadata.name} {.metadata.uid} {.status.startTime}{"\n"}{end})"},
        {}, member);
  }
  std::string managed(const std::string& member, const std::string& path) {
    return fleet_.api(member).get(path).json["metadata"]["labels"]["karmada.io/managed"].str();
  }
  std::string fully_applied() {
    const Value binding = api_->get(kShopBinding).json;
    for (const Value& item : binding["status"]["conditions"].items()) {
      if (item["type"].as_string() == "FullyApplied") return item["status"].str() + " " + item["message"].str();
    }
    return "";
  }

  std::map<std::string, std::string> pods_;
};

TEST_F(Takeover, ExistingNamespacesAndWorkloadsAreAdoptedWithoutRestartingAPod) {
  // New objects go into a namespace that the member already had.
  expect_holders("/api/v1/namespaces/shop/configmaps/added", "member1 member2 member3");
  // Existing objects are not changed unless a policy specifies it, and the binding reports each cause.
  const std::string cause = "resource(kind=Deployment, shop/web) already exists in the cluster ";
  EXPECT_TRUE(eventually([&] {
    const std::string message = fully_applied();
    return message.starts_with("False ") && message.find("member1: ") != std::string::npos &&
           message.find(cause + "member3") != std::string::npos;
  })) << fully_applied();
  const Value blocked = api_->get(kShopBinding).json;
  for (const Value& item : blocked["status"]["aggregatedStatus"].items()) {
    EXPECT_NE(item["appliedMessage"].str().find(cause + item["clusterName"].str()), std::string::npos) << to_json(item);
  }
  EXPECT_TRUE(eventually([&] {
    const std::string events = fleet_.kubectl_ok({"get", "events", "-A"});
    return events.find(cause + "member2") != std::string::npos &&
           events.find("resource(kind=Namespace, shop) already exists in the cluster member1") != std::string::npos;
  })) << fleet_.kubectl_ok({"get", "events", "-A"});
  const std::string why = fleet_.shiplogctl_ok({"why", "deployment/web", "-n", "shop"});
  EXPECT_NE(why.find(cause + "member1"), std::string::npos) << why;
  for (const std::string& name : kMembers) {
    EXPECT_EQ(managed(name, kWeb), "") << name;
    EXPECT_EQ(managed(name, kShop), "") << name;
  }

  fleet_.kubectl_ok({"patch", "propagationpolicy", "web", "-n", "shop", "--type=merge", "-p",
                     R"({"spec":{"conflictResolution":"Overwrite"}})"});
  fleet_.kubectl_ok({"annotate", "namespace", "shop", "work.karmada.io/conflict-resolution=overwrite"});
  for (const std::string& name : kMembers) {
    EXPECT_TRUE(eventually([&] { return managed(name, kWeb) == "true" && managed(name, kShop) == "true"; })) << name;
  }
  EXPECT_TRUE(eventually([&] {
    return fully_applied().starts_with("True ") && api_->get(kWeb).json["status"]["readyReplicas"].as_int() == 6;
  })) << fully_applied();
  for (const std::string& name : kMembers) EXPECT_EQ(pods(name), pods_[name]) << name;

  // From now on the control plane manages the objects.
  fleet_.kubectl_ok({"scale", "deployment", "web", "-n", "shop", "--replicas=3"});
  for (const std::string& name : kMembers) {
    EXPECT_TRUE(eventually([&] { return fleet_.api(name).get(kWeb).json["status"]["readyReplicas"].as_int() == 3; }));
    EXPECT_EQ(pods(name).find(pods_[name].substr(0, pods_[name].find(' '))) == std::string::npos, false) << name;
  }
}

}  // namespace
}  // namespace shiplog::e2e
