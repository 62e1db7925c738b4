// Objects that join, rotate-credentials and unjoin create and delete in the control plane and in the member.
#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "events/base/base64.h"
#include "events/base/json.h"
#include "services/http/kubeconfig.h"
#include "tests/support/fleet.h"
#include "tests/support/test_proxy.h"

namespace shiplog::e2e {
namespace {

const std::string kSecrets = "/api/v1/namespaces/karmada-cluster/secrets";
const std::string kRole = "/apis/rbac.authorization.k8s.io/v1/clusterroles/karmada-controller-manager:karmada-m1";
const std::string kPropagatedMaps = "/api/v1/namespaces/default/configmaps/";

class Join : public ::testing::Test {
 protected:
  void SetUp() override {
    fleet_.serve();
    fleet_.member("m1");
  }
  Ran join(const std::string& name, const std::string& kubeconfig) {
    return fleet_.shiplogctl({"join", name, "--cluster-kubeconfig", fleet_.kubeconfig(kubeconfig)});
  }
  std::string token(const std::string& secret = "m1") {
    const Value object = fleet_.api().get(kSecrets + "/" + secret).json;
    return base64_decode(object["data"]["token"].as_string()).value_or("");
  }
  /// HTTP status of the member's response to a request with the token.
  int status_with(const std::string& token) {
    const std::string url =
        fleet_.kubectl_ok({"config", "view", "-o", "jsonpath={.clusters[0].cluster.server}"}, {}, "m1");
    const Ran ran = fleet_.kubectl({"--server=" + url, "--token=" + token, "--insecure-skip-tls-verify=true",
                                    "--kubeconfig=/dev/null", "get", "namespace", "kube-system"});
    return ran.ok() ? 200 : ran.says("must be logged in") ? 401 : -1;
  }
  void expect_propagates(const std::string& name) {
    fleet_.kubectl_ok({"apply", "-f", "-"},
                      "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + name +
                          "}\n---\napiVersion: policy.karmada.io/v1alpha1\nkind: PropagationPolicy\nmetadata: {name: " +
                          name + "}\nspec:\n  resourceSelectors: [{apiVersion: v1, kind: ConfigMap, name: " + name +
                          "}]\n  placement: {clusterAffinity: {clusterNames: [m1]}}\n");
    EXPECT_TRUE(eventually([&] { return fleet_.api("m1").get(kPropagatedMaps + name).status == 200; })) << name;
  }
  void expect_nowhere(const std::string& secret) {
    for (const char* process : {"plane", "m1"}) {
      EXPECT_EQ(read_file(fleet_.path(std::string{process} + ".log")).find(secret), std::string::npos) << process;
    }
  }

  Fleet fleet_;
};

TEST_F(Join, StoresAnAccountOfTheMemberAndNoCredentialsOfTheUser) {  // CL-11, 1.4.3
  const Ran joined = join("m1", "m1");
  ASSERT_TRUE(joined.ok()) << joined;
  const Value secret = fleet_.api().get(kSecrets + "/m1").json;
  EXPECT_EQ(secret["data"].size(), 2U) << "caBundle and token";
  EXPECT_FALSE(secret["data"]["caBundle"].is_empty());
  const std::string own = token();
  EXPECT_EQ(status_with(own), 200);
  const Value claims =
      json(base64url_decode(own.substr(own.find('.') + 1, own.rfind('.') - own.find('.') - 1)).value());
  EXPECT_EQ(claims["sub"], Value{"system:serviceaccount:karmada-cluster:karmada-m1"});

  const Value spec = fleet_.api().get("/apis/cluster.karmada.io/v1alpha1/clusters/m1").json["spec"];
  EXPECT_EQ(spec["secretRef"]["name"], Value{"m1"});
  EXPECT_EQ(spec["impersonatorSecretRef"]["name"], Value{"m1-impersonator"});
  EXPECT_FALSE(token("m1-impersonator").empty());
  EXPECT_NE(token("m1-impersonator"), own);
  for (const char* account : {"karmada-m1", "karmada-impersonator"}) {
    EXPECT_EQ(fleet_.api("m1").get(std::string{"/api/v1/namespaces/karmada-cluster/serviceaccounts/"} + account).status,
              200);
  }
  expect_propagates("first");
  EXPECT_EQ(joined.out.find(own) + joined.err.find(own), 2 * std::string::npos) << "no token in the output";
  expect_nowhere(own);

  // The member is restarted as a new process with the same identity.
  const std::string address =
      fleet_.kubectl_ok({"config", "view", "-o", "jsonpath={.clusters[0].cluster.server}"}, {}, "m1");
  fleet_.kill("m1");
  fleet_.member("m1", {"--listen=" + address.substr(address.rfind('/') + 1)});
  EXPECT_EQ(status_with(own), 200);
  EXPECT_TRUE(eventually([&] { return fleet_.api("m1").get(kPropagatedMaps + "first").status == 200; }));
  EXPECT_EQ(std::filesystem::status(fleet_.path("m1/accounts.json")).permissions(),
            std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
}

TEST_F(Join, AClusterIsRegisteredOnce_1_3_2_1_4_1_1_4_6) {
  fleet_.member("other");
  // With the flags of karmadactl.
  const auto context = [&](const std::string& process) {
    const std::string name = fleet_.kubectl_ok({"config", "current-context"}, {}, process);
    return name.substr(0, name.find('\n'));
  };
  const Ran joined = fleet_.shiplogctl({"join", "m1", "--cluster-kubeconfig", fleet_.kubeconfig("m1"),
                                        "--cluster-context=" + context("m1"), "--karmada-context=" + context("plane"),
                                        "--cluster-namespace=karmada-cluster", "--cluster-provider=p",
                                        "--cluster-region=r", "--cluster-zones=z1,z2", "--karmada-as=joiner",
                                        "--karmada-as-group=system:masters", "--karmada-as-uid=7", "--dry-run=false"});
  ASSERT_TRUE(joined.ok()) << joined;
  EXPECT_EQ(joined.out, "cluster(m1) is joined successfully\n");
  const Value cluster = fleet_.api().get("/apis/cluster.karmada.io/v1alpha1/clusters/m1").json;
  EXPECT_EQ(to_json(cluster["spec"]["zones"]), R"(["z1","z2"])");
  const std::string audit = fleet_.api().get("/shiplog/v1/audit?event=ObjectCreated&name=m1").body;
  EXPECT_NE(audit.find(R"("user":"joiner")"), std::string::npos) << audit;

  const std::string id = cluster["spec"]["id"].str();
  for (const std::string name : {"m1", "m2"}) {
    const Ran again = join(name, "m1");
    EXPECT_EQ(again.code, 1);
    EXPECT_TRUE(again.says("the cluster ID " + id + " or the cluster name " + name + " has been registered")) << again;
  }
  const Ran taken = join("m1", "other");
  EXPECT_EQ(taken.code, 1);
  EXPECT_TRUE(taken.says(" or the cluster name m1 has been registered")) << taken;
  EXPECT_EQ(fleet_.api("other").get(kRole).status, 404) << "nothing is made in a member that is refused";
}

TEST_F(Join, OfTwoJoinsUnderOneNameOneFailsAndLeavesTheOtherAlone_1_4_6) {
  fleet_.member("slow", {"--latency-ms=500"});
  const std::string program = SHIPLOG_BUILT "/shiplogctl";
  Process beside{{program, "join", "m1", "--cluster-kubeconfig", fleet_.kubeconfig("slow")},
                 {{"HOME", fleet_.path("home")}, {"KUBECONFIG", fleet_.kubeconfig("plane")}},
                 fleet_.path("beside.log")};
  // Stopped between its checks and what it writes to the control plane: it has ten requests to the slow member ahead.
  ASSERT_TRUE(eventually([&] { return fleet_.api("slow").get(kRole).status == 200; })) << read_file(beside.log());
  ASSERT_TRUE(beside.freeze());
  const Ran joined = join("m1", "m1");
  ASSERT_TRUE(joined.ok()) << joined;
  const std::string own = token();
  beside.thaw();
  ASSERT_TRUE(eventually([&] { return !beside.running(); })) << read_file(beside.log());
  EXPECT_NE(read_file(beside.log()).find("cluster(m1) already exist"), std::string::npos) << read_file(beside.log());
  EXPECT_EQ(token(), own);
  EXPECT_EQ(status_with(token()), 200);
  EXPECT_EQ(fleet_.api("slow").get("/api/v1/namespaces/karmada-cluster/secrets").json["items"].size(), 0U)
      << "its tokens are revoked";
  expect_propagates("mine");
}

TEST_F(Join, UnjoinWithForceRemovesFinalizers_1_5_1_1_5_4) {
  ASSERT_TRUE(join("m1", "m1").ok());
  expect_propagates("held");
  const std::string works = "/apis/work.karmada.io/v1alpha1/namespaces/karmada-es-m1/works";
  const std::string work = fleet_.api().get(works).json["items"][0]["metadata"]["name"].str();
  const Answer held = fleet_.api().patch(
      works + "/" + work, "json", json(R"([{"op":"add","path":"/metadata/finalizers/-","value":"example.com/hold"}])"));
  ASSERT_EQ(held.status, 200) << held;

  const Ran zero = fleet_.shiplogctl({"unjoin", "m1", "--wait=0s"});
  EXPECT_NE(zero.code, 0);
  EXPECT_TRUE(zero.says("--wait 0s must be a positive duration, e.g. 1m0s")) << zero;
  const Ran dry = fleet_.shiplogctl({"unjoin", "m1", "--dry-run", "--cluster-context=m1"});
  EXPECT_TRUE(dry.ok()) << dry;
  EXPECT_EQ(fleet_.api().get("/apis/cluster.karmada.io/v1alpha1/clusters/m1").status, 200);

  const Ran waited = fleet_.shiplogctl({"unjoin", "m1", "--wait=1s", "--cluster-kubeconfig", fleet_.kubeconfig("m1")});
  EXPECT_EQ(waited.code, 1);
  EXPECT_TRUE(waited.says("cluster(m1) still exists after 1 s")) << waited;
  const Ran forced = fleet_.shiplogctl({"unjoin", "m1", "--force", "--wait", "1s"});
  ASSERT_TRUE(forced.ok()) << forced;
  EXPECT_TRUE(forced.says("forcing cluster(m1) out")) << forced;
  EXPECT_EQ(fleet_.api().get("/apis/cluster.karmada.io/v1alpha1/clusters/m1").status, 404);
  EXPECT_EQ(fleet_.api().get(works + "/" + work).status, 404);
  EXPECT_EQ(fleet_.api().get("/api/v1/namespaces/karmada-es-m1").status, 404);
}

TEST_F(Join, UnjoinWithForceRemovesAMemberThatIsGone_1_5_4) {
  ASSERT_TRUE(join("m1", "m1").ok());
  expect_propagates("lost");
  fleet_.kill("m1");
  const Ran waited = fleet_.shiplogctl({"unjoin", "m1", "--wait=1s"});
  EXPECT_EQ(waited.code, 1);
  EXPECT_TRUE(waited.says("use --force if the member no longer exists")) << waited;
  const Ran forced = fleet_.shiplogctl({"unjoin", "m1", "--force", "--wait=1s"});
  ASSERT_TRUE(forced.ok()) << forced;
  EXPECT_TRUE(forced.says("run `kubectl delete clusterrole karmada-controller-manager:karmada-m1` there")) << forced;
  EXPECT_EQ(fleet_.api().get("/apis/cluster.karmada.io/v1alpha1/clusters/m1").status, 404);
  EXPECT_EQ(fleet_.api().get("/api/v1/namespaces/karmada-es-m1").status, 404);
  EXPECT_EQ(fleet_.api().get(kSecrets).json["items"].size(), 0U);
}

TEST_F(Join, UnjoinRefusesAClusterOfPullModeOrNone_1_5_2) {
  const Ran none = fleet_.shiplogctl({"unjoin", "m9"});
  EXPECT_EQ(none.code, 1);
  EXPECT_TRUE(none.says("no cluster object m9 found in karmada control Plane")) << none;
  fleet_.kubectl_ok(
      {"apply", "-f", "-"},
      "apiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\nmetadata: {name: pulled}\nspec: {syncMode: "
      "Pull}\n");
  const Ran pulled = fleet_.shiplogctl({"unjoin", "pulled", "--force"});
  EXPECT_EQ(pulled.code, 1);
  EXPECT_TRUE(
      pulled.says("cluster pulled is a Pull mode member cluster, please use command `unregister` if you want to "
                  "continue unregistering the cluster"))
      << pulled;
  EXPECT_EQ(fleet_.api().get("/apis/cluster.karmada.io/v1alpha1/clusters/pulled").status, 200);
}

// An earlier unjoin did not wait for the end, or somebody deleted the Cluster: the accounts have every right there.
TEST_F(Join, UnjoinWithForceRemovesTheAccountsThatAClusterHasLeft_1_5_5) {
  ASSERT_TRUE(join("m1", "m1").ok());
  fleet_.kubectl_ok({"delete", "cluster", "m1"});
  const std::string role = "/apis/rbac.authorization.k8s.io/v1/clusterroles/karmada-controller-manager:karmada-m1";
  const std::vector<std::string> unjoin = {"unjoin", "m1", "--cluster-kubeconfig", fleet_.kubeconfig("m1")};
  const Ran refused = fleet_.shiplogctl(unjoin);
  EXPECT_EQ(refused.code, 1);
  EXPECT_TRUE(
      refused.says("no cluster object m1 found in karmada control Plane; the accounts of a control plane that "
                   "joined the member by this name are still there"))
      << refused;
  EXPECT_EQ(fleet_.api("m1").get(role).status, 200) << "it may be another control plane's";
  std::vector<std::string> forced = unjoin;
  forced.emplace_back("--force");
  const Ran removed = fleet_.shiplogctl(forced);
  EXPECT_TRUE(removed.ok()) << removed;
  EXPECT_EQ(fleet_.api("m1").get(role).status, 404);
  EXPECT_TRUE(eventually([&] {
    return fleet_.api("m1").get("/api/v1/namespaces/karmada-cluster/serviceaccounts/karmada-m1").status == 404;
  }));
  EXPECT_EQ(fleet_.shiplogctl(forced).code, 1) << "nothing is left";
}

TEST_F(Join, AMemberBehindAProxyIsReachedThroughIt_1_4_5) {
  const testing::TestProxy proxy{{}};
  ClientTarget behind = context_of(read_kubeconfig({fleet_.kubeconfig("m1")}).value()).value().target;
  behind.url = "https://m1.test:" + behind.url.substr(behind.url.rfind(':') + 1);  // only the proxy knows this name
  behind.ca_pem.clear();
  behind.insecure = true;
  behind.proxy_url = proxy.url();
  ASSERT_TRUE(write_kubeconfig(fleet_.kubeconfig("behind"), "m1", behind));
  const Ran joined = join("m1", "behind");
  ASSERT_TRUE(joined.ok()) << joined;
  const Value spec = fleet_.api().get("/apis/cluster.karmada.io/v1alpha1/clusters/m1").json["spec"];
  EXPECT_EQ(spec["proxyURL"], Value{proxy.url()});
  EXPECT_EQ(spec["apiEndpoint"], Value{behind.url});
  expect_propagates("behind");
  const Ran rotated = fleet_.shiplogctl({"rotate-credentials", "m1", "--grace=0"});
  EXPECT_TRUE(rotated.ok()) << rotated;
  const Ran unjoined = fleet_.shiplogctl({"unjoin", "m1"});
  EXPECT_TRUE(unjoined.ok()) << unjoined;
  EXPECT_EQ(unjoined.err, "");
  EXPECT_EQ(fleet_.api("m1").get(kRole).status, 404);
}

TEST_F(Join, AMemberWhoseCertificateHasAnotherNameIsVerifiedByTheNameOfTheKubeconfig) {
  const testing::TestProxy proxy{{}};
  ClientTarget target = context_of(read_kubeconfig({fleet_.kubeconfig("m1")}).value()).value().target;
  target.url = "https://m1.test:" + target.url.substr(target.url.rfind(':') + 1);  // not in its certificate
  target.proxy_url = proxy.url();
  ASSERT_TRUE(write_kubeconfig(fleet_.kubeconfig("other"), "m1", target));
  const Ran refused = join("m1", "other");
  EXPECT_FALSE(refused.ok());
  EXPECT_TRUE(refused.says("m1.test")) << refused;
  target.server_name = "localhost";
  ASSERT_TRUE(write_kubeconfig(fleet_.kubeconfig("other"), "m1", target));
  const Ran joined = join("m1", "other");
  ASSERT_TRUE(joined.ok()) << joined;
  expect_propagates("named");
  const Ran proxied = fleet_.shiplogctl({"get", "configmap", "named", "-C", "m1"});
  EXPECT_TRUE(proxied.ok()) << proxied;
  const Ran rotated = fleet_.shiplogctl({"rotate-credentials", "m1", "--grace=0"});
  EXPECT_TRUE(rotated.ok()) << rotated;
  expect_propagates("rotated");
  const Ran unjoined = fleet_.shiplogctl({"unjoin", "m1"});
  EXPECT_TRUE(unjoined.ok()) << unjoined;
}

TEST_F(Join, RefusesTheControlPlaneItself) {  // 1.3.2
  const Ran refused = join("self", "plane");
  EXPECT_EQ(refused.code, 1);
  EXPECT_TRUE(refused.says("leads to the control plane itself")) << refused;
  EXPECT_EQ(fleet_.api().get(kSecrets).json["items"].size(), 0U);
}

TEST_F(Join, RotationRevokesTheOldTokensWithoutAnInterruption) {  // 1.14.13
  ASSERT_TRUE(join("m1", "m1").ok());
  expect_propagates("before");
  const std::string old = token();
  const std::string old_impersonator = token("m1-impersonator");
  const Ran rotated = fleet_.shiplogctl({"rotate-credentials", "m1", "--grace=1"});
  ASSERT_TRUE(rotated.ok()) << rotated;
  EXPECT_NE(token(), old);
  EXPECT_EQ(status_with(token()), 200);
  EXPECT_EQ(status_with(old), 401);
  EXPECT_EQ(status_with(old_impersonator), 401);
  EXPECT_TRUE((rotated.out + rotated.err).find(token()) == std::string::npos);
  expect_propagates("after");
  for (const std::string& credential : {old, token()}) expect_nowhere(credential);
  // The member was never considered unreachable.
  const Ran seen = fleet_.shiplogctl({"history", "cluster/m1", "--limit=0"});
  EXPECT_EQ(seen.out.find("ClusterNotReachable"), std::string::npos) << seen;
}

TEST_F(Join, RotationReplacesTheUsersOwnCredentials) {  // 1.4.4
  ASSERT_TRUE(join("m1", "m1").ok());
  // The user's certificate, as an earlier shiplogctl stored it.
  const auto of_user = [&](const std::string& field) {
    return fleet_.kubectl_ok({"config", "view", "--raw", "-o", "jsonpath={.users[0].user." + field + "}"}, {}, "m1");
  };
  Value secret = fleet_.api().get(kSecrets + "/m1").json;
  secret.edit("data").erase("token");
  secret.edit("data").set("client-certificate-data", of_user("client-certificate-data"));
  secret.edit("data").set("client-key-data", of_user("client-key-data"));
  ASSERT_EQ(fleet_.api().put(kSecrets + "/m1", secret).status, 200);
  const Ran rotated = fleet_.shiplogctl({"rotate-credentials", "m1", "--grace=0"});
  ASSERT_TRUE(rotated.ok()) << rotated;
  EXPECT_TRUE(rotated.says("cannot be revoked here")) << rotated;
  const Value now = fleet_.api().get(kSecrets + "/m1").json;
  EXPECT_FALSE(now["data"].contains("client-key-data"));
  EXPECT_EQ(status_with(token()), 200);
  EXPECT_EQ(now["metadata"]["ownerReferences"][0]["kind"], Value{"Cluster"});
}

TEST_F(Join, UnjoinRemovesEverything) {  // CL-13, 1.5.5
  ASSERT_TRUE(join("m1", "m1").ok());
  const std::string own = token();
  const Ran unjoined = fleet_.shiplogctl({"unjoin", "m1"});
  ASSERT_TRUE(unjoined.ok()) << unjoined;
  EXPECT_EQ(unjoined.err, "");
  EXPECT_EQ(fleet_.api().get(kSecrets).json["items"].size(), 0U);
  const ApiClient member = fleet_.api("m1");
  EXPECT_EQ(member.get(kRole).status, 404);
  EXPECT_TRUE(eventually([&] {
    return member.get("/api/v1/namespaces/karmada-cluster").status == 404 &&
           member.get(
                     "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/"
                     "karmada-controller-manager:karmada-m1")
                   .status == 404;
  }));
  EXPECT_EQ(status_with(own), 401);
  EXPECT_TRUE(join("m1", "m1").ok()) << "and it can join again";
}

TEST_F(Join, UnjoinLeavesWhatAnotherControlPlaneUses) {  // 1.5.5
  ASSERT_TRUE(join("m1", "m1").ok());
  fleet_.kubectl_ok({"create", "serviceaccount", "karmada-elsewhere", "-n", "karmada-cluster"}, {}, "m1");
  ASSERT_TRUE(fleet_.shiplogctl({"unjoin", "m1"}).ok());
  const ApiClient member = fleet_.api("m1");
  const std::string accounts = "/api/v1/namespaces/karmada-cluster/serviceaccounts/";
  EXPECT_TRUE(eventually([&] { return member.get(accounts + "karmada-m1").status == 404; }));
  EXPECT_EQ(member.get(accounts + "karmada-impersonator").status, 200);
  EXPECT_EQ(member.get(accounts + "karmada-elsewhere").status, 200);
}

/// A kubeconfig whose user's credentials are what `script` prints.
class JoinWithPlugin : public Join {
 protected:
  std::string plugin_kubeconfig(const std::string& process, const std::string& script) {
    std::filesystem::create_directory(fleet_.path("bin"));
    const std::string program = fleet_.path("bin/login-" + process);
    std::ofstream{program} << "#!/bin/sh\n" << script;
    std::filesystem::permissions(program, std::filesystem::perms::owner_all);
    Value config = json(fleet_.kubectl_ok({"config", "view", "--raw", "-o", "json"}, {}, process));
    config.edit("users").edit_items().front().set(
        "user", json(R"({"exec":{"apiVersion":"client.authentication.k8s.io/v1","command":"bin/login-)" + process +
                     R"(","interactiveMode":"Never","env":[{"name":"KIND","value":"ExecCredential"}]}})"));
    const std::string path = fleet_.path("plugin-" + process + ".kubeconfig");
    std::ofstream{path} << to_json(config);
    return path;
  }
  /// Prints the certificate and the key of the process's own kubeconfig.
  std::string prints_certificate(const std::string& process) {
    const auto own = context_of(read_kubeconfig({fleet_.kubeconfig(process)}).value()).value().target;
    const Value status =
        Value::object({{"clientCertificateData", own.certificate_pem}, {"clientKeyData", own.key_pem}});
    return "cat <<END\n{\"apiVersion\":\"client.authentication.k8s.io/v1\",\"kind\":\"$KIND\",\"status\":" +
           to_json(status) + "}\nEND\n";
  }
};

TEST_F(JoinWithPlugin, CredentialsOfAProgramServeTheMemberAndTheControlPlane) {
  const std::string member = plugin_kubeconfig("m1", prints_certificate("m1"));
  const std::string plane = plugin_kubeconfig("plane", prints_certificate("plane"));
  const Ran joined = fleet_.shiplogctl({"--kubeconfig", plane, "join", "m1", "--cluster-kubeconfig", member});
  ASSERT_TRUE(joined.ok()) << joined;
  expect_propagates("through-a-plugin");
  const Ran failing = fleet_.shiplogctl(
      {"--kubeconfig", plugin_kubeconfig("plane", "echo 'sign in first' >&2; exit 3\n"), "get", "clusters"});
  EXPECT_FALSE(failing.ok());
  EXPECT_TRUE(failing.says("sign in first")) << failing;
  EXPECT_TRUE(failing.says("failed with exit code 3")) << failing;
}

TEST_F(JoinWithPlugin, AProgramIsRunAgainWhenItsTokenIsNoLongerAccepted) {
  ASSERT_TRUE(join("m1", "m1").ok());
  fleet_.kubectl_ok({"create", "serviceaccount", "reader"});
  fleet_.kubectl_ok(
      {"create", "clusterrolebinding", "reader", "--clusterrole=cluster-admin", "--serviceaccount=default:reader"});
  std::string token = fleet_.kubectl_ok({"create", "token", "reader"});
  while (token.ends_with('\n')) token.pop_back();
  const std::string runs = fleet_.path("runs");
  const Ran listed = fleet_.shiplogctl(
      {"--kubeconfig",
       plugin_kubeconfig("plane", "echo run >>" + runs + "; t=outdated; [ $(wc -l <" + runs + ") = 1 ] || t=" + token +
                                      "\necho '{\"apiVersion\":\"client.authentication.k8s.io/v1\",\"kind\":"
                                      "\"ExecCredential\",\"status\":{\"token\":\"'$t'\"}}'\n"),
       "get", "clusters"});
  ASSERT_TRUE(listed.ok()) << listed;
  EXPECT_TRUE(listed.says("m1")) << listed;
  EXPECT_EQ(read_file(runs), "run\nrun\n");
}

}  // namespace
}  // namespace shiplog::e2e
