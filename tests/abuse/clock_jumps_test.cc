// The machine's clock is set forward and back by hours while a control plane runs: nothing becomes due because of it,
// nothing waits for it, and certificates stay valid.
#include <cstdint>
#include <cstdlib>
#include <string>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "events/base/json.h"
#include "events/base/system.h"
#include "tests/support/fleet.h"

namespace shiplog::e2e {
namespace {

constexpr int64_t kHour = 3'600'000;

const std::string kCluster = "/apis/cluster.karmada.io/v1alpha1/clusters/";
const std::string kConfigMaps = "/api/v1/namespaces/default/configmaps";
const std::string kPolicies = "/apis/policy.karmada.io/v1alpha1/namespaces/default/propagationpolicies";
const std::string kBinding = "/apis/work.karmada.io/v1alpha2/namespaces/default/resourcebindings/";

class ClockJumps : public ::testing::TestWithParam<int64_t> {
 protected:
  void SetUp() override {
    set_clock(0);
    ::setenv("LD_PRELOAD", SHIFTED_CLOCK, 1);
    ::setenv("SHIPLOG_CLOCK_SHIFT", shift().c_str(), 1);
    fleet_.serve();
    ::unsetenv("LD_PRELOAD");
    ::unsetenv("SHIPLOG_CLOCK_SHIFT");
  }
  std::string shift() const { return fleet_.path("shift"); }
  void set_clock(int64_t shift_ms) {
    const int file = ::open(shift().c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    ASSERT_EQ(::pwrite(file, &shift_ms, sizeof shift_ms, 0), static_cast<ssize_t>(sizeof shift_ms));
    ::close(file);
  }
  std::string create(const std::string& name) {
    // A client of its own: a new connection, whose certificate is verified.
    const ApiClient api = fleet_.api();
    const auto made = api.post(kConfigMaps, json(R"({"metadata":{"name":")" + name + R"("}})"));
    EXPECT_EQ(made.status, 201) << made;
    return made.json["metadata"]["creationTimestamp"].str();
  }

  Fleet fleet_;
};

TEST_P(ClockJumps, MakeNothingDueAndNoCertificateInvalid) {
  fleet_.join("member1");
  const ApiClient api = fleet_.api();
  const auto policy = [&](const std::string& name, const std::string& selected, const std::string& seconds) {
    const auto made = api.post(kPolicies, json(R"({"metadata":{"name":")" + name + R"("},"spec":{
        "resourceSelectors":[{"apiVersion":"v1","kind":"ConfigMap")" +
                                               selected + R"(}],
        "placement":{"clusterTolerations":[{"key":"maintenance","operator":"Exists","effect":"NoExecute")" +
                                               seconds + R"(}]}}})"));
    ASSERT_EQ(made.status, 201) << made;
  };
  policy("all", "", "");
  policy("for-an-hour", R"(,"name":"before")", R"(,"tolerationSeconds":3600)");
  create("before");
  ASSERT_TRUE(eventually([&] { return fleet_.api("member1").get(kConfigMaps + "/before").status == 200; }));
  const std::string tainted = R"({"spec":{"taints":[{"key":"maintenance","effect":"NoExecute"}]}})";
  ASSERT_EQ(api.patch(kCluster + "member1", "merge", json(tainted)).status, 200);

  set_clock(GetParam());
  const auto created = parse_rfc3339(create("during"));
  ASSERT_TRUE(created);
  const int64_t off = (created.value() - SystemClock{}.now()).value;
  EXPECT_LT(std::abs(off), kHour / 2) << "an object is older or younger than it is by " << off << " ms";
  // Decisions and effects go on.
  EXPECT_TRUE(eventually([&] { return fleet_.api("member1").get(kConfigMaps + "/during").status == 200; }));
  // What is placed on the tainted member is decided again.
  ASSERT_EQ(api.patch(kConfigMaps + "/before", "merge", json(R"({"data":{"key":"value"}})")).status, 200);
  EXPECT_TRUE(eventually(
      [&] { return fleet_.api("member1").get(kConfigMaps + "/before").json["data"]["key"].str() == "value"; }));
  // A member that has only now been met is verified by its certificate, which is a few seconds old.
  fleet_.join("member2");
  EXPECT_TRUE(eventually([&] { return fleet_.api("member2").get(kConfigMaps + "/during").status == 200; }));
  const Value binding = api.get(kBinding + "before-configmap").json;
  EXPECT_EQ(binding["spec"]["gracefulEvictionTasks"].size(), 0U) << to_json(binding);
  EXPECT_EQ(fleet_.api("member1").get(kConfigMaps + "/before").status, 200) << "it was not evicted";

  set_clock(0);
  create("after");
  EXPECT_TRUE(eventually([&] { return fleet_.api("member1").get(kConfigMaps + "/after").status == 200; }));
  expect_replay_equals(fleet_, api, "sqlite:" + fleet_.path("plane/journal.db"));
}

INSTANTIATE_TEST_SUITE_P(Hours, ClockJumps, ::testing::Values(-5 * kHour, 5 * kHour),
                         [](const auto& test) { return test.param < 0 ? "Back" : "Forward"; });

}  // namespace
}  // namespace shiplog::e2e
