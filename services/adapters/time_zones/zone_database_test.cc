#include "services/adapters/time_zones/zone_database.h"

#include <gtest/gtest.h>

#include "events/base/time.h"

namespace shiplog {
namespace {

TEST(ZoneDatabase, ReadsTheZonesOfThisMachine) {
  const auto zone = find_time_zone("Europe/Berlin");
  ASSERT_TRUE(zone) << zone.error().message;
  EXPECT_EQ(zone.value()->offset_at(parse_rfc3339("2026-01-01T00:00:00Z").value().value / 1000).seconds, 3600);
  EXPECT_EQ(zone.value()->offset_at(parse_rfc3339("2026-07-01T00:00:00Z").value().value / 1000).seconds, 7200);
  EXPECT_EQ(find_time_zone("Europe/Berlin").value(), zone.value()) << "it is read once";
}

TEST(ZoneDatabase, UtcNeedsNoFile) {
  EXPECT_EQ(find_time_zone("").value()->offset_at(0), cron::UtcOffset{});
  EXPECT_EQ(find_time_zone("UTC").value()->offset_at(0), cron::UtcOffset{});
}

TEST(ZoneDatabase, AnUnknownZoneIsNamedAndNoPathIsFollowed) {
  const auto unknown = find_time_zone("Europe/Atlantis");
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().message.find("unknown time zone Europe/Atlantis"), 0U) << unknown.error().message;
  for (const char* name : {"../../../etc/passwd", "/etc/passwd", "Europe"}) EXPECT_FALSE(find_time_zone(name)) << name;
}

}  // namespace
}  // namespace shiplog
