// A tenant with the role `edit` in one namespace tries to access objects outside of it through policies, bindings and
// Works.
#include <gtest/gtest.h>

#include "tests/support/fleet.h"

namespace shiplog::e2e {
namespace {

const std::string kWorks = "/apis/work.karmada.io/v1alpha1/namespaces/karmada-es-member1/works";
const std::string kBinding = "/apis/work.karmada.io/v1alpha2/namespaces/team-a/resourcebindings/own-configmap";

/// A control plane, a member, and mallory, who may edit namespace team-a.
class HostileTenant : public ::testing::Test {
 protected:
  void SetUp() override {
    fleet_.serve();
    fleet_.join("member1");
    api_ = std::make_unique<ApiClient>(fleet_.kubeconfig("plane"));
    member_ = std::make_unique<ApiClient>(fleet_.kubeconfig("member1"));
    for (const char* ns : {"team-a", "victim"}) fleet_.kubectl_ok({"create", "namespace", ns});
    fleet_.kubectl_ok({"create", "rolebinding", "mallory", "--clusterrole=edit", "--user=mallory", "-n", "team-a"});
  }
  void TearDown() override { expect_replay_equals(fleet_, *api_, "sqlite:" + fleet_.path("plane/journal.db")); }

  Ran as_mallory(std::vector<std::string> arguments, const std::string& input = {}) {
    for (const char* word : {"--as=mallory", "-n", "team-a"}) arguments.emplace_back(word);
    return fleet_.kubectl(std::move(arguments), input);
  }
  void apply_as_mallory(const std::string& manifest) {
    const Ran ran = as_mallory({"apply", "-f", "-"}, manifest);
    EXPECT_TRUE(ran.ok()) << ran;
  }
  void expect_refused(const Ran& ran, const std::string& arguments) {
    EXPECT_FALSE(ran.ok()) << ran;
    EXPECT_TRUE(ran.says(arguments)) << arguments << " is not in: " << ran;
  }
  /// A ConfigMap of the tenant that a policy of the tenant propagates to the member.
  void propagate_config_map() {
    apply_as_mallory(R"(
apiVersion: v1
kind: ConfigMap
metadata: {name: own}
data: {a: b}
---
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: own}
spec:
  resourceSelectors: [{apiVersion: v1, kind: ConfigMap, name: own}]
  placement: {clusterAffinity: {clusterNames: [member1]}}
)");
  }
  static std::string override_with(const std::string& operations) {
    return "apiVersion: policy.karmada.io/v1alpha1\nkind: OverridePolicy\nmetadata: {name: attack}\nspec:\n"
           "  resourceSelectors: [{apiVersion: v1, kind: ConfigMap, name: own}]\n"
           "  overrideRules: [{overriders: {plaintext: " +
           operations + "}}]\n";
  }
  bool on_member(const std::string& path) const { return member_->get(path).status == 200; }
  /// Message of the condition WorksSynced if it is False; empty otherwise.
  std::string unsynced() const {
    const Value binding = api_->get(kBinding).json;
    for (const Value& condition : binding["status"]["conditions"].items()) {
      if (condition["type"].as_string() == "WorksSynced" && condition["status"].as_string() == "False")
        return condition["message"].str();
    }
    return "";
  }

  Fleet fleet_;
  std::unique_ptr<ApiClient> api_, member_;
};

TEST_F(HostileTenant, OverridesNeitherChangeTheKindNorLeaveTheNamespace) {
  expect_refused(as_mallory({"apply", "-f", "-"}, override_with(R"([
      {path: /apiVersion, operator: replace, value: rbac.authorization.k8s.io/v1},
      {path: /kind, operator: replace, value: ClusterRoleBinding},
      {path: /metadata/namespace, operator: remove},
      {path: /roleRef, operator: add, value: {kind: ClusterRole, name: cluster-admin}},
      {path: /subjects, operator: add, value: [{kind: User, name: mallory}]}])")),
                 "spec.overrideRules[0].overriders.plaintext[0].path: Forbidden: an override may not change "
                 "/apiVersion");

  // An override that cannot be detected by its paths.
  const std::string grant = R"([{path: "", operator: replace, value: {
      apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: own},
      roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin},
      subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: mallory}]}}])";
  apply_as_mallory(override_with(grant));
  propagate_config_map();
  const std::string failed =
      "Apply override policy(team-a/attack) for cluster(member1) failed: rule 1: the result is "
      "another object than ConfigMap own: it changes ";
  EXPECT_TRUE(eventually([&] { return unsynced() == failed + "apiVersion, kind, metadata.namespace"; })) << unsynced();
  EXPECT_FALSE(on_member("/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/own"));
  EXPECT_TRUE(eventually([&] {
    return fleet_.kubectl_ok({"get", "events", "-n", "team-a"}).find(failed) != std::string::npos;
  })) << fleet_.kubectl_ok({"get", "events", "-n", "team-a"});

  apply_as_mallory(
      override_with(R"([{path: /metadata, operator: replace, value: {name: own, namespace: kube-system}}])"));
  EXPECT_TRUE(eventually([&] { return unsynced() == failed + "metadata.namespace"; })) << unsynced();
  EXPECT_FALSE(on_member("/api/v1/namespaces/kube-system/configmaps/own"));
  EXPECT_FALSE(on_member("/api/v1/namespaces/team-a/configmaps/own")) << "not without the override either";

  apply_as_mallory(override_with(R"([{path: /data/a, operator: replace, value: changed}])"));
  EXPECT_TRUE(eventually([&] {
    return member_->get("/api/v1/namespaces/team-a/configmaps/own").json["data"]["a"].as_string() == "changed";
  })) << "an ordinary override still works";
  EXPECT_TRUE(eventually([&] { return unsynced().empty(); })) << unsynced();
}

TEST_F(HostileTenant, OverridesGrantNothingThatTheTemplateDoesNotGrant) {
  fleet_.kubectl_ok(
      {"create", "rolebinding", "mallory-admin", "--clusterrole=admin", "--user=mallory", "-n", "team-a"});
  expect_refused(as_mallory({"create", "rolebinding", "own", "--clusterrole=cluster-admin", "--user=mallory"}),
                 "is attempting to grant RBAC permissions not currently held");
  apply_as_mallory(R"(
apiVersion: policy.karmada.io/v1alpha1
kind: OverridePolicy
metadata: {name: attack}
spec:
  overrideRules: [{overriders: {plaintext: [{path: /roleRef/name, operator: replace, value: cluster-admin}]}}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: own}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: view}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: mallory}]
---
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: own}
spec:
  resourceSelectors: [{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, name: own}]
  placement: {clusterAffinity: {clusterNames: [member1]}}
)");
  const std::string binding = "/apis/work.karmada.io/v1alpha2/namespaces/team-a/resourcebindings/own-rolebinding";
  EXPECT_TRUE(eventually([&] {
    return api_->get(binding).body.find("/roleRef of a RoleBinding must stay as in the template") != std::string::npos;
  })) << api_->get(binding);
  EXPECT_FALSE(on_member("/apis/rbac.authorization.k8s.io/v1/namespaces/team-a/rolebindings/own"));
}

TEST_F(HostileTenant, BindingsKeepTheirTemplates) {
  fleet_.kubectl_ok({"create", "secret", "generic", "password", "--from-literal=p=hunter2", "-n", "victim"});
  propagate_config_map();
  ASSERT_TRUE(eventually([&] { return on_member("/api/v1/namespaces/team-a/configmaps/own"); }));
  const auto patch_as_mallory = [&](const std::string& patch, const std::string& subresource = {}) {
    std::vector<std::string> arguments = {"patch", "resourcebinding", "own-configmap", "--type=merge", "-p", patch};
    if (!subresource.empty()) arguments.push_back("--subresource=" + subresource);
    return as_mallory(arguments);
  };
  const std::string theirs =
      R"({"spec":{"resource":{"apiVersion":"v1","kind":"Secret","namespace":"victim","name":"password","uid":null}}})";
  expect_refused(patch_as_mallory(theirs), "field is immutable: a binding stays with its template");
  expect_refused(patch_as_mallory(R"({"spec":{"resource":{"apiVersion":"rbac.authorization.k8s.io/v1",
      "kind":"ClusterRole","namespace":null,"name":"cluster-admin"}}})"),
                 "field is immutable");
  expect_refused(
      fleet_.kubectl({"patch", "resourcebinding", "own-configmap", "-n", "team-a", "--type=merge", "-p", theirs}),
      "field is immutable");  // for an administrator, too
  expect_refused(patch_as_mallory(R"({"spec":{"clusters":[{"name":"member1"},{"name":"member2"}]}})"),
                 "spec.clusters is written by the control plane; users need the verb \"manage\" on "
                 "resourcebindings.work.karmada.io to do so");
  expect_refused(patch_as_mallory(R"({"metadata":{"labels":{"resourcebinding.karmada.io/permanent-id":"x"}}})"),
                 "label is immutable");
  expect_refused(patch_as_mallory(R"({"metadata":{"annotations":{"resourcebinding.karmada.io/dependencies":
      "[{\"apiVersion\":\"v1\",\"kind\":\"Secret\",\"namespace\":\"victim\",\"name\":\"password\"}]"}}})"),
                 "metadata.annotations of the domains karmada.io and shiplog.io is written by the control plane");
  expect_refused(patch_as_mallory(R"({"status":{"aggregatedStatus":[]}})", "status"),
                 "status is written by the control plane");
  expect_refused(as_mallory({"create", "-f", "-"}, R"(
apiVersion: work.karmada.io/v1alpha2
kind: ResourceBinding
metadata: {name: by-hand}
spec:
  resource: {apiVersion: v1, kind: ConfigMap, namespace: team-a, name: own}
  clusters: [{name: member1}]
)"),
                 "a binding is written by the control plane");

  const Ran suspended = patch_as_mallory(R"({"spec":{"suspension":{"scheduling":true}}})");
  EXPECT_TRUE(suspended.ok()) << suspended;
  const Ran evicted = patch_as_mallory(R"({"spec":{"gracefulEvictionTasks":[
      {"fromCluster":"member9","producer":"mallory","reason":"moving"}]}})");
  EXPECT_TRUE(evicted.ok()) << evicted;
  EXPECT_FALSE(on_member("/api/v1/namespaces/victim/secrets/password"));
}

TEST_F(HostileTenant, WorksAreNotWrittenByUsers) {
  fleet_.kubectl_ok(
      {"create", "rolebinding", "mallory", "--clusterrole=admin", "--user=mallory", "-n", "karmada-es-member1"});
  propagate_config_map();
  ASSERT_TRUE(eventually([&] { return on_member("/api/v1/namespaces/team-a/configmaps/own"); }));
  std::string name;
  const Value works = api_->get(kWorks).json;
  for (const Value& work : works["items"].items()) {
    if (work["spec"]["workload"]["manifests"][0]["kind"].as_string() == "ConfigMap") {
      name = work["metadata"]["name"].str();
    }
  }
  ASSERT_FALSE(name.empty());
  const auto in_space = [&](std::vector<std::string> arguments, const std::string& user,
                            const std::string& input = {}) {
    arguments.insert(arguments.end(), {"-n", "karmada-es-member1"});
    if (!user.empty()) arguments.push_back("--as=" + user);
    return fleet_.kubectl(arguments, input);
  };
  const auto work = [](const std::string& work_name) {
    return "apiVersion: work.karmada.io/v1alpha1\nkind: Work\nmetadata: {name: " + work_name +
           "}\nspec: {workload: {manifests: [{apiVersion: v1, kind: ConfigMap, metadata: {name: " + work_name +
           ", namespace: kube-system}}]}}\n";
  };
  const std::string refusal =
      "a Work is written by the control plane; users need the verb \"manage\" on "
      "works.work.karmada.io to do so";
  const std::string change = R"({"spec":{"workload":{"manifests":[]}}})";
  expect_refused(in_space({"create", "-f", "-"}, "mallory", work("attack")), refusal);
  expect_refused(
      in_space({"patch", "work", name, "--type=merge", "-p", R"({"spec":{"suspendDispatching":true}})"}, "mallory"),
      refusal);
  expect_refused(
      in_space({"patch", "work", name, "--subresource=status", "--type=merge", "-p", R"({"status":{"conditions":[]}})"},
               "mallory"),
      refusal);
  expect_refused(in_space({"delete", "work", name, "--wait=false"}, "mallory"), refusal);
  EXPECT_FALSE(in_space({"delete", "works", "--all", "--wait=false"}, "mallory").ok());
  EXPECT_TRUE(on_member("/api/v1/namespaces/team-a/configmaps/own"));

  // An administrator can write other Works but cannot edit rendered ones.
  expect_refused(in_space({"patch", "work", name, "--type=merge", "-p", change}, ""),
                 "this Work is rendered from a template");
  const Ran made = in_space({"create", "-f", "-"}, "", work("by-hand"));
  EXPECT_TRUE(made.ok()) << made;
  EXPECT_TRUE(eventually([&] { return on_member("/api/v1/namespaces/kube-system/configmaps/by-hand"); }));
  EXPECT_FALSE(on_member("/api/v1/namespaces/kube-system/configmaps/attack"));
}

}  // namespace
}  // namespace shiplog::e2e
