// Scripts of ResourceInterpreterCustomizations that never end. The comments name those that counting instructions
// cannot stop.
#include <string>

#include <gtest/gtest.h>

#include "tests/support/fleet.h"

namespace shiplog::e2e {
namespace {

const std::string kCustomizations = "/apis/config.karmada.io/v1alpha1/resourceinterpretercustomizations";
const std::string kDeployment = "/apis/apps/v1/namespaces/default/deployments/web";
const std::string kBinding = "/apis/work.karmada.io/v1alpha2/namespaces/default/resourcebindings/web-deployment";

// Not stopped by counting: hooks are disabled while a handler runs.
constexpr const char* kEndlessHandler =
    "function GetReplicas(o) return xpcall(function() while true do end end, function() while true do end end) end";
// Not stopped by counting: arithmetic on a string reads all of it within one instruction.
constexpr const char* kSlowInstruction =
    "function InterpretHealth(o) local s = ('1'):rep(999999) local t = s .. s .. s .. s "
    "while true do local x = t + 1 x = t + 1 x = t + 1 x = t + 1 x = t + 1 end end";
// Not stopped by counting: a loop in C over all elements after the position.
constexpr const char* kLoopInC =
    "function ReviseReplica(o, n) local t = {} for i = 1, 300000 do t[i] = i end "
    "while true do table.insert(t, 1, 0) end end";

Value customization(const std::vector<std::pair<const char*, const char*>>& scripts) {
  Value object = json(R"({"apiVersion":"config.karmada.io/v1alpha1","kind":"ResourceInterpreterCustomization",
      "metadata":{"name":"hostile"},"spec":{"target":{"apiVersion":"apps/v1","kind":"Deployment"}}})");
  for (const auto& [field, script] : scripts) {
    object.edit("spec").edit("customizations").edit(field).set("luaScript", script);
  }
  return object;
}

Value condition_of(const Value& object) {
  for (const Value& condition : object["status"]["conditions"].items()) {
    if (condition["type"].as_string() == "Quarantined") return condition;
  }
  return {};
}

class HostileScript : public ::testing::Test {
 protected:
  void SetUp() override {
    fleet_.serve();
    fleet_.join("member1");
    api_ = std::make_unique<ApiClient>(fleet_.kubeconfig("plane"));
  }

  void create_workload() {
    EXPECT_EQ(api_->post("/apis/policy.karmada.io/v1alpha1/namespaces/default/propagationpolicies",
                         json(R"({"apiVersion":"policy.karmada.io/v1alpha1","kind":"PropagationPolicy",
        "metadata":{"name":"web"},"spec":{"resourceSelectors":[{"apiVersion":"apps/v1","kind":"Deployment"}],
        "placement":{"clusterAffinity":{"clusterNames":["member1"]}}}})"))
                  .status,
              201);
    EXPECT_EQ(api_->post("/apis/apps/v1/namespaces/default/deployments",
                         json(R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web"},
        "spec":{"replicas":2,"selector":{"matchLabels":{"app":"web"}},"template":{"metadata":{"labels":{"app":"web"}},
        "spec":{"containers":[{"name":"main","image":"nginx"}]}}}})"))
                  .status,
              201);
  }
  /// The functions in quarantine, with their reasons.
  std::string quarantine() {
    std::string functions;
    const Answer answer = api_->get(kCustomizations + "/hostile");
    for (const Value& function : answer.json["status"]["quarantine"].items()) {
      functions +=
          function["function"].str() + " " + function["reason"].str() + " in " + function["namespaces"][0].str() + "; ";
    }
    return functions;
  }
  void expect_healthy_server() {
    EXPECT_EQ(api_->get("/readyz").status, 200);
    EXPECT_EQ(api_->get("/livez").status, 200);
    EXPECT_EQ(api_->get("/api/v1/namespaces/default").status, 200);
  }
  std::string health() { return api_->get(kBinding).json["status"]["aggregatedStatus"][0]["health"].str(); }

  Fleet fleet_;
  std::unique_ptr<ApiClient> api_;
};

TEST_F(HostileScript, IsQuarantinedAndTheKindInterpretedNatively) {
  ASSERT_EQ(api_->post(kCustomizations, customization({{"replicaResource", kEndlessHandler},
                                                       {"replicaRevision", kLoopInC},
                                                       {"healthInterpretation", kSlowInstruction}}))
                .status,
            201);
  create_workload();
  const auto all_quarantined = [&] {
    const std::string functions = quarantine();
    return functions.find("GetReplicas StepLimitExceeded in default") != std::string::npos &&
           functions.find("ReviseReplica StepLimitExceeded in default") != std::string::npos &&
           functions.find("InterpretHealth TimeLimitExceeded in default") != std::string::npos;
  };
  EXPECT_TRUE(eventually([&] {
    expect_healthy_server();
    return HasFailure() || all_quarantined();
  })) << quarantine();
  EXPECT_TRUE(eventually([&] { return fleet_.api("member1").get(kDeployment).json["spec"]["replicas"].as_int() == 2; }))
      << "it is propagated nevertheless";
  EXPECT_TRUE(eventually([&] { return health() == "Healthy"; }))
      << "interpreted by native code: " << api_->get(kBinding);
  EXPECT_EQ(api_->get(kBinding).json["spec"]["replicas"].as_int(), 2);

  const Value condition = condition_of(api_->get(kCustomizations + "/hostile").json);
  EXPECT_EQ(condition["status"].as_string(), "True");
  EXPECT_NE(condition["message"].str().find("GetReplicas"), std::string::npos);
  EXPECT_TRUE(eventually([&] {
    return api_->get("/api/v1/namespaces/default/events?fieldSelector=reason%3DInterpreterQuarantined")
               .json["items"]
               .size() >= 3;
  })) << "an Event for each";
  EXPECT_NE(api_->get("/metrics").body.find("shiplog_interpreter_quarantined_functions 3"), std::string::npos);

  // The journal contains the quarantine; a control plane starts with it, and stops on SIGTERM.
  EXPECT_EQ(fleet_.process("plane").terminate(), 0);
  fleet_.serve();
  api_ = std::make_unique<ApiClient>(fleet_.kubeconfig("plane"));
  expect_healthy_server();
  EXPECT_TRUE(all_quarantined()) << quarantine();

  // A new spec ends the quarantine.
  const Value fixed = json(R"({"spec":{"customizations":{"replicaRevision":null,
      "replicaResource":{"luaScript":"function GetReplicas(o) return 7 end"},
      "healthInterpretation":{"luaScript":"function InterpretHealth(o) return false end"}}}})");
  EXPECT_EQ(api_->patch(kCustomizations + "/hostile", "merge", fixed).status, 200);
  EXPECT_TRUE(eventually([&] {
    return quarantine().empty() &&
           condition_of(api_->get(kCustomizations + "/hostile").json)["status"].as_string() == "False";
  })) << api_->get(kCustomizations + "/hostile");
  EXPECT_TRUE(eventually([&] { return api_->get(kBinding).json["spec"]["replicas"].as_int() == 7; }));
  EXPECT_TRUE(eventually([&] { return health() == "Unhealthy"; })) << api_->get(kBinding);
  expect_replay_equals(fleet_, *api_, "sqlite:" + fleet_.path("plane/journal.db"));
}

TEST_F(HostileScript, APositionBeyondTheListIsAnErrorOfTheScript) {
  ASSERT_EQ(api_->post(kCustomizations,
                       customization({{"replicaResource",
                                       "function GetReplicas(o) table.insert({}, 2147483648, 1) return 1 end"}}))
                .status,
            201);
  create_workload();
  EXPECT_TRUE(eventually([&] {
    expect_healthy_server();
    const Value events =
        api_->get("/api/v1/namespaces/default/events?fieldSelector=reason%3DGetReplicasFailed").json["items"];
    return HasFailure() ||
           (events.size() > 0 && events[0]["message"].str().find("not a position") != std::string::npos);
  })) << "as upstream, an error is final: "
      << api_->get("/api/v1/namespaces/default/events");
  EXPECT_EQ(quarantine(), "");
  EXPECT_EQ(fleet_.process("plane").terminate(), 0);
}

TEST_F(HostileScript, CannotMakeAnotherObjectOfATemplate) {
  ASSERT_EQ(
      api_->post(kCustomizations, customization({{"replicaRevision",
                                                  "function ReviseReplica(o, n) o.metadata.namespace = 'kube-system' "
                                                  "o.metadata.name = 'stolen' return o end"}}))
          .status,
      201);
  create_workload();
  EXPECT_TRUE(eventually([&] {
    const Answer binding = api_->get(kBinding);
    for (const Value& condition : binding.json["status"]["conditions"].items()) {
      if (condition["type"].as_string() != "WorksSynced" || condition["status"].as_string() != "False") continue;
      return condition["message"].str().find("it changes metadata.namespace, metadata.name") != std::string::npos;
    }
    return false;
  })) << api_->get(kBinding);
  EXPECT_EQ(fleet_.api("member1").get("/apis/apps/v1/namespaces/kube-system/deployments/stolen").status, 404);
  expect_replay_equals(fleet_, *api_, "sqlite:" + fleet_.path("plane/journal.db"));
}

}  // namespace
}  // namespace shiplog::e2e
