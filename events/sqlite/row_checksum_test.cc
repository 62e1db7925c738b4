#include "events/sqlite/row_checksum.h"

#include <gtest/gtest.h>

#include "events/sqlite/connection.h"
#include "tests/support/must.h"
#include "tests/support/test_directory.h"

namespace shiplog::sqlite {
namespace {

class RowChecksumTest : public ::testing::Test {
 protected:
  int64_t integer(const std::string& expression) {
    auto row = must(connection_->prepare("SELECT " + expression));
    EXPECT_TRUE(must(row.next()));
    return row.integer(0);
  }

  TestDirectory folder_{"row_checksum"};
  std::unique_ptr<Connection> connection_ =
      must(Connection::open(folder_.file("c.db"), {.kind = "test", .when_damaged = "throw it away", .create = true}));
};

TEST_F(RowChecksumTest, SqlAndCppAgree) {
  RowChecksum sum;
  sum.add(int64_t{-7});
  sum.add(std::string_view{"text"});
  sum.add_blob("bytes");
  sum.add_null();
  EXPECT_EQ(integer("checksum(-7, 'text', CAST('bytes' AS BLOB), NULL)"), sum.value());
}

TEST_F(RowChecksumTest, TypesLengthsAndOrderMakeADifference) {
  for (const char* other : {"'ab', 'd'", "'abc', ''", "'a', 'bc'", "'c', 'ab'", "CAST('ab' AS BLOB), 'c'", "'ab', NULL",
                            "'ab'", "'ab', 'c', NULL"}) {
    EXPECT_NE(integer("checksum('ab', 'c')"), integer("checksum(" + std::string{other} + ")")) << other;
  }
  EXPECT_NE(integer("checksum(1)"), integer("checksum('1')"));
  EXPECT_NE(integer("checksum(1)"), integer("checksum(1.0)"));
}

TEST_F(RowChecksumTest, ADamagedRowFailsTheStatementWithTableRowAndRemedy) {
  must(
      connection_->execute("CREATE TABLE t (id INTEGER PRIMARY KEY, text TEXT, crc INTEGER);"
                           "INSERT INTO t VALUES (41, 'a', checksum(41, 'a')), (42, 'b', checksum(42, 'c'))"));
  auto row = must(connection_->prepare("SELECT id FROM t WHERE intact('t', crc, id, text) AND +text = 'b'"));
  const auto found = row.next();
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, ErrorCode::kCorrupt);
  const std::string& message = found.error().message;
  EXPECT_NE(message.find("the row 42 of the table \"t\" does not match its checksum"), std::string::npos) << message;
  EXPECT_NE(message.find("throw it away"), std::string::npos) << message;
  EXPECT_EQ(integer("count(*) FROM t WHERE id = 41 AND intact('t', crc, id, text)"), 1) << "others can be read";
}

template <class T>
concept Binds = requires(Statement& statement, T&& value) {
  statement.bind(1, std::forward<T>(value));
};
static_assert(Binds<const std::string&> && Binds<std::string&> && Binds<std::string_view> && Binds<const char*>);
static_assert(!Binds<std::string> && !Binds<const std::string>, "what is bound is not copied");

}  // namespace
}  // namespace shiplog::sqlite
