#include "projections/store/reader.h"

#include <atomic>
#include <thread>

#include <gtest/gtest.h>

#include "projections/history/history_query.h"
#include "projections/objects/object_query.h"
#include "tests/support/projected_fleet.h"

namespace shiplog {
namespace {

TEST(Reader, ViewStaysAtItsRevisionWhileTheWriterContinues) {
  TestFleet fleet;
  fleet.create(config_map("default", "a"), "1");
  Reader early = fleet.reader();
  Reader late = fleet.reader();
  const View before = must(early.view());
  fleet.update(config_map("default", "a"), "2");
  fleet.create(config_map("default", "b"));
  EXPECT_EQ(before.revision().value, fleet.revision().value - 2);
  EXPECT_EQ(must(ObjectQuery{before}.list({.type = "configmaps"})).size(), 1U);
  EXPECT_EQ(must(ObjectQuery{before}.get(config_map("default", "a")))->revision, before.revision());
  const View after = must(late.view());
  EXPECT_EQ(after.revision(), fleet.revision());
  EXPECT_EQ(after.next(), fleet.projections().next());
  EXPECT_EQ(must(ObjectQuery{after}.list({.type = "configmaps"})).size(), 2U);
}

TEST(Reader, NextViewIsNewer) {
  TestFleet fleet;
  Reader reader = fleet.reader();
  const Revision first = must(reader.view()).revision();
  fleet.create(config_map("default", "a"));
  EXPECT_EQ(must(reader.view()).revision().value, first.value + 1);
}

TEST(Reader, CannotWrite) {
  TestFleet fleet;
  Reader reader = fleet.reader();
  const View view = must(reader.view());
  EXPECT_FALSE(view.connection().execute("DELETE FROM version"));
}

TEST(Reader, OfAMissingFileIsAnError) {
  const TemporaryFolder folder;
  EXPECT_EQ(Reader::open(folder.file("none.db")).error().code, ErrorCode::kIo);
  EXPECT_FALSE(std::filesystem::exists(folder.file("none.db")));
}

TEST(Reader, ManyReadWhileOneWrites) {
  TestFleet fleet;
  std::atomic<bool> writing{true};
  std::atomic<int> views{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&writing, &views, path = fleet.path()] {
      auto reader = must(Reader::open(path));
      Revision last;
      do {
        const View view = must(reader.view());
        EXPECT_GE(view.revision(), last);
        last = view.revision();
        const ObjectQuery objects{view};
        // Every entry creates one object and none is removed, so the numbers of objects and of changes must both equal
        // the revision.
        uint64_t present = 0;
        for (const char* type : {"configmaps", "namespaces"}) present += must(objects.count({.type = type}));
        EXPECT_EQ(present, view.revision().value);
        EXPECT_EQ(must(HistoryQuery{view}.changes({.limit = 100'000})).size(), view.revision().value);
        ++views;
      } while (writing);
    });
  }
  for (int i = 0; i < 300; ++i) fleet.create(config_map("default", "c" + std::to_string(i)));
  // The readers continue until their last view contains objects.
  while (views < 3) std::this_thread::yield();
  writing = false;
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(fleet.revision().value, 302U);
}

}  // namespace
}  // namespace shiplog
