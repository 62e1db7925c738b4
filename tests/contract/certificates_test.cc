// CertificateSigningRequests from the request to the certificate (CSR-1 to CSR-4).
#include "events/base/base64.h"
#include "events/base/json.h"
#include "services/http/tls.h"
#include "tests/contract/contract.h"

namespace shiplog::e2e {
namespace {

const std::string kRequests = "/apis/certificates.k8s.io/v1/certificatesigningrequests";

// Created once: jane of the groups dev and ops.
const std::string kJane =
    "-----BEGIN CERTIFICATE REQUEST-----\n"
    "MIHmMIGNAgEAMCsxDDAKBgNVBAoMA2RldjEMMAoGA1UECgwDb3BzMQ0wCwYDVQQD\n"
    "DARqYW5lMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE7ef9c6mpU8SrpKsaJX85\n"
    "4FYjEABOaSmcptq3wCNL5v65g8mVfLdmyRrn5YMC/xREH8mM+4ErLOFDql9YgnY4\n"
    "fqAAMAoGCCqGSM49BAMCA0gAMEUCIQCKVfJ7QKXnpf9wet11Ymd2OP8HYJPhKuxh\n"
    "SQhYOW8lZgIgFrnmy7/nLFPZg+dSr8Ey3J/sxr7y3BnUbjgcK8YHbds=\n"
    "-----END CERTIFICATE REQUEST-----\n";

Value request(const std::string& name, const std::string& signer = "kubernetes.io/kube-apiserver-client") {
  Value value = json(R"({"spec":{"usages":["client auth"],"username":"somebody","groups":["system:masters"]}})");
  value.edit("metadata").set("name", name);
  value.edit("spec").set("signerName", signer);
  value.edit("spec").set("request", base64_encode(kJane));
  return value;
}

Value with_condition(Value object, const std::string& type) {
  object.edit("status")
      .edit("conditions")
      .push_back(Value::object({{"type", type}, {"status", "True"}, {"reason", "Because"}}));
  return object;
}

TEST(Certificates, TheRequesterIsSetByTheServer) {  // CSR-1
  const Answer made = api().post(kRequests, request("asks"));
  ASSERT_EQ(made.status, 201) << made;
  EXPECT_EQ(made.json["spec"]["username"].str(), "kubernetes-admin");
  EXPECT_EQ(made.json["spec"]["groups"], json(R"(["system:masters","system:authenticated"])"));
  Value changed = made.json;
  changed.edit("spec").set("username", "somebody");
  EXPECT_EQ(api().put(kRequests + "/asks", changed).json["spec"]["username"].str(), "kubernetes-admin");
}

TEST(Certificates, ApprovedRequestsAreSignedByTheFleetsAuthority) {  // CSR-2, CSR-3
  const Answer made = api().post(kRequests, request("approved"));
  ASSERT_EQ(made.status, 201) << made;
  const Answer approved = api().put(kRequests + "/approved/approval", with_condition(made.json, "Approved"));
  ASSERT_EQ(approved.status, 200) << approved;
  const Value condition = approved.json["status"]["conditions"][0];
  EXPECT_FALSE(condition["lastUpdateTime"].is_empty());
  EXPECT_FALSE(condition["lastTransitionTime"].is_empty());
  EXPECT_TRUE(eventually([] { return !api().get(kRequests + "/approved").json["status"]["certificate"].is_empty(); }))
      << api().get(kRequests + "/approved");
  const Value signed_request = api().get(kRequests + "/approved").json;
  const auto info =
      inspect_certificate(base64_decode(signed_request["status"]["certificate"].as_string()).value_or(""));
  ASSERT_TRUE(info.has_value());
  EXPECT_EQ(info.value().common_name, "jane");
  EXPECT_EQ(info.value().issuer, "CN=shiplog-ca");
  Value taken_back = signed_request;
  taken_back.edit("status").erase("conditions");
  expect_failure(api().put(kRequests + "/approved/approval", taken_back), 422, "Invalid", "may not remove a condition");
}

TEST(Certificates, ApprovalIsNotForTheStatusAndNotBothWays) {
  const Answer made = api().post(kRequests, request("both", "example.com/own"));
  ASSERT_EQ(made.status, 201) << made;
  expect_failure(api().put(kRequests + "/both/status", with_condition(made.json, "Approved")), 422, "Invalid",
                 "may not add a condition");
  expect_failure(
      api().put(kRequests + "/both/approval", with_condition(with_condition(made.json, "Approved"), "Denied")), 422,
      "Invalid", "mutually exclusive");
  const Answer denied = api().put(kRequests + "/both/approval", with_condition(made.json, "Denied"));
  EXPECT_EQ(denied.status, 200) << denied;
  EXPECT_EQ(api().call("POST", kRequests + "/both/approval", "{}").status, 405);
}

TEST(Certificates, ApprovalRequiresThePermissionForTheSigner) {
  const std::string rbac = "/apis/rbac.authorization.k8s.io/v1/";
  const auto allow = [&](const std::string& name, const std::string& rule) {
    ASSERT_EQ(
        api()
            .post(rbac + "clusterroles", json(R"({"metadata":{"name":")" + name + R"("},"rules":[)" + rule + "]}"))
            .status,
        201);
    ASSERT_EQ(api()
                  .post(rbac + "clusterrolebindings", json(R"({"metadata":{"name":")" + name +
                                                           R"("},"roleRef":{"apiGroup":"rbac.authorization.k8s.io",
        "kind":"ClusterRole","name":")" + name + R"("},"subjects":[{"kind":"User","name":"approver",
        "apiGroup":"rbac.authorization.k8s.io"}]})"))
                  .status,
              201);
  };
  allow("writes-approvals", R"({"apiGroups":["certificates.k8s.io"],"resources":["certificatesigningrequests/approval"],
      "verbs":["update"]})");
  const Answer made = api().post(kRequests, request("guarded", "example.com/own"));
  ASSERT_EQ(made.status, 201) << made;
  const auto approve = [&] {
    return api().call("PUT", kRequests + "/guarded/approval", to_json(with_condition(made.json, "Approved")),
                      {{"Impersonate-User", "approver"}, {"Content-Type", "application/json"}});
  };
  expect_failure(approve(), 403, "Forbidden",
                 "user not permitted to approve requests with signerName \"example.com/own\"");
  allow("approves", R"({"apiGroups":["certificates.k8s.io"],"resources":["signers"],"resourceNames":["example.com/*"],
      "verbs":["approve"]})");
  const Answer approved = approve();
  EXPECT_EQ(approved.status, 200) << approved;
}

TEST(Certificates, UnreadableRequestsAreRefused) {
  Value broken = request("broken");
  broken.edit("spec").set("request", base64_encode("-----BEGIN CERTIFICATE REQUEST-----\nx\n"));
  expect_failure(api().post(kRequests, broken), 422, "Invalid", "spec.request");
}

TEST(Certificates, KubectlApprovesAndDenies) {
  ASSERT_EQ(api().post(kRequests, request("by-kubectl")).status, 201);
  EXPECT_NE(plane().kubectl_ok({"certificate", "approve", "by-kubectl"}).find("approved"), std::string::npos);
  EXPECT_TRUE(eventually([] {
    return plane().kubectl_ok({"get", "csr", "by-kubectl"}).find("Approved,Issued") != std::string::npos;
  }));
  ASSERT_EQ(api().post(kRequests, request("denied")).status, 201);
  plane().kubectl_ok({"certificate", "deny", "denied"});
  EXPECT_NE(plane().kubectl_ok({"get", "csr", "denied"}).find("Denied"), std::string::npos);
}

}  // namespace
}  // namespace shiplog::e2e
