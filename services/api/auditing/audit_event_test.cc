#include "services/api/auditing/audit_event.h"

#include <gtest/gtest.h>

#include "events/base/json.h"
#include "services/api/auditing/redact.h"

namespace shiplog::api {
namespace {

Value json(std::string_view text) { return parse_json(text).value(); }

AuditedRequest request(AuditLevel level) {
  AuditedRequest request;
  request.decision.level = level;
  request.received = {1795529107123456};
  request.audit_id = "id-1";
  request.uri = "/apis/apps/v1/namespaces/team-a/deployments?fieldManager=kubectl";
  request.verb = "create";
  request.user_agent = "kubectl/v1.31";
  request.user = {"jane", {"dev", "system:authenticated"}, "u-1", {{"scopes", {"a"}}}};
  request.source_ips = {"10.0.0.9"};
  request.is_resource = true;
  request.resource = "deployments";
  request.group = "apps";
  request.version = "v1";
  request.ns = "team-a";
  request.name = "web";
  request.annotations = {{"authorization.k8s.io/decision", "allow"}};
  request.body = std::make_shared<const std::string>(
      R"({"kind":"Deployment","metadata":{"name":"web","managedFields":[{"manager":"kubectl"}]}})");
  request.content_type = "application/json";
  return request;
}

AuditLogEvent event(AuditedRequest about, AuditStage stage = AuditStage::kResponseComplete, int status = 201,
                    std::string response = R"({"kind":"Deployment","metadata":{"name":"web","uid":"u"}})") {
  AuditLogEvent event;
  event.request = std::make_shared<const AuditedRequest>(std::move(about));
  event.stage = stage;
  event.at = {1795529107123999};
  event.status = status;
  event.response = std::move(response);
  event.response_type = "application/json";
  return event;
}

TEST(AuditEvent, HasTheFieldsOfKubernetes) {
  AuditedRequest about = request(AuditLevel::kMetadata);
  about.acts_as = std::make_shared<rbac::User>(rbac::User{"ops", {"admins"}, "", {}});
  EXPECT_EQ(to_json(to_value(event(about))),
            R"({"annotations":{"authorization.k8s.io/decision":"allow"},"apiVersion":"audit.k8s.io/v1",)"
            R"("auditID":"id-1","impersonatedUser":{"groups":["admins"],"username":"ops"},"kind":"Event",)"
            R"("level":"Metadata","objectRef":{"apiGroup":"apps","apiVersion":"v1","name":"web",)"
            R"("namespace":"team-a","resource":"deployments"},)"
            R"("requestReceivedTimestamp":"2026-11-24T14:05:07.123456Z",)"
            R"("requestURI":"/apis/apps/v1/namespaces/team-a/deployments?fieldManager=kubectl",)"
            R"("responseStatus":{"code":201,"metadata":{}},"sourceIPs":["10.0.0.9"],"stage":"ResponseComplete",)"
            R"("stageTimestamp":"2026-11-24T14:05:07.123999Z","user":{"extra":{"scopes":["a"]},)"
            R"("groups":["dev","system:authenticated"],"uid":"u-1","username":"jane"},"userAgent":"kubectl/v1.31",)"
            R"("verb":"create"})");
}

TEST(AuditEvent, ObjectsFollowTheLevel) {
  const Value metadata = to_value(event(request(AuditLevel::kMetadata)));
  EXPECT_TRUE(metadata["requestObject"].is_null());
  EXPECT_TRUE(metadata["responseObject"].is_null());
  const Value of_request = to_value(event(request(AuditLevel::kRequest)));
  EXPECT_EQ(of_request["requestObject"]["metadata"]["name"].str(), "web");
  EXPECT_TRUE(of_request["requestObject"]["metadata"].contains("managedFields"));
  EXPECT_TRUE(of_request["responseObject"].is_null());
  const Value both = to_value(event(request(AuditLevel::kRequestResponse)));
  EXPECT_EQ(both["responseObject"]["metadata"]["uid"].str(), "u");
  AuditedRequest short_fields = request(AuditLevel::kRequestResponse);
  short_fields.decision.omit_managed_fields = true;
  EXPECT_FALSE(to_value(event(short_fields))["requestObject"]["metadata"].contains("managedFields"));
  const Value received = to_value(event(request(AuditLevel::kRequestResponse), AuditStage::kRequestReceived, 0, ""));
  EXPECT_TRUE(received["responseStatus"].is_null());
  EXPECT_FALSE(received["requestObject"].is_null());
}

TEST(AuditEvent, ABodyThatCannotBeReadIsLeftOut) {
  AuditedRequest broken = request(AuditLevel::kRequest);
  broken.body = std::make_shared<const std::string>("{\"a\":");
  EXPECT_TRUE(to_value(event(broken))["requestObject"].is_null());
  broken.content_type = "application/vnd.kubernetes.protobuf";
  EXPECT_TRUE(to_value(event(broken))["requestObject"].is_null());
  AuditedRequest yaml = request(AuditLevel::kRequest);
  yaml.body = std::make_shared<const std::string>("metadata:\n  name: web\n");
  yaml.content_type = "application/apply-patch+yaml";
  EXPECT_EQ(to_value(event(yaml))["requestObject"]["metadata"]["name"].str(), "web");
}

TEST(AuditEvent, AFailureHasItsStatus) {
  const Value failed = to_value(event(request(AuditLevel::kMetadata), AuditStage::kResponseComplete, 403,
                                      R"({"kind":"Status","status":"Failure","reason":"Forbidden","message":"no"})"));
  EXPECT_EQ(to_json(failed["responseStatus"]),
            R"({"code":403,"message":"no","metadata":{},"reason":"Forbidden","status":"Failure"})");
}

// Whatever the policy records: who reads the audit log must not become the users in it.
TEST(AuditEvent, HoldsNoBearerTokens) {
  const auto redacted = [](std::string_view text, std::string_view resource) {
    Value object = json(text);
    redact_tokens(object, resource);
    return to_json(object);
  };
  const auto hides = [&](std::string_view text, std::string_view resource) {
    const std::string shown = redacted(text, resource);
    EXPECT_EQ(shown.find("s3cret"), std::string::npos) << shown;
    EXPECT_NE(shown.find(kRedacted), std::string::npos) << shown;
  };
  hides(R"({"kind":"TokenReview","spec":{"token":"s3cret"}})", "tokenreviews");
  hides(R"({"kind":"TokenRequest","status":{"token":"s3cret"}})", "serviceaccounts");
  hides(R"({"kind":"Secret","data":{"token":"s3cret"}})", "secrets");
  hides(R"({"kind":"Secret","stringData":{"token-secret":"s3cret"}})", "secrets");
  hides(R"({"kind":"Secret","metadata":{"annotations":{"kubectl.kubernetes.io/last-applied-configuration":"s3cret"}}})",
        "secrets");
  hides(R"({"kind":"SecretList","items":[{"data":{"token":"s3cret"}}]})", "secrets");
  hides(R"({"kind":"List","items":[{"kind":"Secret","data":{"token":"s3cret"}}]})", "secrets");
  hides(R"({"kind":"Work","spec":{"workload":{"manifests":[{"kind":"Secret","data":{"token":"s3cret"}}]}}})", "works");
  hides(R"({"data":{"token":"s3cret"}})", "secrets");
  hides(R"([{"op":"replace","path":"/data/token","value":"s3cret"}])", "secrets");
  hides(R"([{"op":"add","path":"/data","value":{"token":"s3cret"}}])", "secrets");
  hides(R"([{"op":"replace","path":"","value":{"kind":"Secret","data":{"token":"s3cret"}}}])", "secrets");
  // Other data is the policy's to decide on.
  EXPECT_EQ(redacted(R"({"data":{"password":"p"},"kind":"Secret"})", "secrets"),
            R"({"data":{"password":"p"},"kind":"Secret"})");
  EXPECT_EQ(redacted(R"({"data":{"token":"t"},"kind":"ConfigMap"})", "configmaps"),
            R"({"data":{"token":"t"},"kind":"ConfigMap"})");
}

TEST(AuditEvent, LegacyLineIsThatOfKubernetes) {
  EXPECT_EQ(legacy_line(to_value(event(request(AuditLevel::kMetadata)))),
            R"(2026-11-24T14:05:07.123456Z AUDIT: id="id-1" stage="ResponseComplete" ip="10.0.0.9" method="create" )"
            R"(user="jane" groups="dev","system:authenticated" as="<self>" asgroups=<lookup> )"
            R"(user-agent="kubectl/v1.31" namespace="team-a" )"
            R"(uri="/apis/apps/v1/namespaces/team-a/deployments?fieldManager=kubectl" response="201")");
}

// A line ends where its event ends, whatever a client sends.
TEST(AuditEvent, ALineBreakInAUserAgentMakesNoSecondLine) {
  AuditedRequest about = request(AuditLevel::kMetadata);
  about.user_agent = "x\n2026 AUDIT: id=\"forged\"";
  EXPECT_EQ(legacy_line(to_value(event(about))).find('\n'), std::string::npos);
  EXPECT_EQ(to_json(to_value(event(about))).find('\n'), std::string::npos);
}

TEST(AuditEvent, ATooLongOneLosesItsObjects) {
  AuditedRequest about = request(AuditLevel::kRequest);
  about.body = std::make_shared<const std::string>(R"({"data":")" + std::string(5000, 'x') + R"("})");
  Value document = to_value(event(about));
  EXPECT_TRUE(truncate_event(document, 10'000));
  EXPECT_FALSE(document["requestObject"].is_null());
  EXPECT_TRUE(truncate_event(document, 2000));
  EXPECT_TRUE(document["requestObject"].is_null());
  EXPECT_EQ(document["annotations"]["audit.k8s.io/truncated"].str(), "true");
  EXPECT_FALSE(truncate_event(document, 100));
}

TEST(AuditEvent, SourceAddressesEndWithThatOfTheConnection) {
  using List = std::vector<std::string>;
  EXPECT_EQ(source_addresses("", "", "10.0.0.9"), (List{"10.0.0.9"}));
  EXPECT_EQ(source_addresses("1.2.3.4, unknown, ::1", "5.6.7.8", "10.0.0.9"),
            (List{"1.2.3.4", "::1", "5.6.7.8", "10.0.0.9"}));
  EXPECT_EQ(source_addresses("10.0.0.9", "10.0.0.9", "10.0.0.9"), (List{"10.0.0.9"}));
  std::string many;
  for (int i = 0; i < 1000; ++i) many += "1.2.3.4,";
  EXPECT_LE(source_addresses(many, "", "10.0.0.9").size(), 33U);
  EXPECT_EQ(source_addresses(many, "", "10.0.0.9").back(), "10.0.0.9");
}

}  // namespace
}  // namespace shiplog::api
