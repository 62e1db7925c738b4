#include "services/runtime/folder_watch.h"

#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include <gtest/gtest.h>

#include "tests/support/test_directory.h"

namespace shiplog {
namespace {

/// A wait that is not ended by an event lasts longer than the test may.
constexpr std::chrono::hours kVeryLong{1};
constexpr std::chrono::milliseconds kAtOnce{0};

void put(const TestDirectory& folder, const std::string& name) {
  std::ofstream{folder.file(name + ".draft")} << "here";
  std::filesystem::rename(folder.file(name + ".draft"), folder.file(name));
}

TEST(FolderWatch, WakesWhenAFileAppearsUnderItsFinalName) {
  const TestDirectory folder{"folder"};
  FolderWatch watch{folder.path()};
  ASSERT_TRUE(watch.watches());
  put(folder, "before");
  watch.wait(kVeryLong);  // appeared before the call
  std::thread other{[&] { put(folder, "meanwhile"); }};
  watch.wait(kVeryLong);
  other.join();
  watch.wait(kAtOnce);
  EXPECT_TRUE(watch.watches());
}

TEST(FolderWatch, WakeEndsTheWaitUnderWayOrTheNextOne) {
  const TestDirectory folder{"folder"};
  FolderWatch watch{folder.path()};
  watch.wake();
  watch.wait(kVeryLong);
  std::thread other{[&] { watch.wake(); }};
  watch.wait(kVeryLong);
  other.join();
}

TEST(FolderWatch, DoesNotWatchWhatIsNotThereOrHasGone) {
  const TestDirectory folder{"folder"};
  EXPECT_FALSE(FolderWatch{folder.file("missing")}.watches());
  for (const bool removed : {true, false}) {
    std::filesystem::create_directory(folder.file("processes"));
    FolderWatch watch{folder.file("processes")};
    ASSERT_TRUE(watch.watches());
    if (removed) {
      std::filesystem::remove(folder.file("processes"));
    } else {
      std::filesystem::rename(folder.file("processes"), folder.file("elsewhere"));
    }
    watch.wait(kVeryLong);
    EXPECT_FALSE(watch.watches());
    watch.wait(kAtOnce);
  }
}

}  // namespace
}  // namespace shiplog
