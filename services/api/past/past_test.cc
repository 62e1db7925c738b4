#include "services/api/past/past.h"

#include <gtest/gtest.h>

namespace shiplog::api {
namespace {

PastPath parsed(std::string_view path) { return parse_past_path(path).value().value(); }

TEST(PastPath, NamesAMomentAndWhatIsReadThere) {
  const PastPath pods = parsed("/at/r4711/api/v1/pods");
  EXPECT_EQ(pods.moment, "r4711");
  EXPECT_EQ(pods.path, "/api/v1/pods");
  EXPECT_EQ(pods.speed, 1);
  const PastPath root = parsed("/at/2026-11-20T03:12:00Z,speed=60");
  EXPECT_EQ(root.moment, "2026-11-20T03:12:00Z");
  EXPECT_EQ(root.options, "2026-11-20T03:12:00Z,speed=60");
  EXPECT_EQ(root.path, "/");
  EXPECT_EQ(root.speed, 60);
  EXPECT_EQ(parsed("/at/r1,speed=max/api").speed, 0);
  EXPECT_EQ(parsed("/at/r1,speed=0.5/api").speed, 0.5);
  EXPECT_FALSE(parse_past_path("/api/v1/pods").value());
  EXPECT_FALSE(parse_past_path("/at").value());
}

TEST(PastPath, RefusesWhatIsNoMoment) {
  for (const char* path : {"/at/", "/at/yesterday/api", "/at/4711/api", "/at/r/api", "/at/r1x/api", "/at/1h/api",
                           "/at/r1,pace=2/api", "/at/r1,speed=0/api", "/at/r1,speed=-1/api", "/at/r1,speed=nan/api",
                           "/at/r1,speed=1e9/api", "/at/r1,speed=/api", "/at/r1,speed=2x/api"}) {
    const auto refused = parse_past_path(path);
    ASSERT_FALSE(refused) << path;
    EXPECT_EQ(refused.error().code, ErrorCode::kBadRequest) << path;
  }
}

TEST(Replay, GoesOnAtItsSpeedUntilThePresent) {
  const auto past = std::make_shared<Past>();
  past->time = UtcMillis{1'000'000};
  const UtcMillis present{1'100'000};
  const auto until = [&](double speed, int64_t elapsed) {
    return replayed_until({past, speed, ""}, Millis{elapsed}, present).value;
  };
  EXPECT_EQ(until(1, 0), 1'000'000);
  EXPECT_EQ(until(1, 10'000), 1'010'000);
  EXPECT_EQ(until(2.5, 10'000), 1'025'000);
  EXPECT_EQ(until(60, 10'000), present.value);
  EXPECT_EQ(until(1'000'000, int64_t{1} << 50), present.value) << "no overflow";
  EXPECT_EQ(until(0, 0), present.value) << "as fast as possible";
}

}  // namespace
}  // namespace shiplog::api
