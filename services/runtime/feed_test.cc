#include "services/runtime/feed.h"

#include <gtest/gtest.h>

namespace shiplog {
namespace {

Feed::ChangePtr change(uint64_t revision, const char* type) {
  Change one;
  one.object = {type, "default", "n" + std::to_string(revision)};
  one.revision = Revision{revision};
  return std::make_shared<const Change>(std::move(one));
}

void publish(Feed& feed, uint64_t first, uint64_t last, const char* type = "configmaps") {
  for (uint64_t revision = first; revision <= last; ++revision) {
    feed.publish({change(revision, type)}, Revision{revision});
  }
}

TEST(FeedTest, ReturnsTheChangesAfterARevision) {
  Feed feed;
  publish(feed, 1, 5);
  const Feed::Batch batch = feed.since(Revision{2}, "", 100);
  EXPECT_TRUE(batch.complete);
  ASSERT_EQ(batch.changes.size(), 3U);
  EXPECT_EQ(batch.changes.front()->revision, Revision{3});
  EXPECT_EQ(batch.upto, Revision{5});
}

TEST(FeedTest, SkipsOtherTypesAndReturnsHowFarItRead) {
  Feed feed;
  publish(feed, 1, 2, "secrets");
  publish(feed, 3, 3, "configmaps");
  publish(feed, 4, 6, "secrets");
  const Feed::Batch batch = feed.since(Revision{0}, "configmaps", 100);
  ASSERT_EQ(batch.changes.size(), 1U);
  EXPECT_EQ(batch.upto, Revision{6});
}

TEST(FeedTest, GoesOnWhereAFullBatchEnded) {
  Feed feed;
  publish(feed, 1, 5);
  const Feed::Batch first = feed.since(Revision{0}, "", 2);
  EXPECT_EQ(first.upto, Revision{2});
  const Feed::Batch second = feed.since(first.upto, "", 2);
  EXPECT_EQ(second.changes.front()->revision, Revision{3});
}

TEST(FeedTest, ReportsWhetherItReachesBackWithoutBeingRead) {
  Feed feed;
  publish(feed, 1, 5);
  const Feed::Batch batch = feed.since(Revision{2}, "", 0);
  EXPECT_TRUE(batch.complete);
  EXPECT_TRUE(batch.changes.empty());
  EXPECT_EQ(batch.upto, Revision{2});
}

TEST(FeedTest, ReportsThatTheBeginningIsNoLongerKept) {
  Feed feed{3};
  publish(feed, 1, 10);
  EXPECT_FALSE(feed.since(Revision{6}, "", 100).complete);
  const Feed::Batch batch = feed.since(Revision{7}, "", 100);
  EXPECT_TRUE(batch.complete);
  EXPECT_EQ(batch.changes.size(), 3U);
}

TEST(FeedTest, HoldsNothingFromBeforeItsStart) {
  Feed feed;
  feed.start_at(Revision{40});
  EXPECT_EQ(feed.revision(), Revision{40});
  EXPECT_FALSE(feed.since(Revision{39}, "", 100).complete);
  EXPECT_TRUE(feed.since(Revision{40}, "", 100).complete);
}

TEST(FeedTest, KeepsNoMoreBytesThanItMayButAlwaysTheNewestChange) {
  Feed feed{100, 1000};
  const auto with_json = [](uint64_t revision, size_t bytes) {
    Change one;
    one.revision = Revision{revision};
    one.json = std::make_shared<const std::string>(bytes, 'x');
    return std::make_shared<const Change>(std::move(one));
  };
  for (uint64_t revision = 1; revision <= 5; ++revision) {
    feed.publish({with_json(revision, 400)}, Revision{revision});
  }
  EXPECT_FALSE(feed.since(Revision{2}, "", 100).complete);
  EXPECT_EQ(feed.since(Revision{3}, "", 100).changes.size(), 2U);
  feed.publish({with_json(6, 5000)}, Revision{6});
  EXPECT_EQ(feed.since(Revision{5}, "", 100).changes.size(), 1U);
}

TEST(FeedTest, NotifiesListenersUntilTheyAreIgnored) {
  Feed feed;
  int told = 0;
  const int64_t handle = feed.listen([&] { ++told; });
  publish(feed, 1, 2);
  feed.ignore(handle);
  publish(feed, 3, 3);
  EXPECT_EQ(told, 2);
}

}  // namespace
}  // namespace shiplog
