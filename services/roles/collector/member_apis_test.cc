// What a member serves is known soon, and read again only if it has changed (decision 0127).
#include "services/roles/collector/member_apis.h"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "events/state/condition.h"
#include "events/state/work.h"
#include "services/roles/collector/common_values.h"
#include "services/roles/collector/role.h"
#include "services/roles/lifecycle/role.h"
#include "tests/support/stage.h"

namespace shiplog {
namespace {

using namespace testing;
using Discovery = FakeMember::Discovery;

const std::string kJob = "batch/v1, Kind=Job";
const std::string kIngress = "networking.k8s.io/v1, Kind=Ingress";

class CollectorApis : public ::testing::Test {
 protected:
  CollectorApis() {
    stage.add(make_lifecycle_role());
    stage.add(make_collector_role(stage.members()));
  }
  void join() {
    member();
    stage.put(cluster_key("m1"), cluster_object("m1"));
    stage.run(Millis{500});
    ASSERT_TRUE(enabled("apps/v1, Kind=Deployment"));
  }

  FakeMember& member() { return stage.members().member("m1"); }
  const Value& status() { return stage.state().value_of(cluster_key("m1"))["status"]; }
  bool enabled(const std::string& api) {
    const auto& all = stage.state().cluster("m1")->api_enablements;
    return std::ranges::find(all, api) != all.end();
  }
  std::string complete() {
    const Value& condition = condition_of(stage.state().value_of(cluster_key("m1")), "CompleteAPIEnablements");
    return condition["status"].str() + " " + condition["reason"].str();
  }
  void probe() { stage.run(Millis{10'000}); }
  /// Requests for discovery within the time whose line has this part.
  size_t discovered(Millis time, const std::string& part = "") {
    stage.members().discovered.clear();
    stage.run(time);
    return static_cast<size_t>(std::ranges::count_if(
        stage.members().discovered, [&](const std::string& line) { return line.find(part) != std::string::npos; }));
  }

  Stage stage;
};

TEST_F(CollectorApis, ANewApiIsReportedWithTheNextProbeAndAnOldOneGoes_CL_20) {
  member().unserved = {"jobs.batch"};
  join();
  EXPECT_FALSE(enabled(kJob));
  member().unserved = {"ingresses.networking.k8s.io"};
  probe();
  EXPECT_TRUE(enabled(kJob));
  EXPECT_FALSE(enabled(kIngress));
  EXPECT_EQ(complete(), "True Complete");
}

/// A probe holds its look: one that held the probe in turn would never go, and there is one every ten seconds.
TEST_F(CollectorApis, ALookThatIsDoneHoldsNothingOfWhoAskedForIt) {
  member();
  const auto apis =
      std::make_shared<collector::MemberApis>(stage.members(), "m1", std::make_shared<collector::CommonValues>());
  const auto look = apis->plan({}, stage.now());
  auto done = std::make_shared<bool>(false);
  const std::weak_ptr<bool> held = done;
  apis->look(look, nullptr, [done] { *done = true; });
  stage.run(Millis{5'000});
  EXPECT_TRUE(*done);
  done.reset();
  EXPECT_TRUE(held.expired());
}

TEST_F(CollectorApis, WhatHasNotChangedIsNotSentAgain_CL_16a) {
  join();
  EXPECT_EQ(discovered(Millis{600'000}, " 200"), 0U);
  EXPECT_NEAR(static_cast<double>(discovered(Millis{600'000}, "/apis 304")), 60, 1);
  EXPECT_NEAR(static_cast<double>(discovered(Millis{600'000})), 62, 1)
      << "and every 5 minutes whether the core group has changed";
}

TEST_F(CollectorApis, TheSameTextIsTheSameWithoutETags_CL_16a) {
  member().etags = false;
  join();
  EXPECT_EQ(discovered(Millis{600'000}, " 200"), 0U);
  member().unserved = {"jobs.batch"};
  probe();
  EXPECT_FALSE(enabled(kJob));
}

TEST_F(CollectorApis, AServerOfThePlainFormIsReadByGroupVersions_CL_16a) {
  join();
  const Value aggregated = status()["apiEnablements"];
  for (const Discovery form : {Discovery::kPlain, Discovery::kRefused}) {
    member().discovery = form;
    stage.members().break_watches("m1");
    Value elsewhere = stage.state().value_of(cluster_key("m1"));
    elsewhere.edit("spec").set("apiEndpoint", "https://" + std::to_string(static_cast<int>(form)));
    stage.put(cluster_key("m1"), elsewhere);
    EXPECT_GT(discovered(Millis{1'000}, "/apis/apps/v1 200"), 0U);
    EXPECT_EQ(status()["apiEnablements"], aggregated);
    EXPECT_EQ(complete(), "True Complete");
    EXPECT_EQ(discovered(Millis{60'000}, " 200"), 0U);

    member().unserved = {"jobs.batch", "cronjobs.batch"};
    probe();
    EXPECT_FALSE(enabled(kJob)) << "the group is gone";
    member().unserved = {"jobs.batch"};
    probe();
    EXPECT_TRUE(enabled("batch/v1, Kind=CronJob"));
    member().unserved = {};
    stage.run(Millis{60'000});
    EXPECT_TRUE(enabled(kJob)) << "in a group version that was there, within a minute";
  }
}

TEST_F(CollectorApis, AServerThatLearnsTheAggregatedFormIsAskedForItWithinTheHour_CL_16a) {
  member().discovery = Discovery::kRefused;
  join();
  const Value plain = status()["apiEnablements"];
  member().discovery = Discovery::kAggregated;
  stage.run(Millis{2'410'000});
  EXPECT_EQ(status()["apiEnablements"], plain);
  EXPECT_NEAR(static_cast<double>(discovered(Millis{600'000})), 62, 1);
}

TEST_F(CollectorApis, AnETagThatLiesHidesAChangeNoLongerThanToTheNextWholeLook_CL_16a) {
  member().etag_stays = true;
  join();
  member().unserved = {"jobs.batch"};
  probe();
  EXPECT_TRUE(enabled(kJob)) << "this server says that nothing has changed";
  stage.run(Millis{2'410'000});
  EXPECT_FALSE(enabled(kJob));
  EXPECT_EQ(complete(), "True Complete");
}

TEST_F(CollectorApis, AGroupWhoseServerDoesNotAnswerIsLeftOutUntilItDoes_CL_19) {
  join();
  member().undiscovered = {"/apis/batch/v1"};
  probe();
  EXPECT_FALSE(enabled(kJob));
  EXPECT_EQ(complete(), "False Partial");
  member().undiscovered = {};
  probe();
  EXPECT_TRUE(enabled(kJob));
  EXPECT_EQ(complete(), "True Complete");
}

TEST_F(CollectorApis, DiscoveryThatFailsOnceIsAsBeforeAfterwards_CL_19) {
  join();
  const Value before = status()["apiEnablements"];
  member().undiscovered = {"/apis", "/api"};
  probe();
  EXPECT_EQ(complete(), "False Empty");
  EXPECT_EQ(status()["apiEnablements"], before) << "the last ones are kept";
  member().undiscovered = {};
  EXPECT_EQ(discovered(Millis{10'000}, " 304"), 2U) << "what is known from before is still known";
  EXPECT_EQ(complete(), "True Complete");
  EXPECT_EQ(status()["apiEnablements"], before);
}

TEST_F(CollectorApis, ANewVersionOfTheServerIsReportedWithinFiveMinutes_CL_16a) {
  join();
  member().git_version = "v1.35.0";
  stage.run(Millis{300'000});
  EXPECT_EQ(status()["kubernetesVersion"], "v1.35.0");
}

TEST_F(CollectorApis, AServerThatWasStartedAnewIsReadThoroughly_CL_16a) {
  join();
  probe();
  member().git_version = "v1.35.0";
  stage.members().break_watches("m1");
  probe();
  EXPECT_EQ(status()["kubernetesVersion"], "v1.35.0");
}

TEST_F(CollectorApis, AMemberAtAnotherAddressIsReadAnew_1_14_2) {
  member().etag_stays = true;
  join();
  member().unserved = {"jobs.batch"};  // with the ETag that the former one had
  Value elsewhere = stage.state().value_of(cluster_key("m1"));
  elsewhere.edit("spec").set("apiEndpoint", "https://elsewhere");
  stage.put(cluster_key("m1"), elsewhere);
  stage.run(Millis{1'000});
  EXPECT_FALSE(enabled(kJob));
}

}  // namespace
}  // namespace shiplog
