#include <gtest/gtest.h>

#include "events/kinds/protobuf.h"
#include "services/api/request.h"

namespace shiplog::api {
namespace {

constexpr const char* kProtobuf = "application/vnd.kubernetes.protobuf";

Result<Value> read(const char* type, const char* content_type, std::string body) {
  HttpRequest request;
  if (content_type != nullptr) request.headers.add("Content-Type", content_type);
  request.body = std::move(body);
  return read_body(request.headers.get("Content-Type"), request.body, Kinds::compiled(),
                   *Kinds::compiled().find_type(type), nullptr);
}

const Value kConfigMap =
    Value::object({{"apiVersion", "v1"}, {"kind", "ConfigMap"}, {"data", Value::object({{"a", "b"}})}});

TEST(ReadBody, TakesJsonYamlAndProtobuf) {  // PB-3
  const char* json = R"({"apiVersion":"v1","kind":"ConfigMap","data":{"a":"b"}})";
  EXPECT_EQ(read("configmaps", nullptr, json).value(), kConfigMap);
  EXPECT_EQ(read("configmaps", "Application/JSON; charset=utf-8", json).value(), kConfigMap);
  EXPECT_EQ(read("configmaps", "application/yaml", "{apiVersion: v1, kind: ConfigMap, data: {a: b}}").value(),
            kConfigMap);
  const auto body = encode_protobuf(Kinds::compiled(), kConfigMap);
  ASSERT_TRUE(body.has_value());
  EXPECT_EQ(read("configmaps", kProtobuf, body.value()).value(), kConfigMap);
}

TEST(ReadBody, AWholeNumberInYamlIsAnInteger) {  // Kubernetes reads YAML as the JSON that it writes of it
  const auto is_integer = [](const char* content_type, const char* body) {
    return read("deployments.apps", content_type, body).value()["spec"]["replicas"].is_int();
  };
  EXPECT_TRUE(is_integer("application/yaml", "spec: {replicas: 3.0}"));
  EXPECT_FALSE(is_integer(nullptr, R"({"spec":{"replicas":3.0}})")) << "admission refuses it";
}

TEST(ReadBody, TakesProtobufForBuiltInKindsOnly) {  // PB-4
  const auto body = encode_protobuf(Kinds::compiled(), kConfigMap);
  ASSERT_TRUE(body.has_value());
  const auto refused = read("propagationpolicies.policy.karmada.io", kProtobuf, body.value());
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::kUnsupportedMediaType);
  EXPECT_EQ(refused.error().message,
            "the body of the request was in an unknown format (application/vnd.kubernetes.protobuf) - accepted media "
            "types include: application/json, application/yaml");
  EXPECT_EQ(read("configmaps", kProtobuf, "{}").error().code, ErrorCode::kBadRequest);
}

TEST(ReadBody, ReportsTheAcceptedTypes) {
  const auto refused = read("configmaps", "text/xml", "<a/>");
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::kUnsupportedMediaType);
  EXPECT_TRUE(
      refused.error().message.ends_with("application/json, application/yaml, application/vnd.kubernetes.protobuf"));
}

}  // namespace
}  // namespace shiplog::api
