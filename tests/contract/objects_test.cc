// Operations on one object: create, read, replace, delete, subresources (META-1 to META-15, CRU-1 to CRU-10, DEL-1 to
// DEL-16 and SUB-1 to SUB-5).
#include "tests/contract/contract.h"

namespace shiplog::e2e {
namespace {

TEST(Objects, CreatedReadReplacedDeleted) {  // CRU-1, CRU-2, META-1, META-2, DEL-4, ERR-8
  const Answer made = api().post(kConfigMaps, config_map("crud", R"({"a":"1"})"));
  ASSERT_EQ(made.status, 201) << made;
  const Value& metadata = made.json["metadata"];
  EXPECT_EQ(metadata["uid"].str().size(), 36u);
  EXPECT_EQ(metadata["namespace"].str(), "default");
  EXPECT_EQ(metadata["creationTimestamp"].str().size(), 20u) << made;
  EXPECT_GT(std::stoll(metadata["resourceVersion"].str()), 0);
  EXPECT_EQ(api().get(kConfigMaps + "/crud").json, made.json);

  Value changed = made.json;
  changed.edit("data").set("a", "2");
  const Answer replaced = api().put(kConfigMaps + "/crud", changed);
  ASSERT_EQ(replaced.status, 200) << replaced;
  EXPECT_EQ(replaced.json["metadata"]["uid"], metadata["uid"]);
  EXPECT_NE(replaced.json["metadata"]["resourceVersion"], metadata["resourceVersion"]);

  const Answer removed = api().remove(kConfigMaps + "/crud");
  EXPECT_EQ(removed.status, 200) << removed;
  EXPECT_EQ(removed.json["status"].str(), "Success");
  EXPECT_EQ(removed.json["details"]["uid"], metadata["uid"]);
  expect_failure(api().get(kConfigMaps + "/crud"), 404, "NotFound", R"(configmaps "crud" not found)");
  expect_failure(api().remove(kConfigMaps + "/crud"), 404, "NotFound");
}

TEST(Objects, AWriteThatChangesNothingMakesNoVersion) {  // META-3
  const Answer made = api().post(kDeployments, deployment("unchanged"));
  ASSERT_EQ(made.status, 201) << made;
  const Answer again = api().put(kDeployments + "/unchanged", made.json);
  EXPECT_EQ(again.status, 200) << again;
  EXPECT_EQ(again.json["metadata"]["resourceVersion"],
            api().get(kDeployments + "/unchanged").json["metadata"]["resourceVersion"]);
}

TEST(Objects, StaleAndDoubledWritesAreConflicts) {
  const Answer made = api().post(kConfigMaps, config_map("conflict"));
  ASSERT_EQ(made.status, 201) << made;
  expect_failure(api().post(kConfigMaps, config_map("conflict")), 409, "AlreadyExists",
                 R"(configmaps "conflict" already exists)");
  Value first = made.json;
  first.set("data", json(R"({"by":"first"})"));
  ASSERT_EQ(api().put(kConfigMaps + "/conflict", first).status, 200);
  expect_failure(api().put(kConfigMaps + "/conflict", made.json), 409, "Conflict", "Operation cannot be fulfilled on");
  Value other = made.json;
  other.edit("metadata").erase("resourceVersion");
  other.edit("metadata").set("uid", "11111111-1111-4111-8111-111111111111");
  expect_failure(api().put(kConfigMaps + "/conflict", other), 409, "Conflict");
  const std::string preconditions = R"({"preconditions":{"uid":"11111111-1111-4111-8111-111111111111"}})";
  expect_failure(api().call("DELETE", kConfigMaps + "/conflict", preconditions), 409, "Conflict");  // DEL-3
  EXPECT_EQ(api().get(kConfigMaps + "/conflict").status, 200);
}

TEST(Objects, NamesAreGenerated) {
  Value object = config_map("x");
  object.edit("metadata").erase("name");
  object.edit("metadata").set("generateName", "made-");
  const std::string first = api().post(kConfigMaps, object).json["metadata"]["name"].str();
  const std::string second = api().post(kConfigMaps, object).json["metadata"]["name"].str();
  EXPECT_EQ(first.size(), 10u) << first;
  EXPECT_TRUE(first.starts_with("made-")) << first;
  EXPECT_NE(first, second);
}

TEST(Objects, ADryRunLeavesNothingBehind) {  // CRU-4
  const Answer made = api().post(kDeployments + "?dryRun=All", deployment("dry"));
  EXPECT_EQ(made.status, 201) << made;
  EXPECT_EQ(made.json["spec"]["revisionHistoryLimit"].as_int(), 10);
  EXPECT_EQ(made.json["metadata"]["uid"].str().size(), 36u) << made;
  EXPECT_TRUE(made.json["metadata"].contains("creationTimestamp")) << made;
  EXPECT_EQ(api().get(kDeployments + "/dry").status, 404);
  EXPECT_EQ(api().post(kDeployments + "?dryRun=Some", deployment("dry")).status, 422);
  expect_failure(api().post("/api/v1/namespaces/nowhere/configmaps?dryRun=All", config_map("dry")), 404, "NotFound",
                 R"(namespaces "nowhere" not found)");
  ASSERT_EQ(api().post(kConfigMaps, config_map("dry")).status, 201);
  EXPECT_EQ(
      api().call("PUT", kConfigMaps + "/dry?dryRun=All", R"({"metadata":{"name":"dry"},"data":{"a":"1"}})").status,
      200);
  EXPECT_EQ(api().call("DELETE", kConfigMaps + "/dry?dryRun=All").status, 200);
  const Answer after = api().get(kConfigMaps + "/dry");
  EXPECT_EQ(after.status, 200);
  EXPECT_FALSE(after.json["data"].contains("a")) << after;
}

TEST(Objects, FinalizersDelayTheRemovalOfADeletedObject) {  // DEL-4 to DEL-7
  Value object = config_map("held");
  object.edit("metadata").set("finalizers", json(R"(["example.com/keep"])"));
  ASSERT_EQ(api().post(kConfigMaps, object).status, 201);
  EXPECT_EQ(api().remove(kConfigMaps + "/held").status, 200);
  const Answer held = api().get(kConfigMaps + "/held");
  ASSERT_EQ(held.status, 200);
  EXPECT_FALSE(held.json["metadata"]["deletionTimestamp"].str().empty()) << held;
  expect_failure(api().patch(kConfigMaps + "/held", "merge",
                             json(R"({"metadata":{"finalizers":["example.com/keep","example.com/more"]}})")),
                 422, "Invalid");
  EXPECT_EQ(api().patch(kConfigMaps + "/held", "merge", json(R"({"metadata":{"finalizers":null}})")).status, 200);
  EXPECT_EQ(api().get(kConfigMaps + "/held").status, 404);
}

TEST(Objects, DependentsAreDeletedWithTheirOwner) {  // DEL-12, DEL-13
  const Answer owner = api().post(kConfigMaps, config_map("owner"));
  Value dependent = config_map("dependent");
  dependent.edit("metadata")
      .set("ownerReferences", Value::array({Value::object({{"apiVersion", "v1"},
                                                           {"kind", "ConfigMap"},
                                                           {"name", "owner"},
                                                           {"uid", owner.json["metadata"]["uid"]}})}));
  ASSERT_EQ(api().post(kConfigMaps, dependent).status, 201);
  EXPECT_EQ(api().remove(kConfigMaps + "/owner?propagationPolicy=Background").status, 200);
  EXPECT_TRUE(eventually([] { return api().get(kConfigMaps + "/dependent").status == 404; }))
      << api().get(kConfigMaps + "/dependent");
}

TEST(Objects, ADeletedNamespaceDeletesItsContent) {  // NSP-1 to NSP-5
  expect_failure(api().post("/api/v1/namespaces/nowhere/configmaps", config_map("x")), 404, "NotFound",
                 R"(namespaces "nowhere" not found)");
  ASSERT_EQ(api().post("/api/v1/namespaces", json(R"({"metadata":{"name":"short-lived"}})")).status, 201);
  ASSERT_EQ(api().post("/api/v1/namespaces/short-lived/configmaps", config_map("x")).status, 201);
  const std::string lease =
      "/apis/coordination.k8s.io/v1/namespaces/short-lived/leases";  // stored in the ephemera journal
  ASSERT_EQ(api().post(lease, json(R"({"metadata":{"name":"l"},"spec":{"holderIdentity":"me"}})")).status, 201);
  EXPECT_EQ(api().remove("/api/v1/namespaces/short-lived").status, 200);
  EXPECT_TRUE(eventually([] { return api().get("/api/v1/namespaces/short-lived").status == 404; }))
      << api().get("/api/v1/namespaces/short-lived");
  EXPECT_EQ(api().get("/api/v1/namespaces/short-lived/configmaps/x").status, 404);
  EXPECT_TRUE(eventually([&] { return api().get(lease + "/l").status == 404; })) << api().get(lease + "/l");
  expect_failure(api().remove("/api/v1/namespaces/default"), 403, "Forbidden");
}

TEST(Objects, StatusIsWrittenThroughItsSubresourceOnly) {  // SUB-1
  Value object = deployment("with-status");
  object.set("status", json(R"({"readyReplicas":7})"));
  const Answer made = api().post(kDeployments, object);
  ASSERT_EQ(made.status, 201) << made;
  EXPECT_FALSE(made.json["status"].contains("readyReplicas")) << made;
  const int64_t generation = made.json["metadata"]["generation"].as_int();
  EXPECT_EQ(generation, 1);
  const Answer patched = api().patch(kDeployments + "/with-status/status", "merge",
                                     json(R"({"status":{"replicas":1,"readyReplicas":1},"spec":{"replicas":9}})"));
  ASSERT_EQ(patched.status, 200) << patched;
  EXPECT_EQ(patched.json["status"]["readyReplicas"].as_int(), 1);
  EXPECT_EQ(patched.json["spec"]["replicas"].as_int(), 1);
  EXPECT_EQ(patched.json["metadata"]["generation"].as_int(), generation);
  EXPECT_EQ(api().get(kDeployments + "/with-status/status").json["status"]["readyReplicas"].as_int(), 1);
}

TEST(Objects, ScaleReadsAndWritesReplicas) {  // SUB-2
  ASSERT_EQ(api().post(kDeployments, deployment("scaled", 2)).status, 201);
  const Answer scale = api().get(kDeployments + "/scaled/scale");
  ASSERT_EQ(scale.status, 200) << scale;
  EXPECT_EQ(scale.json["kind"].str(), "Scale");
  EXPECT_EQ(scale.json["apiVersion"].str(), "autoscaling/v1");
  EXPECT_EQ(scale.json["spec"]["replicas"].as_int(), 2);
  EXPECT_EQ(scale.json["status"]["selector"].str(), "app=scaled");
  Value wanted = scale.json;
  wanted.edit("spec").set("replicas", 5);
  const Answer put = api().put(kDeployments + "/scaled/scale", wanted);
  EXPECT_EQ(put.status, 200) << put;
  const Answer parent = api().get(kDeployments + "/scaled");
  EXPECT_EQ(parent.json["spec"]["replicas"].as_int(), 5);
  EXPECT_EQ(parent.json["metadata"]["generation"].as_int(), 2);
  expect_failure(api().put(kDeployments + "/scaled/scale", wanted), 409, "Conflict");
  EXPECT_EQ(api().patch(kDeployments + "/scaled/scale", "merge", json(R"({"spec":{"replicas":3}})")).status, 200);
  EXPECT_EQ(api().get(kDeployments + "/scaled").json["spec"]["replicas"].as_int(), 3);
  EXPECT_EQ(api().get(kConfigMaps + "/scaled/scale").status, 404);
}

TEST(Objects, InvalidFieldsAreNamed) {  // ERR-5, CRU-8, CRU-9
  Value wrong = deployment("invalid");
  wrong.edit("spec").edit("selector").set("matchLabels", json(R"({"app":"other"})"));
  const Answer answer = api().post(kDeployments, wrong);
  expect_failure(answer, 422, "Invalid", R"(Deployment.apps "invalid" is invalid: )");
  EXPECT_EQ(answer.json["details"]["kind"].str(), "Deployment");
  EXPECT_FALSE(answer.json["details"]["causes"][0]["field"].str().empty()) << answer;
  expect_failure(api().post(kConfigMaps, config_map("Not_A_Name")), 422, "Invalid", "metadata.name");

  ASSERT_EQ(api().post(kDeployments, deployment("immutable")).status, 201);
  Value moved = deployment("immutable");
  moved.edit("spec").edit("selector").set("matchLabels", json(R"({"app":"x"})"));
  moved.edit("spec").edit("template").edit("metadata").set("labels", json(R"({"app":"x"})"));
  expect_failure(api().put(kDeployments + "/immutable", moved), 422, "Invalid", "immutable");
}

}  // namespace
}  // namespace shiplog::e2e
