// The data of a Secret is stored only in sealed form, whatever operations are performed on the Secret.
#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "events/base/base64.h"
#include "tests/support/fleet.h"
#include "tests/support/stored_text.h"

namespace shiplog::e2e {
namespace {

const std::string kSecrets = "/api/v1/namespaces/default/secrets";
const std::string kWorks = "/apis/work.karmada.io/v1alpha1/namespaces/karmada-es-member1/works";

// Of a length that base64 neither pads nor splits.
constexpr const char* kMarker = "marker-Zq7vW2nXb81Kf";

class SealedData : public ::testing::Test {
 protected:
  void SetUp() override {
    fleet_.serve("plane", {"--snapshot-every=50"});
    fleet_.join("member1");
    api_ = std::make_unique<ApiClient>(fleet_.kubeconfig("plane"));
  }

  /// Files of the control plane that contain the marker, plain or in base64.
  std::string leaks() {
    std::string found;
    const std::string encoded = base64_encode(kMarker).substr(0, 24);
    std::vector<std::string> files = {fleet_.path("plane.log")};
    for (const auto& entry : std::filesystem::recursive_directory_iterator{fleet_.path("plane")}) {
      if (entry.is_regular_file()) files.push_back(entry.path().string());
    }
    for (const std::string& file : files) {
      const std::string bytes = file.ends_with(".db") ? stored_text(file) : read_file(file);
      for (const std::string& form : {std::string{kMarker}, encoded}) {
        const size_t position = bytes.find(form);
        if (position == std::string::npos) continue;
        found += file + " has " + form + ": ..." + bytes.substr(position < 300 ? 0 : position - 300, 600) + "...\n";
      }
    }
    return found;
  }
  std::string work() {
    const Answer works = api_->get(kWorks);
    for (const Value& item : works.json["items"].items()) {
      if (item["spec"]["workload"]["manifests"][0]["kind"].as_string() == "Secret")
        return item["metadata"]["name"].str();
    }
    return "";
  }

  Fleet fleet_;
  std::unique_ptr<ApiClient> api_;
};

TEST_F(SealedData, IsNowhereInClearText) {
  const std::string encoded = base64_encode(kMarker);
  EXPECT_EQ(api_->post("/apis/policy.karmada.io/v1alpha1/namespaces/default/propagationpolicies",
                       json(R"({"apiVersion":"policy.karmada.io/v1alpha1","kind":"PropagationPolicy",
      "metadata":{"name":"secrets"},"spec":{"resourceSelectors":[{"apiVersion":"v1","kind":"Secret"}],
      "placement":{"clusterAffinity":{"clusterNames":["member1"]}}}})"))
                .status,
            201);
  Value secret = json(R"({"apiVersion":"v1","kind":"Secret","metadata":{"name":"password"}})");
  secret.edit("data").set("word", encoded);
  secret.edit("metadata")
      .edit("annotations")
      .set("kubectl.kubernetes.io/last-applied-configuration", "{\"data\":{\"word\":\"" + encoded + "\"}}");
  ASSERT_EQ(api_->post(kSecrets, secret).status, 201);
  ASSERT_TRUE(eventually(
      [&] { return fleet_.api("member1").get(kSecrets + "/password").json["data"]["word"].str() == encoded; }));

  // A Work that is read, with its Secrets opened, and written back.
  ASSERT_TRUE(eventually([&] { return !work().empty(); }));
  const Answer patched =
      api_->patch(kWorks + "/" + work(), "merge", json(R"({"metadata":{"annotations":{"seen":"yes"}}})"));
  EXPECT_EQ(patched.status, 200) << patched;
  EXPECT_EQ(patched.json["spec"]["workload"]["manifests"][0]["data"]["word"].str(), encoded)
      << "a user with the permission reads it";

  // Requests that are refused because of their content.
  Value invalid = json(R"({"apiVersion":"v1","kind":"Secret","metadata":{"name":"other"}})");
  invalid.edit("data").set("word", std::string{kMarker} + "!");
  EXPECT_GE(api_->post(kSecrets, invalid).status, 400);
  Value immutable = secret;
  immutable.set("type", std::string{kMarker});
  EXPECT_GE(api_->put(kSecrets + "/password", immutable).status, 400);

  // A script that reads Secrets.
  const Answer script =
      api_->post("/apis/config.karmada.io/v1alpha1/resourceinterpretercustomizations",
                 json(R"({"apiVersion":"config.karmada.io/v1alpha1","kind":"ResourceInterpreterCustomization",
      "metadata":{"name":"thief"},"spec":{"target":{"apiVersion":"v1","kind":"Secret"},"customizations":{
      "statusReflection":{"luaScript":"function ReflectStatus(o) return o.data end"},
      "retention":{"luaScript":"function Retain(d, o) error(o.data.word) end"},
      "replicaResource":{"luaScript":"function GetReplicas(o) return 1, {nodeClaim = {nodeSelector = o.data}} end"}}}})"));
  EXPECT_EQ(script.status, 403) << script;
  EXPECT_NE(script.message().find("no script is run on Secrets"), std::string::npos) << script;

  // A user of the member changes it.
  const ApiClient member = fleet_.api("member1");
  EXPECT_EQ(
      member.patch(kSecrets + "/password", "merge", json(R"({"metadata":{"annotations":{"touched":"yes"}}})")).status,
      200);

  // The Secret is changed and deleted.
  const std::string second = base64_encode(std::string{kMarker} + "-2");
  Value change = json(R"({"data":{}})");
  change.edit("data").set("word", second);
  EXPECT_EQ(api_->patch(kSecrets + "/password", "merge", change).status, 200);
  ASSERT_TRUE(eventually(
      [&] { return fleet_.api("member1").get(kSecrets + "/password").json["data"]["word"].str() == second; }));
  EXPECT_EQ(api_->remove(kSecrets + "/password").status, 200);
  ASSERT_TRUE(eventually([&] { return fleet_.api("member1").get(kSecrets + "/password").status == 404; }));
  expect_replay_equals(fleet_, *api_, "sqlite:" + fleet_.path("plane/journal.db"));
  EXPECT_EQ(leaks(), "") << "while it runs";
  EXPECT_EQ(fleet_.process("plane").terminate(), 0);
  EXPECT_EQ(leaks(), "");
}

}  // namespace
}  // namespace shiplog::e2e
