// Pull members in network namespaces from which connections lead out only: partitions, a killed agent, an expired
// certificate, a replaced control plane. The fleet converges, and nothing is applied twice.
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "events/base/json.h"
#include "events/base/system.h"
#include "services/http/kubeconfig.h"
#include "services/http/tls.h"
#include "tests/support/fleet.h"
#include "tests/support/site.h"

namespace shiplog::e2e {
namespace {

const std::string kCluster = "/apis/cluster.karmada.io/v1alpha1/clusters/p1";
const std::string kDeployments = "/apis/apps/v1/namespaces/default/deployments/";
const std::string kMaps = "/api/v1/namespaces/default/configmaps/";
const std::string kName = "plane.test";
const std::string kOtherAddress = "10.78.0.1";

std::string config_map(const std::string& name, const std::string& text) {
  return "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + name +
         ", namespace: default, labels: {to: p1}}\ndata: {k: \"" + text + "\"}\n";
}

std::string deployment(int replicas) {
  return "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: default, labels: {to: p1}}\n"
         "spec:\n  replicas: " +
         std::to_string(replicas) +
         "\n  selector: {matchLabels: {app: web}}\n  template:\n    metadata: {labels: {app: web}}\n"
         "    spec: {containers: [{name: c, image: nginx}]}\n";
}

const std::string kPolicy =
    "apiVersion: policy.karmada.io/v1alpha1\nkind: PropagationPolicy\nmetadata: {name: p1, namespace: default}\nspec:\n"
    "  resourceSelectors:\n"
    "  - {apiVersion: v1, kind: ConfigMap, labelSelector: {matchLabels: {to: p1}}}\n"
    "  - {apiVersion: apps/v1, kind: Deployment, labelSelector: {matchLabels: {to: p1}}}\n"
    "  placement: {clusterAffinity: {clusterNames: [p1]}}\n";

/// A control plane, and in a site a trial member and its agent.
class PullNetwork : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const std::string missing = PrivateNetwork::missing(); !missing.empty()) {
      if (std::getenv("CI") == nullptr) GTEST_SKIP() << missing;  // NOLINT(concurrency-mt-unsafe): one thread
      FAIL() << missing;
    }
    network_.emplace();
    ASSERT_FALSE(HasFailure()) << "what follows must not happen outside";
    site_.emplace();
    PrivateNetwork::add_address(kOtherAddress);
    network_->resolve(kName, site_->outside());
    fleet_.emplace();
    serve(site_->outside(), "0");
    const Site::Inside inside{*site_};
    fleet_->member("p1", {"--listen=" + site_->address() + ":0"});
  }

  /// The same data each time.
  void serve(const std::string& address, const std::string& port) {
    fleet_->serve("plane", {"--listen=" + address + ":" + port, "--tls-san=" + kName + "," + kOtherAddress});
  }
  static std::string port_in(const std::string& kubeconfig) {
    const std::string url = context_of(read_kubeconfig({kubeconfig}).value()).value().target.url;
    return url.substr(url.rfind(':') + 1);
  }
  std::string port() const { return port_in(fleet_->kubeconfig("plane")); }

  /// As in the guide. Under its name, which may lead elsewhere later.
  std::vector<std::string> register_command(const std::vector<std::string>& more = {}) {
    std::string token = fleet_->shiplogctl_ok({"token", "create"});
    token.erase(token.find_last_not_of('\n') + 1);
    std::vector<std::string> words{"register",          kName + ":" + port(),
                                   "--token=" + token,  "--discovery-token-unsafe-skip-ca-verification",
                                   "--cluster-name=p1", "--agent-kubeconfig-out=" + fleet_->kubeconfig("agent-p1")};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
  void start_agent() {
    const Site::Inside inside{*site_};
    fleet_->agent("p1");
  }
  /// Registers the member; its agent works, and its tunnel is used.
  void begin() {
    const std::vector<std::string> words = register_command();
    {
      const Site::Inside inside{*site_};
      fleet_->shiplogctl_ok(words, "p1");
    }
    start_agent();
    ASSERT_TRUE(eventually([&] { return ready() == "True"; })) << agent_log();
    fleet_->kubectl_ok({"apply", "-f", "-"},
                       kPolicy + config_map("a", "1") + config_map("b", "1") + config_map("c", "1") + deployment(2));
    ASSERT_TRUE(eventually([&] {
      return text_of("a") == "1" && text_of("b") == "1" && text_of("c") == "1" && ready_replicas() == 2;
    })) << agent_log();
    ASSERT_TRUE(eventually([&] { return proxied() == 200; })) << agent_log();
  }

  std::string ready() {
    const Value cluster = fleet_->api().get(kCluster).json;
    for (const Value& each : cluster["status"]["conditions"].items()) {
      if (each["type"].as_string() == "Ready") return each["status"].str();
    }
    return "";
  }
  int proxied() { return fleet_->api().get(kCluster + "/proxy/api/v1/namespaces/kube-system").status; }
  std::string agent_log() { return fleet_->log_tail("agent-p1"); }
  bool logged(const std::string& words) {
    return eventually([&] { return read_file(fleet_->path("agent-p1.log")).find(words) != std::string::npos; });
  }
  Answer in_member(const std::string& target) {
    const Site::Inside inside{*site_};
    return fleet_->api("p1").get(target);
  }
  std::string text_of(const std::string& map) { return in_member(kMaps + map).json["data"]["k"].str(); }
  /// As the control plane has it.
  int64_t ready_replicas() { return fleet_->api().get(kDeployments + "web").json["status"]["readyReplicas"].as_int(); }
  int64_t generation() { return in_member(kDeployments + "web").json["metadata"]["generation"].as_int(); }
  /// How often the member's ConfigMap was written, by the member's own record. An agent that was killed before it has
  /// reported a create tries it again, which the member refuses.
  size_t writes(const std::string& map) {
    const Value entries = in_member("/shiplog/v1/audit?kind=configmap&namespace=default&name=" + map).json["items"];
    size_t accepted = 0;
    for (const Value& entry : entries.items()) accepted += entry["result"].as_string() == "accepted" ? 1U : 0U;
    return accepted;
  }
  bool all_applied() {
    const Value bindings = fleet_->api().get("/apis/work.karmada.io/v1alpha2/namespaces/default/resourcebindings").json;
    for (const Value& binding : bindings["items"].items()) {
      bool applied = false;
      for (const Value& each : binding["status"]["conditions"].items()) {
        applied = applied || (each["type"].as_string() == "FullyApplied" && each["status"].as_string() == "True");
      }
      if (!applied) return false;
    }
    return bindings["items"].size() > 0;
  }

  std::optional<PrivateNetwork> network_;
  std::optional<Site> site_;
  std::optional<Fleet> fleet_;
};

TEST_F(PullNetwork, NothingLeadsInButTheTunnel) {
  begin();
  const int port = std::stoi(port_in(fleet_->kubeconfig("p1")));
  EXPECT_FALSE(accepts_connections(site_->address(), port));
  site_->let_in(true);
  EXPECT_TRUE(accepts_connections(site_->address(), port)) << "it is the filter that keeps them out";
  site_->let_in(false);
  EXPECT_FALSE(accepts_connections(site_->address(), port));
  EXPECT_EQ(proxied(), 200);
}

TEST_F(PullNetwork, AfterAPartitionEachChangeIsAppliedOnce) {
  begin();
  const int64_t before = generation();
  site_->cut();
  fleet_->kubectl_ok({"apply", "-f", "-"}, config_map("a", "2"));
  fleet_->kubectl_ok({"apply", "-f", "-"}, config_map("a", "3") + config_map("d", "1") + deployment(3));
  fleet_->kubectl_ok({"delete", "configmap", "b"});
  EXPECT_TRUE(eventually([&] { return ready() == "Unknown"; }, std::chrono::seconds{90}));
  EXPECT_EQ(proxied(), 503);
  EXPECT_EQ(text_of("a"), "1");
  EXPECT_EQ(in_member(kDeployments + "web").json["status"]["readyReplicas"].as_int(), 2) << "the member runs on";

  site_->mend();
  EXPECT_TRUE(eventually([&] { return text_of("a") == "3" && text_of("d") == "1"; })) << agent_log();
  EXPECT_TRUE(eventually([&] { return in_member(kMaps + "b").status == 404; })) << agent_log();
  EXPECT_TRUE(eventually([&] { return ready_replicas() == 3; })) << agent_log();
  EXPECT_TRUE(eventually([&] { return ready() == "True"; })) << agent_log();
  EXPECT_TRUE(eventually([&] { return proxied() == 200; })) << agent_log();
  EXPECT_TRUE(eventually([&] { return all_applied(); }));
  EXPECT_EQ(writes("a"), 2U) << "of the two changes the last";
  EXPECT_EQ(writes("b"), 2U);
  EXPECT_EQ(writes("c"), 1U);
  EXPECT_EQ(writes("d"), 1U);
  EXPECT_EQ(generation(), before + 1);
}

TEST_F(PullNetwork, AnAgentKilledWhileItAppliesAppliesTheRestOnce) {
  begin();
  constexpr int kMost = 150;
  std::string many;
  for (int i = 0; i < kMost; ++i) many += config_map("many-" + std::to_string(i), "1");
  write_file(fleet_->path("many.yaml"), many);
  Process& applying = fleet_->kubectl_beside({"apply", "-f", fleet_->path("many.yaml")});
  const auto there = [&] { return in_member(kMaps + "?labelSelector=to=p1").json["items"].size(); };
  for (const size_t after : {20U, 60U}) {
    ASSERT_TRUE(eventually([&] { return there() > after; })) << agent_log();
    fleet_->kill("agent-p1");
    start_agent();
  }
  EXPECT_TRUE(eventually([&] { return !applying.running(); }));
  EXPECT_TRUE(eventually([&] { return there() == kMost + 3; })) << there() << agent_log();
  EXPECT_TRUE(eventually([&] { return all_applied(); }));
  for (int i = 0; i < kMost; ++i) EXPECT_EQ(writes("many-" + std::to_string(i)), 1U) << i;
}

TEST_F(PullNetwork, AnExpiredCertificateIsRenewedAndWhatWasMissedIsAppliedOnce) {
  begin();
  const int64_t before = generation();
  fleet_->kill("agent-p1");
  const UtcMillis now = SystemClock{}.now();
  const KeyPair authority{read_file(fleet_->path("plane/pki/ca.crt")), read_file(fleet_->path("plane/pki/ca.key"))};
  const auto issued = issue_client_certificate(authority, "system:karmada:agent:p1", {"system:karmada:agents"},
                                               Validity{now + Millis{-7'200'000}, now + Millis{-60'000}});
  ASSERT_TRUE(issued) << issued.error().message;
  const std::string access = fleet_->kubeconfig("agent-p1");
  ClientTarget target = context_of(read_kubeconfig({access}).value()).value().target;
  target.certificate_pem = issued.value().certificate_pem;
  target.key_pem = issued.value().key_pem;
  ASSERT_TRUE(write_kubeconfig(access, "p1", target));
  start_agent();
  EXPECT_TRUE(logged("the certificate for the control plane expired at")) << agent_log();
  fleet_->kubectl_ok({"apply", "-f", "-"}, config_map("a", "2") + deployment(3));

  // The token alone does not suffice for a registered cluster.
  const std::vector<std::string> again = register_command({"--renew"});
  std::optional<Process> renewing;
  {
    const Site::Inside inside{*site_};
    EXPECT_TRUE(fleet_->shiplogctl(register_command(), "p1").says("add --renew"));
    std::vector<std::string> command{SHIPLOGCTL};
    command.insert(command.end(), again.begin(), again.end());
    renewing.emplace(command, Environment{{"HOME", fleet_->path("home")}, {"KUBECONFIG", fleet_->kubeconfig("p1")}},
                     fleet_->path("renew.log"));
  }
  const std::string approve = "kubectl certificate approve ";
  std::string said;
  ASSERT_TRUE(eventually([&] {
    said = read_file(renewing->log());
    return said.find(approve) != std::string::npos && said.ends_with('\n');
  })) << said;
  EXPECT_EQ(text_of("a"), "1");
  const std::string request = said.substr(said.find(approve) + approve.size());
  fleet_->kubectl_ok({"certificate", "approve", request.substr(0, request.find('\n'))});
  ASSERT_TRUE(eventually([&] { return !renewing->running(); }));
  EXPECT_NE(read_file(renewing->log()).find("has a new certificate"), std::string::npos) << read_file(renewing->log());

  // The agent reads the file by itself.
  EXPECT_TRUE(eventually([&] { return text_of("a") == "2" && ready_replicas() == 3; })) << agent_log();
  EXPECT_TRUE(eventually([&] { return proxied() == 200; })) << agent_log();
  EXPECT_TRUE(eventually([&] { return all_applied(); }));
  EXPECT_EQ(writes("a"), 2U);
  EXPECT_EQ(writes("b"), 1U);
  EXPECT_EQ(writes("c"), 1U);
  EXPECT_EQ(generation(), before + 1);
}

TEST_F(PullNetwork, AReplacedControlPlaneIsFollowedAlsoToAnotherAddress) {
  begin();
  const int64_t before = generation();
  const std::string same = port();
  fleet_->kill("plane");
  serve(site_->outside(), same);
  fleet_->kubectl_ok({"apply", "-f", "-"}, config_map("a", "2"));
  EXPECT_TRUE(eventually([&] { return text_of("a") == "2"; })) << agent_log();
  EXPECT_TRUE(eventually([&] { return proxied() == 200; })) << agent_log();

  fleet_->kill("plane");
  network_->resolve(kName, kOtherAddress);
  serve(kOtherAddress, same);
  fleet_->kubectl_ok({"apply", "-f", "-"}, config_map("b", "2"));
  EXPECT_TRUE(eventually([&] { return text_of("b") == "2"; })) << agent_log();
  EXPECT_TRUE(eventually([&] { return proxied() == 200; })) << agent_log();
  EXPECT_TRUE(eventually([&] { return ready() == "True" && all_applied(); }));
  EXPECT_EQ(writes("a"), 2U);
  EXPECT_EQ(writes("b"), 2U);
  EXPECT_EQ(writes("c"), 1U);
  EXPECT_EQ(generation(), before);
}

}  // namespace
}  // namespace shiplog::e2e
