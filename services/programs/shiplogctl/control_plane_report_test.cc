#include "services/programs/shiplogctl/control_plane_report.h"

#include <gtest/gtest.h>

#include "events/base/json.h"
#include "services/programs/shiplogctl/findings.h"

namespace shiplog::ctl {
namespace {

Value control_plane() {
  return parse_json(R"({"journal": {"kind": "sqlite", "nextOffset": 1034, "entriesPerSecond": 12.5,
                                    "overMilliseconds": 10000, "bytes": 3250586},
                        "projection": {"nextOffset": 1030, "lagEntries": 4, "bytes": 512},
                        "state": {"revision": 812, "foldVersion": 7, "hash": "3fa0",
                                  "objects": {"configmaps": 12, "clusters.cluster.karmada.io": 3}},
                        "apiServer": {"identity": "host_1_a", "version": "0.1.0", "started": "2026-01-01T00:00:00Z"},
                        "roles": [
      {"role": "binder", "holder": "host_1_a", "epoch": 2, "led": true, "since": "2026-01-01T00:00:00Z", "here": true,
       "queue": {"due": 3, "busy": 1, "retries": 7, "waitingMilliseconds": 40}},
      {"role": "collector", "holder": "host_2_b", "epoch": 1, "led": true, "since": "2026-01-01T00:00:00Z", "here": false},
      {"role": "scheduler", "holder": "host_3_c", "epoch": 5, "led": false, "since": "2026-01-01T00:04:00Z", "here": false},
      {"role": "taint", "led": false, "since": "2026-01-01T00:04:00Z", "here": false}]})")
      .value();
}

const UtcMillis kReportedAt = parse_rfc3339("2026-01-01T00:05:00Z").value();

TEST(CtlControlPlane, HasALineForEachPart) {
  EXPECT_EQ(control_plane_text(control_plane(), kReportedAt),
            "journal:    sqlite, next offset 1034, 12.5 entries/s over 10s, 3.1 MiB\n"
            "projection: 4 entries behind, 512 B\n"
            "state:      revision 812, fold version 7, hash 3fa0\n"
            "objects:    12 configmaps, 3 clusters.cluster.karmada.io\n"
            "API server: host_1_a, version 0.1.0, up 5m\n");
  EXPECT_EQ(control_plane_text(Value{}, kReportedAt), "");
}

TEST(CtlControlPlane, FreeSpaceOfTheProjectionIsShownWhenItIsMuch) {
  Value value = control_plane();
  value.edit("projection").set("bytes", int64_t{10} << 20);
  for (const auto& [free, shown] : {std::pair{int64_t{0}, ""}, std::pair{int64_t{1} << 19, ""},
                                    std::pair{int64_t{5} << 20, ", of which 5.0 MiB are free"}}) {
    value.edit("projection").set("freeBytes", free);
    const std::string line = std::string{"projection: 4 entries behind, 10.0 MiB"} + shown + "\n";
    EXPECT_NE(control_plane_text(value, kReportedAt).find(line), std::string::npos)
        << control_plane_text(value, kReportedAt);
  }
}

TEST(CtlControlPlane, QueuesOfOtherProcessesAreMarkedAsNotKnown) {
  EXPECT_EQ(roles_text(control_plane(), kReportedAt, {}),
            "\n"
            "ROLE        LEADER                            EPOCH   SINCE   DUE   BUSY   RETRIES   WAITING\n"
            "binder      host_1_a                          2       5m      3     1      7         40ms\n"
            "collector   host_2_b                          1       5m      -     -      -         -\n"
            "scheduler   none (host_3_c does not answer)   5       60s     -     -      -         -\n"
            "taint       none                                      60s     -     -      -         -\n"
            "-: known only to the process that leads the role; its /metrics have it\n");
}

Value divided() {
  Value status = control_plane();
  Value role =
      Value::object({{"role", "dispatcher"}, {"led", false}, {"since", "2026-01-01T00:04:00Z"}, {"here", true}});
  role.set("queue", Value::object({{"due", 1}, {"busy", 2}, {"retries", 3}, {"waitingMilliseconds", 4}}));
  Value slots = Value::array();
  for (int slot = 0; slot < 16; ++slot) {
    const bool led = slot != 4 && slot != 9;
    slots.push_back(
        Value::object({{"slot", slot}, {"holder", slot < 8 ? "host_1_a" : "host_2_b"}, {"epoch", 1}, {"led", led}}));
  }
  role.set("slots", std::move(slots));
  status.set("roles", Value::array({role}));
  return status;
}

TEST(CtlControlPlane, ADividedRoleHasARowForEachProcessWithItsSlots) {
  EXPECT_EQ(roles_text(divided(), kReportedAt, {}),
            "\n"
            "ROLE         LEADER                    EPOCH   SINCE   DUE   BUSY   RETRIES   WAITING\n"
            "dispatcher   none, slots 4,9                   60s     -     -      -         -\n"
            "dispatcher   host_1_a, slots 0-3,5-7           60s     1     2      3         4ms\n"
            "dispatcher   host_2_b, slots 8,10-15           60s     -     -      -         -\n"
            "-: known only to the process that leads the role; its /metrics have it\n");
  EXPECT_EQ(slots_text({7}), "slot 7");
}

TEST(CtlControlPlane, SlotsWithoutAProcessAreAFinding) {
  FleetObjects fleet;
  fleet.control_plane = divided();
  const auto findings = findings_of(fleet);
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].state, "no-leader");
  EXPECT_EQ(findings[0].reason, "no process has the slots 4,9 of this role: their decisions are pending");
}

TEST(CtlControlPlane, RoleWhoseLeaderDoesNotAnswerIsAFinding) {
  FleetObjects fleet;
  fleet.control_plane = control_plane();
  const auto findings = findings_of(fleet);
  ASSERT_EQ(findings.size(), 2U);
  EXPECT_EQ(findings[0].state, "no-leader");
  EXPECT_EQ(findings[0].name, "scheduler");
  EXPECT_NE(findings[0].reason.find("host_3_c, does not answer"), std::string::npos) << findings[0].reason;
  EXPECT_EQ(findings[1].name, "taint");
}

TEST(CtlFindings, AnEvictionSaysWhetherTheOldCopyStillRuns) {
  FleetObjects fleet;
  fleet.bindings = parse_json(R"([{"spec": {"resource": {"kind": "Deployment", "name": "web", "namespace": "default"},
      "clusters": [{"name": "m3", "replicas": 1}],
      "gracefulEvictionTasks": [{"fromCluster": "m1", "purgeMode": "Directly"},
                                {"fromCluster": "m2", "purgeMode": "Gracefully"}]},
      "status": {"aggregatedStatus": [{"clusterName": "m2", "applied": true, "health": "Healthy"},
                                      {"clusterName": "m3", "applied": true, "health": "Healthy"}]}}])")
                       .value();
  const auto findings = findings_of(fleet);
  ASSERT_EQ(findings.size(), 2U);
  EXPECT_EQ(findings[0].reason, "deleted there: its eviction ends when it is healthy elsewhere");
  EXPECT_EQ(findings[1].reason, "runs there until its replacement is healthy elsewhere");
}

TEST(CtlControlPlane, ClustersAreListedWithTheReasonWhyTheyAreNotReady) {
  const Value clusters = parse_json(R"([
      {"metadata": {"name": "m1"}, "status": {"conditions": [{"type": "Ready", "status": "True", "reason": "ClusterReady"}]}},
      {"metadata": {"name": "m2"}, "status": {"conditions": [{"type": "Ready", "status": "False",
          "reason": "ClusterNotReachable", "message": "refused", "lastTransitionTime": "2026-01-01T00:04:00Z"}]}},
      {"metadata": {"name": "m3"}}])")
                             .value();
  const Value states = cluster_states(clusters);
  ASSERT_EQ(states.size(), 3U);
  EXPECT_TRUE(states[0]["ready"].as_bool());
  EXPECT_FALSE(states[1]["ready"].as_bool());
  EXPECT_EQ(states[1]["reason"].as_string(), "ClusterNotReachable");
  EXPECT_FALSE(states[2]["ready"].as_bool(true)) << "not probed yet";
}

}  // namespace
}  // namespace shiplog::ctl
