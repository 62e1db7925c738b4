#include "services/roles/collector/summary_change.h"

#include <gtest/gtest.h>

#include "events/base/json.h"

namespace shiplog::collector {
namespace {

Value status(int64_t cpu_allocated, int64_t nodes = 3, std::vector<int64_t> counts = {}) {
  Value grades = Value::array();
  for (size_t grade = 0; grade < counts.size(); ++grade) {
    grades.push_back(Value::object({{"grade", grade}, {"count", counts[grade]}}));
  }
  return Value::object(
      {{"nodeSummary", Value::object({{"totalNum", nodes}, {"readyNum", nodes}})},
       {"resourceSummary", Value::object({{"allocatable", Value::object({{"cpu", "1000"}})},
                                          {"allocated", Value::object({{"cpu", std::to_string(cpu_allocated)}})},
                                          {"allocatableModelings", grades}})}});
}

constexpr double kPercent = 5;

TEST(CollectorSignificant, ChangesAreMeasuredByWhatIsFree) {
  EXPECT_FALSE(significant(status(500), status(500), kPercent, true));
  EXPECT_FALSE(significant(status(500), status(520), kPercent, false)) << "4% of 500 free";
  EXPECT_TRUE(significant(status(500), status(525), kPercent, false));
  EXPECT_TRUE(significant(status(500), status(475), kPercent, false));
  EXPECT_TRUE(significant(status(980), status(979), kPercent, false)) << "5% of 20 free";
  EXPECT_FALSE(significant(status(1000), status(1003), kPercent, false)) << "nothing was free, nor is now";
  EXPECT_TRUE(significant(status(1000), status(999), kPercent, false)) << "something is free again";
  EXPECT_TRUE(significant(status(999), status(1000), kPercent, false));
  EXPECT_TRUE(significant(status(500), status(501), 0, false)) << "of 0 percent anything is reported";
}

TEST(CollectorSignificant, MoreRoomIsReportedWhileABindingWaitsForIt) {
  EXPECT_TRUE(significant(status(500), status(499), kPercent, true));
  EXPECT_FALSE(significant(status(500), status(501), kPercent, true)) << "less room helps none";
}

TEST(CollectorSignificant, NodesAndResourcesThatComeOrGoAre) {
  EXPECT_TRUE(significant(status(500), status(500, 4), kPercent, false));
  Value unready = status(500);
  unready.edit("nodeSummary").set("readyNum", 2);
  EXPECT_TRUE(significant(status(500), unready, kPercent, false));
  Value more = status(500);
  more.edit("resourceSummary").edit("allocatable").set("example.com/gpu", "1");
  EXPECT_TRUE(significant(status(500), more, kPercent, false));
  EXPECT_TRUE(significant(more, status(500), kPercent, false));
  Value larger = status(500);
  larger.edit("resourceSummary").edit("allocatable").set("cpu", "1100");
  EXPECT_TRUE(significant(status(500), larger, kPercent, false));
  EXPECT_TRUE(significant(Value::object(), status(500), kPercent, false)) << "nothing is reported yet";
}

TEST(CollectorSignificant, GradesAreIfManyNodesChangeOrTheHighestDoes) {
  const auto grades = [](std::vector<int64_t> counts) { return status(500, 3, std::move(counts)); };
  EXPECT_FALSE(significant(grades({100, 100, 0}), grades({104, 96, 0}), kPercent, false));
  EXPECT_TRUE(significant(grades({100, 100, 0}), grades({110, 90, 0}), kPercent, false));
  EXPECT_TRUE(significant(grades({100, 100, 0}), grades({100, 99, 1}), kPercent, false)) << "larger replicas fit now";
  EXPECT_TRUE(significant(grades({100, 99, 1}), grades({100, 100, 0}), kPercent, false));
  EXPECT_TRUE(significant(grades({100, 100, 0}), grades({104, 96, 0}), kPercent, true));
  EXPECT_TRUE(significant(grades({100, 100}), grades({100, 100, 0}), kPercent, false)) << "other models";
}

}  // namespace
}  // namespace shiplog::collector
