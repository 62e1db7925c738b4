#include "events/base/json.h"
#include "tests/contract/contract.h"

// What the built-in kinds demand that only a served API shows.

namespace shiplog::e2e {
namespace {

TEST(BuiltInRules, ThereIsOneDefaultPriorityClass) {  // CRU-9
  const std::string path = "/apis/scheduling.k8s.io/v1/priorityclasses";
  ASSERT_EQ(api().post(path, json(R"({"metadata":{"name":"g1"},"value":5,"globalDefault":true})")).status, 201);
  const std::string refused = "PriorityClass g1 is already marked as default. Only one default can exist";
  expect_failure(api().post(path, json(R"({"metadata":{"name":"g2"},"value":6,"globalDefault":true})")), 403,
                 "Forbidden", refused);
  ASSERT_EQ(api().post(path, json(R"({"metadata":{"name":"g2"}})")).status, 201);
  expect_failure(api().patch(path + "/g2", "merge", json(R"({"globalDefault":true})")), 403, "Forbidden", refused);
  EXPECT_EQ(api().patch(path + "/g1", "merge", json(R"({"description":"the default"})")).status, 200);
  EXPECT_EQ(api().remove(path + "/g1").status, 200);
  EXPECT_EQ(api().patch(path + "/g2", "merge", json(R"({"globalDefault":true})")).status, 200);
  EXPECT_EQ(api().remove(path + "/g2").status, 200);
}

TEST(BuiltInRules, SystemPriorityClassesExistAndStay) {  // CRU-9, TBL-3
  const std::string path = "/apis/scheduling.k8s.io/v1/priorityclasses/system-node-critical";
  EXPECT_EQ(api().get(path).json["value"].as_int(), 2'000'001'000);
  expect_failure(api().remove(path), 403, "Forbidden", "this is a system priority class and cannot be deleted");
  const std::string shown = plane().kubectl_ok({"get", "pc", "system-cluster-critical", "--no-headers"});
  EXPECT_TRUE(shown.find("2000000000") != std::string::npos && shown.find("false") != std::string::npos) << shown;
}

TEST(BuiltInRules, OnlyTheSeriesOfAnEventChangesThroughItsNewerVersion) {  // EVENT-2
  const std::string core = "/api/v1/namespaces/default/events";
  const std::string newer = "/apis/events.k8s.io/v1/namespaces/default/events";
  ASSERT_EQ(api()
                .post(newer, json(R"({"metadata":{"name":"lasting"},"eventTime":"2026-01-02T03:04:05.000006Z",
      "reportingController":"c","reportingInstance":"i","action":"a","reason":"r","note":"n","type":"Normal",
      "regarding":{"kind":"Pod","name":"p","namespace":"default"}})"))
                .status,
            201);
  EXPECT_EQ(api()
                .patch(newer + "/lasting", "merge",
                       json(R"({"series":{"count":2,"lastObservedTime":"2026-01-02T03:04:06.000006Z"}})"))
                .status,
            200);
  expect_failure(api().patch(newer + "/lasting", "merge", json(R"({"note":"other"})")), 422, "Invalid",
                 R"(message: Invalid value: "other": field is immutable)");
  EXPECT_EQ(api().patch(core + "/lasting", "merge", json(R"({"message":"other"})")).status, 200);
}

TEST(BuiltInRules, AReviewHasNoName) {  // AUTHZ-7
  const std::string group = "/apis/authorization.k8s.io/v1";
  const auto review = [&](const std::string& path, const char* metadata) {
    Value body = json(R"({"spec":{"user":"u","resourceAttributes":{"verb":"get","resource":"pods"}}})");
    body.edit("spec").edit("resourceAttributes").set("namespace", "default");
    body.set("metadata", json(metadata));
    return api().post(group + path, body);
  };
  expect_failure(review("/subjectaccessreviews", R"({"name":"x"})"), 422, "Invalid",
                 R"(metadata: Invalid value: {"name":"x"}: must be empty)");
  EXPECT_EQ(review("/subjectaccessreviews", R"({"creationTimestamp":null})").status, 201);
  const std::string local = "/namespaces/default/localsubjectaccessreviews";
  EXPECT_EQ(review(local, R"({"namespace":"default"})").status, 201);
  expect_failure(review(local, R"({"namespace":"default","labels":{"a":"b"}})"), 422, "Invalid",
                 "must be empty except for namespace");
}

TEST(BuiltInRules, JobsGetASelectorThatNoOneOwns) {  // CRU-10
  const Value job = api()
                        .post("/apis/batch/v1/namespaces/default/jobs", json(R"({"metadata":{"name":"sum"},
      "spec":{"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}}}})"))
                        .json;
  const std::string uid = job["metadata"]["uid"].str();
  EXPECT_FALSE(uid.empty());
  EXPECT_EQ(job["spec"]["selector"]["matchLabels"]["batch.kubernetes.io/controller-uid"].str(), uid);
  EXPECT_EQ(job["spec"]["template"]["metadata"]["labels"]["job-name"].str(), "sum");
  EXPECT_EQ(to_json(job["metadata"]["managedFields"]).find("f:selector"), std::string::npos);
  EXPECT_EQ(api().remove("/apis/batch/v1/namespaces/default/jobs/sum").status, 200);
}

TEST(BuiltInRules, NodesAreCreatedWithTheirStatus) {  // CRU-1
  const Answer made =
      api().post("/api/v1/nodes", json(R"({"metadata":{"name":"stated"},"status":{"capacity":{"cpu":"2"}}})"));
  ASSERT_EQ(made.status, 201) << made;
  EXPECT_EQ(made.json["status"]["allocatable"]["cpu"].str(), "2");
  EXPECT_EQ(api().remove("/api/v1/nodes/stated").status, 200);
}

}  // namespace
}  // namespace shiplog::e2e
