#include <gtest/gtest.h>

#include "events/state/protection.h"
#include "events/state/work.h"
#include "services/roles/lifecycle/decide.h"
#include "services/roles/lifecycle/role.h"
#include "tests/support/decided.h"
#include "tests/support/stage.h"

namespace shiplog {
namespace {

using testing::Stage;

const ObjectKey kJob{"jobs.batch", "default", "report"};

Value job_with(const Value& ttl, const Value& status = Value::object()) {
  Value spec = Value::object();
  if (!ttl.is_null()) spec.set("ttlSecondsAfterFinished", ttl);
  return Value::object({{"apiVersion", "batch/v1"},
                        {"kind", "Job"},
                        {"metadata", Value::object({{"name", "report"}, {"namespace", "default"}})},
                        {"spec", std::move(spec)},
                        {"status", status}});
}

Value ended(const char* type, UtcMillis at, const char* status = "True") {
  return Value::object(
      {{"conditions",
        Value::array({Value::object({{"type", type}, {"status", status}, {"lastTransitionTime", rfc3339(at)}})})}});
}

/// The lifecycle role alone, which has looked at what there is.
struct JobStage : Stage {
  JobStage() { add(make_lifecycle_role()); }
  bool exists() { return state().find(kJob) != nullptr; }
  void status(const Value& value) {
    Value job = state().value_of(kJob);
    job.set("status", value);
    write({StatusUpdated{kJob, std::move(job)}});
  }
};

TEST(LifecycleJob, IsDeletedWhenItsTimeAfterTheEndIsOver_B_14) {
  for (const char* type : {"Complete", "Failed"}) {
    JobStage stage;
    stage.put(kJob, job_with(5));
    stage.run(Millis{60'000});
    EXPECT_TRUE(stage.exists()) << "it runs";
    stage.status(ended(type, stage.now()));
    stage.run(Millis{3000});
    EXPECT_TRUE(stage.exists()) << type;
    stage.run(Millis{3000});
    EXPECT_FALSE(stage.exists()) << type;
  }
}

TEST(LifecycleJob, WithoutAReportedEndOrATimeItStays) {
  const std::vector<std::pair<Value, Value>> kept = {
      {Value{}, ended("Complete", {1000})},
      {Value{0}, ended("Complete", {1000}, "False")},
      {Value{0}, ended("Suspended", {1000})},
      {Value{0}, Value::object({{"completionTime", rfc3339({1000})}})},
      {Value{0},
       Value::object({{"conditions", Value::array({Value::object({{"type", "Complete"}, {"status", "True"}})})}})},
  };
  for (size_t i = 0; i < kept.size(); ++i) {
    JobStage stage;
    stage.put(kJob, job_with(kept[i].first, kept[i].second));
    stage.run(Millis{60'000});
    EXPECT_TRUE(stage.exists()) << i;
  }
}

TEST(LifecycleJob, WithoutATransitionTimeTheCompletionTimeCounts) {
  const Value conditions = Value::array({Value::object({{"type", "Complete"}, {"status", "True"}})});
  const Value job =
      job_with(10, Value::object({{"conditions", conditions}, {"completionTime", "2026-01-02T12:00:00Z"}}));
  const auto expiry = lifecycle::expiry_of_job(kJob, job);
  ASSERT_TRUE(expiry);
  EXPECT_EQ(rfc3339(*expiry), "2026-01-02T12:00:10Z");
  EXPECT_FALSE(lifecycle::expiry_of_job({"tasks.example.com", "default", "report"}, job)) << "no Job";
}

TEST(LifecycleJob, ATimeThatIsChangedAfterTheEndCounts) {
  JobStage stage;
  stage.put(kJob, job_with(10, ended("Complete", stage.now())));
  stage.run(Millis{5000});
  Value longer = stage.state().value_of(kJob);
  longer.edit("spec").set("ttlSecondsAfterFinished", 60);
  stage.put(kJob, longer);
  stage.run(Millis{30'000});
  EXPECT_TRUE(stage.exists());
  stage.run(Millis{30'000});
  EXPECT_FALSE(stage.exists());
}

TEST(LifecycleJob, IsFoundAtTheStart) {
  Stage stage;
  stage.put(kJob, job_with(5, ended("Complete", stage.now())));
  stage.run(Millis{60'000});
  stage.add(make_lifecycle_role());
  stage.run(Millis{1000});
  EXPECT_EQ(stage.state().find(kJob), nullptr);
}

TEST(LifecycleJob, IsDeletedInTheBackgroundAndOnce) {
  JobStage stage;
  Value job = job_with(0, ended("Complete", stage.now()));
  job.edit("metadata").set("finalizers", Value::array({"example.com/mine"}));
  stage.put(kJob, job);
  stage.run(Millis{60'000});
  const Value& left = stage.state().value_of(kJob);
  EXPECT_TRUE(deleting(left));
  EXPECT_EQ(left["metadata"]["finalizers"], Value::array({"example.com/mine"}));
  EXPECT_EQ(stage.count<DeletionRequested>(), 1U);
}

TEST(LifecycleJob, ThatIsProtectedStaysUntilItIsNot_D_41) {
  JobStage stage;
  Value job = job_with(0, ended("Complete", stage.now()));
  job.edit("metadata").edit("labels").set(label::kDeletionProtected, "Always");
  stage.put(kJob, job);
  stage.run(Millis{60'000});
  EXPECT_TRUE(stage.exists());
  job.edit("metadata").erase("labels");
  stage.put(kJob, job);
  stage.run(Millis{1000});
  EXPECT_FALSE(stage.exists());
}

TEST(LifecycleJob, OfATrialMemberIsDeletedByTheControllerOfJobs) {
  Stage stage;
  stage.add(make_lifecycle_role(false));
  stage.put(kJob, job_with(0, ended("Complete", stage.now())));
  stage.run(Millis{60'000});
  EXPECT_NE(stage.state().find(kJob), nullptr);
}

}  // namespace
}  // namespace shiplog
