// Patches whose result is no object of the kind.
#include "services/api/pipeline/codecs/patch_errors.h"

#include <gtest/gtest.h>

#include "events/base/json.h"
#include "services/api/admission/decoding.h"
#include "services/api/pipeline/stages.h"
#include "tests/support/literals.h"
#include "tests/support/manual_server.h"

namespace shiplog::api {
namespace {

using test::json;

TEST(GoText, IsAsGoWritesValues) {
  EXPECT_EQ(go_text(json(R"({"metadata":{"labels":"invalid"}})")), "map[metadata:map[labels:invalid]]");
  EXPECT_EQ(go_text(json(R"({"a":[1,"x",{"b":null}],"c":true,"d":{},"e":[]})")),
            "map[a:[1 x map[b:<nil>]] c:true d:map[] e:[]]");
}

class UndecodablePatchTest : public testing::Test {
 protected:
  /// The cause of what is answered if the decoder reports `problem`.
  std::string cause(const std::string& target, bool strategic, const char* patch, const char* result,
                    const char* problem = "what the decoder finds") {
    const auto context = server_.context("PATCH", target);
    const Rejection rejection =
        undecodable_patch(*context, {strategic, json(patch), json(result)},
                          Error{ErrorCode::kBadRequest, cannot_be_handled(*context->kind) + problem});
    EXPECT_EQ(rejection.error.code, ErrorCode::kInvalid);
    EXPECT_TRUE(rejection.subject && rejection.subject->name.empty() && rejection.subject->kind.empty());
    EXPECT_EQ(rejection.error.causes.at(0).field, "patch");
    EXPECT_EQ(rejection.error.message, " \"\" is invalid: patch: " + rejection.error.causes.at(0).message);
    return rejection.error.causes.at(0).message;
  }

  ManualServer server_;
  const std::string pod_ = "/api/v1/namespaces/default/pods/p";
};

TEST_F(UndecodablePatchTest, AChangedTypeIsReportedAsGoDoes) {
  EXPECT_EQ(cause(pod_, true, R"({"metadata":{"labels":"invalid"}})", R"({"metadata":{"labels":"invalid"}})"),
            R"(Invalid value: "map[metadata:map[labels:invalid]]": cannot restore map from string)");
  const auto problem = [&](const char* result) {
    const std::string message = cause(pod_, true, "{}", result);
    return message.substr(message.find(": ", sizeof "Invalid value: ") + 2);
  };
  EXPECT_EQ(problem(R"({"spec":[]})"), "cannot restore struct from: slice");
  EXPECT_EQ(problem(R"({"spec":{"containers":{}}})"), "cannot restore slice from map");
  EXPECT_EQ(problem(R"({"spec":{"containers":[{"name":1}]}})"), "cannot convert int64 to string");
  EXPECT_EQ(problem(R"({"spec":{"containers":[{"name":true}]}})"), "unrecognized type: string");
  EXPECT_EQ(problem(R"({"spec":{"priority":"x"}})"), "unrecognized type: int32");
  EXPECT_EQ(problem(R"({"spec":{"priority":1.5}})"), "cannot convert float64 to int32");
  EXPECT_EQ(problem(R"({"spec":{"hostNetwork":"x"}})"), "unrecognized type: bool");
  EXPECT_EQ(problem(R"({"metadata":{"annotations":{"a":null}},"spec":{"containers":[{"name":"c"}]}})"),
            "what the decoder finds");
  EXPECT_EQ(cause(pod_, false, R"({"spec":[]})", R"({"spec":[]})"),
            R"(Invalid value: "{"spec":[]}": what the decoder finds)");
}

TEST_F(UndecodablePatchTest, StrictErrorsAreTheSameWhateverTheTypesAre) {
  EXPECT_EQ(cause(pod_, true, R"({"spec":{"sofa":1}})", R"({"spec":{"sofa":1,"containers":{}}})",
                  R"(strict decoding error: unknown field "spec.sofa")"),
            R"(Invalid value: "map[spec:map[sofa:1]]": strict decoding error: unknown field "spec.sofa")");
}

TEST_F(UndecodablePatchTest, OtherRejectionsStayAsTheyAre) {
  const auto context = server_.context("PATCH", pod_);
  for (const Error& error : {Error{ErrorCode::kBadRequest, "the name of the object (q) does not match"},
                             Error{ErrorCode::kConflict, cannot_be_handled(*context->kind)}}) {
    const Rejection same = undecodable_patch(*context, {true, json("{}"), json("{}")}, error);
    EXPECT_EQ(same.error, error);
    EXPECT_FALSE(same.subject);
  }
}

}  // namespace
}  // namespace shiplog::api
