// Which clusters are probed and taken in.
#include <string>

#include <gtest/gtest.h>

#include "events/state/condition.h"
#include "events/state/work.h"
#include "services/roles/collector/role.h"
#include "services/roles/lifecycle/role.h"
#include "tests/support/stage.h"

namespace shiplog {
namespace {

using namespace testing;

/// The collector beside lifecycle, which takes clusters in.
class CollectorProbe : public ::testing::Test {
 protected:
  CollectorProbe() {
    stage.add(make_lifecycle_role());
    stage.add(make_collector_role(stage.members(), nullptr,
                                  [](const ObjectKey&, interpreter::InterpreterOperation, const Error&) {}));
  }

  void join(const std::string& name) {
    member(name);
    stage.put(cluster_key(name), cluster_object(name));
    stage.run(Millis{500});
  }
  const Value& cluster(const std::string& name) { return stage.state().value_of(cluster_key(name)); }
  FakeMember& member(const std::string& name) { return stage.members().member(name); }

  Stage stage;
};

TEST_F(CollectorProbe, AMemberThatIsInTheFleetAlreadyIsNotTakenInAsAnotherCluster_1_3_2) {
  const auto id_of_m1 = [&](const Value& id) {
    Value changed = cluster("m1");
    changed.edit("spec").set("id", id);
    stage.put(cluster_key("m1"), changed);
  };
  const Value id = member("m2").find({"namespaces", "", "kube-system"})["metadata"]["uid"];
  join("m1");
  id_of_m1(id);
  join("m2");
  EXPECT_EQ(condition_of(cluster("m2"), "Ready")["reason"], "MemberRegistered");
  EXPECT_EQ(condition_of(cluster("m2"), "Ready")["message"], "the member is registered as the cluster m1");
  EXPECT_TRUE(cluster("m2")["spec"]["id"].is_empty());
  EXPECT_TRUE(cluster("m2")["status"]["kubernetesVersion"].is_empty());
  EXPECT_EQ(condition_of(cluster("m1"), "Ready")["status"], "True");

  id_of_m1("another");
  stage.run(Millis{45'000});
  EXPECT_EQ(condition_of(cluster("m2"), "Ready")["reason"], "ClusterReady");
  EXPECT_EQ(cluster("m2")["spec"]["id"], id);
}

TEST_F(CollectorProbe, AMemberWithoutAVersionIsTakenInOnce) {
  member("m1").git_version = "";
  join("m1");
  EXPECT_EQ(stage.count<ClusterJoined>(), 1U);
  const size_t before = stage.history().size();
  stage.run(Millis{60'000});
  EXPECT_EQ(stage.history().size(), before);
  member("m1").git_version = "v1.34.0";
  stage.run(Millis{300'000});
  EXPECT_EQ(cluster("m1")["status"]["kubernetesVersion"], "v1.34.0");
}

TEST_F(CollectorProbe, AClusterOfPullModeIsLeftToItsAgent_1_14_1) {
  member("m1");
  Value pulled = cluster_object("m1");
  pulled.edit("spec").set("syncMode", "Pull");
  stage.put(cluster_key("m1"), pulled);
  stage.run(Millis{30'000});
  EXPECT_TRUE(has_finalizer(cluster("m1"), finalizer::kCluster));
  EXPECT_EQ(stage.members().count("m1 GET"), 0U);
  EXPECT_TRUE(condition_of(cluster("m1"), "Ready").is_null());
}

/// What answers take does not add up: members that were answered together are not due together from then on.
TEST_F(CollectorProbe, AReadyMemberIsProbedAtTimesOfItsOwn_CL_16) {
  join("m1");
  const int joined = member("m1").probed;
  ASSERT_EQ(condition_of(cluster("m1"), "Ready")["status"], "True");
  stage.run(Millis{36'000'000});
  EXPECT_EQ(member("m1").probed - joined, 3'600);
}

}  // namespace
}  // namespace shiplog
