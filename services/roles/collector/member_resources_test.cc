// Nodes and pods of members are listed once and then watched, and reported when it matters.
#include "services/roles/collector/member_resources.h"

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "events/state/condition.h"
#include "events/state/work.h"
#include "services/roles/collector/followed_members.h"
#include "services/roles/collector/role.h"
#include "services/roles/dispatcher/role.h"
#include "services/roles/lifecycle/role.h"
#include "tests/support/stage.h"

namespace shiplog {
namespace {

using namespace testing;

class CollectorResources : public ::testing::Test {
 protected:
  CollectorResources() {
    stage.add(make_lifecycle_role());
    stage.add(make_collector_role(stage.members()));
    put_node("n1", "100");
    stage.put(cluster_key("m1"), cluster_object("m1"));
    stage.run(Millis{500});
  }

  FakeMember& member() { return stage.members().member("m1"); }
  void put_node(const std::string& name, const std::string& cpu) {
    const Value allocatable = Value::object({{"cpu", cpu}, {"pods", "1000"}});
    member().put(
        {"nodes", "", name},
        Value::object({{"status", Value::object({{"allocatable", allocatable},
                                                 {"conditions", Value::array({Value::object(
                                                                    {{"type", "Ready"}, {"status", "True"}})})}})}}));
  }
  void put_pod(const std::string& name, const std::string& cpu, const std::string& node = "n1") {
    const Value requests = Value::object({{"requests", Value::object({{"cpu", cpu}})}});
    const Value containers = Value::array({Value::object({{"resources", requests}})});
    member().put({"pods", "default", name},
                 Value::object({{"spec", Value::object({{"nodeName", node}, {"containers", containers}})}}));
  }
  void remove_pod(const std::string& name) { member().erase({"pods", "default", name}); }
  void probe() { stage.run(Millis{10'000}); }

  const Value& cluster() { return stage.state().value_of(cluster_key("m1")); }
  std::string reported(const char* list = "allocated", const char* resource = "cpu") {
    return cluster()["status"]["resourceSummary"][list][resource].str();
  }
  size_t lists(const std::string& collection = "pods") {
    return stage.members().count("m1 GET /api/v1/" + collection + "?");
  }

  Stage stage;
};

TEST_F(CollectorResources, AreListedOnceAndThenWatched) {
  EXPECT_EQ(reported("allocatable"), "100");
  put_pod("a", "10");
  put_pod("b", "20");
  probe();
  EXPECT_EQ(reported(), "30");
  put_pod("a", "40");
  remove_pod("b");
  put_node("n2", "60");
  probe();
  EXPECT_EQ(reported(), "40");
  EXPECT_EQ(reported("allocatable"), "160");
  EXPECT_EQ(cluster()["status"]["nodeSummary"]["totalNum"], Value{2});
  stage.run(Millis{240'000});
  EXPECT_EQ(lists(), 1U);
  EXPECT_EQ(lists("nodes"), 1U);
}

TEST_F(CollectorResources, OfPodsThatAreWatchedAllThatTheyRequestCounts) {
  probe();
  put_pod("a", "10");
  const auto asks_for = [](const char* cpu, const char* restarts) {
    return Value::object({{"name", "x"},
                          {"image", "y"},
                          {"restartPolicy", restarts},
                          {"resources", Value::object({{"requests", Value::object({{"cpu", cpu}})},
                                                       {"limits", Value::object({{"cpu", "99"}})}})}});
  };
  const Value spec = Value::object({{"nodeName", "n1"},
                                    {"containers", Value::array({asks_for("1", ""), asks_for("2", "")})},
                                    {"initContainers", Value::array({asks_for("4", "Always"), asks_for("30", "")})},
                                    {"overhead", Value::object({{"cpu", "500m"}})}});
  member().put({"pods", "default", "b"}, Value::object({{"spec", spec}}));
  probe();
  EXPECT_EQ(reported(), "44500m") << "10 of a; the larger of 1 + 2 + 4 and of 30 + 4, and the overhead, of b";
  member().put({"pods", "default", "b"},
               Value::object({{"spec", spec}, {"status", Value::object({{"phase", "Succeeded"}})}}));
  probe();
  EXPECT_EQ(reported(), "10");
}

TEST_F(CollectorResources, OfManyPagesAreListedCompletely) {
  stage.stop("collector");
  for (int number = 0; number < 600; ++number) put_pod("pod-" + std::to_string(number), "100m");
  stage.add(make_collector_role(stage.members()));
  probe();
  EXPECT_EQ(reported(), "60");
  EXPECT_EQ(reported("allocated", "pods"), "600");
  EXPECT_EQ(lists(), 4U) << "three more pages";
}

TEST_F(CollectorResources, AWatchThatEndsContinuesWhereItWas) {
  put_pod("a", "10");
  put_pod("b", "20");
  probe();
  stage.members().break_watches("m1");
  remove_pod("b");
  put_pod("c", "50");
  probe();
  probe();
  EXPECT_EQ(reported(), "60");
  EXPECT_EQ(lists(), 1U);
}

TEST_F(CollectorResources, WhatIsTooOldToContinueIsListedAgain) {
  put_pod("a", "10");
  put_pod("b", "20");
  probe();
  stage.members().break_watches("m1");
  remove_pod("b");
  put_pod("c", "50");
  member().forget_history();
  stage.run(Millis{30'000});
  EXPECT_EQ(reported(), "60") << "what has gone in between is gone";
  EXPECT_EQ(lists(), 2U);
}

TEST_F(CollectorResources, ADeadStreamIsFoundOut) {
  probe();
  member().mute = true;
  put_pod("a", "10");
  probe();
  EXPECT_EQ(reported(), "");
  member().mute = false;
  stage.run(Millis{320'000});
  EXPECT_EQ(reported(), "10");
  EXPECT_EQ(lists(), 1U);
  stage.run(Millis{3'600'000});
  EXPECT_GE(lists(), 2U) << "from time to time they are listed all the same";
  EXPECT_LE(lists(), 3U);
}

TEST_F(CollectorResources, OfWhoMayNotWatchAreListedAgain) {
  stage.stop("collector");
  member().unwatched = {"pods"};
  stage.add(make_collector_role(stage.members()));
  probe();
  put_pod("a", "10");
  stage.run(Millis{300'000});
  EXPECT_EQ(reported(), "10");
  const size_t before = lists();
  stage.run(Millis{600'000});
  EXPECT_GE(lists(), before + 4);
  EXPECT_LE(lists(), before + 6) << "a list of everything is not made with every probe";
  remove_pod("a");
  stage.run(Millis{150'000});
  EXPECT_EQ(reported(), "");
}

TEST_F(CollectorResources, KeepTheirLastFiguresWhileTheyCannotBeListed_CL_18) {
  put_pod("a", "10");
  probe();
  stage.stop("collector");
  member().refuse = 503;
  stage.add(make_collector_role(stage.members()));
  stage.run(Millis{60'000});
  EXPECT_EQ(reported(), "10");
  EXPECT_EQ(condition_of(cluster(), "Ready")["status"], "True");
  member().refuse = 0;
  put_pod("b", "20");
  stage.run(Millis{120'000});
  EXPECT_EQ(reported(), "30");
}

TEST_F(CollectorResources, AProbeEndsAlsoWhenItsClusterIsRemovedMeanwhile) {
  collector::FollowedMembers followed{stage.members()};
  const auto resources = followed.of("m1", "route", true)->resources;
  int ended = 0;
  resources->follow({}, stage.now(), [&] { ++ended; });
  EXPECT_EQ(ended, 0);
  followed.forget("m1");
  EXPECT_EQ(ended, 1);
  resources->follow({}, stage.now(), [&] { ++ended; });
  EXPECT_EQ(ended, 2);
  stage.run(Millis{1'000});
  EXPECT_EQ(ended, 2);
  EXPECT_FALSE(resources->known());
}

TEST_F(CollectorResources, ThatEndWithTheProcessHoldNothingOfWhoWaits) {
  auto waiting = std::make_shared<bool>(false);
  const std::weak_ptr<bool> held = waiting;
  {
    collector::FollowedMembers followed{stage.members()};
    const auto resources = followed.of("m1", "route", true)->resources;
    resources->follow({}, stage.now(), [resources, waiting] { *waiting = true; });
    EXPECT_FALSE(*waiting);
  }
  waiting.reset();
  EXPECT_TRUE(held.expired());
}

TEST_F(CollectorResources, OfAnotherAddressAreListedAnew) {
  put_pod("a", "10");
  probe();
  Value moved = cluster();
  moved.edit("spec").set("apiEndpoint", "https://elsewhere");
  stage.put(cluster_key("m1"), moved);
  probe();
  EXPECT_EQ(lists(), 2U);
  EXPECT_EQ(reported(), "10");
}

TEST_F(CollectorResources, SmallChangesAreReportedAfterAWhile) {
  put_pod("a", "10");
  probe();
  const size_t entries = stage.count<ClusterObserved>();
  for (int step = 1; step <= 6; ++step) {
    put_pod("a", std::to_string(10'000 + step) + "m");
    probe();
  }
  EXPECT_EQ(stage.count<ClusterObserved>(), entries);
  EXPECT_EQ(reported(), "10");
  stage.run(Millis{80'000});
  EXPECT_EQ(stage.count<ClusterObserved>(), entries + 1);
  EXPECT_EQ(reported(), "10006m");
  put_pod("a", "11");
  probe();
  EXPECT_EQ(reported(), "10006m") << "a new interval begins";
  put_pod("b", "5");
  probe();
  EXPECT_EQ(reported(), "16") << "more than 5% of what was free";
}

TEST_F(CollectorResources, AreReportedAsAPatchFromFoldVersion9On) {
  const auto newest = [&] {
    ClusterObserved found;
    for (const auto& [entry, folded] : stage.history()) {
      for (const Event& event : entry.events) {
        if (const auto* observed = std::get_if<ClusterObserved>(&event)) found = *observed;
      }
    }
    return found;
  };
  stage.write({FoldVersionActivated{kClusterPatchFoldVersion - 1}});
  put_pod("a", "10");
  probe();
  EXPECT_FALSE(newest().patch);
  EXPECT_EQ(newest().status["apiEnablements"], cluster()["status"]["apiEnablements"]);

  stage.write({FoldVersionActivated{kClusterPatchFoldVersion}});
  const Value before = cluster()["status"];
  put_pod("a", "30");
  probe();
  EXPECT_TRUE(newest().patch);
  EXPECT_EQ(newest().status,
            Value::object({{"resourceSummary", Value::object({{"allocated", Value::object({{"cpu", "30"}})}})}}));
  EXPECT_EQ(reported(), "30");
  EXPECT_EQ(cluster()["status"]["apiEnablements"], before["apiEnablements"]);
  EXPECT_EQ(cluster()["status"]["conditions"], before["conditions"]);
}

/// A status that someone else writes meanwhile is put right with the next probe.
TEST_F(CollectorResources, APatchThatMeetsAnotherStatusIsFollowedByOneMore) {
  stage.write({FoldVersionActivated{kClusterPatchFoldVersion}});
  stage.set_append_latency(Millis{2'000});
  put_pod("a", "10");
  stage.run(Millis{10'500});  // the probe is done, and its report on its way
  Value other = cluster();
  other.edit("status").edit("resourceSummary").edit("allocatable").set("cpu", "7");
  stage.write({StatusUpdated{cluster_key("m1"), other}});
  stage.run(Millis{30'000});
  EXPECT_EQ(reported("allocatable"), "100");
  EXPECT_EQ(reported(), "10");
}

TEST_F(CollectorResources, MoreRoomIsReportedAtOnceWhileABindingWaitsForIt) {
  put_pod("a", "10");
  probe();
  Value waiting = binding(config_map("default", "x", "y"), {});
  set_condition(waiting, "Scheduled", "False", "Unschedulable", "no room", stage.now());
  const ObjectKey key = testing::binding_key(waiting);
  stage.put(key, waiting);
  put_pod("a", "9900m");
  probe();
  EXPECT_EQ(reported(), "9900m");
  stage.write({ObjectRemoved{key}});
  put_pod("a", "9800m");
  probe();
  EXPECT_EQ(reported(), "9900m");
}

// --- members that do not answer
// ---------------------------------------------------------------------------------------

/// What becomes known of ten ready members, and when, beside so many that take requests and never answer.
std::vector<std::string> course_beside(int hanging) {
  Stage stage;
  stage.add(make_lifecycle_role());
  stage.add(make_dispatcher_role(stage.members()));
  stage.add(make_collector_role(stage.members()));
  const auto join = [&](const std::string& name) {
    FakeMember& member = stage.members().member(name);
    member.ready_after = Millis{50};
    const Value allocatable = Value::object({{"cpu", "8"}, {"pods", "110"}});
    member.put({"nodes", "", "n1"}, Value::object({{"status", Value::object({{"allocatable", allocatable}})}}));
    stage.put(cluster_key(name), cluster_object(name));
  };
  const auto place = [&](const std::string& name) {
    const Value web = deployment("default", "web-" + name, 2);
    stage.put({"deployments.apps", "default", "web-" + name}, web);
    const Value made = binding(web, {{name, 2}});
    stage.put(testing::binding_key(made), made);
  };
  std::set<std::string> ready, all;
  for (int number = 0; number < 10; ++number) ready.insert("ready-" + std::to_string(number));
  all = ready;
  for (int number = 0; number < hanging; ++number) all.insert("hangs-" + std::to_string(number));
  for (const std::string& name : ready) join(name);
  stage.run(Millis{20'000});
  for (const std::string& name : all) {
    if (!ready.contains(name)) join(name);
  }
  stage.run(Millis{20'000});
  for (const std::string& name : all) stage.members().member(name).hangs = !ready.contains(name);
  for (const std::string& name : all) place(name);
  stage.run(Millis{30'000});
  for (const std::string& name : ready) {  // what happens in a member is seen, too
    FakeMember& member = stage.members().member(name);
    member.put({"nodes", "", "n2"}, member.find({"nodes", "", "n1"}));
    member.set_status({"deployments.apps", "default", "web-" + name}, Value::object({{"replicas", 2}}));
  }
  stage.run(Millis{60'000});
  std::vector<std::string> course;
  for (const auto& folding : stage.history()) {
    for (const Event& event : folding.entry.events) {
      const std::string about = to_string(subject_of(event));
      if (about.find("ready-") == std::string::npos) continue;
      course.push_back(std::to_string(folding.entry.time.value) + " " + std::string{name_of(event)} + " " + about);
    }
  }
  std::ranges::sort(course);
  return course;
}

TEST(CollectorBesideHangingMembers, TheOthersAreServedAtTheSameTimes) {
  const std::vector<std::string> alone = course_beside(0);
  const auto named = [&](const char* what) {
    return std::ranges::count_if(alone, [&](const std::string& line) { return line.find(what) != std::string::npos; });
  };
  EXPECT_GE(named("WorkApplied"), 10);
  EXPECT_GE(named("WorkStatusObserved"), 20);
  EXPECT_GE(named("ClusterObserved"), 20);
  EXPECT_EQ(course_beside(10), alone);
}

}  // namespace
}  // namespace shiplog
