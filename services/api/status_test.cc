#include "services/api/status.h"

#include <gtest/gtest.h>

#include "events/base/json.h"

namespace shiplog::api {
namespace {

const StatusDetails kDeployment{"apps", "Deployment", "deployments", "web"};
const StatusDetails kMapDetails{"", "ConfigMap", "configmaps", "c"};

TEST(ApiStatus, FailureHasTheShapeThatClientsRead) {  // ERR-1
  EXPECT_EQ(to_json(failure_status(not_found(kDeployment), kDeployment)),
            R"({"apiVersion":"v1","code":404,"details":{"group":"apps","kind":"deployments","name":"web"},)"
            R"("kind":"Status","message":"deployments.apps \"web\" not found","metadata":{},"reason":"NotFound",)"
            R"("status":"Failure"})");
}

TEST(ApiStatus, MessagesAreTheOnesKubectlUsersKnow) {  // ERR-3
  EXPECT_EQ(not_found(kMapDetails).message, R"(configmaps "c" not found)");
  EXPECT_EQ(already_exists(kDeployment).message, R"(deployments.apps "web" already exists)");
  EXPECT_EQ(conflict(kDeployment).message,
            R"(Operation cannot be fulfilled on deployments.apps "web": the object has been modified; )"
            "please apply your changes to the latest version and try again");
  EXPECT_EQ(forbidden(kMapDetails, "no").message, R"(configmaps "c" is forbidden: no)");
  EXPECT_EQ(forbidden({"apps", "Deployment", "deployments", ""}, "no").message, "deployments.apps is forbidden: no");
  EXPECT_EQ(forbidden({}, "no").message, "forbidden: no");
  EXPECT_EQ(not_found({}).message, "the server could not find the requested resource");
}

TEST(ApiStatus, InvalidJoinsSeveralCausesInBracketsAndNamesTheKind) {  // ERR-3, ERR-5
  const Error one = invalid(kDeployment, {{"spec.x", "FieldValueRequired", "Required value"}});
  EXPECT_EQ(one.message, R"(Deployment.apps "web" is invalid: spec.x: Required value)");
  const Error two = invalid(kMapDetails, {{"a", "FieldValueRequired", "Required value"},
                                          {"b", "FieldValueInvalid", "Invalid value: 1: too small"},
                                          {"a", "FieldValueRequired", "Required value"}});
  EXPECT_EQ(two.message, R"(ConfigMap "c" is invalid: [a: Required value, b: Invalid value: 1: too small])");
  const Value status = failure_status(one, kDeployment);
  EXPECT_EQ(status["code"].as_int(), 422);
  EXPECT_EQ(status["details"]["kind"].as_string(), "Deployment");
  EXPECT_EQ(to_json(status["details"]["causes"]),
            R"([{"field":"spec.x","message":"Required value","reason":"FieldValueRequired"}])");
}

TEST(ApiStatus, AnInvalidRequestWithoutCausesIsExplainedByItsMessage) {  // ERR-1
  const Value status = failure_status(Error{ErrorCode::kInvalid, "remove operation does not apply"}, kDeployment);
  EXPECT_EQ(status["message"].as_string(), "remove operation does not apply");
  EXPECT_TRUE(status["details"].is_null()) << "kubectl would show kind and name in place of the message";
}

TEST(ApiStatus, EveryCodeHasAStatusAndAReason) {  // ERR-3
  for (int code = 0; code <= static_cast<int>(ErrorCode::kInternal); ++code) {
    const int http = http_status(static_cast<ErrorCode>(code));
    EXPECT_TRUE(http >= 400 && http < 600) << name_of(static_cast<ErrorCode>(code));
    EXPECT_STRNE(reason_of(static_cast<ErrorCode>(code)), "");
  }
  EXPECT_STREQ(reason_of(ErrorCode::kGone), "Expired");
  EXPECT_EQ(http_status(ErrorCode::kTooLarge), 413);
}

TEST(ApiStatus, VersionFromTheFutureIsRecognisable) {  // LIST-11
  const Value status = failure_status(
      Error{ErrorCode::kTimeout, "Too large resource version: 9, current: 3", {{"", "ResourceVersionTooLarge", "x"}}});
  EXPECT_EQ(status["message"].as_string(), "Timeout: Too large resource version: 9, current: 3");
  EXPECT_EQ(status["details"]["retryAfterSeconds"].as_int(), 1);
  EXPECT_EQ(status["details"]["causes"][0]["reason"].as_string(), "ResourceVersionTooLarge");
}

TEST(ApiStatus, SuccessCarriesTheUid) {  // ERR-8
  const Value status = success_status(kMapDetails, "u-1");
  EXPECT_EQ(status["status"].as_string(), "Success");
  EXPECT_EQ(status["details"]["uid"].as_string(), "u-1");
  EXPECT_EQ(status["details"]["kind"].as_string(), "configmaps");
  EXPECT_FALSE(status["details"].contains("group"));
}

TEST(ApiStatus, StatusFromHttpAlone) {
  EXPECT_EQ(failure_status(413, "too big")["reason"].as_string(), "RequestEntityTooLarge");
  EXPECT_EQ(failure_status(431, "headers")["reason"].as_string(), "BadRequest");
  EXPECT_EQ(failure_status(502, "x")["reason"].as_string(), "InternalError");
}

TEST(ApiStatus, WhatPeopleSentCannotActAsMarkupOrControl) {  // ERR-6
  EXPECT_EQ(forbidden(kMapDetails, "<b>&").message, R"(configmaps "c" is forbidden: &lt;b&gt;&amp;)");
  EXPECT_EQ(not_found({"", "ConfigMap", "configmaps", "a\nb"}).message, R"(configmaps "a?b" not found)");
}

}  // namespace
}  // namespace shiplog::api
