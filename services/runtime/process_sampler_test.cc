#include "services/runtime/process_sampler.h"

#include <gtest/gtest.h>

#include "services/runtime/manual_executor.h"

namespace shiplog {
namespace {

class ProcessSampling : public ::testing::Test {
 protected:
  ManualExecutor executor_;
  uint64_t entries_ = 1000;
  std::vector<RoleFigures> roles_;
  ProcessSampler sampler_{
      {.executor = &executor_, .entries_folded = [this] { return entries_; }, .roles = [this] { return roles_; }}};
};

TEST_F(ProcessSampling, RateIsThatOfTheLastSamplesAndNotSinceTheStart) {
  sampler_.start();
  EXPECT_EQ(sampler_.now().interval, Millis{0}) << "one sample is no rate";
  for (int second = 0; second < 5; ++second) {
    entries_ += 20;
    executor_.run(Millis{1000});
  }
  EXPECT_DOUBLE_EQ(sampler_.now().entries_per_second, 20);
  executor_.run(Millis{30'000});
  EXPECT_DOUBLE_EQ(sampler_.now().entries_per_second, 0);
  EXPECT_EQ(sampler_.now().interval, Millis{10'000});
}

TEST_F(ProcessSampling, RolesAreThoseOfTheLastSample) {
  sampler_.start();
  EXPECT_TRUE(sampler_.now().roles.empty());
  roles_ = {{.role = "binder", .acting = true, .epoch = 3, .queued = 7}};
  executor_.run(Millis{1000});
  ASSERT_EQ(sampler_.now().roles.size(), 1U);
  EXPECT_EQ(sampler_.now().roles[0].queued, 7U);
}

}  // namespace
}  // namespace shiplog
