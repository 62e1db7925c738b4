#include "services/api/proxy/fan_out.h"

#include <gtest/gtest.h>

#include "events/base/json.h"

namespace shiplog::api {
namespace {

TEST(MergedLists, HaveTheItemsOfAllClusters_1_16_7) {
  const Value merged = merged_lists(
      {{"m1",
        R"({"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"7","continue":"x"},"items":[{"a":1}]})",
        nullptr},
       {"m2", R"({"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"9"},"items":[{"a":2},{"a":3}]})",
        nullptr}});
  EXPECT_EQ(
      to_json(merged),
      R"({"apiVersion":"v1","items":[{"a":1},{"a":2},{"a":3}],"kind":"PodList","metadata":{"resourceVersion":""}})");
}

TEST(MergedLists, LeaveOutWhatIsNoList) {
  EXPECT_TRUE(merged_lists({}).is_null());
  EXPECT_TRUE(merged_lists({{"m1", "garbage", nullptr}, {"m2", R"({"kind":"Pod"})", nullptr}}).is_null());
  const std::string bomb = R"({"kind":"PodList","items":[)" + std::string(600'000, ',') + "]}";
  const Value merged = merged_lists({{"m1", bomb, nullptr}, {"m2", R"({"kind":"PodList","items":[1]})", nullptr}});
  EXPECT_EQ(merged["items"].size(), 1U);
}

}  // namespace
}  // namespace shiplog::api
