#include "events/sqlite/wal_mover.h"

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include <gtest/gtest.h>
#include <sqlite3.h>

#include "tests/support/test_directory.h"

namespace shiplog {
namespace {

constexpr int kFrames = 50;
constexpr int kRowBytes = 3000;

/// A file in WAL mode with a writer, and a mover beside it.
struct File {
  File() {
    EXPECT_EQ(sqlite3_open(path.c_str(), &writer), SQLITE_OK);
    sqlite3_busy_timeout(writer, 10'000);  // a reader that meets a header half written asks for the writer's lock
    run("PRAGMA journal_mode=WAL; PRAGMA synchronous=OFF; CREATE TABLE row(id INTEGER PRIMARY KEY, bytes BLOB)");
    mover.emplace(writer, path.string(), kFrames);
  }
  ~File() {
    mover.reset();
    sqlite3_close(writer);
  }
  void run(const std::string& sql) const {
    EXPECT_EQ(sqlite3_exec(writer, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(writer);
  }
  void commit_row() {
    run("INSERT INTO row(bytes) VALUES(randomblob(" + std::to_string(kRowBytes) + "))");
    mover->committed();
  }
  auto size(const char* suffix) const { return std::filesystem::file_size(path.string() + suffix); }

  TestDirectory directory{"wal-mover"};
  std::filesystem::path path = directory.file("file.db");
  sqlite3* writer = nullptr;
  std::optional<WalMover> mover;
};

/// Commits until it holds; gives up after many times what it takes.
bool commit_until(File& file, const std::function<bool()>& holds) {
  for (int commits = 0; commits < 200'000; ++commits) {
    if (holds()) return true;
    file.commit_row();
  }
  return false;
}

TEST(WalMover, CopiesTheLogIntoTheFileWhileTheWriterCommits) {
  File file;
  const auto before = file.size("");
  EXPECT_TRUE(commit_until(file, [&] { return file.size("") > before + kFrames * kRowBytes; }));
}

TEST(WalMover, TheLogStartsOverUnderASteadyLoad) {
  File file;
  // Only a commit that is written over older ones leaves the log as long as it was.
  uintmax_t before = 0;
  EXPECT_TRUE(commit_until(file, [&] {
    const uintmax_t now = file.size("-wal");
    return std::exchange(before, now) == now;
  }));
}

TEST(WalMover, NothingIsMovedBelowTheThreshold) {
  File file;
  const auto before = file.size("");
  for (int commits = 0; commits < 10; ++commits) file.commit_row();
  file.mover.reset();
  EXPECT_EQ(file.size(""), before);
}

TEST(WalMover, AReaderSeesOneMomentWhileTheLogIsMoved) {
  File file;
  file.commit_row();
  sqlite3* reader = nullptr;
  ASSERT_EQ(sqlite3_open(file.path.c_str(), &reader), SQLITE_OK);
  const auto rows = [&] {
    int64_t count = -1;
    const auto take = [](void* into, int, char** values, char**) {
      *static_cast<int64_t*>(into) = std::stoll(values[0]);
      return 0;
    };
    EXPECT_EQ(sqlite3_exec(reader, "SELECT count(*) FROM row", take, &count, nullptr), SQLITE_OK);
    return count;
  };
  EXPECT_EQ(sqlite3_exec(reader, "BEGIN", nullptr, nullptr, nullptr), SQLITE_OK);
  EXPECT_EQ(rows(), 1);
  for (int commits = 0; commits < 1000; ++commits) file.commit_row();
  EXPECT_EQ(rows(), 1);
  EXPECT_EQ(sqlite3_exec(reader, "COMMIT", nullptr, nullptr, nullptr), SQLITE_OK);
  EXPECT_EQ(rows(), 1001);
  sqlite3_close(reader);
}

}  // namespace
}  // namespace shiplog
