// Pull members: the agent beside them applies their Works, reports, and keeps tunnels open. Real processes.
#include <string>

#include <gtest/gtest.h>

#include "events/base/json.h"
#include "events/base/system.h"
#include "services/http/kubeconfig.h"
#include "services/http/tls.h"
#include "tests/support/fleet.h"

namespace shiplog::e2e {
namespace {

const std::string kWorks = "/apis/work.karmada.io/v1alpha1/namespaces/karmada-es-p1/works";
const std::string kCluster = "/apis/cluster.karmada.io/v1alpha1/clusters/p1";
const std::string kDeployment = "/apis/apps/v1/namespaces/default/deployments/web";

/// What `register` makes for the agent of a cluster (1.7.9).
std::string access_of(const std::string& cluster) {
  const std::string user =
      "subjects: [{kind: User, name: \"system:karmada:agent:" + cluster + "\", apiGroup: rbac.authorization.k8s.io}]\n";
  const auto role = [&](const std::string& kind, const std::string& name, const std::string& ns,
                        const std::string& rules) {
    const std::string metadata = "metadata: {name: \"" + name + "\"" + (ns.empty() ? "" : ", namespace: " + ns) + "}\n";
    return "---\napiVersion: rbac.authorization.k8s.io/v1\nkind: " + kind + "\n" + metadata + "rules:\n" + rules +
           "---\napiVersion: rbac.authorization.k8s.io/v1\nkind: " + kind + "Binding\n" + metadata +
           "roleRef: {apiGroup: rbac.authorization.k8s.io, kind: " + kind + ", name: \"" + name + "\"}\n" + user;
  };
  const std::string prefix = "system:karmada:" + cluster + ":agent";
  return "apiVersion: v1\nkind: Namespace\nmetadata: {name: karmada-es-" + cluster + "}\n" +
         role("ClusterRole", prefix, "",
              "- {apiGroups: [cluster.karmada.io], resources: [clusters], resourceNames: [" + cluster +
                  "], verbs: [get, delete]}\n"
                  "- {apiGroups: [cluster.karmada.io], resources: [clusters], verbs: [create, list, watch]}\n"
                  "- {apiGroups: [cluster.karmada.io], resources: [clusters/status], resourceNames: [" +
                  cluster +
                  "], verbs: [update]}\n"
                  "- {apiGroups: [config.karmada.io], resources: ['*'], verbs: [get, list, watch]}\n"
                  "- {apiGroups: [''], resources: [namespaces], verbs: [get]}\n"
                  "- {apiGroups: [coordination.k8s.io], resources: [leases], verbs: [get, create, update]}\n"
                  "- {apiGroups: [certificates.k8s.io], resources: [certificatesigningrequests], verbs: [get, "
                  "create]}\n") +
         role("Role", prefix + "-secret", "karmada-cluster",
              "- {apiGroups: [''], resources: [secrets], resourceNames: [" + cluster + ", " + cluster +
                  "-impersonator], verbs: [get, patch]}\n"
                  "- {apiGroups: [''], resources: [secrets], verbs: [create]}\n") +
         role("Role", prefix + "-work", "karmada-es-" + cluster,
              "- {apiGroups: [work.karmada.io], resources: [works], verbs: [get, create, list, watch, update, "
              "delete]}\n"
              "- {apiGroups: [work.karmada.io], resources: [works/status], verbs: [patch, update]}\n");
}

std::string deployment(int replicas) {
  return "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: default}\nspec:\n  replicas: " +
         std::to_string(replicas) +
         "\n  selector: {matchLabels: {app: web}}\n  template:\n    metadata: {labels: {app: web}}\n"
         "    spec: {containers: [{name: c, image: nginx}]}\n";
}

std::string policy(const std::string& api_version, const std::string& kind, const std::string& name) {
  return "---\napiVersion: policy.karmada.io/v1alpha1\nkind: PropagationPolicy\nmetadata: {name: " + name +
         ", namespace: default}\nspec:\n  resourceSelectors: [{apiVersion: " + api_version + ", kind: " + kind +
         ", name: " + name + "}]\n  placement: {clusterAffinity: {clusterNames: [p1]}}\n";
}

class Agent : public ::testing::Test {
 protected:
  void SetUp() override {
    fleet_.serve();
    fleet_.member("p1");
    fleet_.kubectl_ok({"apply", "-f", "-"}, access_of("p1"));
    write_kubeconfig("p1", Validity{now() + Millis{-60'000}, now() + Millis{86'400'000}});
  }

  static UtcMillis now() { return SystemClock{}.now(); }

  KeyPair authority() const {
    return {read_file(fleet_.path("plane/pki/ca.crt")), read_file(fleet_.path("plane/pki/ca.key"))};
  }

  /// A certificate for the agent of a cluster, as the signer would issue it.
  void write_kubeconfig(const std::string& cluster, const Validity& validity) {
    const auto issued =
        issue_client_certificate(authority(), "system:karmada:agent:" + cluster, {"system:karmada:agents"}, validity);
    ASSERT_TRUE(issued) << issued.error().message;
    ClientTarget target = context_of(read_kubeconfig({fleet_.kubeconfig("plane")}).value()).value().target;
    target.certificate_pem = issued.value().certificate_pem;
    target.key_pem = issued.value().key_pem;
    ASSERT_TRUE(shiplog::write_kubeconfig(fleet_.kubeconfig("agent-" + cluster), cluster, target));
  }

  bool ready() {
    return eventually([&] { return condition("Ready") == "True"; });
  }
  std::string condition(const std::string& type) {
    const Value cluster = fleet_.api().get(kCluster).json;
    for (const Value& each : cluster["status"]["conditions"].items()) {
      if (each["type"].as_string() == type) return each["status"].str();
    }
    return "";
  }
  int64_t ready_replicas() { return fleet_.api().get(kDeployment).json["status"]["readyReplicas"].as_int(); }
  std::string agent_log() { return read_file(fleet_.path("agent-p1.log")); }
  bool logged(const std::string& words) {
    return eventually([&] { return agent_log().find(words) != std::string::npos; });
  }
  /// Of the member's Deployment: it counts what was written to its spec.
  int64_t written() { return fleet_.api("p1").get(kDeployment).json["metadata"]["generation"].as_int(); }

  Fleet fleet_;
};

TEST_F(Agent, RunsWhatIsAppliedAndReportsItsStatus_1_11_2) {
  fleet_.agent("p1");
  ASSERT_TRUE(ready()) << agent_log();
  const Value spec = fleet_.api().get(kCluster).json["spec"];
  EXPECT_EQ(spec["syncMode"], Value{"Pull"});
  EXPECT_EQ(spec["secretRef"]["name"], Value{"p1"});
  EXPECT_EQ(spec["impersonatorSecretRef"]["name"], Value{"p1-impersonator"});
  fleet_.kubectl_ok({"apply", "-f", "-"}, deployment(2) + policy("apps/v1", "Deployment", "web"));
  EXPECT_TRUE(eventually([&] { return ready_replicas() == 2; })) << agent_log();
  EXPECT_TRUE(eventually([&] {
    return fleet_.api().get("/apis/coordination.k8s.io/v1/namespaces/karmada-cluster/leases/p1").status == 200;
  })) << "1.16.1";

  // A Secret reaches the member in clear text, and what is sealed here is in no log.
  fleet_.kubectl_ok({"apply", "-f", "-"},
                    "apiVersion: v1\nkind: Secret\nmetadata: {name: pw, namespace: default}\nstringData: {k: "
                    "hunter2hunter2}\n" +
                        policy("v1", "Secret", "pw"));
  EXPECT_TRUE(eventually([&] {
    return fleet_.api("p1").get("/api/v1/namespaces/default/secrets/pw").json["data"]["k"] ==
           Value{"aHVudGVyMmh1bnRlcjI="};
  }));
  EXPECT_EQ(agent_log().find("hunter2"), std::string::npos);

  fleet_.kubectl_ok({"delete", "deployment", "web"});
  fleet_.kubectl_ok({"delete", "secret", "pw"});
  EXPECT_TRUE(eventually([&] { return fleet_.api("p1").get(kDeployment).status == 404; }));
  EXPECT_TRUE(eventually([&] { return fleet_.api("p1").get("/api/v1/namespaces/default/secrets/pw").status == 404; }));
  const std::string works = kWorks + "?labelSelector=resourcebinding.karmada.io/permanent-id";
  EXPECT_TRUE(eventually([&] { return fleet_.api().get(works).json["items"].size() == 0; })) << agent_log();
}

TEST_F(Agent, ItsCredentialsGoWithTheCluster_1_4_2) {
  fleet_.agent("p1");
  ASSERT_TRUE(ready()) << agent_log();
  const Value uid = fleet_.api().get(kCluster).json["metadata"]["uid"];
  for (const char* name : {"p1", "p1-impersonator"}) {
    const Value secret = fleet_.api().get(std::string{"/api/v1/namespaces/karmada-cluster/secrets/"} + name).json;
    EXPECT_EQ(secret["metadata"]["ownerReferences"][0]["uid"], uid) << name;
  }
  EXPECT_EQ(fleet_.api().remove(kCluster).status, 200);
  EXPECT_TRUE(eventually([&] {
    return fleet_.api().get("/api/v1/namespaces/karmada-cluster/secrets").json["items"].size() == 0;
  })) << agent_log();
  EXPECT_EQ(fleet_.api().get(kCluster).status, 404);
}

TEST_F(Agent, KilledItAppliesNothingTwiceAndLosesNothing) {
  fleet_.agent("p1");
  ASSERT_TRUE(ready()) << agent_log();
  fleet_.kubectl_ok({"apply", "-f", "-"}, deployment(2) + policy("apps/v1", "Deployment", "web"));
  ASSERT_TRUE(eventually([&] { return ready_replicas() == 2; })) << agent_log();
  const Value before = fleet_.api("p1").get(kDeployment).json;
  fleet_.kill("agent-p1");
  fleet_.agent("p1");
  ASSERT_TRUE(logged("event=agent.following"));
  // One version of the Work: a change of replicas makes two, one before and one after the scheduler has divided them.
  fleet_.kubectl_ok({"annotate", "deployment", "web", "marked=after"});
  ASSERT_TRUE(eventually([&] {
    return fleet_.api("p1").get(kDeployment).json["metadata"]["annotations"]["marked"].as_string() == "after";
  })) << agent_log();
  EXPECT_EQ(written(), before["metadata"]["generation"].as_int() + 1) << "the restart itself has written nothing";

  // Changed while no agent runs.
  fleet_.kill("agent-p1");
  fleet_.kubectl_ok({"scale", "deployment", "web", "--replicas=1"});
  fleet_.agent("p1");
  EXPECT_TRUE(eventually([&] { return ready_replicas() == 1; })) << agent_log();
  fleet_.kill("agent-p1");
  fleet_.kubectl_ok({"delete", "deployment", "web"});
  fleet_.agent("p1");
  EXPECT_TRUE(eventually([&] { return fleet_.api("p1").get(kDeployment).status == 404; })) << agent_log();
}

TEST_F(Agent, WithoutTheControlPlaneTheMemberRunsOn) {
  fleet_.agent("p1");
  ASSERT_TRUE(ready()) << agent_log();
  fleet_.kubectl_ok({"apply", "-f", "-"}, deployment(2) + policy("apps/v1", "Deployment", "web"));
  ASSERT_TRUE(eventually([&] { return ready_replicas() == 2; })) << agent_log();
  const std::string server =
      fleet_.kubectl_ok({"config", "view", "-o", "jsonpath={.clusters[0].cluster.server}"}, {}, "plane");
  fleet_.kill("plane");
  ASSERT_TRUE(logged("event=agent.trouble"));
  const int64_t generation = written();
  fleet_.kubectl_ok({"scale", "deployment", "web", "--replicas=1"}, {}, "p1");  // drift, repaired without the plane
  EXPECT_TRUE(eventually([&] {
    return written() > generation && fleet_.api("p1").get(kDeployment).json["spec"]["replicas"].as_int() == 2;
  })) << agent_log();
  fleet_.serve("plane", {"--listen=" + server.substr(server.rfind('/') + 1)});
  fleet_.kubectl_ok({"scale", "deployment", "web", "--replicas=4"});
  EXPECT_TRUE(eventually([&] { return ready_replicas() == 4; })) << agent_log();
}

TEST_F(Agent, AnExpiredCertificateIsNamedAndChangesNothingInTheMember) {
  fleet_.agent("p1");
  ASSERT_TRUE(ready()) << agent_log();
  fleet_.kubectl_ok({"apply", "-f", "-"}, deployment(2) + policy("apps/v1", "Deployment", "web"));
  ASSERT_TRUE(eventually([&] { return ready_replicas() == 2; })) << agent_log();
  fleet_.kill("agent-p1");
  const int64_t generation = written();
  write_kubeconfig("p1", Validity{now() + Millis{-7'200'000}, now() + Millis{-3'600'000}});
  fleet_.agent("p1", {"--controllers=*,certRotation"});
  EXPECT_TRUE(logged("the certificate for the control plane expired at")) << agent_log();
  EXPECT_EQ(written(), generation);
  EXPECT_EQ(fleet_.api("p1").get(kDeployment).json["status"]["readyReplicas"].as_int(), 2);
  // A new file is taken without a restart.
  write_kubeconfig("p1", Validity{now() + Millis{-60'000}, now() + Millis{86'400'000}});
  EXPECT_TRUE(logged("event=agent.following")) << agent_log();
}

TEST_F(Agent, RotatesItsCertificate_1_9_2) {
  write_kubeconfig("p1", Validity{now() + Millis{-9'000'000}, now() + Millis{1'000'000}});
  const std::string before = read_file(fleet_.kubeconfig("agent-p1"));
  fleet_.agent("p1", {"--controllers=*,certRotation"});
  EXPECT_TRUE(logged("event=agent.certificate_rotated")) << agent_log();
  const std::string after = read_file(fleet_.kubeconfig("agent-p1"));
  EXPECT_NE(after, before);
  const auto target = context_of(read_kubeconfig({fleet_.kubeconfig("agent-p1")}).value()).value().target;
  const auto certificate = inspect_certificate(target.certificate_pem);
  ASSERT_TRUE(certificate);
  EXPECT_EQ(certificate.value().common_name, "system:karmada:agent:p1");
  EXPECT_GT(certificate.value().not_after, now() + Millis{5'000'000}) << "of the same lifetime";
  EXPECT_TRUE(ready()) << agent_log();
}

TEST_F(Agent, AClusterOfPushModeBecomesOneOfPullModeAndBack) {
  const auto turn = [&](const char* mode) {
    const Answer turned =
        fleet_.api().patch(kCluster, "merge", json(std::string{R"({"spec":{"syncMode":")"} + mode + R"("}})"));
    EXPECT_EQ(turned.status, 200) << turned;
  };
  const auto scale = [&](int replicas) {
    fleet_.kubectl_ok({"scale", "deployment", "web", "--replicas=" + std::to_string(replicas)});
    return eventually([&] { return ready_replicas() == replicas; });
  };
  const auto acts = [&] {
    const Answer audit = fleet_.api().get("/shiplog/v1/audit?user=system:karmada:agent:p1&event=StatusUpdated");
    EXPECT_EQ(audit.status, 200) << audit;
    return audit.body.find("karmada-es-p1") != std::string::npos;
  };
  fleet_.shiplogctl_ok({"join", "p1", "--cluster-kubeconfig=" + fleet_.kubeconfig("p1")});
  fleet_.kubectl_ok({"apply", "-f", "-"}, deployment(2) + policy("apps/v1", "Deployment", "web"));
  ASSERT_TRUE(eventually([&] { return ready_replicas() == 2; }));
  EXPECT_FALSE(acts());

  turn("Pull");
  fleet_.agent("p1");
  ASSERT_TRUE(logged("event=agent.following")) << agent_log();
  EXPECT_TRUE(scale(3)) << agent_log();
  EXPECT_TRUE(acts());
  EXPECT_EQ(agent_log().find("agent.cluster_differs"), std::string::npos) << agent_log();

  fleet_.kill("agent-p1");
  turn("Push");
  EXPECT_TRUE(scale(1));
  EXPECT_TRUE(ready());
  EXPECT_TRUE(fleet_.shiplogctl({"unjoin", "p1"}).ok());
}

TEST_F(Agent, AnotherMemberIsNotTakenForTheCluster_1_3_3) {
  fleet_.agent("p1");
  ASSERT_TRUE(ready()) << agent_log();
  fleet_.kubectl_ok({"apply", "-f", "-"}, deployment(2) + policy("apps/v1", "Deployment", "web"));
  ASSERT_TRUE(eventually([&] { return ready_replicas() == 2; })) << agent_log();
  fleet_.kill("agent-p1");
  fleet_.member("p2");
  fleet_.agent("p1", {"--kubeconfig=" + fleet_.kubeconfig("p2")});
  EXPECT_TRUE(logged("the cluster p1 is another member than this agent's")) << agent_log();
  EXPECT_EQ(fleet_.api("p2").get(kDeployment).status, 404);
}

TEST_F(Agent, ItsIdentityReachesNothingOfOtherClusters) {
  fleet_.kubectl_ok({"apply", "-f", "-"}, access_of("p2"));
  write_kubeconfig("p2", Validity{now() + Millis{-60'000}, now() + Millis{86'400'000}});
  const ApiClient other = fleet_.api("agent-p2");
  EXPECT_EQ(other.get(kWorks).status, 403);
  EXPECT_EQ(other.get(kCluster).status, 403);
  EXPECT_EQ(other.get("/api/v1/namespaces/karmada-cluster/secrets/p1").status, 403);
  const Answer tunnel =
      other.call("GET", "/shiplog/v1/tunnels/p1", {}, {{"Connection", "Upgrade"}, {"Upgrade", "shiplog-tunnel"}});
  EXPECT_EQ(tunnel.status, 403) << tunnel;
  EXPECT_NE(tunnel.message().find("tunnels to cluster p1 are opened by its agent only"), std::string::npos);
  const Answer admins = fleet_.api().call("GET", "/shiplog/v1/tunnels/p1", {},
                                          {{"Connection", "Upgrade"}, {"Upgrade", "shiplog-tunnel"}});
  EXPECT_EQ(admins.status, 403) << "not even an administrator's";
  const auto audited = [&](const std::string& user, const std::string& words) {
    return eventually([&] {
      return fleet_.api().get("/shiplog/v1/audit?refused=true&user=" + user).body.find(words) != std::string::npos;
    });
  };
  EXPECT_TRUE(audited("system:karmada:agent:p2", "\"works"));
  EXPECT_TRUE(audited("system:karmada:agent:p2", "/shiplog/v1/tunnels/p1"));
  EXPECT_TRUE(audited("kubernetes-admin", "/shiplog/v1/tunnels/p1"));
}

// Also if a role permits agents all proxies.
TEST_F(Agent, ItsIdentityReachesNoOtherMember) {
  fleet_.kubectl_ok({"create", "clusterrole", "proxies", "--verb=*", "--resource=clusters.cluster.karmada.io/proxy"});
  fleet_.kubectl_ok(
      {"create", "clusterrolebinding", "proxies", "--clusterrole=proxies", "--group=system:karmada:agents"});
  fleet_.join("m1");
  const ApiClient agent = fleet_.api("agent-p1");
  const std::string clusters = "/apis/cluster.karmada.io/v1alpha1/clusters/";
  const std::string secrets = "/proxy/api/v1/namespaces/kube-system/secrets";
  for (const char* cluster : {"m1", "*", "none"}) {
    for (const char* method : {"GET", "POST", "DELETE"}) {
      const Answer refused = agent.call(method, clusters + cluster + secrets, "{}");
      EXPECT_EQ(refused.status, 403) << method << " " << cluster << ": " << refused;
      EXPECT_NE(refused.message().find("only to what belongs to its own cluster, which is p1"), std::string::npos);
    }
  }
  for (const char* verb : {"get", "create", "delete"}) {
    EXPECT_TRUE(eventually([&] {
      const Value audit = fleet_.api().get("/shiplog/v1/audit?refused=true&user=system:karmada:agent:p1").json;
      for (const Value& entry : audit["items"].items()) {
        if (entry["verb"].as_string() == verb && entry["path"].str() == clusters + "m1" + secrets) return true;
      }
      return false;
    })) << verb
        << "\n"
        << fleet_.api().get("/shiplog/v1/audit?user=system:karmada:agent:p1").body;
  }
}

TEST_F(Agent, TheClusterProxyReachesTheMemberThroughItsTunnel) {
  // An address that leads nowhere: there is no way but the tunnel. The certificate is for this name.
  fleet_.agent("p1", {"--cluster-api-endpoint=https://localhost:1"});
  ASSERT_TRUE(ready()) << agent_log();
  fleet_.kubectl_ok({"create", "clusterrole", "impersonator", "--verb=impersonate", "--resource=users,groups"}, {},
                    "p1");
  fleet_.kubectl_ok({"create", "clusterrolebinding", "impersonator", "--clusterrole=impersonator",
                     "--serviceaccount=karmada-cluster:karmada-impersonator"},
                    {}, "p1");
  const std::string proxied = kCluster + "/proxy/api/v1/namespaces/kube-system";
  EXPECT_TRUE(eventually([&] { return fleet_.api().get(proxied).json["metadata"]["name"] == Value{"kube-system"}; }))
      << fleet_.api().get(proxied) << agent_log();
  const Answer many = fleet_.api().get(kCluster + "/proxy/api/v1/pods?limit=5");
  EXPECT_EQ(many.status, 200) << many;

  fleet_.kill("agent-p1");
  const Answer gone = fleet_.api().get(proxied);
  EXPECT_EQ(gone.status, 503) << gone;
}

}  // namespace
}  // namespace shiplog::e2e
