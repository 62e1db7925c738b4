#include "events/sqlite/memory.h"

#include <thread>

#include <gtest/gtest.h>
#include <sqlite3.h>

namespace shiplog::sqlite {
namespace {

constexpr int64_t kMuch = int64_t{8} << 20U;

TEST(SqliteMemory, IsCountedForTheThreadThatTakesIt) {
  const int64_t before = memory_of_this_thread();
  void* mine = sqlite3_malloc64(kMuch);
  EXPECT_GE(memory_of_this_thread() - before, kMuch);
  mine = sqlite3_realloc64(mine, 3 * kMuch);
  EXPECT_GE(memory_of_this_thread() - before, 3 * kMuch);
  const int64_t with_mine = memory_of_this_thread();
  std::thread{[] {
    const int64_t at_first = memory_of_this_thread();
    void* theirs = sqlite3_malloc64(kMuch);
    EXPECT_GE(memory_of_this_thread() - at_first, kMuch);
    sqlite3_free(theirs);
    EXPECT_EQ(memory_of_this_thread(), at_first);
  }}.join();
  EXPECT_EQ(memory_of_this_thread(), with_mine);
  sqlite3_free(mine);
  EXPECT_EQ(memory_of_this_thread(), before);
}

TEST(SqliteMemory, OfAStatementIsCounted) {
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open(":memory:", &database), SQLITE_OK);
  const int64_t before = memory_of_this_thread();
  sqlite3_stmt* statement = nullptr;
  ASSERT_EQ(sqlite3_prepare_v2(database, "SELECT zeroblob(8388608) || ''", -1, &statement, nullptr), SQLITE_OK);
  ASSERT_EQ(sqlite3_step(statement), SQLITE_ROW);
  EXPECT_GE(memory_of_this_thread() - before, kMuch);
  sqlite3_finalize(statement);
  EXPECT_LT(memory_of_this_thread() - before, kMuch);
  sqlite3_close(database);
}

}  // namespace
}  // namespace shiplog::sqlite
