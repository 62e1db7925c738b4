// The data of Secrets is not on disk in clear text, and unreadable once the Secret is deleted (rule 8 of the design). A
// member with another identity is detected, and nothing else is affected.
#include <algorithm>
#include <filesystem>

#include "tests/contract/contract.h"

namespace shiplog::e2e {
namespace {

const std::string kSecrets = "/api/v1/namespaces/default/secrets";
const std::string kClusters = "/apis/cluster.karmada.io/v1alpha1/clusters";
// "the-plain-text-of-a-secret", plain and as base64.
const std::string kPlain = "the-plain-text-of-a-secret";
const std::string kEncoded = "dGhlLXBsYWluLXRleHQtb2YtYS1zZWNyZXQ=";

/// The files below the server's folder, and its log, that contain one of these texts.
std::vector<std::string> files_containing(const std::vector<std::string>& texts) {
  std::vector<std::string> found;
  const auto search = [&](const std::string& path) {
    const std::string content = read_file(path);
    for (const std::string& text : texts) {
      if (content.find(text) != std::string::npos) found.push_back(path + " contains " + text);
    }
  };
  for (const auto& file : std::filesystem::recursive_directory_iterator{plane().path("plane")}) {
    if (file.is_regular_file()) search(file.path().string());
  }
  search(plane().path("plane.log"));
  return found;
}

TEST(Secrets, AreReadableThroughTheApiAndNowhereElse) {
  const Answer made =
      api().post(kSecrets, json(R"({"metadata":{"name":"sealed"},"type":"Opaque","data":{"password":")" + kEncoded +
                                R"("},"stringData":{"other":")" + kPlain + R"("}})"));
  ASSERT_EQ(made.status, 201) << made;
  EXPECT_EQ(made.json["data"]["password"].str(), kEncoded);
  EXPECT_EQ(made.json["data"]["other"].str(), kEncoded);
  EXPECT_FALSE(made.json.contains("stringData")) << made;
  EXPECT_EQ(api().get(kSecrets + "/sealed").json["data"]["password"].str(), kEncoded);
  EXPECT_EQ(api().get(kSecrets + "?fieldSelector=metadata.name%3Dsealed").json["items"][0]["data"]["password"].str(),
            kEncoded);
  EXPECT_EQ(files_containing({kPlain, kEncoded}), std::vector<std::string>{});
  EXPECT_EQ(api().patch(kSecrets + "/sealed", "merge", json(R"({"data":{"third":")" + kEncoded + R"("}})")).status,
            200);
  EXPECT_EQ(files_containing({kPlain, kEncoded}), std::vector<std::string>{});
  for (const char* query : {"history?kind=secret&name=sealed", "audit?kind=secret&name=sealed", "events"}) {
    const std::string response = api().get(std::string{"/shiplog/v1/"} + query).body;
    EXPECT_EQ(response.find(kEncoded), std::string::npos) << query;
    EXPECT_EQ(response.find(kPlain), std::string::npos) << query;
  }
  const std::string revision = api().get(kSecrets).json["metadata"]["resourceVersion"].str();
  EXPECT_EQ(api().remove(kSecrets + "/sealed").status, 200);
  EXPECT_EQ(files_containing({kPlain, kEncoded}), std::vector<std::string>{});
  // The past version still exists; its data does not.
  const Answer past = api().get(kSecrets + "?resourceVersion=" + revision + "&resourceVersionMatch=Exact");
  EXPECT_TRUE(eventually([&] {
    return api().get(kSecrets + "?resourceVersion=" + revision + "&resourceVersionMatch=Exact").body.find(kEncoded) ==
           std::string::npos;
  })) << past;
}

Value condition(const Value& object, const std::string& type) {
  for (const Value& item : object["status"]["conditions"].items()) {
    if (item["type"].as_string() == type) return item;
  }
  return {};
}

TEST(Secrets, AMemberWithAnotherCertificateIsNotReadyWithAReason) {  // 1.14.13
  plane().join("good");
  plane().member("impostor");
  plane().shiplogctl_ok({"join", "impostor", "--cluster-kubeconfig", plane().kubeconfig("impostor")});
  // From now on its certificate is expected to be signed by another authority.
  const std::string secret = "/api/v1/namespaces/karmada-cluster/secrets/";
  const Answer good = api().get(secret + "good");
  ASSERT_EQ(good.status, 200) << good;
  const Answer changed =
      api().patch(secret + "impostor", "merge",
                  Value::object({{"data", Value::object({{"caBundle", good.json["data"]["caBundle"]}})}}));
  ASSERT_EQ(changed.status, 200) << changed;
  EXPECT_TRUE(eventually([] {
    return condition(api().get(kClusters + "/impostor").json, "Ready")["status"].as_string() != "True";
  })) << api().get(kClusters + "/impostor");
  const Value ready = condition(api().get(kClusters + "/impostor").json, "Ready");
  EXPECT_NE(ready["message"].str().find("certificate"), std::string::npos) << ready["message"].str();
  EXPECT_FALSE(ready["reason"].str().empty());

  // Propagation to the other member continues.
  ASSERT_EQ(api().post(kDeployments, deployment("two-members", 2)).status, 201);
  ASSERT_EQ(api()
                .post("/apis/policy.karmada.io/v1alpha1/namespaces/default/propagationpolicies",
                      json(R"({"metadata":{"name":"two-members"},
      "spec":{"resourceSelectors":[{"apiVersion":"apps/v1","kind":"Deployment","name":"two-members"}],
      "placement":{"clusterAffinity":{"clusterNames":["good","impostor"]}}}})"))
                .status,
            201);
  const ApiClient member = plane().api("good");
  EXPECT_TRUE(eventually([&] {
    return member.get(kDeployments + "/two-members").json["status"]["readyReplicas"].as_int() == 2;
  })) << member.get(kDeployments + "/two-members");
  EXPECT_EQ(plane().api("impostor").get(kDeployments + "/two-members").status, 404);
  EXPECT_EQ(condition(api().get(kClusters + "/good").json, "Ready")["status"].str(), "True");
}

}  // namespace
}  // namespace shiplog::e2e
