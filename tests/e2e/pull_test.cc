// A cluster whose agent connects to the control plane: token, register, work, unregister (1.6 to 1.10).
#include <fstream>
#include <memory>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include "tests/support/fleet.h"

namespace shiplog::e2e {
namespace {

const std::string kClusterPath = "/apis/cluster.karmada.io/v1alpha1/clusters/m1";
const std::string kInfo = "/api/v1/namespaces/kube-public/configmaps/cluster-info";
const std::string kMap = "/api/v1/namespaces/default/configmaps/settings";

class PullMode : public ::testing::Test {
 protected:
  void SetUp() override {
    fleet_.serve();
    fleet_.member("m1");
  }
  void TearDown() override {
    agent_.reset();
    expect_replay_equals(fleet_, fleet_.api(), "sqlite:" + fleet_.path("plane/journal.db"));
  }

  /// The words behind "shiplogctl" of the printed command.
  std::vector<std::string> register_command() {
    const std::string text = fleet_.shiplogctl_ok({"token", "create", "--print-register-command"});
    std::vector<std::string> words;
    for (size_t at = 0; at < text.size();) {
      const size_t end = text.find_first_of(" \n", at);
      words.push_back(text.substr(at, end - at));
      at = end + 1;
    }
    EXPECT_EQ(words.front(), "shiplogctl");
    words.erase(words.begin());
    for (const std::string& word : {std::string{"--cluster-name=m1"}, "--agent-kubeconfig-out=" + access()}) {
      words.push_back(word);
    }
    return words;
  }
  std::string access() const { return fleet_.path("agent.kubeconfig"); }
  std::string token_of(const std::vector<std::string>& words) const {
    for (size_t i = 0; i + 1 < words.size(); ++i) {
      if (words[i] == "--token") return words[i + 1];
    }
    return "";
  }
  void start_agent() {
    const std::string program = SHIPLOG_BUILT "/shiplogd";
    agent_ = std::make_unique<Process>(
        std::vector<std::string>{program, "agent", "--karmada-kubeconfig=" + access(),
                                 "--kubeconfig=" + fleet_.kubeconfig("m1"), "--cluster-name=m1"},
        Environment{{"HOME", fleet_.path("home")}}, fleet_.path("agent.log"));
  }
  /// What roles and bindings the control plane has for the agent, a line each.
  std::string agent_roles() {
    std::istringstream all{
        fleet_.kubectl_ok({"get", "clusterroles,clusterrolebindings,roles,rolebindings", "-A", "-o", "name"})};
    std::string found;
    for (std::string line; std::getline(all, line);) {
      if (line.find(":m1:agent") != std::string::npos) found += line + "\n";
    }
    return found;
  }
  void propagate() {
    fleet_.kubectl_ok({"apply", "-f", "-"}, R"(
apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
---
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: settings}
spec:
  resourceSelectors: [{apiVersion: v1, kind: ConfigMap, name: settings}]
  placement: {clusterAffinity: {clusterNames: [m1]}}
)");
  }

  Fleet fleet_;
  std::unique_ptr<Process> agent_;
};

TEST_F(PullMode, AClusterRegistersWorksAndUnregisters_1_7_8_1_10_3) {  // 1.6.4, 1.7.3, 1.7.6, 1.7.7, 1.10.1
  const auto words = register_command();
  const Ran registered = fleet_.shiplogctl(words, "m1");
  ASSERT_TRUE(registered.ok()) << registered;
  EXPECT_TRUE(registered.says("shiplogd agent --karmada-kubeconfig=")) << registered;
  EXPECT_TRUE(fleet_.shiplogctl(words, "m1").says("already exists in the member")) << "1.7.3";
  start_agent();
  EXPECT_TRUE(eventually([&] {
    return fleet_.kubectl({"wait", "--for=condition=Ready", "cluster/m1", "--timeout=10s"}).ok();
  })) << read_file(agent_->log());
  propagate();
  EXPECT_TRUE(eventually([&] { return fleet_.api("m1").get(kMap).status == 200; })) << read_file(agent_->log());
  EXPECT_TRUE(eventually([&] {
    return fleet_.kubectl_ok({"get", "rb", "settings-configmap", "-o",
                              R"(jsonpath={.status.conditions[?(@.type=="FullyApplied")].status})"}) == "True";
  }));
  const std::string member = "--cluster-kubeconfig=" + fleet_.kubeconfig("m1");
  EXPECT_TRUE(fleet_.shiplogctl({"unjoin", "m1"}).says("please use command `unregister`"));
  const Ran gone = fleet_.shiplogctl({"--kubeconfig=" + fleet_.kubeconfig("plane"), "unregister", "m1", member});
  EXPECT_TRUE(gone.ok()) << gone;
  EXPECT_EQ(fleet_.api().get(kClusterPath).status, 404);
  EXPECT_EQ(fleet_.api("m1").get(kMap).status, 404);
  EXPECT_EQ(agent_roles(), "");
  // The agent has made the accounts without owners, and their tokens do not expire.
  const ApiClient member_api = fleet_.api("m1");
  for (const char* path :
       {"/api/v1/namespaces/karmada-cluster/secrets/karmada-m1",
        "/api/v1/namespaces/karmada-cluster/secrets/karmada-impersonator",
        "/api/v1/namespaces/karmada-cluster/serviceaccounts/karmada-m1",
        "/api/v1/namespaces/karmada-cluster/serviceaccounts/karmada-impersonator", "/api/v1/namespaces/karmada-cluster",
        "/apis/rbac.authorization.k8s.io/v1/clusterroles/karmada-controller-manager:karmada-m1",
        "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/karmada-controller-manager:karmada-m1"}) {
    EXPECT_TRUE(eventually([&] { return member_api.get(path).status == 404; })) << path;
  }
}

TEST_F(PullMode, UnregisterLeavesWhatAnotherControlPlaneUses_1_10_3) {
  ASSERT_TRUE(fleet_.shiplogctl(register_command(), "m1").ok());
  start_agent();
  EXPECT_TRUE(eventually([&] {
    return fleet_.kubectl({"wait", "--for=condition=Ready", "cluster/m1", "--timeout=10s"}).ok();
  })) << read_file(agent_->log());
  fleet_.kubectl_ok({"create", "serviceaccount", "karmada-elsewhere", "-n", "karmada-cluster"}, {}, "m1");
  const Ran gone = fleet_.shiplogctl({"--kubeconfig=" + fleet_.kubeconfig("plane"), "unregister", "m1",
                                      "--cluster-kubeconfig=" + fleet_.kubeconfig("m1")});
  EXPECT_TRUE(gone.ok()) << gone;
  const ApiClient member = fleet_.api("m1");
  const std::string ns = "/api/v1/namespaces/karmada-cluster/";
  EXPECT_TRUE(eventually([&] { return member.get(ns + "secrets/karmada-m1").status == 404; }));
  EXPECT_EQ(member.get(ns + "serviceaccounts/karmada-m1").status, 404);
  for (const char* kept :
       {"serviceaccounts/karmada-elsewhere", "serviceaccounts/karmada-impersonator", "secrets/karmada-impersonator"}) {
    EXPECT_EQ(member.get(ns + kept).status, 200) << kept;
  }
}

TEST_F(PullMode, AFailedRegistrationIsUndone_1_7_11) {
  const auto expect_undone = [&](const Ran& failed) {
    EXPECT_EQ(failed.code, 1) << failed;
    EXPECT_TRUE(failed.says("register failed and started deleting the created resources")) << failed;
    EXPECT_EQ(failed.err.find("remains"), std::string::npos) << failed;
    EXPECT_EQ(agent_roles(), "");
    const ApiClient member = fleet_.api("m1");
    const std::string ns = "/api/v1/namespaces/karmada-system";
    for (const std::string& path :
         {ns + "/secrets/karmada-kubeconfig", ns + "/serviceaccounts/karmada-agent-sa",
          std::string{"/apis/apps/v1/namespaces/karmada-system/deployments/karmada-agent"},
          std::string{"/apis/rbac.authorization.k8s.io/v1/clusterroles/karmada-agent"},
          std::string{"/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/karmada-agent"}}) {
      EXPECT_TRUE(eventually([&] { return member.get(path).status == 404; })) << path;
    }
  };
  // The last step: the Deployment of the agent never becomes available.
  fleet_.kubectl_ok({"create", "namespace", "karmada-system"}, {}, "m1");
  fleet_.kubectl_ok({"create", "quota", "none", "--hard=pods=0", "-n", "karmada-system"}, {}, "m1");
  auto with_image = register_command();
  with_image.insert(with_image.end(), {"--karmada-agent-image=shiplogd", "--discovery-timeout=1s"});
  const std::string signature = "jws-kubeconfig-" + token_of(with_image).substr(0, 6);
  ASSERT_TRUE(eventually([&] { return fleet_.api().get(kInfo).json["data"].contains(signature); }));
  const Ran unavailable = fleet_.shiplogctl(with_image, "m1");
  EXPECT_TRUE(unavailable.says("the Deployment karmada-system/karmada-agent is not available")) << unavailable;
  expect_undone(unavailable);
  // One between: the file cannot be written.
  auto without_folder = register_command();
  without_folder.back() = "--agent-kubeconfig-out=" + fleet_.path("none/agent.kubeconfig");
  expect_undone(fleet_.shiplogctl(without_folder, "m1"));

  const Ran again = fleet_.shiplogctl(register_command(), "m1");
  EXPECT_TRUE(again.ok()) << again;
  EXPECT_NE(agent_roles(), "");
}

TEST_F(PullMode, UnregisterRefusesAClusterOfPushModeOrNone_1_10_2) {
  const std::string member = "--cluster-kubeconfig=" + fleet_.kubeconfig("m1");
  const std::string plane = "--karmada-config=" + fleet_.kubeconfig("plane");
  const Ran none = fleet_.shiplogctl({"unregister", "m1", member, plane});
  EXPECT_EQ(none.code, 1);
  EXPECT_TRUE(none.says("no cluster object m1 found in karmada control Plane")) << none;
  fleet_.shiplogctl_ok({"join", "m1", member});
  const Ran pushed = fleet_.shiplogctl({"unregister", "m1", member, plane});
  EXPECT_EQ(pushed.code, 1);
  EXPECT_TRUE(
      pushed.says("cluster m1 is a Push mode member cluster, please use command `unjoin` if you want to "
                  "continue unjoining the cluster"))
      << pushed;
  EXPECT_EQ(fleet_.api().get(kClusterPath).status, 200);
  EXPECT_TRUE(fleet_.api().get(kClusterPath).json["metadata"]["deletionTimestamp"].is_null());
}

// The agent was never started; or somebody deleted the Cluster; or an earlier unregister did not wait for the end.
TEST_F(PullMode, WhatARegistrationHasLeftWithoutAClusterIsUnregistered_1_10_3) {
  ASSERT_TRUE(fleet_.shiplogctl(register_command(), "m1").ok());
  EXPECT_NE(agent_roles(), "");
  const std::vector<std::string> unregister = {"unregister", "m1", "--cluster-kubeconfig=" + fleet_.kubeconfig("m1"),
                                               "--karmada-config=" + fleet_.kubeconfig("plane")};
  std::vector<std::string> tried = unregister;
  tried.emplace_back("--dry-run");
  EXPECT_TRUE(fleet_.shiplogctl(tried).says("what its registration has left would be removed (dry run)"));
  EXPECT_NE(agent_roles(), "");
  const Ran gone = fleet_.shiplogctl(unregister);
  EXPECT_TRUE(gone.ok()) << gone;
  EXPECT_EQ(agent_roles(), "");
  const ApiClient member = fleet_.api("m1");
  const std::string ns = "/api/v1/namespaces/karmada-system";
  for (const std::string& path : {ns + "/secrets/karmada-kubeconfig", ns + "/serviceaccounts/karmada-agent-sa",
                                  std::string{"/apis/rbac.authorization.k8s.io/v1/clusterroles/karmada-agent"}}) {
    EXPECT_EQ(member.get(path).status, 404) << path;
  }
  EXPECT_TRUE(eventually([&] { return fleet_.api().get("/api/v1/namespaces/karmada-es-m1").status == 404; }));
  EXPECT_TRUE(fleet_.shiplogctl(unregister).says("no cluster object m1 found in karmada control Plane"));
  const Ran again = fleet_.shiplogctl(register_command(), "m1");
  EXPECT_TRUE(again.ok()) << again;
}

TEST_F(PullMode, UnregisterNamesWhatTheRemovalWaitsFor_1_10_3) {
  fleet_.kubectl_ok({"apply", "-f", "-"}, R"(
apiVersion: cluster.karmada.io/v1alpha1
kind: Cluster
metadata: {name: m1, finalizers: [example.com/hold]}
spec: {syncMode: Pull}
)");
  EXPECT_TRUE(eventually([&] {  // at first its namespace
    const Ran held =
        fleet_.shiplogctl({"unregister", "m1", "--wait=1s", "--cluster-kubeconfig=" + fleet_.kubeconfig("m1"),
                           "--karmada-config=" + fleet_.kubeconfig("plane")});
    return held.code == 1 && held.says("still exists after 1 s: its removal continues: remaining finalizers: ") &&
           held.says("example.com/hold. Does its agent run? Wait longer with --wait");
  }));
  fleet_.kubectl_ok({"patch", "cluster", "m1", "--type=merge", "-p", R"({"metadata":{"finalizers":null}})"});
}

TEST_F(PullMode, AClusterWhoseAgentIsGoneUnregisters_1_12_2) {
  ASSERT_TRUE(fleet_.shiplogctl(register_command(), "m1").ok());
  start_agent();
  propagate();
  ASSERT_TRUE(eventually([&] { return fleet_.api("m1").get(kMap).status == 200; })) << read_file(agent_->log());
  agent_.reset();
  fleet_.kill("plane");
  fleet_.serve("plane", {"--cluster-monitor-period=1s", "--cluster-monitor-grace-period=2s"});
  const Ran gone = fleet_.shiplogctl({"unregister", "m1", "--cluster-kubeconfig=" + fleet_.kubeconfig("m1"),
                                      "--karmada-config=" + fleet_.kubeconfig("plane")});
  EXPECT_TRUE(gone.ok()) << gone;
  EXPECT_EQ(fleet_.api().get(kClusterPath).status, 404);
  EXPECT_EQ(agent_roles(), "");
  EXPECT_EQ(fleet_.api("m1").get(kMap).status, 200) << "what was applied stays";
}

// As upstream's unregister does before it deletes the Cluster: it deletes the Works, and again, until it finds none.
TEST_F(PullMode, AClusterThatRegistersLaterGetsWhatPoliciesSelectedBefore) {
  propagate();
  fleet_.kubectl_ok({"create", "namespace", "shop"});
  ASSERT_TRUE(fleet_.shiplogctl(register_command(), "m1").ok());
  start_agent();
  const std::string works = "/apis/work.karmada.io/v1alpha1/namespaces/karmada-es-m1/works";
  // Of the namespace, of the ConfigMap, and of the impersonator's rights.
  EXPECT_TRUE(eventually([&] { return fleet_.api().get(works).json["items"].size() == 4; }))
      << fleet_.kubectl_ok({"get", "works", "-A"}) << read_file(agent_->log());
  EXPECT_TRUE(eventually([&] { return fleet_.api("m1").get(kMap).status == 200; })) << read_file(agent_->log());
}

TEST_F(PullMode, TheWorksOfAClusterThatUnregistersCanBeDeletedUntilNoneIsLeft_1_10_3) {
  ASSERT_TRUE(fleet_.shiplogctl(register_command(), "m1").ok());
  start_agent();
  EXPECT_TRUE(eventually([&] {
    return fleet_.kubectl({"wait", "--for=condition=Ready", "cluster/m1", "--timeout=10s"}).ok();
  })) << read_file(agent_->log());
  propagate();
  fleet_.kubectl_ok({"create", "namespace", "shop"});
  const std::string works = "/apis/work.karmada.io/v1alpha1/namespaces/karmada-es-m1/works";
  // Of the namespace, of the ConfigMap, and of the impersonator's rights.
  EXPECT_TRUE(eventually([&] { return fleet_.api().get(works).json["items"].size() == 4; }))
      << fleet_.kubectl_ok({"get", "works", "-A"}) << read_file(agent_->log());
  EXPECT_TRUE(eventually([&] { return fleet_.api("m1").get(kMap).status == 200; })) << read_file(agent_->log());
  EXPECT_TRUE(eventually([&] {
    const Answer list = fleet_.api().get(works);
    for (const Value& work : list.json["items"].items()) {
      fleet_.api().remove(works + "/" + work["metadata"]["name"].str());
    }
    return list.status == 200 && list.json["items"].size() == 0;
  })) << "they are made again at once";
  EXPECT_EQ(fleet_.api("m1").get(kMap).status, 404);
  EXPECT_EQ(fleet_.api().remove(kClusterPath).status, 200);
  EXPECT_TRUE(eventually([&] { return fleet_.api().get(kClusterPath).status == 404; }));
}

TEST_F(PullMode, AnAgentHasNoAccessToOtherClusters_9_1) {
  fleet_.join("m2");
  ASSERT_TRUE(fleet_.shiplogctl(register_command(), "m1").ok());
  const ApiClient agent{access()};
  for (const std::string& path :
       {std::string{"/apis/work.karmada.io/v1alpha1/namespaces/karmada-es-m2/works"},
        std::string{"/apis/work.karmada.io/v1alpha1/works"}, std::string{"/api/v1/namespaces/karmada-cluster/secrets"},
        std::string{"/api/v1/namespaces/karmada-cluster/secrets/m2"},
        std::string{"/api/v1/namespaces/karmada-cluster/secrets/m2-impersonator"},
        std::string{"/apis/cluster.karmada.io/v1alpha1/clusters/m2"},
        std::string{"/apis/coordination.k8s.io/v1/namespaces/karmada-cluster/leases/m2"}}) {
    EXPECT_EQ(agent.get(path).status, 403) << path;
  }
  EXPECT_EQ(agent.get("/apis/work.karmada.io/v1alpha1/namespaces/karmada-es-m1/works").status, 200);
  // Refusals are appended in batches.
  std::string denied;
  EXPECT_TRUE(eventually([&] {
    denied = fleet_.shiplogctl_ok({"audit", "--user=system:karmada:agent:m1"});
    return denied.find("secrets/karmada-cluster/m2") != std::string::npos &&
           denied.find("RequestDenied") != std::string::npos;
  })) << denied;
}

TEST_F(PullMode, ATokenDoesNotGetTheIdentityOfARegisteredCluster) {
  fleet_.join("m2");
  auto words = register_command();
  for (std::string& word : words) {
    if (word == "--cluster-name=m1") word = "--cluster-name=m2";
  }
  EXPECT_TRUE(fleet_.shiplogctl(words, "m1").says("failed to register as cluster with name m2 already exists"));
}

TEST_F(PullMode, OnlyClusterInfoIsReadWithoutCredentials_9_2_3) {
  const std::string url = fleet_.kubectl_ok({"config", "view", "-o", "jsonpath={.clusters[0].cluster.server}"});
  std::ofstream{access()}
      << "apiVersion: v1\nkind: Config\ncurrent-context: x\nclusters: [{name: x, cluster: {server: '" << url
      << "', insecure-skip-tls-verify: true}}]\ncontexts: [{name: x, context: {cluster: x}}]\n";
  const ApiClient anonymous{access()};
  EXPECT_TRUE(eventually([&] { return anonymous.get(kInfo).status == 200; }));
  EXPECT_NE(anonymous.get(kInfo).json["data"]["kubeconfig"].str().find("certificate-authority-data"),
            std::string::npos);
  for (const std::string& path :
       {std::string{"/api/v1/namespaces/kube-public/configmaps"}, "/at/1" + kInfo, kInfo + "s",
        std::string{"/api/v1/namespaces/kube-system/configmaps/cluster-info"}, std::string{"/version"}}) {
    EXPECT_EQ(anonymous.get(path).status, 401) << path;
  }
  EXPECT_EQ(anonymous.remove(kInfo).status, 401);
  EXPECT_EQ(fleet_.api().get(kInfo).status, 200) << "it is still there";
}

TEST_F(PullMode, AWrongPinOrTokenIsRefused_1_7_4_1_7_5) {
  auto words = register_command();
  for (std::string& word : words) {
    if (word.starts_with("sha256:")) word = "sha256:" + std::string(64, '0');
  }
  EXPECT_TRUE(fleet_.shiplogctl(words, "m1").says("none of --discovery-token-ca-cert-hash"));
  auto guessed = register_command();
  const std::string token = token_of(guessed);
  for (std::string& word : guessed) {
    if (word == token) word = token.substr(0, 7) + std::string(16, 'a');
  }
  EXPECT_TRUE(fleet_.shiplogctl(guessed, "m1").says("signed with another secret"));
}

TEST_F(PullMode, TokensAreListedAndDeleted_1_6_5_1_6_6) {
  const std::string token = fleet_.shiplogctl_ok({"token", "create", "abcdef.0123456789abcdef", "--ttl=0"});
  EXPECT_EQ(token, "abcdef.0123456789abcdef\n");
  EXPECT_TRUE(fleet_.shiplogctl({"token", "create", "abcdef.0123456789abcdee"})
                  .says("a token with id \"abcdef\" already exists"));
  const std::string list = fleet_.shiplogctl_ok({"token", "list"});
  EXPECT_NE(list.find("abcdef.0123456789abcdef   <forever>   <never>   authentication,signing   <none>"),
            std::string::npos)
      << list;
  EXPECT_EQ(fleet_.shiplogctl_ok({"token", "delete", "abcdef"}), "bootstrap token \"abcdef\" deleted\n");
  EXPECT_TRUE(
      fleet_.shiplogctl({"token", "delete", "abcdef"}).says("failed to delete secret \"bootstrap-token-abcdef\""));
}

}  // namespace
}  // namespace shiplog::e2e
