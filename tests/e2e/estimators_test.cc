// The estimators of members (S-71 to S-74) with real processes: shiplogd is the client, `shiplogd estimator` the
// server.
#include <gtest/gtest.h>

#include "events/base/system.h"
#include "services/http/tls.h"
#include "tests/support/fleet.h"

namespace shiplog::e2e {
namespace {

const std::string kDeployments = "/apis/apps/v1/namespaces/default/deployments";
const std::string kClusters = "/apis/cluster.karmada.io/v1alpha1/clusters/";

class Estimators : public ::testing::Test {
 protected:
  /// The resource summaries of both members are equal; only the estimators know which pods the nodes accept.
  void SetUp() override {
    serve();
    for (const char* name : {"member1", "member2"}) {
      fleet_.join(name, {"--nodes=2"});
      point(name, fleet_.estimator(name));
    }
    EXPECT_EQ(api_->post("/apis/policy.karmada.io/v1alpha1/namespaces/default/propagationpolicies",
                         json(R"({"metadata":{"name":"all"},"spec":{
                           "resourceSelectors":[{"apiVersion":"apps/v1","kind":"Deployment"}],
                           "placement":{"clusterAffinity":{"clusterNames":["member1","member2"]},
                             "replicaScheduling":{"replicaSchedulingType":"Divided",
                               "replicaDivisionPreference":"Weighted",
                               "weightPreference":{"dynamicWeight":"AvailableReplicas"}}}}})"))
                  .status,
              201);
  }
  void serve(const std::vector<std::string>& more = {}) {
    std::vector<std::string> options = {"--journal=sqlite:" + fleet_.path("journal.db"), "--enable-scheduler-estimator",
                                        "--scheduler-estimator-timeout=2000"};
    options.insert(options.end(), more.begin(), more.end());
    fleet_.serve("plane", options);
    api_ = std::make_unique<ApiClient>(fleet_.kubeconfig("plane"));
  }
  void point(const std::string& cluster, const std::string& address) {
    const Answer response = api_->patch(
        kClusters + cluster, "merge",
        Value::object({{"metadata", Value::object({{"annotations",
                                                    Value::object({{"estimator.shiplog.io/address", address}})}})}}));
    EXPECT_EQ(response.status, 200) << response;
  }
  /// A Deployment whose pods request `cpu` and, if it is not empty, the node of this name.
  void make(const std::string& name, int64_t replicas, const std::string& cpu, const std::string& node = "") {
    Value object = json(R"({"apiVersion":"apps/v1","kind":"Deployment","spec":{"selector":{"matchLabels":{"app":"x"}},
      "template":{"metadata":{"labels":{"app":"x"}},"spec":{"containers":[{"name":"main","image":"nginx:1.27"}]}}}})");
    object.edit("metadata").set("name", name);
    Value& spec = object.edit("spec");
    spec.set("replicas", replicas);
    Value& pod = spec.edit("template").edit("spec");
    pod.edit("containers").edit_items().front().edit("resources").edit("requests").set("cpu", cpu);
    if (!node.empty()) pod.edit("nodeSelector").set("kubernetes.io/hostname", node);
    const Answer made = api_->post(kDeployments, object);
    EXPECT_EQ(made.status, 201) << made;
  }
  /// The explanations of its newest placement decisions.
  std::string explained(const std::string& name) {
    return api_->get("/shiplog/v1/decisions?kind=resourcebinding&name=" + name + "-deployment").body;
  }
  void expect_explained(const std::string& name, const std::string& text) {
    EXPECT_TRUE(eventually([&] { return explained(name).find(text) != std::string::npos; }))
        << text << " is not in " << explained(name) << "\n"
        << fleet_.log_tail("plane");
  }

  Fleet fleet_;
  std::unique_ptr<ApiClient> api_;
};

TEST_F(Estimators, TheSmallerEstimateCounts_S_63_S_71) {
  // Both have two nodes with eight cores. Only member2 has the requested node.
  make("pinned", 4, "1", "member2-node-1");
  expect_placed(*api_, "pinned", "member2:4");
  expect_explained("pinned", "estimators say: member1 0, member2 8");
  // 16 cores in total, but each node has capacity for one pod with five: two, not three.
  make("wide", 3, "5");
  expect_explained("wide", "estimators say: member1 2, member2 ");
  for (const char* name : {"member1", "member2"}) fleet_.kill(std::string{"estimator-"} + name);
  expect_replay_equals(fleet_, *api_, "sqlite:" + fleet_.path("journal.db"));
}

TEST_F(Estimators, AreCalledInTheTraceOfTheRequest) {
  fleet_.kill("estimator-member1");
  point("member1", fleet_.estimator("member1", {"--log-level=debug"}));
  make("traced", 2, "1");
  expect_placed(*api_, "traced", "member1:1 member2:1");
  const Value rows = api_->get("/shiplog/v1/audit?event=ObjectCreated&name=traced").json["items"];
  ASSERT_EQ(rows.size(), 1U);
  const std::string logged = "event=estimator.called method=MaxAvailableReplicas trace_id=" + rows[0]["trace"].str();
  EXPECT_TRUE(eventually([&] { return fleet_.log_tail("estimator-member1").find(logged) != std::string::npos; }))
      << logged << "\n"
      << fleet_.log_tail("estimator-member1");
}

TEST_F(Estimators, OneWithoutAnAnswerDisablesAll_S_72) {  // S-74, TRAP-11, 5.5.2
  fleet_.kill("estimator-member1");
  make("pinned", 4, "1", "member2-node-1");
  expect_explained("pinned", "estimators are left aside: that of member1 gave no answer");
  expect_placed(*api_, "pinned", "member1:2 member2:2");

  // The estimator of another cluster counts as none.
  point("member1", read_file(fleet_.path("estimator-member2.address")));
  make("other", 4, "1", "member2-node-1");
  expect_explained("other", "this is the estimator of cluster member2, not of member1");

  // The estimator is available again, and the control plane restarts after a kill.
  point("member1", fleet_.estimator("member1"));
  fleet_.kill("plane");
  serve();
  make("again", 2, "1", "member2-node-2");
  expect_placed(*api_, "again", "member2:2");
  expect_replay_equals(fleet_, *api_, "sqlite:" + fleet_.path("journal.db"));
}

TEST_F(Estimators, OverTlsWithCertificatesOnBothSides_S_71) {
  const Validity validity = valid_for_days(SystemClock{}.now(), 1);
  const KeyPair authority = make_authority("estimators", validity).value();
  const KeyPair server =
      issue_server_certificate(authority, "estimator", {.dns = {}, .ips = {"127.0.0.1"}}, validity).value();
  const KeyPair client = issue_client_certificate(authority, "scheduler", {}, validity).value();
  const auto file = [&](const std::string& name, const std::string& pem) {
    write_file(fleet_.path(name), pem);
    return fleet_.path(name);
  };
  const std::string ca = file("ca.pem", authority.certificate_pem);
  const std::vector<std::string> taking = {"--grpc-auth-cert-file=" + file("server.pem", server.certificate_pem),
                                           "--grpc-auth-key-file=" + file("server.key", server.key_pem),
                                           "--grpc-client-ca-file=" + ca};
  const std::vector<std::string> showing = {
      "--scheduler-estimator-cert-file=" + file("client.pem", client.certificate_pem),
      "--scheduler-estimator-key-file=" + file("client.key", client.key_pem)};
  for (const char* name : {"member1", "member2"}) {
    fleet_.kill(std::string{"estimator-"} + name);
    point(name, fleet_.estimator(name, taking));
  }
  const auto again = [&](const std::vector<std::string>& options) {
    EXPECT_EQ(fleet_.process("plane").terminate(), 0);
    serve(options);
  };
  make("plain", 2, "1");
  expect_explained("plain", "gave no answer");

  auto trusting = showing;
  trusting.push_back("--scheduler-estimator-ca-file=" + ca);
  again(trusting);
  make("trusted", 2, "1");
  expect_explained("trusted", "estimators say: member1 ");

  again({"--scheduler-estimator-ca-file=" + ca});
  make("nobody", 2, "1");
  expect_explained("nobody", "gave no answer");

  // Without verification on the server's side no client needs a certificate.
  auto lenient = taking;
  lenient.push_back("--insecure-skip-grpc-client-verify");
  for (const char* name : {"member1", "member2"}) {
    fleet_.kill(std::string{"estimator-"} + name);
    point(name, fleet_.estimator(name, lenient));
  }
  make("lenient", 2, "1");
  expect_explained("lenient", "estimators say: member1 ");
  for (const char* name : {"member1", "member2"}) {
    fleet_.kill(std::string{"estimator-"} + name);
    point(name, fleet_.estimator(name, taking));
  }

  auto careless = showing;
  careless.push_back("--insecure-skip-estimator-verify");
  again(careless);
  make("careless", 2, "1");
  expect_explained("careless", "estimators say: member1 ");

  const KeyPair other = make_authority("others", validity).value();
  auto mistaken = showing;
  mistaken.push_back("--scheduler-estimator-ca-file=" + file("other.pem", other.certificate_pem));
  again(mistaken);
  make("mistaken", 2, "1");
  expect_explained("mistaken", "gave no answer");
}

// 5.5.5, S-73: the gate is needed at the estimator, which looks at the quotas, and in the control plane, which names
// the namespace in a binding's requirements.
TEST_F(Estimators, ResourceQuotasOfAMemberLimitWhatFitsWithTheGate_5_5_5_S_73) {
  const std::string quota =
      "apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: few, namespace: default}\nspec: {hard: "
      "{requests.cpu: 4}}\n";
  fleet_.kubectl_ok({"apply", "-f", "-"}, quota, "member1");
  EXPECT_TRUE(eventually([&] {
    return fleet_.api("member1").get("/api/v1/namespaces/default/resourcequotas/few").json["status"]["used"].size() ==
           1;
  }));
  const std::string gate = "--feature-gates=ResourceQuotaEstimate=true";
  const auto expect_ready = [&](const std::string& name, int64_t in_each) {
    for (const char* member : {"member1", "member2"}) {
      EXPECT_TRUE(eventually([&] {
        return fleet_.api(member).get(kDeployments + "/" + name).json["status"]["readyReplicas"].as_int() == in_each;
      })) << name
          << " in " << member;
    }
  };
  const auto named_namespace = [&](const std::string& name) {
    return api_->get("/apis/work.karmada.io/v1alpha2/namespaces/default/resourcebindings/" + name + "-deployment")
        .json["spec"]["replicaRequirements"]["namespace"]
        .str();
  };

  make("without", 4, "1");
  expect_placed(*api_, "without", "member1:2 member2:2");
  expect_explained("without", "estimators say: member1 16, member2 16");
  EXPECT_EQ(named_namespace("without"), "");
  expect_ready("without", 2);

  for (const char* member : {"member1", "member2"}) {
    fleet_.kill(std::string{"estimator-"} + member);
    point(member, fleet_.estimator(member, {gate}));
  }
  make("halfway", 2, "1");
  expect_explained("halfway", "estimators say: member1 14, member2 14");
  expect_ready("halfway", 1);

  EXPECT_EQ(fleet_.process("plane").terminate(), 0);
  serve({gate});
  make("with", 5, "1");
  expect_explained("with", "estimators say: member1 1, member2 13");
  expect_placed(*api_, "with", "member1:1 member2:4");
  EXPECT_EQ(named_namespace("with"), "default");
  expect_replay_equals(fleet_, *api_, "sqlite:" + fleet_.path("journal.db"));
}

TEST_F(Estimators, AnAnswerKnowsThePodsThatHaveJustBecomeReady) {
  make("first", 4, "1");
  expect_explained("first", "estimators say: member1 16, member2 16");
  EXPECT_TRUE(eventually([&] {
    return api_->get(kDeployments + "/first").json["status"]["readyReplicas"].as_int() == 4;
  })) << "the control plane has seen them";
  make("second", 2, "1");
  expect_explained("second", "estimators say: member1 14, member2 14");
}

TEST_F(Estimators, WhatIsPromisedUsesRoomOfTheEstimateWithTheGate_M_9) {
  EXPECT_EQ(fleet_.process("plane").terminate(), 0);
  serve({"--feature-gates=SchedulingOvercommitProtection=true"});
  // What is placed is not dispatched, so no member has pods of it.
  const Answer suspended = api_->patch("/apis/policy.karmada.io/v1alpha1/namespaces/default/propagationpolicies/all",
                                       "merge", json(R"({"spec":{"suspension":{"dispatching":true}}})"));
  EXPECT_EQ(suspended.status, 200) << suspended;
  make("first", 4, "1");
  expect_placed(*api_, "first", "member1:2 member2:2");
  expect_explained("first", "estimators say: member1 16, member2 16");
  make("second", 2, "1");
  expect_explained("second", "estimators say: member1 14, member2 14");
}

}  // namespace
}  // namespace shiplog::e2e
