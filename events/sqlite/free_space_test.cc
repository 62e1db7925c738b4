#include "events/sqlite/free_space.h"

#include <csignal>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "events/sqlite/connection.h"
#include "tests/support/must.h"
#include "tests/support/test_directory.h"

namespace shiplog::sqlite {
namespace {

constexpr std::chrono::microseconds kShortest{0};  // some pages
constexpr std::chrono::microseconds kLongTime{600'000'000};

TEST(FreeSpaceToKeep, IsAnEighthOfWhatIsInUse) {
  EXPECT_EQ(pages_to_keep({4096, 9000, 1000, true}), 1000);
  EXPECT_EQ(pages_to_keep({4096, 80'000, 72'000, true}), 1000);
  EXPECT_EQ(pages_to_keep({4096, 300, 100, true}), 128) << "of a small file";
  EXPECT_FALSE(has_surplus({4096, 9000, 1000, true}));
  EXPECT_FALSE(has_surplus({4096, 9999, 1999, true}));
  EXPECT_TRUE(has_surplus({4096, 10'000, 2000, true}));
  EXPECT_FALSE(has_surplus({4096, 255, 255, true}));
  EXPECT_TRUE(has_surplus({4096, 256, 256, true}));
}

class FreeSpaceTest : public testing::Test {
 protected:
  std::unique_ptr<Connection> open(const std::string& first = kCanShrink) {
    const std::string pragmas = first + "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;";
    return must(Connection::open(path_, {.create = true, .pragmas = pragmas.c_str(), .move_wal_frames = 1000}));
  }
  /// Rows of about a kilobyte, of which every tenth stays.
  static void fill(Connection& connection, int rows = 5000) {
    must(
        connection.execute("CREATE TABLE kept (id INTEGER PRIMARY KEY, text TEXT); CREATE INDEX by_text ON kept (text);"
                           "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < " +
                           std::to_string(rows) +
                           ") INSERT INTO kept SELECT i, i || hex(zeroblob(500)) FROM n;"
                           "DELETE FROM kept WHERE id % 10 > 0"));
  }
  static int64_t number(Connection& connection, const std::string& sql) {
    auto row = must(connection.prepare(sql));
    EXPECT_TRUE(must(row.next())) << sql;
    return row.integer(0);
  }
  static std::string text(Connection& connection, const std::string& sql) {
    auto row = must(connection.prepare(sql));
    EXPECT_TRUE(must(row.next())) << sql;
    return std::string{row.text(0)};
  }
  static void release(Connection& connection, int64_t keep, std::chrono::microseconds turn) {
    auto transaction = must(Transaction::begin(connection));
    must(release_pages(connection, keep, turn));
    must(transaction.commit());
  }
  static void expect_whole(Connection& connection, int64_t rows = 500) {
    EXPECT_EQ(text(connection, "PRAGMA integrity_check"), "ok");
    EXPECT_EQ(number(connection, "SELECT count(*) FROM kept WHERE text = id || hex(zeroblob(500))"), rows);
  }

  TestDirectory directory_{"space"};
  const std::string path_ = directory_.file("file.db");
};

TEST_F(FreeSpaceTest, AFileBecomesSmallerInSteps) {
  auto connection = open();
  fill(*connection);
  const FileSpace full = must(space_of(*connection));
  EXPECT_TRUE(full.shrinks);
  EXPECT_TRUE(has_surplus(full));
  const int64_t keep = pages_to_keep(full);
  int steps = 0;
  for (FileSpace before = full; before.free > keep; ++steps) {
    release(*connection, keep, kShortest);
    const FileSpace after = must(space_of(*connection));
    ASSERT_LT(after.pages, before.pages);
    ASSERT_GE(after.pages, before.pages - 16) << "a step is short";
    before = after;
  }
  EXPECT_GT(steps, 10);
  const FileSpace left = must(space_of(*connection));
  const int64_t used = full.pages - full.free;
  EXPECT_LE(left.pages - left.free, used);
  EXPECT_GE(left.pages - left.free, used - full.pages / 500) << "all but pages that refer to the others";
  EXPECT_FALSE(has_surplus(left));
  while (!move_wal(*connection)) std::this_thread::yield();  // the mover's thread may be at it
  EXPECT_EQ(static_cast<int64_t>(std::filesystem::file_size(path_)), left.bytes());
  expect_whole(*connection);
}

TEST_F(FreeSpaceTest, WhatWasMadeWithoutItStaysAsItIs) {
  auto connection = open("");
  fill(*connection);
  const FileSpace before = must(space_of(*connection));
  EXPECT_FALSE(before.shrinks);
  EXPECT_TRUE(has_surplus(before));
  release(*connection, 0, kShortest);
  EXPECT_EQ(must(space_of(*connection)), before);
  expect_whole(*connection);
}

TEST_F(FreeSpaceTest, AReaderSeesWhatItSawUntilItIsThrough) {
  auto connection = open();
  fill(*connection);
  auto reader = open("");
  {
    const auto view = must(Transaction::begin_reading(*reader));
    EXPECT_EQ(number(*reader, "SELECT count(*) FROM kept"), 500);
    release(*connection, 0, kLongTime);
    must(connection->execute("DELETE FROM kept WHERE id % 20 > 0"));
    EXPECT_FALSE(move_wal(*connection)) << "the reader needs a part of the file";
    EXPECT_EQ(number(*reader, "SELECT count(*) FROM kept WHERE text = id || hex(zeroblob(500))"), 500);
  }
  expect_whole(*reader, 250);
}

TEST_F(FreeSpaceTest, KilledInTheMiddleTheFileIsWhole) {
  {
    auto connection = open();
    fill(*connection);
  }
  for (int round = 0; round < 12; ++round) {
    int begun[2];
    ASSERT_EQ(::pipe(begun), 0);
    const pid_t child = ::fork();
    if (child == 0) {
      auto connection = open("");
      for (int step = 0;; ++step) {
        auto transaction = Transaction::begin(*connection);
        if (!transaction || !release_pages(*connection, 0, std::chrono::microseconds{300})) ::_exit(1);
        if (step == 0 && ::write(begun[1], "b", 1) != 1) ::_exit(2);  // in the middle of the first one
        if (!transaction.value().commit()) ::_exit(3);
        static_cast<void>(move_wal(*connection));
      }
    }
    char byte = 0;
    ASSERT_EQ(::read(begun[0], &byte, 1), 1);
    std::this_thread::sleep_for(std::chrono::microseconds{137 * round});
    ::kill(child, SIGKILL);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFSIGNALED(status)) << status;
    ::close(begun[0]);
    ::close(begun[1]);
    expect_whole(*open(""));
  }
  auto connection = open("");
  release(*connection, 0, kLongTime);
  EXPECT_EQ(must(space_of(*connection)).free, 0);
  expect_whole(*connection);
}

}  // namespace
}  // namespace shiplog::sqlite
