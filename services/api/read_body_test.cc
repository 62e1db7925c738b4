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

TEST(ReadBody, ReportsKeysThatStandTwice) {  // CRU-6
  const auto duplicates = [](const char* content_type, const char* body) {
    std::vector<std::string> found;
    const auto value =
        read_body(content_type, body, Kinds::compiled(), *Kinds::compiled().find_type("configmaps"), &found);
    EXPECT_EQ(value.value()["data"]["a"].str(), "2");
    return found;
  };
  EXPECT_EQ(duplicates("", R"({"data":{"a":"1","a":"2"}})"), std::vector<std::string>{R"(duplicate field "data.a")"});
  EXPECT_EQ(duplicates("application/yaml", "data:\n  a: '1'\n  a: '2'\n"),
            std::vector<std::string>{R"(line 3: key "a" already set in map)"});
  EXPECT_EQ(read("configmaps", "application/yaml", "data: {a: '1', a: '2'}").value()["data"]["a"].str(), "2");
}

TEST(ReadBody, WhatIsNoJsonIsUnrecognized) {
  const auto message = [](const char* content_type, const std::string& body) {
    return unrecognized(read("namespaces", content_type, body).error(), "Namespace", body).message;
  };
  const std::string begin = "the object provided is unrecognized (must be of type Namespace): ";
  EXPECT_EQ(message(nullptr, "abc"), begin +
                                         "couldn't get version/kind; json parse error: invalid JSON at line 1, column "
                                         "1: expected a value, found 'a' (616263)");
  EXPECT_EQ(message(nullptr, ""), begin +
                                      "couldn't get version/kind; json parse error: invalid JSON at line 1, column 1: "
                                      "expected a value, found the end (<empty>)");
  EXPECT_TRUE(message(nullptr, R"({"a":"0123456789012345678901234567890123456789",})")
                  .ends_with(R"( ({"a":"012345678901234567890123 ...))"));
  EXPECT_TRUE(message("application/yaml", "a: [1").starts_with(begin + "invalid YAML at line 1"));
  EXPECT_EQ(unrecognized(Error{ErrorCode::kUnsupportedMediaType, "no"}, "Namespace", "").message, "no");
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
