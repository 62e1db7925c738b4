#include "events/sqlite/uncommitted_frames.h"

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "events/sqlite/connection.h"
#include "tests/support/test_directory.h"

namespace shiplog {
namespace {

class UncommittedFrames : public testing::Test {
 protected:
  std::unique_ptr<sqlite::Connection> open() {
    return std::move(sqlite::Connection::open(path_, {.create = true, .pragmas = "PRAGMA journal_mode=WAL"})).value();
  }
  bool cut(sqlite::Connection& connection) {
    const auto transaction = sqlite::Transaction::begin(connection);
    return transaction.has_value() && connection.drop_failed_commit();
  }
  int64_t rows(sqlite::Connection& connection) {
    auto statement = std::move(connection.prepare("SELECT count(*) FROM t")).value();
    EXPECT_TRUE(statement.next().value());
    return statement.integer(0);
  }
  uintmax_t wal_bytes() const { return std::filesystem::file_size(path_ + "-wal"); }

  TestDirectory directory_{"frames"};
  const std::string path_ = directory_.file("file.db");
  std::unique_ptr<sqlite::Connection> connection_ = open();
};

TEST_F(UncommittedFrames, WhatFollowsTheLastCommitIsCutOff) {
  ASSERT_TRUE(connection_->execute("CREATE TABLE t(a); INSERT INTO t VALUES(1)").has_value());
  const auto committed = wal_bytes();
  std::ofstream{path_ + "-wal", std::ios::binary | std::ios::app} << std::string(10'000, 'x');
  EXPECT_TRUE(cut(*connection_));
  EXPECT_EQ(wal_bytes(), committed);
  EXPECT_TRUE(cut(*connection_));
  EXPECT_EQ(wal_bytes(), committed) << "there was nothing to cut";
  ASSERT_TRUE(connection_->execute("INSERT INTO t VALUES(2)").has_value());
  EXPECT_EQ(rows(*connection_), 2);
  EXPECT_EQ(rows(*open()), 2);
}

TEST_F(UncommittedFrames, ACommitOfAnotherConnectionStays) {
  ASSERT_TRUE(connection_->execute("CREATE TABLE t(a); INSERT INTO t VALUES(1)").has_value());
  const auto other = open();
  ASSERT_TRUE(other->execute("INSERT INTO t VALUES(2)").has_value());
  const auto committed = wal_bytes();
  EXPECT_TRUE(cut(*connection_));
  EXPECT_EQ(wal_bytes(), committed);
  EXPECT_EQ(rows(*other), 2);
}

// Its frames are in the file itself by then, and the next commit would begin at the first.
TEST_F(UncommittedFrames, OfALogThatStartsOverNothingIsKept) {
  ASSERT_TRUE(connection_
                  ->execute("CREATE TABLE t(a); INSERT INTO t VALUES(1); "
                            "PRAGMA wal_checkpoint(RESTART)")
                  .has_value());
  ASSERT_GT(wal_bytes(), 0U);
  EXPECT_TRUE(cut(*connection_));
  EXPECT_EQ(rows(*connection_), 1);
  ASSERT_TRUE(connection_->execute("INSERT INTO t VALUES(2)").has_value());
  EXPECT_EQ(rows(*open()), 2);
}

TEST_F(UncommittedFrames, AFileWithoutALogIsLeftAlone) {
  ASSERT_TRUE(connection_->execute("PRAGMA journal_mode=DELETE; CREATE TABLE t(a)").has_value());
  EXPECT_FALSE(cut(*connection_));
  EXPECT_EQ(rows(*connection_), 0);
}

}  // namespace
}  // namespace shiplog
