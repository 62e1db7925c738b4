#include "services/requests/contract.h"

#include <gtest/gtest.h>

#include "events/base/json.h"
#include "schemas/requests/v1/requests.pb.h"
#include "services/requests/batch.h"
#include "services/requests/mapping.h"
#include "tests/support/must.h"

namespace shiplog::requests {
namespace {

constexpr const char* kConfigMap =
    R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c","namespace":"default"},"data":{"a":"1"}})";

ProducedRequest request(const std::string& json) {
  auto parsed = parse_request("application/json", json);
  EXPECT_TRUE(parsed) << json << ": " << (parsed ? "" : parsed.error().reason);
  return parsed ? std::move(parsed).value() : ProducedRequest{};
}

/// Why it is none.
std::string wrong(const std::string& json) {
  const auto parsed = parse_request("application/json", json);
  return parsed ? "" : parsed.error().reason;
}

MappedRequest mapped(const std::string& json) { return must(http_request_of(request(json), Kinds::compiled())); }

/// METHOD TARGET CONTENT-TYPE BODY
std::string line(const std::string& json) {
  const HttpRequest http = mapped(json).http;
  return http.method + " " + http.target + " " + std::string{http.headers.get("Content-Type")} + " " + http.body;
}

std::string with(const std::string& members) { return R"({"id":"1",)" + members + "}"; }

const std::string kDeployment =
    R"("object":{"apiVersion":"apps/v1","kind":"Deployment","namespace":"default","name":"web"})";

TEST(RequestContract, TheAddressIsTakenFromTheManifest) {
  const ProducedRequest apply = request(with(R"("verb":"apply","manifest":)" + std::string{kConfigMap}));
  EXPECT_EQ(apply.object, (RequestAddress{"v1", "ConfigMap", "", "default", "c", ""}));
  EXPECT_EQ(order_key(apply), "/default/c");
  ProducedRequest generated = apply;
  generated.object.name.clear();
  EXPECT_EQ(order_key(generated), "");
}

TEST(RequestContract, EachMistakeIsNamed) {
  EXPECT_EQ(wrong("{}"), "id: Required value");
  EXPECT_NE(wrong(R"({"id":"a b","verb":"apply"})"), "");
  EXPECT_NE(wrong(R"({"id":")" + std::string(129, 'x') + R"(","verb":"apply"})"), "");
  EXPECT_EQ(wrong(with(R"("verb":"frobnicate")")),
            "verb: \"frobnicate\" is none of apply, create, patch, delete, scale");
  EXPECT_EQ(wrong(with(R"("verb":"apply")")), "manifest: required with verb apply");
  EXPECT_EQ(wrong(with(R"("verb":"delete","manifest":{},)" + kDeployment)), "manifest: not used with verb delete");
  EXPECT_EQ(wrong(with(R"("verb":"scale",)" + kDeployment)), "replicas: required with verb scale");
  EXPECT_EQ(wrong(with(R"("verb":"scale","replicas":"3",)" + kDeployment)), "replicas: a whole number is expected");
  EXPECT_EQ(wrong(with(R"("verb":"delete","forse":true,)" + kDeployment)), "forse: there is no such field");
  EXPECT_EQ(wrong(with(R"("verb":"delete","deadline":"soon",)" + kDeployment)).substr(0, 9), "deadline:");
  EXPECT_EQ(wrong(with(R"("verb":"delete","force":true,)" + kDeployment)), "force: not used with verb delete");
  EXPECT_EQ(wrong(with(R"("verb":"delete","object":{"apiVersion":"v1","kind":"Pod","resource":"pods","name":"x"})")),
            "object: kind or resource is required, and not both");
  EXPECT_EQ(wrong(with(R"("verb":"delete","token":"a\nHost: b",)" + kDeployment)),
            "token: it has a character that no token has");
  EXPECT_NE(wrong("[]"), "");
  EXPECT_NE(wrong("\xff\xfe"), "");
  EXPECT_NE(wrong("{\"id\":"), "");
}

// A name is one segment of a path, whatever it says.
TEST(RequestContract, AnAddressCannotMeanAnotherPath) {
  for (const char* name : {"../../secrets/s", "web/scale", ".", "..", "a%2fb", "a b", ""}) {
    const std::string object =
        R"("object":{"apiVersion":"apps/v1","kind":"Deployment","namespace":"default","name":")" + std::string{name} +
        "\"}";
    EXPECT_NE(wrong(with(R"("verb":"delete",)" + object)), "") << name;
  }
  for (const char* subresource : {"exec", "token", "eviction", "binding", "proxy", "finalize"}) {
    const std::string object =
        R"("object":{"apiVersion":"v1","kind":"Pod","namespace":"d","name":"p","subresource":")" +
        std::string{subresource} + "\"}";
    EXPECT_NE(wrong(with(R"("verb":"patch","manifest":{},)" + object)), "") << subresource;
  }
  EXPECT_NE(wrong(with(R"("verb":"delete","object":{"apiVersion":"apps/v1/x","kind":"Deployment","name":"a"})")), "");
}

TEST(RequestContract, AnInvalidRequestKeepsItsIdForTheAnswer) {
  const auto parsed = parse_request("", with(R"("verb":"nothing")"));
  ASSERT_FALSE(parsed);
  const ProducedResult result = result_of(parsed.error());
  EXPECT_EQ(result.id, "1");
  EXPECT_EQ(result.outcome, "invalid");
  EXPECT_EQ(result.code, 400);
}

TEST(RequestContract, ProtobufMeansTheSameAsJson) {
  v1::Request message;
  message.set_id("1");
  message.set_verb("scale");
  message.mutable_object()->set_api_version("apps/v1");
  message.mutable_object()->set_resource("deployments");
  message.mutable_object()->set_namespace_("default");
  message.mutable_object()->set_name("web");
  message.set_replicas(0);
  message.set_token("t");
  message.set_deadline("2026-01-01T00:00:00Z");
  const auto parsed = parse_request(kRequestsProtobuf, message.SerializeAsString());
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed.value().replicas, 0);
  EXPECT_EQ(parsed.value().token, "t");
  EXPECT_EQ(rfc3339(*parsed.value().deadline), "2026-01-01T00:00:00Z");
  EXPECT_FALSE(parse_request(kRequestsProtobuf, "no protobuf at all"));

  ProducedResult result{.id = "1",
                        .outcome = "applied",
                        .duplicate = true,
                        .code = 201,
                        .reason = "",
                        .message = "",
                        .revision = 7,
                        .uid = "u",
                        .resource_version = "6",
                        .entry_id = "e",
                        .record = {"demo.requests", 3, 12}};
  v1::Result read;
  ASSERT_TRUE(read.ParseFromString(write_result(kRequestsProtobuf, result)));
  EXPECT_EQ(read.record().offset(), 12);
  EXPECT_EQ(to_json(to_value(result)), write_result("", result));
  EXPECT_EQ(to_value(result)["record"]["partition"].as_int(), read.record().partition());
  EXPECT_EQ(to_value(result)["revision"].str(), "7");
}

TEST(RequestMapping, EveryVerbIsARequestOfTheKubernetesApi) {
  EXPECT_EQ(line(with(R"("verb":"create","manifest":)" + std::string{kConfigMap})),
            std::string{"POST /api/v1/namespaces/default/configmaps application/json "} +
                to_json(must(parse_json(kConfigMap))));
  EXPECT_EQ(line(with(R"("verb":"apply","force":true,"fieldManager":"ci","dryRun":true,"manifest":)" +
                      std::string{kConfigMap})),
            "PATCH /api/v1/namespaces/default/configmaps/c?fieldManager=ci&force=true&dryRun=All "
            "application/apply-patch+yaml " +
                to_json(must(parse_json(kConfigMap))));
  const std::string web = "/apis/apps/v1/namespaces/default/deployments/web";
  EXPECT_EQ(line(with(R"("verb":"patch","manifest":{"spec":{"paused":true}},)" + kDeployment)),
            "PATCH " + web + R"( application/merge-patch+json {"spec":{"paused":true}})");
  EXPECT_EQ(line(with(R"("verb":"patch","patchType":"json","manifest":[],"preconditions":{"uid":"u"},)" + kDeployment)),
            "PATCH " + web + R"( application/json-patch+json [{"op":"test","path":"/metadata/uid","value":"u"}])");
  EXPECT_EQ(
      line(with(R"("verb":"patch","patchType":"strategic","manifest":{},"preconditions":{"resourceVersion":"5"},)" +
                kDeployment)),
      "PATCH " + web + R"( application/strategic-merge-patch+json {"metadata":{"resourceVersion":"5"}})");
  EXPECT_EQ(line(with(R"("verb":"scale","replicas":3,)" + kDeployment)),
            "PATCH " + web + R"(/scale application/merge-patch+json {"spec":{"replicas":3}})");
  EXPECT_EQ(line(with(R"("verb":"delete","propagationPolicy":"Orphan","preconditions":{"uid":"u"},)" + kDeployment)),
            "DELETE " + web +
                R"( application/json {"apiVersion":"v1","kind":"DeleteOptions","preconditions":{"uid":"u"},)"
                R"("propagationPolicy":"Orphan"})");
  EXPECT_EQ(mapped(with(R"("verb":"delete","token":"secret",)" + kDeployment)).http.headers.get("Authorization"),
            "Bearer secret");
}

TEST(RequestMapping, AKindThatIsNotServedIsNotFound) {
  const auto unknown = http_request_of(
      request(with(R"("verb":"delete","object":{"apiVersion":"no.such/v1","kind":"Thing","name":"t"})")),
      Kinds::compiled());
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, ErrorCode::kNotFound);
  const auto no_namespace = http_request_of(
      request(with(R"("verb":"delete","object":{"apiVersion":"v1","kind":"Pod","name":"p"})")), Kinds::compiled());
  ASSERT_FALSE(no_namespace);
  EXPECT_EQ(no_namespace.error().code, ErrorCode::kInvalid);
}

TEST(RequestBatches, AreOneRequestAnArrayOrLines) {
  const std::string one = with(R"("verb":"delete",)" + kDeployment);
  EXPECT_EQ(must(parse_batch("", one, 10)).size(), 1u);
  EXPECT_EQ(must(parse_batch("", "[" + one + "," + one + "]", 10)).size(), 2u);
  const auto lines = must(parse_batch("", one + "\n\nnonsense\n" + one + "\n", 10));
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_TRUE(lines[0]);
  EXPECT_FALSE(lines[1]);
  EXPECT_TRUE(lines[2]);
  EXPECT_EQ(parse_batch("", one + "\n" + one, 1).error().code, ErrorCode::kTooLarge);
  EXPECT_EQ(parse_batch("", "[" + one + "," + one + "]", 1).error().code, ErrorCode::kTooLarge);
  EXPECT_EQ(parse_batch("", "  \n", 1).error().code, ErrorCode::kBadRequest);
  EXPECT_EQ(parse_batch("", "[]", 1).error().code, ErrorCode::kBadRequest);
}

}  // namespace
}  // namespace shiplog::requests
