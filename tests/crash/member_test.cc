// Members that are stopped, frozen or slow under load: other members are not affected, the Works report the cause, and
// the members are brought up to date when they are reachable again.

#include <gtest/gtest.h>

#include "tests/crash/control_plane.h"

namespace shiplog::crash {
namespace {

using e2e::Answer;
using e2e::eventually;
using e2e::json;

class FaultyMembers : public ::testing::Test {
 protected:
  void SetUp() override {
    plane_.start_all(nullptr);
    fleet().join("well");
    fleet().join("dead");
    fleet().join("frozen");
    fleet().join("slow", {"--latency-ms=400"});
    const Answer made = fleet().api().post("/apis/policy.karmada.io/v1alpha1/namespaces/default/propagationpolicies",
                                           json(R"({"metadata": {"name": "everything"}, "spec": {
                 "resourceSelectors": [{"apiVersion": "v1", "kind": "ConfigMap"}],
                 "placement": {"clusterAffinity": {"clusterNames": ["well", "dead", "frozen", "slow"]}}}})"));
    ASSERT_EQ(made.status, 201) << made;
  }

  e2e::Fleet& fleet() { return plane_.fleet(); }

  void expect_healthy_member_receives(const std::string& name, const std::string& value) {
    const Answer made = fleet().api().post(
        ClientWorkload::kConfigMaps,
        Value::object({{"metadata", Value::object({{"name", name}})}, {"data", Value::object({{"value", value}})}}));
    ASSERT_EQ(made.status, 201) << made;
    const e2e::ApiClient well = fleet().api("well");
    EXPECT_TRUE(eventually([&] {
      return well.get(std::string{ClientWorkload::kConfigMaps} + "/" + name).status == 200;
    })) << name
        << " waits for faulty members";
  }

  /// HOST:PORT of a member's API.
  std::string address_of(const std::string& member) {
    const std::string text = e2e::read_file(fleet().kubeconfig(member));
    const size_t begin = text.find("https://") + 8;
    return text.substr(begin, text.find_first_not_of("0123456789.:", begin) - begin);
  }

  /// Condition Applied of the Work of a ConfigMap for a cluster: "True", or its message.
  std::string applied(const std::string& cluster, const std::string& name) {
    const Value works =
        fleet().api().get("/apis/work.karmada.io/v1alpha1/namespaces/karmada-es-" + cluster + "/works").json;
    for (const Value& work : works["items"].items()) {
      const auto manifests = work["spec"]["workload"]["manifests"].items();
      if (manifests.empty() || manifests.front()["metadata"]["name"].str() != name) continue;
      for (const Value& condition : work["status"]["conditions"].items()) {
        if (condition["type"].str() != "Applied") continue;
        return condition["status"].str() == "True" ? "True" : condition["message"].str();
      }
    }
    return "";
  }

  const uint64_t seed_ = seed_or(7);
  const ::testing::ScopedTrace trace_{__FILE__, __LINE__, "SHIPLOG_CRASH_SEED=" + std::to_string(seed_)};
  CrashControlPlane plane_{embedded_journal(), CrashControlPlane::one_process(), {}};
};

TEST_F(FaultyMembers, DoNotDelayOthersAndAreBroughtUpToDate) {
  const std::string address = address_of("dead");
  ClientWorkload load{seed_, 2};
  load.add_server("plane", std::make_shared<e2e::ApiClient>(fleet().kubeconfig("plane")));
  ASSERT_TRUE(load.wait_for(20));
  fleet().kill("dead");
  EXPECT_TRUE(fleet().process("frozen").freeze());
  ASSERT_TRUE(load.wait_for(60));
  for (int number = 0; number < 3; ++number) {
    expect_healthy_member_receives("own-x-" + std::to_string(number), "x" + std::to_string(number));
    ASSERT_TRUE(load.wait_for(10));
  }
  // The Works report the cause: of the stopped member immediately, of the frozen one after the timeout.
  EXPECT_TRUE(eventually([&] { return applied("dead", "own-x-0").find("refused") != std::string::npos; }))
      << applied("dead", "own-x-0");
  EXPECT_TRUE(eventually([&] {
    const std::string reason = applied("frozen", "own-x-0");
    return !reason.empty() && reason != "True";
  })) << applied("frozen", "own-x-0");
  EXPECT_EQ(applied("well", "own-x-0"), "True");
  load.finish();
  for (const std::string& response : load.unexpected_responses()) ADD_FAILURE() << response;
  EXPECT_EQ(load.last_server_error(), "");

  fleet().process("frozen").thaw();
  fleet().member("dead", {"--listen=" + address});  // empty: a trial member keeps only its identity
  const e2e::ApiClient plane = fleet().api();
  for (const char* member : {"well", "slow", "frozen", "dead"}) {
    const e2e::ApiClient api = fleet().api(member);
    EXPECT_TRUE(eventually([&] { return ClientWorkload::values_at(plane) == ClientWorkload::values_at(api); }))
        << member << " has " << ClientWorkload::values_at(api).size() << " of "
        << ClientWorkload::values_at(plane).size() << " ConfigMaps";
  }
  EXPECT_TRUE(eventually([&] { return applied("dead", "own-x-0") == "True"; })) << applied("dead", "own-x-0");
}

}  // namespace
}  // namespace shiplog::crash
