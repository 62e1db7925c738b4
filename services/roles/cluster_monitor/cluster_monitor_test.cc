// The monitor of Pull clusters (1.13).
#include <optional>
#include <string>

#include "services/roles/cluster_monitor/decide.h"
#include "tests/support/given.h"

namespace shiplog::cluster_monitor {
namespace {

using given::History;
using given::json;
using given::kNoon;

const ObjectKey kPull{type::kCluster, "", "m1"};

UtcMillis after(int64_t seconds) { return {kNoon.value + seconds * 1000}; }

Value cluster(const std::string& mode, const std::string& ready) {
  Value value = json(R"({"metadata":{"name":"m1","creationTimestamp":"2026-01-02T12:00:00Z"}})");
  value.edit("spec").set("syncMode", mode);
  if (!ready.empty()) {
    value.edit("status").set("kubernetesVersion", "v1.36.0");
    value.edit("status").set("conditions", json(R"([{"type":"CompleteAPIEnablements","status":"True"},
        {"type":"Ready","status":")" + ready + R"("}])"));
  }
  return value;
}

Value lease(const char* renewed) { return Value::object({{"spec", Value::object({{"renewTime", renewed}})}}); }

/// What the process has seen of m1.
class Monitor {
 public:
  explicit Monitor(const Value& object) { history_.put(kPull, object); }

  /// "REASON: MESSAGE" of what Ready=Unknown would be written with; empty: nothing is written.
  std::string looks(UtcMillis now, const Value& lease = {}) {
    heartbeat_ = observed(heartbeat_, signs_of(*history_.state().cluster("m1"), lease), now);
    const auto decided = decide(history_.state(), kPull, now, *heartbeat_);
    const auto* decision = std::get_if<Decision>(&decided.value());
    if (decision == nullptr) {
      const auto* later = std::get_if<LookAgain>(&decided.value());
      EXPECT_TRUE(later == nullptr || (later->at - now).value == 5'000) << "1.13.1";
      return "";
    }
    EXPECT_EQ(decision->events.size(), 1U);
    const auto& event = std::get<ClusterConditionChanged>(decision->events.at(0));
    EXPECT_EQ(event.type + event.status, "ReadyUnknown");
    history_.accept(*decision);
    return event.reason + ": " + event.message;
  }
  void post(const Value& object) { history_.put(kPull, object); }
  void restart() { heartbeat_.reset(); }
  const Value& status() const { return history_.state().value_of(kPull)["status"]; }

 private:
  History history_;
  std::optional<AgentHeartbeat> heartbeat_;
};

constexpr const char* kStopped = "ClusterStatusUnknown: Cluster status controller stopped posting cluster status.";
constexpr const char* kNever = "ClusterStatusNeverUpdated: Cluster status controller never posted cluster status.";

TEST(ClusterMonitor, AClusterThatStopsPostingBecomesUnknown_1_13_4) {  // 1.13.1
  Monitor monitor{cluster("Pull", "True")};
  EXPECT_EQ(monitor.looks(after(0)), "");
  EXPECT_EQ(monitor.looks(after(40)), "");
  EXPECT_EQ(monitor.looks(after(41)), kStopped);
  EXPECT_EQ(monitor.looks(after(46)), "") << "once";
  EXPECT_EQ(monitor.looks(after(146)), "");
}

TEST(ClusterMonitor, OnlyReadyBecomesUnknown_1_13_6) {
  Monitor monitor{cluster("Pull", "False")};
  monitor.looks(after(0));
  EXPECT_EQ(monitor.looks(after(41)), kStopped);
  EXPECT_EQ(monitor.status()["kubernetesVersion"].str(), "v1.36.0");
  EXPECT_EQ(monitor.status()["conditions"][0]["type"].str(), "CompleteAPIEnablements");
  EXPECT_EQ(monitor.status()["conditions"][0]["status"].str(), "True");
}

TEST(ClusterMonitor, AClusterThatNeverPostedHasAMinuteFromItsCreation_1_13_4) {
  Monitor monitor{cluster("Pull", "")};
  EXPECT_EQ(monitor.looks(after(55)), "");
  EXPECT_EQ(monitor.looks(after(60)), "");
  EXPECT_EQ(monitor.looks(after(61)), kNever) << "counted from the creation, not from when it was first looked at";
}

TEST(ClusterMonitor, ARenewedLeaseIsASignOfLife_1_13_3) {
  Monitor monitor{cluster("Pull", "True")};
  monitor.looks(after(0), lease("2026-01-02T12:00:00.000000Z"));
  EXPECT_EQ(monitor.looks(after(39), lease("2026-01-02T12:00:39.000000Z")), "");
  EXPECT_EQ(monitor.looks(after(79), lease("2026-01-02T12:00:39.000000Z")), "");
  EXPECT_EQ(monitor.looks(after(80), lease("2026-01-02T12:00:39.000000Z")), kStopped);
}

TEST(ClusterMonitor, ItsPeriodsAreOptions_1_13_1) {
  const Periods periods{.monitor = Millis{2'000}, .grace = Millis{20'000}, .startup_grace = Millis{90'000}};
  const auto unknown_at = [&](const Value& object, int64_t seconds) {
    History history;
    history.put(kPull, object);
    const auto seen = observed(std::nullopt, signs_of(*history.state().cluster("m1"), {}), after(0));
    const auto decided = decide(history.state(), kPull, after(seconds), seen, periods).value();
    if (const auto* later = std::get_if<LookAgain>(&decided)) {
      EXPECT_EQ((later->at - after(seconds)).value, 2'000);
    }
    return std::holds_alternative<Decision>(decided);
  };
  EXPECT_FALSE(unknown_at(cluster("Pull", "True"), 20));
  EXPECT_TRUE(unknown_at(cluster("Pull", "True"), 21));
  EXPECT_FALSE(unknown_at(cluster("Pull", ""), 90));
  EXPECT_TRUE(unknown_at(cluster("Pull", ""), 91));
}

TEST(ClusterMonitor, ALeaseThatGoesBackIsNone) {
  Monitor monitor{cluster("Pull", "True")};
  monitor.looks(after(0), lease("2026-01-02T12:00:30.000000Z"));
  monitor.looks(after(20), lease("2026-01-02T12:00:10.000000Z"));
  EXPECT_EQ(monitor.looks(after(41), lease("2026-01-02T12:00:10.000000Z")), kStopped);
}

TEST(ClusterMonitor, WithALeaseAndWithoutAStatusItIsTakenAsHealthy_1_13_5) {
  Monitor monitor{cluster("Pull", "")};
  monitor.looks(after(50), lease("2026-01-02T12:00:50.000000Z"));
  EXPECT_EQ(monitor.looks(after(60), lease("2026-01-02T12:01:00.000000Z")), "");
  EXPECT_EQ(monitor.looks(after(70), lease("2026-01-02T12:01:10.000000Z")), "");
  EXPECT_EQ(monitor.looks(after(131), lease("2026-01-02T12:01:10.000000Z")), kNever);
}

TEST(ClusterMonitor, APostedConditionIsASignOfLife_1_13_3) {
  Monitor monitor{cluster("Pull", "True")};
  monitor.looks(after(0));
  monitor.post(cluster("Pull", "False"));
  EXPECT_EQ(monitor.looks(after(30)), "");
  EXPECT_EQ(monitor.looks(after(70)), "");
  EXPECT_EQ(monitor.looks(after(71)), kStopped);
  monitor.post(cluster("Pull", "True"));
  EXPECT_EQ(monitor.looks(after(76)), "");
  EXPECT_EQ(monitor.looks(after(117)), kStopped);
}

TEST(ClusterMonitor, AfterARestartTheGracePeriodBeginsAnew_1_13_3) {
  Monitor monitor{cluster("Pull", "True")};
  monitor.looks(after(0));
  monitor.restart();
  EXPECT_EQ(monitor.looks(after(41)), "");
  EXPECT_EQ(monitor.looks(after(82)), kStopped);
}

TEST(ClusterMonitor, PushClustersAreLeftAlone_1_13_2) {
  Monitor monitor{cluster("Push", "True")};
  monitor.looks(after(0));
  EXPECT_EQ(monitor.looks(after(1000)), "");
}

}  // namespace
}  // namespace shiplog::cluster_monitor
