// What becomes of CertificateSigningRequests (CSR-3, CSR-4).
#include "events/base/base64.h"
#include "services/adapters/pki/certificate_request.h"
#include "services/roles/signer/decide.h"
#include "services/roles/signer/role.h"
#include "tests/support/fake_task.h"
#include "tests/support/given.h"

namespace shiplog::signer {
namespace {

using given::FakeTask;
using given::History;
using given::json;

// Made once: jane of the groups dev and ops.
const std::string kJane =
    "-----BEGIN CERTIFICATE REQUEST-----\n"
    "MIHmMIGNAgEAMCsxDDAKBgNVBAoMA2RldjEMMAoGA1UECgwDb3BzMQ0wCwYDVQQD\n"
    "DARqYW5lMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE7ef9c6mpU8SrpKsaJX85\n"
    "4FYjEABOaSmcptq3wCNL5v65g8mVfLdmyRrn5YMC/xREH8mM+4ErLOFDql9YgnY4\n"
    "fqAAMAoGCCqGSM49BAMCA0gAMEUCIQCKVfJ7QKXnpf9wet11Ymd2OP8HYJPhKuxh\n"
    "SQhYOW8lZgIgFrnmy7/nLFPZg+dSr8Ey3J/sxr7y3BnUbjgcK8YHbds=\n"
    "-----END CERTIFICATE REQUEST-----\n";
// The node n1, for itself as a server: n1.example and 10.0.0.1.
const std::string kNode =
    "-----BEGIN CERTIFICATE REQUEST-----\n"
    "MIIBGDCBwAIBADAwMRUwEwYDVQQKDAxzeXN0ZW06bm9kZXMxFzAVBgNVBAMMDnN5\n"
    "c3RlbTpub2RlOm4xMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEbOGhYgrG0Iyz\n"
    "YhHl5VbvX3NTu59aZdT3Zz9yfapTWI/aDvl81bko47GHmZXunmuvV8qjEjAtIQ7n\n"
    "Nl0IaIW+wKAuMCwGCSqGSIb3DQEJDjEfMB0wGwYDVR0RBBQwEoIKbjEuZXhhbXBs\n"
    "ZYcECgAAATAKBggqhkjOPQQDAgNHADBEAiBr/f8lukWEXFil9pEMZQqnA7ot83Ia\n"
    "uWzXSc8hclO5dgIgXmviGjcIWq2iOSfINixfjSFDfmjcdebERKAcR8kWQaE=\n"
    "-----END CERTIFICATE REQUEST-----\n";

constexpr int64_t kHour = 3'600'000;
const ObjectKey kKey{kRequests, "", "csr"};
const UtcMillis kMade = parse_rfc3339("2026-01-02T12:00:00Z").value();

Value request(const std::string& conditions = "[]", const std::string& signer = "kubernetes.io/kube-apiserver-client") {
  Value value = json(R"({"metadata":{"creationTimestamp":"2026-01-02T12:00:00Z"},"spec":{"usages":["client auth"]}})");
  value.edit("spec").set("signerName", signer);
  value.edit("spec").set("request", base64_encode(kJane));
  value.edit("status").set("conditions", json(conditions));
  return value;
}

constexpr const char* kApproved = R"([{"type":"Approved","status":"True","lastUpdateTime":"2026-01-02T12:00:00Z"}])";

UtcMillis later(int64_t milliseconds) { return {kMade.value + milliseconds}; }

/// What is decided about the request at `now`: "sign", "remove", or how long nothing is to be done.
std::string decided(const Value& value, UtcMillis now, std::optional<UtcMillis> expires = {}) {
  History history;
  history.put(kKey, value);
  bool asked = false;
  const CertificateAuthority authority{[&](const Value&) { return expires; },
                                       [&](const Value& unsigned_request, UtcMillis) -> Result<Value> {
                                         asked = true;
                                         return unsigned_request;
                                       }};
  const auto answer = decide(history.state(), kKey, now, authority).value();
  if (asked) return "sign";
  if (const auto* later = std::get_if<LookAgain>(&answer)) return std::to_string((later->at - now).value);
  return std::holds_alternative<DeletionRequested>(std::get<Decision>(answer).events.at(0)) ? "remove" : "?";
}

TEST(Signer, SignsWhatIsApprovedForOneOfItsSigners) {  // 1.8.2
  EXPECT_EQ(decided(request(kApproved), kMade), "sign");
  EXPECT_EQ(decided(request(), kMade), std::to_string(24 * kHour));
  EXPECT_EQ(decided(request(kApproved, "example.com/own"), kMade), std::to_string(kHour));
  const char* both = R"([{"type":"Approved","status":"True"},{"type":"Failed","status":"True"}])";
  EXPECT_EQ(decided(request(both), kMade), std::to_string(kHour));
  Value issued = request(kApproved);
  issued.edit("status").set("certificate", "eA==");
  EXPECT_EQ(decided(issued, kMade), std::to_string(kHour));
}

TEST(Signer, RemovesFinishedRequestsAfterAnHourAndUnapprovedOnesAfterADay) {
  Value issued = request(kApproved);
  issued.edit("status").set("certificate", "eA==");
  EXPECT_EQ(decided(issued, later(kHour - 1)), "1");
  EXPECT_EQ(decided(issued, later(kHour)), "remove");
  const char* denied = R"([{"type":"Denied","status":"True","lastUpdateTime":"2026-01-02T13:00:00Z"}])";
  EXPECT_EQ(decided(request(denied), later(kHour)), std::to_string(kHour));
  EXPECT_EQ(decided(request(denied), later(2 * kHour)), "remove");
  EXPECT_EQ(decided(request(), later(24 * kHour - 1)), "1");
  EXPECT_EQ(decided(request(), later(24 * kHour)), "remove");
  EXPECT_EQ(decided(issued, later(5), later(5)), "remove") << "the certificate has expired";
}

TEST(Signer, EachSignerReportsWhatItDoesNotSign) {
  const CertificateRequest jane = inspect_request(kJane).value();
  const CertificateRequest node = inspect_request(kNode).value();
  EXPECT_EQ(jane.common_name, "jane");
  EXPECT_EQ(jane.organizations, (std::vector<std::string>{"dev", "ops"}));
  EXPECT_EQ(node.ip_addresses, std::vector<std::string>{"10.0.0.1"});
  const auto problem = [](const std::string& signer, const char* usages, const CertificateRequest& asked) {
    const Value spec = Value::object({{"signerName", "kubernetes.io/" + signer}, {"usages", json(usages)}});
    return signer_problem(spec, asked).value_or("");
  };
  EXPECT_EQ(problem("kube-apiserver-client", R"(["client auth"])", jane), "");
  EXPECT_EQ(problem("kube-apiserver-client", R"(["digital signature"])", jane), "usages did not include client auth");
  EXPECT_NE(problem("kube-apiserver-client", R"(["client auth","server auth"])", jane), "");
  CertificateRequest master = jane;
  master.organizations = {"system:masters"};
  EXPECT_NE(problem("kube-apiserver-client", R"(["client auth"])", master), "");
  EXPECT_EQ(problem("kubelet-serving", R"(["digital signature","server auth"])", node), "");
  EXPECT_NE(problem("kubelet-serving", R"(["digital signature","server auth"])", jane), "");
  EXPECT_NE(problem("kube-apiserver-client-kubelet", R"(["digital signature","client auth"])", node), "")
      << "a client has no addresses";
  CertificateRequest kubelet = node;
  kubelet.dns_names.clear();
  kubelet.ip_addresses.clear();
  EXPECT_EQ(problem("kube-apiserver-client-kubelet", R"(["digital signature","client auth"])", kubelet), "");
}

class SignerRoleTest : public ::testing::Test {
 protected:
  SignerRoleTest() : authority_{make_authority("ca", valid_for_days(kMade, 3650)).value()} {
    service_ = make_signer_role([this]() -> Result<KeyPair> { return authority_; });
  }

  /// The request after one step of the service.
  Value stepped(const Value& value) {
    history_.put(kKey, value);
    const auto task = std::make_shared<FakeTask>(history_, kKey);
    service_->reconcile(task);
    EXPECT_EQ(task->finished, 1);
    EXPECT_FALSE(task->failure) << task->failure->message;
    return history_.state().value_of(kKey);
  }

  KeyPair authority_;
  History history_;
  std::unique_ptr<Role> service_;
};

TEST_F(SignerRoleTest, TheCertificateIsForTheRequesterAndFromTheAuthority) {
  Value asked = request(kApproved);
  asked.edit("spec").set("expirationSeconds", 3600);
  const Value after = stepped(asked);
  const auto pem = base64_decode(after["status"]["certificate"].as_string());
  ASSERT_TRUE(pem.has_value()) << to_json(after);
  const auto info = inspect_certificate(*pem);
  ASSERT_TRUE(info.has_value());
  EXPECT_EQ(info.value().common_name, "jane");
  EXPECT_EQ(info.value().organizations, (std::vector<std::string>{"dev", "ops"}));
  EXPECT_EQ(info.value().issuer, "CN=ca");
  EXPECT_FALSE(info.value().authority);
  EXPECT_EQ(info.value().not_after.value - info.value().not_before.value, kHour + 5 * 60 * 1000);
}

TEST_F(SignerRoleTest, RequestsThatAreNotSignedStateTheCause) {
  Value asked = request(kApproved);
  asked.edit("spec").set("usages", json(R"(["digital signature"])"));
  Value after = stepped(asked);
  EXPECT_EQ(after["status"]["conditions"][1]["type"].str(), "Failed");
  EXPECT_EQ(after["status"]["conditions"][1]["message"].str(), "usages did not include client auth");
  asked = request(kApproved);
  asked.edit("spec").set("request", base64_encode("-----BEGIN CERTIFICATE REQUEST-----"));
  after = stepped(asked);
  EXPECT_EQ(after["status"]["conditions"][1]["reason"].str(), "SignerValidationFailure");
  EXPECT_TRUE(after["status"]["certificate"].is_null());
}

TEST_F(SignerRoleTest, WithoutAnAuthorityItTriesAgain) {
  service_ = make_signer_role([]() -> Result<KeyPair> { return Error{ErrorCode::kUnavailable, "no authority"}; });
  history_.put(kKey, request(kApproved));
  const auto task = std::make_shared<FakeTask>(history_, kKey);
  service_->reconcile(task);
  ASSERT_TRUE(task->failure.has_value());
  EXPECT_EQ(task->failure->message, "no authority");
}

}  // namespace
}  // namespace shiplog::signer
