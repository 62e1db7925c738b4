// A file whose free pages are given back on a disk that is full.
#include <filesystem>

#include <gtest/gtest.h>

#include "events/sqlite/connection.h"
#include "events/sqlite/free_space.h"
#include "tests/crash/small_disk.h"
#include "tests/support/must.h"
#include "tests/support/test_directory.h"

namespace shiplog::crash {
namespace {

Result<void> release_all(sqlite::Connection& connection) {
  SHIPLOG_TRY(auto transaction, sqlite::Transaction::begin(connection));
  SHIPLOG_TRY(sqlite::release_pages(connection, 0, std::chrono::seconds{60}));
  return transaction.commit();
}

int64_t whole_rows(sqlite::Connection& connection) {
  auto check = must(connection.prepare("PRAGMA integrity_check"));
  EXPECT_TRUE(must(check.next()));
  EXPECT_EQ(check.text(0), "ok");
  auto row = must(connection.prepare("SELECT count(*) FROM kept WHERE text = id || hex(zeroblob(500))"));
  EXPECT_TRUE(must(row.next()));
  return row.integer(0);
}

TEST(ReleaseOnAFullDisk, ChangesNothingAndSucceedsWhenThereIsRoom) {
  const TestDirectory directory{"release"};
  SmallDisk disk{{directory.file("disk")}, 64};
  const std::string path = directory.file("disk/file.db");
  auto connection = must(sqlite::Connection::open(
      path, {.create = true, .pragmas = "PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL;"}));
  must(connection->execute(
      "CREATE TABLE kept (id INTEGER PRIMARY KEY, text TEXT);"
      "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000) INSERT INTO kept SELECT i, "
      "i || hex(zeroblob(500)) FROM n; DELETE FROM kept WHERE id % 10 > 0; PRAGMA wal_checkpoint(TRUNCATE)"));
  const sqlite::FileSpace before = must(sqlite::space_of(*connection));
  EXPECT_TRUE(sqlite::has_surplus(before));
  disk.fill(0);
  const auto refused = release_all(*connection);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kIo);
  EXPECT_NE(refused.error().message.find("the disk is full"), std::string::npos) << refused.error().message;
  EXPECT_EQ(must(sqlite::space_of(*connection)), before);
  EXPECT_EQ(whole_rows(*connection), 500);
  disk.free_space();
  must(release_all(*connection));
  must(sqlite::move_wal(*connection));
  EXPECT_EQ(must(sqlite::space_of(*connection)).free, 0);
  EXPECT_LT(static_cast<int64_t>(std::filesystem::file_size(path)), before.bytes() / 2);
  EXPECT_EQ(whole_rows(*connection), 500);
  connection.reset();
}

}  // namespace
}  // namespace shiplog::crash
