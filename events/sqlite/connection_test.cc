#include "events/sqlite/connection.h"

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/must.h"
#include "tests/support/test_directory.h"

namespace shiplog::sqlite {
namespace {

Result<std::unique_ptr<Connection>> open_writer(const std::string& path) {
  return Connection::open(
      path, {.kind = "test", .create = true, .pragmas = "PRAGMA journal_mode = WAL", .move_wal_frames = 100});
}

int64_t count(Connection& connection) {
  auto row = must(connection.prepare("SELECT count(*) FROM t"));
  EXPECT_TRUE(must(row.next()));
  return row.integer(0);
}

class ConnectionTest : public testing::Test {
 protected:
  ConnectionTest() : connection{must(open_writer(folder.file("c.db")))} {
    must(connection->execute("CREATE TABLE t (id INTEGER PRIMARY KEY, text TEXT, bytes BLOB)"));
  }
  TestDirectory folder;
  std::unique_ptr<Connection> connection;
};

TEST_F(ConnectionTest, BindsAndReadsEveryType) {
  const std::string bytes{"a\0b", 3};
  auto insert = must(connection->prepare("INSERT INTO t VALUES (?, ?, ?)"));
  insert.bind(1, int64_t{-5});
  insert.bind(2, std::string_view{});
  insert.bind_blob(3, bytes);
  must(insert.run());
  insert.bind(1, int64_t{7});
  insert.bind_null(2);
  insert.bind_blob(3, {});
  must(insert.run());
  auto row = must(connection->prepare("SELECT * FROM t ORDER BY id"));
  ASSERT_TRUE(must(row.next()));
  EXPECT_EQ(row.integer(0), -5);
  EXPECT_FALSE(row.is_null(1)) << "empty is not NULL";
  EXPECT_EQ(row.text(1), "");
  EXPECT_EQ(row.blob(2), bytes);
  ASSERT_TRUE(must(row.next()));
  EXPECT_TRUE(row.is_null(1));
  EXPECT_EQ(row.text(1), "");
  EXPECT_FALSE(must(row.next()));
}

TEST_F(ConnectionTest, SameStatementMayBeUsedTwiceAtOnce) {
  must(connection->execute("INSERT INTO t (id) VALUES (1), (2)"));
  auto outer = must(connection->prepare("SELECT id FROM t ORDER BY id"));
  int64_t sum = 0;
  while (must(outer.next())) {
    auto inner = must(connection->prepare("SELECT id FROM t ORDER BY id"));
    while (must(inner.next())) sum += outer.integer(0) * inner.integer(0);
  }
  EXPECT_EQ(sum, 9);
}

TEST_F(ConnectionTest, TransactionThatIsNotCommittedLeavesNothing) {
  {
    auto transaction = must(Transaction::begin(*connection));
    must(connection->execute("INSERT INTO t (id) VALUES (1)"));
  }
  EXPECT_EQ(count(*connection), 0);
  {
    auto transaction = must(Transaction::begin(*connection));
    must(connection->execute("INSERT INTO t (id) VALUES (1)"));
    must(transaction.commit());
  }
  EXPECT_EQ(count(*connection), 1);
}

TEST_F(ConnectionTest, ErrorsNameTheFileAndTheCause) {
  const auto wrong = connection->prepare("SELECT absent FROM t");
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().code, ErrorCode::kInternal);
  EXPECT_NE(wrong.error().message.find("c.db: no such column: absent"), std::string::npos) << wrong.error().message;
  must(connection->execute("INSERT INTO t (id) VALUES (1)"));
  auto insert = must(connection->prepare("INSERT INTO t (id) VALUES (?)"));
  EXPECT_FALSE(insert.run(int64_t{1}));
  must(insert.run(int64_t{2}));
}

TEST_F(ConnectionTest, RejectedStatementMeansDamageWhereStatementsAreFixed) {
  auto other = must(Connection::open(connection->path(), {.kind = "journal", .fixed_statements = true}));
  const auto wrong = other->prepare("SELECT absent FROM t");
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().code, ErrorCode::kCorrupt);
  EXPECT_NE(wrong.error().message.find("its tables are not those of a journal"), std::string::npos);
}

TEST_F(ConnectionTest, LockOfAnotherConnectionIsWaitedForAndThenAnError) {
  auto other = must(Connection::open(connection->path(), {.busy_timeout = Millis{30}}));
  int calls = 0;
  other->on_busy([&](std::chrono::milliseconds) { ++calls; });
  auto transaction = must(Transaction::begin(*connection));
  const auto locked = Transaction::begin(*other);
  ASSERT_FALSE(locked);
  EXPECT_EQ(locked.error().code, ErrorCode::kUnavailable);
  EXPECT_GT(calls, 0);
  transaction.roll_back();
  must(must(Transaction::begin(*other)).commit());
}

TEST_F(ConnectionTest, ReadTransactionSeesOneMoment) {
  auto reader = must(Connection::open(connection->path(), {}));
  {
    const auto reading = must(Transaction::begin_reading(*reader));
    EXPECT_EQ(count(*reader), 0);
    must(connection->execute("INSERT INTO t (id) VALUES (1)"));
    EXPECT_EQ(count(*reader), 0);
  }
  EXPECT_EQ(count(*reader), 1);
}

TEST_F(ConnectionTest, WalStaysShortUnderConstantReads) {
  constexpr int64_t kLong = 1 << 20;
  constexpr int kRows = 150;
  // Two who read in turns, each until the other has begun: there is never a moment without a reader.
  std::atomic<int> begun[2] = {0, 0};
  std::atomic<bool> writing{true};
  std::vector<std::thread> readers;
  for (int self = 0; self < 2; ++self) {
    readers.emplace_back([&, self] {
      auto reader = must(Connection::open(connection->path(), {}));
      while (writing) {
        const int other = begun[1 - self];
        must(reader->execute("BEGIN"));
        count(*reader);
        ++begun[self];
        while (writing && begun[1 - self] == other) std::this_thread::yield();
        must(reader->execute("COMMIT"));
      }
    });
  }
  while (begun[0] == 0 || begun[1] == 0) std::this_thread::yield();
  const std::string bytes(100'000, 'x');
  auto insert = must(connection->prepare("INSERT INTO t (bytes) VALUES (?)"));
  insert.bind_blob(1, bytes);
  uintmax_t longest = 0;
  for (int i = 0; i < kRows; ++i) {
    must(insert.run());
    longest = std::max(longest, std::filesystem::file_size(connection->path() + "-wal"));
    connection->tend_wal(kLong);
  }
  writing = false;
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(count(*connection), kRows);
  EXPECT_LT(longest, kRows * bytes.size() / 2);
}

}  // namespace
}  // namespace shiplog::sqlite
