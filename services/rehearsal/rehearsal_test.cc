// A rehearsal against the failure itself: the same roles, all of them, on a stage with members that are really down.
#include "services/rehearsal/rehearsal.h"

#include <algorithm>
#include <map>

#include <gtest/gtest.h>

#include "events/base/json.h"
#include "events/state/work.h"
#include "tests/support/failing_fleet.h"
#include "tests/support/must.h"
#include "tests/support/stage.h"

namespace shiplog {
namespace {

using testing::Stage;

/// Six clusters in two regions, with a policy that taints those that are not ready.
class RehearsedFleet : public ::testing::Test {
 protected:
  RehearsedFleet() {
    testing::start_failing_fleet(stage);
    for (int number = 1; number <= 6; ++number)
      join("m" + std::to_string(number), number <= 3 ? "north" : "south", number);
    stage.run(Millis{60'000});
  }

  /// Clusters of very different size, so that a few pods more or less change no order.
  void join(const std::string& name, const std::string& region, int nodes) {
    auto& member = stage.members().member(name);
    member.ready_after = Millis{2'000};
    testing::add_nodes(member, nodes * 10);
    Value cluster = testing::cluster_object(name);
    cluster.edit("spec").set("region", region);
    stage.put(testing::cluster_key(name), cluster);
  }

  void deploy(const std::string& name, int64_t replicas, const std::string& placement, const std::string& cpu = "") {
    stage.put({"deployments.apps", "default", name}, testing::deployment_requesting("default", name, replicas, cpu));
    testing::put_policy(stage, "default", name, must(parse_json(placement)));
  }

  /// Every strategy; tolerations of a minute, for ever, and none.
  void deploy_many() {
    const std::string minute =
        R"("clusterTolerations":[{"key":"away","operator":"Exists","effect":"NoExecute","tolerationSeconds":60}])";
    const std::string forever = R"("clusterTolerations":[{"key":"away","operator":"Exists","effect":"NoExecute"}])";
    const std::string weighted = R"("replicaScheduling":{"replicaSchedulingType":"Divided",
        "replicaDivisionPreference":"Weighted","weightPreference":{"staticWeightList":[
        {"targetCluster":{"clusterNames":["m1"]},"weight":2},{"targetCluster":{"clusterNames":["m2"]},"weight":1},
        {"targetCluster":{"clusterNames":["m4"]},"weight":3}]}})";
    const std::string aggregated = R"("replicaScheduling":{"replicaSchedulingType":"Divided",
        "replicaDivisionPreference":"Aggregated"})";
    const std::string two = R"("spreadConstraints":[{"spreadByField":"cluster","minGroups":2,"maxGroups":2}])";
    const auto named = [](const std::string& clusters) {
      return R"("clusterAffinity":{"clusterNames":[)" + clusters + "]}";
    };
    for (int number = 0; number < 4; ++number) {
      const std::string suffix = std::to_string(number);
      deploy("weighted-" + suffix, 6, "{" + named(R"("m1","m2","m4")") + "," + weighted + "," + minute + "}");
      deploy("aggregated-" + suffix, 3, "{" + named(R"("m1","m3","m6")") + "," + aggregated + "}");
      deploy("twice-" + suffix, 2, "{" + named(R"("m1","m2","m5")") + "," + two + "}");
      deploy("patient-" + suffix, 2, "{" + named(R"("m1","m4")") + "," + two + "," + forever + "}");
      deploy("south-" + suffix, 2, "{" + named(R"("m4","m5")") + "}");
      deploy("alone-" + suffix, 2, "{" + named(R"("m3")") + "}");
    }
    stage.run(Millis{120'000});
  }

  State forked() const { return stage.state(); }
  RehearsalReport rehearsed(const RehearsalOptions& options) const {
    State state = forked();
    return must(rehearse(state, options));
  }

  using Placements = std::map<std::string, std::vector<Target>>;
  Placements placements() const {
    Placements all;
    for (const auto& [name, binding] : stage.state().objects(type::kResourceBinding)) {
      std::vector<Target> targets;
      for (const Value& target : binding.value["spec"]["clusters"].items()) {
        targets.push_back({target["name"].str(), target["replicas"].as_int()});
      }
      std::ranges::sort(targets);
      all[name.name.str()] = targets;
    }
    return all;
  }

  /// What a rehearsal predicts, over what is placed now.
  static Placements after(Placements now, const RehearsalReport& report) {
    for (const RehearsedWorkload& workload : report.workloads) now[workload.binding.name.str()] = workload.after;
    return now;
  }

  static const RehearsedWorkload& of(const RehearsalReport& report, const std::string& name) {
    static const RehearsedWorkload kNone;
    const auto found = std::ranges::find(report.workloads, name, &RehearsedWorkload::name);
    return found == report.workloads.end() ? kNone : *found;
  }

  Stage stage;
};

TEST_F(RehearsedFleet, MovesTheWorkloadsThatTheFailureMoves) {
  deploy_many();
  const Placements before = placements();
  ASSERT_EQ(before.size(), 24U);
  const RehearsalReport report =
      rehearsed({.fail_clusters = {"m4", "m5"}, .length = Millis{600'000}, .ready_after = Millis{2'000}});
  for (const char* name : {"m4", "m5"}) stage.members().set_down(name, true);
  stage.run(Millis{600'000});
  const Placements now = placements();
  EXPECT_EQ(after(before, report), now);
  const size_t moved = static_cast<size_t>(
      std::ranges::count_if(now, [&](const auto& placed) { return before.at(placed.first) != placed.second; }));
  EXPECT_GE(moved, 8U) << "the comparison is of something";
  EXPECT_EQ(static_cast<size_t>(std::ranges::count_if(report.workloads, &RehearsedWorkload::moves)), moved);
  EXPECT_EQ(report.evictions, stage.count<EvictionStarted>());
}

TEST_F(RehearsedFleet, OfARegionToo) {
  deploy_many();
  const Placements before = placements();
  const RehearsalReport report =
      rehearsed({.fail_regions = {"north"}, .length = Millis{600'000}, .ready_after = Millis{2'000}});
  EXPECT_EQ(report.failed, (std::vector<std::string>{"m1", "m2", "m3"}));
  for (const char* name : {"m1", "m2", "m3"}) stage.members().set_down(name, true);
  stage.run(Millis{600'000});
  EXPECT_EQ(after(before, report), placements());
  EXPECT_NE(of(report, "alone-0").outcome, WorkloadOutcome::kHealthy) << "it may run on m3 alone";
  EXPECT_FALSE(report.all_healthy);
}

TEST_F(RehearsedFleet, TellsWhenAWorkloadIsHealthyAgain) {
  deploy("web", 2, R"({"clusterAffinity":{"clusterNames":["m1","m2"]},"spreadConstraints":[{"spreadByField":"cluster",
      "minGroups":1,"maxGroups":1}],"clusterTolerations":[{"key":"away","operator":"Exists","effect":"NoExecute",
      "tolerationSeconds":60}]})");
  stage.run(Millis{60'000});
  const std::string at = placements().at("web-deployment").front().cluster;
  const RehearsalReport report = rehearsed({.fail_clusters = {at}, .ready_after = Millis{30'000}});
  const RehearsedWorkload& web = of(report, "web");
  ASSERT_TRUE(web.evicted && web.placed && web.healthy) << web.reason;
  // 30 s until the cluster counts as not ready, then its toleration, then the new copy.
  EXPECT_GE(*web.evicted, Millis{85'000});
  EXPECT_LE(*web.evicted, Millis{115'000});
  EXPECT_GE(web.healthy->value - web.placed->value, 30'000);
  EXPECT_LE(web.healthy->value - web.placed->value, 35'000);
  EXPECT_EQ(report.all_healthy, web.healthy);
  EXPECT_LT(report.length, Millis{30 * 60'000}) << "it ends when nothing is left to happen";
  const RehearsalReport sooner = rehearsed({.fail_clusters = {at}, .toleration_seconds = 0});
  EXPECT_LT(*of(sooner, "web").evicted, Millis{50'000}) << "with another toleration";
}

TEST_F(RehearsedFleet, ATaintMovesWhatDoesNotTolerateIt) {
  deploy_many();
  const RehearsalReport report = rehearsed({.taints = {{"m4", {"fire", "high", "NoExecute"}}}});
  EXPECT_TRUE(of(report, "weighted-0").moves());
  EXPECT_TRUE(of(report, "patient-0").moves()) << "it tolerates another taint";
  for (const RehearsedWorkload& workload : report.workloads) {
    EXPECT_EQ(std::ranges::count(workload.after, "m4", &Target::cluster), 0) << workload.name;
  }
}

TEST_F(RehearsedFleet, NothingMovesWhileEvictionsAreOff) {
  deploy_many();
  const RehearsalReport report = rehearsed({.fail_clusters = {"m4"}, .gates = {{"Failover", false}}});
  EXPECT_EQ(report.evictions, 0U);
  EXPECT_FALSE(report.evicts);
  ASSERT_FALSE(report.workloads.empty());
  for (const RehearsedWorkload& workload : report.workloads) {
    EXPECT_FALSE(workload.moves()) << workload.name;
    EXPECT_EQ(workload.outcome, WorkloadOutcome::kStays);
    EXPECT_NE(workload.reason.find("do not evict"), std::string::npos) << workload.reason;
  }
  EXPECT_FALSE(report.all_healthy);
}

TEST_F(RehearsedFleet, WhatFindsNoRoomIsReported) {
  // m1 has 640 CPUs, m2 twice as many: 15 replicas of 64 fit on m2 besides those of another workload.
  deploy("filler", 10, R"({"clusterAffinity":{"clusterNames":["m2"]}})", "64");
  deploy("big", 10, R"({"clusterAffinity":{"clusterNames":["m1","m2"]},"spreadConstraints":[{"spreadByField":"cluster",
      "minGroups":1,"maxGroups":1}],"replicaScheduling":{"replicaSchedulingType":"Divided","replicaDivisionPreference":
      "Weighted","weightPreference":{"dynamicWeight":"AvailableReplicas"}}})",
         "64");
  stage.run(Millis{60'000});
  const auto placed = placements().at("big-deployment");
  ASSERT_EQ(placed.size(), 1U);
  deploy("third", 12, R"({"clusterAffinity":{"clusterNames":[")" + placed[0].cluster + R"("]}})", "1");
  stage.run(Millis{60'000});
  const RehearsalReport report = rehearsed({.fail_clusters = {placed[0].cluster}});
  const RehearsedWorkload& third = of(report, "third");
  EXPECT_EQ(third.outcome, WorkloadOutcome::kDoesNotFit);
  EXPECT_FALSE(third.reason.empty());
}

// The scheduler puts a duplicated workload on a cluster whatever its room: there the member's own room decides.
TEST_F(RehearsedFleet, ReplicasWaitForRoomInAMember) {
  deploy("wide", 15, R"({"clusterAffinity":{"clusterNames":["m1","m2"]},"spreadConstraints":[{"spreadByField":"cluster",
      "minGroups":1,"maxGroups":1}]})",
         "64");
  stage.run(Millis{60'000});
  ASSERT_EQ(placements().at("wide-deployment"), (std::vector<Target>{{"m2", 15}}));
  const RehearsalReport report = rehearsed({.fail_clusters = {"m2"}});
  const RehearsedWorkload& wide = of(report, "wide");
  EXPECT_EQ(wide.after, (std::vector<Target>{{"m1", 15}}));
  EXPECT_EQ(wide.outcome, WorkloadOutcome::kDoesNotFit);
  EXPECT_EQ(wide.reason, "5 of 15 replicas find no room in m1 (cpu)");
  EXPECT_FALSE(report.all_healthy);
}

TEST_F(RehearsedFleet, TheSameRehearsalGivesTheSameReport) {
  deploy_many();
  const RehearsalOptions options{.fail_regions = {"north"}};
  EXPECT_EQ(to_json(to_value(rehearsed(options))), to_json(to_value(rehearsed(options))));
}

TEST_F(RehearsedFleet, BadInputIsAnErrorThatNamesIt) {
  const auto error = [&](const RehearsalOptions& options) {
    State state = forked();
    const auto result = rehearse(state, options);
    return result ? std::string{"no error"} : result.error().message;
  };
  EXPECT_NE(error({}).find("--fail-cluster, --fail-region or --taint"), std::string::npos);
  EXPECT_NE(error({.fail_clusters = {"m9"}}).find("there is no cluster \"m9\""), std::string::npos);
  EXPECT_NE(error({.fail_regions = {"west"}}).find("there are: north, south"), std::string::npos);
  EXPECT_NE(error({.taints = {{"m9", {"a", "", "NoExecute"}}}}).find("--taint: there is no cluster"),
            std::string::npos);
  EXPECT_NE(error({.fail_clusters = {"m1"}, .settings = {{"no-such", {"1"}}}}).find("no option --no-such"),
            std::string::npos);
  EXPECT_NE(error({.fail_clusters = {"m1"}, .gates = {{"NoSuch", true}}}).find("no feature gate \"NoSuch\""),
            std::string::npos);
}

}  // namespace
}  // namespace shiplog
