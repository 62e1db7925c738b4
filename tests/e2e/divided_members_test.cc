// Members divided among three processes with the roles dispatcher and collector.
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "events/slots.h"
#include "tests/support/fleet.h"

namespace shiplog::e2e {
namespace {

const std::vector<std::string> kHolders = {"one", "two", "three"};
const std::vector<std::string> kDivided = {"member1", "member2", "member3", "member4"};
const std::string kConfigMaps = "/api/v1/namespaces/default/configmaps";

class DividedMembers : public ::testing::Test {
 protected:
  void SetUp() override {
    serve("plane", "api,binder,scheduler,lifecycle,taint,control", true);
    api_ = std::make_unique<ApiClient>(fleet_.kubeconfig("plane"));
    for (const std::string& name : kHolders) serve(name, "dispatcher,collector", false);
    ASSERT_TRUE(eventually([&] { return shares("dispatcher").size() == 3 && shares("collector").size() == 3; }))
        << api_->get("/shiplog/v1/status");
  }

  std::string journal() const { return "sqlite:" + fleet_.path("shared/journal.db"); }
  void serve(const std::string& name, const std::string& roles, bool wait) {
    fleet_.serve(name, {"--roles=" + roles, "--journal=" + journal()}, wait);
  }

  /// The slots of the role, as the status has them.
  Value slots(const std::string& role) const {
    const Value status = api_->get("/shiplog/v1/status").json;
    for (const Value& each : status["roles"].items()) {
      if (each["role"].as_string() == role) return each["slots"];
    }
    return {};
  }
  /// How many slots each of the living processes has; empty unless all slots are led by one of them.
  std::map<std::string, int> shares(const std::string& role) {
    std::map<std::string, int> counted;
    const Value all = slots(role);
    if (all.size() != kSlots) return {};
    for (const Value& slot : all.items()) {
      const std::string name = process_of(slot["holder"].str());
      if (name.empty() || !slot["led"].as_bool()) return {};
      ++counted[name];
    }
    return counted;
  }
  /// The process of the test with the identity HOST_PID_RANDOM; empty: it has been killed.
  std::string process_of(const std::string& identity) {
    for (const std::string& name : kHolders) {
      if (fleet_.process(name).running() &&
          identity.find("_" + std::to_string(fleet_.process(name).pid()) + "_") != std::string::npos) {
        return name;
      }
    }
    return "";
  }
  std::string owner(const std::string& role, const std::string& member) {
    return process_of(slots(role)[static_cast<size_t>(slot_of(member))]["holder"].str());
  }

  void propagate() {
    fleet_.kubectl_ok({"apply", "-f", "-"}, R"(
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: all, namespace: default}
spec:
  resourceSelectors: [{apiVersion: v1, kind: ConfigMap}]
  placement: {}
)");
  }
  void put(const std::string& name, const std::string& text) {
    fleet_.kubectl_ok({"apply", "-f", "-"}, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + name +
                                                ", namespace: default}\ndata: {text: " + text + "}\n");
  }
  Value in(const std::string& member, const std::string& name) const {
    return fleet_.api(member).get(kConfigMaps + "/" + name).json;
  }
  void expect_everywhere(const std::string& name, const std::string& text) {
    for (const std::string& member : kDivided) {
      EXPECT_TRUE(eventually([&] { return in(member, name)["data"]["text"].as_string() == text; }))
          << member << ", whose dispatcher is " << owner("dispatcher", member);
    }
  }
  /// The collector has reported all members.
  void expect_applied(const std::string& name) {
    const std::string path =
        "/apis/work.karmada.io/v1alpha2/namespaces/default/resourcebindings/" + name + "-configmap";
    EXPECT_TRUE(eventually([&] {
      size_t applied = 0;
      const Value binding = api_->get(path).json;
      for (const Value& item : binding["status"]["aggregatedStatus"].items())
        applied += item["applied"].as_bool() ? 1 : 0;
      return applied == kDivided.size();
    })) << api_->get(path);
  }

  Fleet fleet_;
  std::unique_ptr<ApiClient> api_;
};

TEST_F(DividedMembers, AreServedByAllProcessesAndTakenOverFromOneThatIsKilledOrFrozen) {
  for (const auto& [name, count] : shares("dispatcher")) EXPECT_GE(count, kSlots / 3) << name;
  for (const std::string& member : kDivided) fleet_.join(member);
  propagate();
  put("first", "a");
  expect_everywhere("first", "a");
  expect_applied("first");
  const std::string table = fleet_.shiplogctl_ok({"status"});
  EXPECT_NE(table.find(", slots "), std::string::npos) << table;

  // Killed: its members go to the other two.
  const std::string killed = owner("dispatcher", "member1");
  ASSERT_FALSE(killed.empty());
  fleet_.kill(killed);
  put("second", "b");
  expect_everywhere("second", "b");
  expect_applied("second");
  EXPECT_TRUE(eventually([&] { return shares("dispatcher").size() == 2 && shares("collector").size() == 2; }));
  EXPECT_NE(owner("dispatcher", "member1"), killed);
  EXPECT_EQ(api_->get("/readyz").status, 200) << api_->get("/readyz");

  // Frozen, and continued: what it does then is without effect.
  const std::string frozen = owner("dispatcher", "member1");
  ASSERT_FALSE(frozen.empty());
  const std::set<std::string> left = [&] {
    std::set<std::string> names{kHolders.begin(), kHolders.end()};
    names.erase(killed);
    names.erase(frozen);
    return names;
  }();
  ASSERT_EQ(left.size(), 1U);
  ASSERT_TRUE(fleet_.process(frozen).freeze());
  EXPECT_TRUE(eventually([&] { return owner("dispatcher", "member1") == *left.begin(); }));
  put("second", "c");
  expect_everywhere("second", "c");
  expect_applied("second");
  EXPECT_TRUE(eventually([&] {
    const auto dispatching = shares("dispatcher");
    return dispatching.size() == 1 && dispatching.begin()->first == *left.begin();
  }));
  std::map<std::string, std::string> versions;
  for (const std::string& member : kDivided)
    versions[member] = in(member, "second")["metadata"]["resourceVersion"].str();
  if (!fleet_.process(frozen).running()) {
    EXPECT_NE(read_file(fleet_.path(*left.begin() + ".log")).find("event=journal.killed_frozen_writer"),
              std::string::npos)
        << "it was killed only because it kept the journal locked";
    return;
  }
  fleet_.process(frozen).thaw();
  // It notices, and gets a share again.
  EXPECT_TRUE(eventually([&] { return shares("dispatcher").size() == 2 && shares("collector").size() == 2; }))
      << api_->get("/shiplog/v1/status");
  put("third", "d");
  expect_everywhere("third", "d");
  expect_applied("third");
  for (const std::string& member : kDivided) {
    EXPECT_EQ(in(member, "second")["metadata"]["resourceVersion"].str(), versions[member]) << member;
  }
  expect_replay_equals(fleet_, *api_, journal());
}

TEST_F(DividedMembers, WithoutAProcessTheirSlotsAreNamedByReadyz) {
  for (const std::string& name : kHolders) fleet_.kill(name);
  EXPECT_TRUE(eventually([&] {
    return api_->get("/readyz").body.find("no process leads for the roles dispatcher, collector") != std::string::npos;
  })) << api_->get("/readyz");
  serve("four", "dispatcher,collector", false);
  EXPECT_TRUE(eventually([&] { return api_->get("/readyz").status == 200; })) << api_->get("/readyz");
}

}  // namespace
}  // namespace shiplog::e2e
