// `shiplogctl at`, and kubectl on a fleet as it was.
#include <algorithm>

#include <gtest/gtest.h>

#include "events/base/json.h"
#include "tests/e2e/manifests.h"
#include "tests/support/fleet.h"

namespace shiplog::e2e {
namespace {

class PastContexts : public ::testing::Test {
 protected:
  void SetUp() override {
    fleet_.serve();
    fleet_.kubectl_ok({"apply", "-f", "-"}, deployment_manifest("web", 2));
    then_ =
        json(fleet_.kubectl_ok({"get", "deployments", "-o", "json"}))["items"][0]["metadata"]["resourceVersion"].str();
    fleet_.kubectl_ok({"scale", "deployment", "web", "--replicas=5"});
    fleet_.kubectl_ok({"delete", "deployment", "web"});
  }
  Ran past(std::vector<std::string> words, const std::string& input = {}) {
    words.insert(words.begin(), {"--context", "then"});
    return fleet_.kubectl(std::move(words), input);
  }

  Fleet fleet_;
  std::string then_;
};

TEST_F(PastContexts, KubectlReadsTheFleetAsItWas) {
  const std::string said = fleet_.shiplogctl_ok({"at", then_, "--name=then"});
  EXPECT_NE(said.find("context \"then\" reads the fleet as of revision " + then_), std::string::npos) << said;
  EXPECT_NE(said.find("kubectl --context then get deployments -A"), std::string::npos) << said;

  const Ran listed = past({"get", "deployments", "-A"});
  EXPECT_NE(listed.out.find("web    0/2"), std::string::npos) << listed;
  const Ran described = past({"describe", "deployment", "web"});
  EXPECT_TRUE(described.ok()) << described;
  EXPECT_NE(described.out.find("2 desired"), std::string::npos) << described;
  const Ran explained = past({"explain", "deployment.spec.replicas"});
  EXPECT_NE(explained.out.find("FIELD: replicas"), std::string::npos) << explained;
  EXPECT_TRUE(past({"api-resources"}).ok());
  EXPECT_EQ(fleet_.kubectl_ok({"get", "deployments", "-A"}), "") << "it was deleted meanwhile";
  const Ran computed = past({"get", "replicaset", "web-1"});
  EXPECT_TRUE(computed.says("computed from the rollout history of a workload, which is not done for the past"))
      << computed;
  EXPECT_FALSE(past({"get", "configmap", "web-1"}).says("rollout"));
  const Ran none = past({"get", "replicasets"});
  EXPECT_TRUE(none.ok()) << none;
  EXPECT_NE(none.err.find("Warning: ReplicaSets of the past are not computed"), std::string::npos) << none;
  EXPECT_EQ(fleet_.kubectl({"get", "replicasets"}).err.find("Warning"), std::string::npos);

  // What was deleted comes back with the manifest of the past.
  const Ran manifest = past({"get", "deployment", "web", "-o", "yaml"});
  ASSERT_TRUE(manifest.ok()) << manifest;
  const Ran difference = fleet_.kubectl({"diff", "-f", "-"}, manifest.out);
  EXPECT_EQ(difference.code, 1) << difference;
  EXPECT_NE(difference.out.find("+  replicas: 2"), std::string::npos) << difference;

  for (const Ran& write :
       {past({"delete", "deployment", "web"}), past({"scale", "deployment", "web", "--replicas=1"}),
        past({"apply", "-f", "-"}, deployment_manifest("web", 1)), past({"create", "configmap", "late"})}) {
    EXPECT_EQ(write.code, 1) << write;
    EXPECT_TRUE(write.says("/at/r" + then_ + " is the past, which is read-only")) << write;
  }
}

TEST_F(PastContexts, AWatchReplaysWhatFollowed) {
  fleet_.shiplogctl_ok({"at", then_, "--name=then", "--speed=max"});
  fleet_.kubectl_beside({"--context", "then", "get", "deployments", "-w", "-o",
                         "jsonpath={.type} wants {.object.spec.replicas}{\"\\n\"}", "--output-watch-events"});
  const auto printed = [&] { return fleet_.log_tail("kubectl-1"); };
  EXPECT_TRUE(eventually([&] { return printed().find("DELETED") != std::string::npos; })) << printed();
  EXPECT_NE(printed().find("ADDED wants 2"), std::string::npos) << printed();
  EXPECT_NE(printed().find("MODIFIED wants 5"), std::string::npos) << printed();
}

TEST_F(PastContexts, DiffAndBlameNameTheAuthorsOfChanges) {
  fleet_.kubectl_ok({"create", "configmap", "settings", "--from-literal=level=info", "--from-literal=port=80"});
  fleet_.kubectl_ok({"patch", "configmap", "settings", "--as=bob", "--as-group=system:masters", "--patch",
                     R"({"data":{"level":"debug"}})"});
  const std::string blamed = fleet_.shiplogctl_ok({"blame", "configmap/settings", "-o", "json"});
  const Value blame = json(blamed);
  const auto author_of = [&](const std::string& path) -> std::string {
    for (const Value& item : blame["items"].items()) {
      if (item["path"].as_string() != path) continue;
      return blame["origins"][static_cast<size_t>(item["origin"].as_int())]["who"]["user"].str();
    }
    return "";
  };
  EXPECT_EQ(author_of("data.level"), "bob") << blamed;
  EXPECT_EQ(author_of("data.port"), "kubernetes-admin") << blamed;
  const std::string table = fleet_.shiplogctl_ok({"blame", "configmap/settings", "--field=data"});
  EXPECT_EQ(std::ranges::count(table, '\n'), 3) << table;
  const Ran no_field = fleet_.shiplogctl({"blame", "configmap/settings", "--field=data.nothing"});
  EXPECT_TRUE(no_field.says("the object has no field data.nothing")) << no_field;

  const std::string all = fleet_.shiplogctl_ok({"diff", "--from", then_});
  EXPECT_NE(all.find("deployments/default/web: removed"), std::string::npos) << all;
  EXPECT_NE(all.find("configmaps/default/settings: created"), std::string::npos) << all;
  const std::string of_bob = fleet_.shiplogctl_ok({"diff", "--from", then_, "--user=bob"});
  EXPECT_EQ(of_bob.find("deployments/default/web"), std::string::npos) << of_bob;
  EXPECT_NE(of_bob.find("configmaps/default/settings"), std::string::npos) << of_bob;
  const Ran mistyped = fleet_.shiplogctl({"diff", "deployment/no-such", "--from", then_});
  EXPECT_EQ(mistyped.code, 1) << mistyped;
  EXPECT_TRUE(mistyped.says("not found")) << mistyped;
  const Ran backwards = fleet_.shiplogctl({"diff", "--from", "1h", "--to", "2h"});
  EXPECT_EQ(backwards.code, 1) << backwards;
  const Ran denied = fleet_.shiplogctl({"--as=eve", "diff", "--from", then_});
  EXPECT_TRUE(denied.says("forbidden")) << denied;
}

TEST_F(PastContexts, AMomentThatIsNotKeptIsRefusedBeforeAnythingIsWritten) {
  const std::string before = fleet_.kubectl_ok({"config", "view", "--raw"});
  const Ran future = fleet_.shiplogctl({"at", "99999999", "--name=then"});
  EXPECT_EQ(future.code, 1) << future;
  EXPECT_TRUE(future.says("is newer than the newest revision; kept are revision")) << future;
  EXPECT_EQ(fleet_.shiplogctl({"at", "yesterday"}).code, 2);
  EXPECT_EQ(fleet_.shiplogctl({"at", then_, "--speed=0"}).code, 1);
  EXPECT_EQ(fleet_.kubectl_ok({"config", "view", "--raw"}), before);
}

}  // namespace
}  // namespace shiplog::e2e
