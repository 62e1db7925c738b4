// Members that are dead, frozen or slow while load goes on: the others are served as ever, the Works say what is wrong,
// and everything is made good when they are back.
#include <csignal>

#include <gtest/gtest.h>

#include "tests/crash/plane.h"

namespace shiplog::crash {
namespace {

using e2e::Answer;
using e2e::eventually;
using e2e::json;

class Member : public ::testing::Test {
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

  void write_and_expect_it_at_well(const std::string& name, const std::string& value) {
    const Answer made = fleet().api().post(
        Workload::kConfigMaps,
        Value::object({{"metadata", Value::object({{"name", name}})}, {"data", Value::object({{"value", value}})}}));
    ASSERT_EQ(made.status, 201) << made;
    const e2e::ApiClient well = fleet().api("well");
    EXPECT_TRUE(eventually([&] { return well.get(std::string{Workload::kConfigMaps} + "/" + name).status == 200; }))
        << name << " waits for members that are not well";
  }

  /// HOST:PORT of a member's API.
  std::string address_of(const std::string& member) {
    const std::string text = e2e::read_file(fleet().kubeconfig(member));
    const size_t at = text.find("https://") + 8;
    return text.substr(at, text.find_first_not_of("0123456789.:", at) - at);
  }

  /// What the Work of a ConfigMap for a cluster says about its application: "True", or the reason it is not.
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
  Plane plane_{embedded_journal(), Plane::one_process(), {}};
};

TEST_F(Member, ThatIsDeadFrozenOrSlowHoldsUpNobodyElseAndIsMadeGood) {
  const std::string address = address_of("dead");
  Workload load{seed_, 2};
  load.add_server("plane", std::make_shared<e2e::ApiClient>(fleet().kubeconfig("plane")));
  ASSERT_TRUE(load.wait_for(20));
  fleet().kill("dead");
  ::kill(fleet().process("frozen").pid(), SIGSTOP);
  ASSERT_TRUE(load.wait_for(60));
  for (int number = 0; number < 3; ++number) {
    write_and_expect_it_at_well("own-x-" + std::to_string(number), "x" + std::to_string(number));
    ASSERT_TRUE(load.wait_for(10));
  }
  // The Works say why, in words: of the dead one at once, of the frozen one when its time is over.
  EXPECT_TRUE(eventually([&] { return applied("dead", "own-x-0").find("refused") != std::string::npos; }))
      << applied("dead", "own-x-0");
  EXPECT_TRUE(eventually([&] {
    const std::string why = applied("frozen", "own-x-0");
    return !why.empty() && why != "True";
  })) << applied("frozen", "own-x-0");
  EXPECT_EQ(applied("well", "own-x-0"), "True");
  load.finish();
  for (const std::string& strange : load.strange_answers()) ADD_FAILURE() << strange;
  EXPECT_EQ(load.last_server_error(), "");

  ::kill(fleet().process("frozen").pid(), SIGCONT);
  fleet().member("dead", {"--listen=" + address});  // empty now: a trial member keeps nothing but its name
  const e2e::ApiClient plane = fleet().api();
  for (const char* member : {"well", "slow", "frozen", "dead"}) {
    const e2e::ApiClient api = fleet().api(member);
    EXPECT_TRUE(eventually([&] { return Workload::values_at(plane) == Workload::values_at(api); }))
        << member << " has " << Workload::values_at(api).size() << " of " << Workload::values_at(plane).size()
        << " ConfigMaps";
  }
  EXPECT_TRUE(eventually([&] { return applied("dead", "own-x-0") == "True"; })) << applied("dead", "own-x-0");
}

}  // namespace
}  // namespace shiplog::crash
