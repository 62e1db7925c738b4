// Which requests of agents for certificates are approved (1.8).
#include <functional>
#include <string>

#include "events/base/base64.h"
#include "events/state/agent_identity.h"
#include "services/roles/agent_csr_approving/decide.h"
#include "services/roles/agent_csr_approving/role.h"
#include "tests/support/fake_task.h"
#include "tests/support/given.h"

namespace shiplog::agent_csr_approving {
namespace {

using given::FakeTask;
using given::History;
using given::json;

const ObjectKey kRequest{kRequests, "", "csr"};
const ObjectKey kCluster{type::kCluster, "", "m1"};
const ObjectKey kToken{type::kSecret, "kube-system", "bootstrap-token-abcdef"};

// Made once, for system:karmada:agent:m1 of the group system:karmada:agents.
const std::string kPem =
    "-----BEGIN CERTIFICATE REQUEST-----\n"
    "MIH8MIGkAgEAMEIxHjAcBgNVBAoMFXN5c3RlbTprYXJtYWRhOmFnZW50czEgMB4G\n"
    "A1UEAwwXc3lzdGVtOmthcm1hZGE6YWdlbnQ6bTEwWTATBgcqhkjOPQIBBggqhkjO\n"
    "PQMBBwNCAATnPChbu7mmUGYWHnfH5kVSYnI1ebvl1p6yxFqVhikrRiVRI+f51ZqQ\n"
    "thhEJbnqDLERhy1ulzD4IqE/0qviIKyooAAwCgYIKoZIzj0EAwIDRwAwRAIgLctJ\n"
    "/Ynw/5vuvB9++In8guXBgOy0W6jsB5igVK0j7+YCIEQZoz/vw+lfV8cV8Df+x9Y9\n"
    "Jf7aByhKwVEcFX5N4iof\n"
    "-----END CERTIFICATE REQUEST-----\n";

CertificateRequest names(const std::string& common_name = agent_identity::user_of("m1")) {
  return {.common_name = common_name,
          .organizations = {agent_identity::kGroup},
          .dns_names = {},
          .ip_addresses = {},
          .emails = {},
          .uris = {}};
}

class AgentCsrApproving : public ::testing::Test {
 protected:
  AgentCsrApproving() {
    history_.object({type::kNamespace, "", "kube-system"}, "{}");
    grant("clusteragent", agent_identity::kTokenGroup);
    grant("selfclusteragent", agent_identity::kGroup);
    history_.object(kToken, "{}");
  }

  void grant(const std::string& subresource, const std::string& group) {
    history_.put({rbac::kClusterRole, "", subresource},
                 json(R"({"rules":[{"verbs":["create"],"apiGroups":["certificates.k8s.io"],
                     "resources":["certificatesigningrequests/)" +
                      subresource + R"("]}]})"));
    history_.put({rbac::kClusterRoleBinding, "", subresource},
                 json(R"({"roleRef":{"kind":"ClusterRole","name":")" + subresource +
                      R"("},"subjects":[{"kind":"Group","name":")" + group + R"("}]})"));
  }

  static Value request_of(const std::string& user, const std::string& group) {
    Value value = json(R"({"spec":{"signerName":"kubernetes.io/kube-apiserver-client",
        "usages":["digital signature","key encipherment","client auth"]}})");
    value.edit("spec").set("request", base64_encode(kPem));
    value.edit("spec").set("username", user);
    value.edit("spec").set("groups", Value::array({group}));
    return History::named(kRequest, std::move(value));
  }
  static Value of_token() { return request_of("system:bootstrap:abcdef", agent_identity::kTokenGroup); }
  static Value of_agent() { return request_of(agent_identity::user_of("m1"), agent_identity::kGroup); }

  /// The condition's message once it is decided; empty: it stays pending.
  std::string approved(const Value& request, const CertificateRequest& inspected = names()) {
    history_.put(kRequest, request);
    const auto read = [&](const std::string&) { return std::optional{inspected}; };
    history_.settle(
        [&](const State& state, const ObjectKey& key, UtcMillis now) { return decide(state, key, now, read); },
        kRequest);
    const Value& condition = history_.state().value_of(kRequest)["status"]["conditions"][0];
    std::string message = condition["message"].str();
    if (!message.empty()) {
      EXPECT_EQ(condition["type"].str(), "Approved");
      EXPECT_EQ(condition["reason"].str(), "AutoApproved");
    }
    history_.remove(kRequest);
    return message;
  }

  History history_;
};

constexpr const char* kFirst = "Auto approving karmada agent certificate after SubjectAccessReview.";
constexpr const char* kNext = "Auto approving self karmada agent certificate after SubjectAccessReview.";

TEST_F(AgentCsrApproving, ABootstrapTokenGetsTheIdentityOfANewCluster_1_8_4) {
  EXPECT_EQ(approved(of_token()), kFirst);
  EXPECT_EQ(approved(of_token(), names(agent_identity::kRbacGenerator)), kFirst);
}

TEST_F(AgentCsrApproving, OnlyItsAgentGetsTheIdentityOfARegisteredCluster) {
  history_.object(kCluster, "{}");
  EXPECT_EQ(approved(of_token()), "");
  EXPECT_EQ(approved(of_agent()), kNext);
  EXPECT_EQ(approved(of_agent(), names(agent_identity::user_of("m2"))), "") << "the identity of another cluster";
  EXPECT_EQ(approved(of_agent(), names(agent_identity::kRbacGenerator)), "");
}

TEST_F(AgentCsrApproving, AnIdentityIsNotRenewedWithoutItsCluster) {
  EXPECT_EQ(approved(of_agent()), "");
  EXPECT_EQ(approved(request_of(agent_identity::kRbacGenerator, agent_identity::kGroup),
                     names(agent_identity::kRbacGenerator)),
            "")
      << "it is used once, with a token";
}

TEST_F(AgentCsrApproving, ADeletedTokenGetsNothing) {
  history_.remove(kToken);
  EXPECT_EQ(approved(of_token()), "");
}

TEST_F(AgentCsrApproving, ThePermissionIsNeeded_1_8_3) {
  EXPECT_EQ(approved(request_of("jane", "dev")), "");
  EXPECT_EQ(approved(request_of("root", rbac::kMastersGroup)), kFirst);
}

TEST_F(AgentCsrApproving, OtherRequestsStayPending_1_8_1) {
  const auto with = [](const std::function<void(CertificateRequest&)>& change) {
    CertificateRequest changed = names();
    change(changed);
    return changed;
  };
  EXPECT_EQ(approved(of_token(), names("jane")), "");
  EXPECT_EQ(approved(of_token(), with([](auto& request) { request.organizations.emplace_back("system:nodes"); })), "");
  EXPECT_EQ(approved(of_token(), with([](auto& request) { request.organizations.clear(); })), "");
  EXPECT_EQ(approved(of_token(), with([](auto& request) { request.dns_names = {"x"}; })), "");
  EXPECT_EQ(approved(of_token(), with([](auto& request) { request.emails = {"x@y"}; })), "");
  EXPECT_EQ(approved(of_token(), with([](auto& request) { request.ip_addresses = {"10.0.0.1"}; })), "");
  EXPECT_EQ(approved(of_token(), with([](auto& request) { request.uris = {"spiffe://x"}; })), "");
  const auto edited = [](const char* field, const Value& value) {
    Value request = of_token();
    request.edit("spec").set(field, value);
    return request;
  };
  EXPECT_EQ(approved(edited("usages", json(R"(["digital signature","client auth"])"))), kFirst);
  EXPECT_EQ(approved(edited("usages", json(R"(["client auth"])"))), "");
  EXPECT_EQ(approved(edited("usages", json(R"(["digital signature","client auth","server auth"])"))), "");
  EXPECT_EQ(approved(edited("signerName", "kubernetes.io/legacy-unknown")), "");
}

TEST_F(AgentCsrApproving, WhatIsDecidedStays_1_8_2) {
  Value denied = of_token();
  denied.edit("status").set("conditions", json(R"([{"type":"Denied","status":"True"}])"));
  EXPECT_FALSE(pending(denied));
  history_.put(kRequest, denied);
  EXPECT_EQ(history_.settle(decide_request, kRequest), 0);
}

TEST_F(AgentCsrApproving, TheRoleReadsTheRequestAndLooksAgainWhenRolesChange) {
  const auto role = make_agent_csr_approving_role();
  EXPECT_EQ(given::woken(*role, history_, {ObjectCreated{kRequest, of_token()}}), std::vector<ObjectKey>{kRequest});
  EXPECT_EQ(given::woken(*role, history_, {DeletionRequested{{rbac::kClusterRoleBinding, "", "selfclusteragent"}}}),
            std::vector<ObjectKey>{kRequest});
  const auto task = std::make_shared<FakeTask>(history_, kRequest);
  role->reconcile(task);
  EXPECT_EQ(task->folded.size(), 1U);
  EXPECT_EQ(task->observed, 0) << "replay decides it again";
  EXPECT_EQ(history_.state().value_of(kRequest)["status"]["conditions"][0]["message"].str(), kFirst);
  EXPECT_TRUE(given::woken(*role, history_, {DeletionRequested{kRequest}}).empty());
}

}  // namespace
}  // namespace shiplog::agent_csr_approving
