// What hostile statements get: an error in time, and never a table.
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <sqlite3.h>

#include "tests/support/sql_fleet.h"

namespace shiplog {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

struct HostileStatement {
  const char* statement;
  const char* error;  ///< is part of the message
};

class Attacks : public ::testing::TestWithParam<HostileStatement> {};

TEST_P(Attacks, AreRefused) {
  const SqlFleet sql;
  const auto answer = sql.run(GetParam().statement);
  ASSERT_FALSE(answer) << GetParam().statement << " answered " << answer.value().rows;
  EXPECT_EQ(answer.error().code, ErrorCode::kBadRequest) << answer.error().message;
  EXPECT_NE(answer.error().message.find(GetParam().error), std::string::npos) << answer.error().message;
}

constexpr const char* kNoView = "is not a view";
constexpr const char* kNoFunction = "is not available";
constexpr const char* kOnlySelect = "only SELECT is permitted";

const HostileStatement kAttacks[] = {
    // Tables, in all ways to name one.
    {"SELECT * FROM entry", kNoView},
    {"SELECT count(*) FROM entry", kNoView},
    {"SELECT 1 FROM version", kNoView},
    {"SELECT * FROM main.entry", kNoView},
    {"SELECT * FROM \"main\".[ENTRY]", kNoView},
    {"SELECT * FROM entries e JOIN actor a", kNoView},
    {"SELECT (SELECT user FROM actor)", kNoView},
    {"SELECT 1 WHERE EXISTS (SELECT * FROM object)", kNoView},
    {"SELECT * FROM entries WHERE user IN (SELECT user FROM actor)", kNoView},
    {"SELECT * FROM entries WHERE user IN actor", kNoView},
    {"SELECT offset FROM entries UNION ALL SELECT offset FROM entry", kNoView},
    {"SELECT * FROM (SELECT json FROM version)", kNoView},
    {"SELECT * FROM entries NATURAL JOIN decision", kNoView},
    {"SELECT * FROM checkpoint", kNoView},
    {"SELECT offset FROM subject", kNoView},
    {"VALUES ((SELECT json FROM version LIMIT 1))", kNoView},
    {"SELECT sum((SELECT count(json) FROM version)) OVER () FROM entries", kNoView},
    {"SELECT * FROM entries ORDER BY (SELECT max(json) FROM version)", kNoView},
    {"SELECT user FROM entries GROUP BY (SELECT groups FROM actor)", kNoView},
    {"SELECT 1 LIMIT (SELECT count(crc) FROM entry)", kNoView},
    {"SELECT json_extract((SELECT leases FROM checkpoint), '$')", kNoView},
    {"SELECT * FROM json_each((SELECT events FROM entry))", kNoView},
    // A name of a view proves nothing: with these, the authorizer sees a view that reads.
    {"WITH entries AS (SELECT * FROM entry) SELECT * FROM entries", kNoView},
    {"WITH changes AS MATERIALIZED (SELECT json FROM version) SELECT * FROM changes", kNoView},
    {"WITH RECURSIVE objects(j) AS (SELECT json FROM version UNION SELECT j FROM objects) SELECT * FROM objects",
     kNoView},
    {"WITH json_each AS (SELECT json FROM version) SELECT * FROM json_each", kNoView},
    {"WITH entries_ AS (SELECT * FROM entry) SELECT * FROM entries_", kNoView},
    {"SELECT * FROM (SELECT * FROM entry) AS entries", kNoView},
    {"WITH temp AS (SELECT crc FROM actor) SELECT * FROM temp", kNoView},
    // The schema, and the names behind the views.
    {"SELECT * FROM sqlite_master", kNoView},
    {"SELECT * FROM sqlite_schema", kNoView},
    {"SELECT sql FROM sqlite_temp_master", kNoView},
    {"SELECT sql FROM temp.sqlite_schema", kNoView},
    {"SELECT * FROM pragma_table_list", ""},
    {"SELECT * FROM pragma_table_info('entry')", ""},
    {"SELECT * FROM pragma_database_list", ""},
    {"SELECT * FROM pragma_function_list", ""},
    {"SELECT count(*) FROM pragma_table_list", ""},
    {"SELECT * FROM dbstat", ""},
    {"SELECT * FROM sqlite_stmt", ""},
    {"SELECT * FROM sqlite_dbpage", ""},
    {"SELECT * FROM sqlite_sequence", ""},
    {"EXPLAIN SELECT * FROM entries", kOnlySelect},
    {"EXPLAIN QUERY PLAN SELECT * FROM entries", kOnlySelect},
    // What writes, or reaches beyond the file.
    {"INSERT INTO entries VALUES (1)", ""},
    {"INSERT INTO entry SELECT * FROM entry", ""},
    {"UPDATE entry SET reason = 'x'", ""},
    {"DELETE FROM version", ""},
    {"DROP TABLE entry", ""},
    {"DROP VIEW entries", kOnlySelect},
    {"CREATE TABLE t (x)", kOnlySelect},
    {"CREATE TEMP TABLE t AS SELECT * FROM entries", kOnlySelect},
    {"CREATE TEMP VIEW v AS SELECT * FROM entry", kOnlySelect},
    {"CREATE TEMP TRIGGER t INSTEAD OF INSERT ON entries BEGIN SELECT 1; END", kOnlySelect},
    {"CREATE VIRTUAL TABLE temp.t USING fts5(x)", kOnlySelect},
    {"ALTER TABLE entry RENAME TO e", ""},
    {"REPLACE INTO retention VALUES (1, 1)", ""},
    {"WITH x AS (SELECT 1) DELETE FROM entry", ""},
    {"INSERT INTO entry DEFAULT VALUES RETURNING *", ""},
    {"ATTACH DATABASE '/tmp/x.db' AS x", ""},
    {"ATTACH ':memory:' AS m", ""},
    {"DETACH DATABASE main", ""},
    {"VACUUM INTO '/tmp/copy.db'", ""},
    {"VACUUM", ""},
    {"REINDEX", ""},
    {"ANALYZE", ""},
    {"BEGIN", kOnlySelect},
    {"COMMIT", kOnlySelect},
    {"ROLLBACK", kOnlySelect},
    {"SAVEPOINT s", kOnlySelect},
    {"PRAGMA query_only = OFF", kOnlySelect},
    {"PRAGMA writable_schema = ON", kOnlySelect},
    {"PRAGMA temp_store_directory = '/tmp'", kOnlySelect},
    {"PRAGMA wal_checkpoint(TRUNCATE)", kOnlySelect},
    {"PRAGMA journal_mode = DELETE", kOnlySelect},
    // Functions.
    {"SELECT load_extension('/tmp/x.so')", kNoFunction},
    {"SELECT readfile('/etc/passwd')", "no such function"},
    {"SELECT writefile('/tmp/x', 'y')", "no such function"},
    {"SELECT edit('x')", "no such function"},
    {"SELECT fts3_tokenizer('simple')", kNoFunction},
    {"SELECT sqlite_compileoption_get(1)", kNoFunction},
    {"SELECT sqlite_source_id()", kNoFunction},
    {"SELECT randomblob(1000000000)", kNoFunction},
    {"SELECT zeroblob(1000000000)", kNoFunction},
    {"SELECT checksum('x')", kNoFunction},
    {"SELECT unpacked(x'01')", kNoFunction},
    {"SELECT intact('entry', 1, 2)", kNoFunction},
    {"SELECT without_secrets('', '{}')", kNoFunction},
    {"SELECT last_insert_rowid()", kNoFunction},
    {"WITH entries AS (SELECT load_extension('x')) SELECT * FROM entries", kNoFunction},
    // More than one statement, or none.
    {"SELECT 1; SELECT 2", "only one statement"},
    {"SELECT 1; DROP TABLE entry", "only one statement"},
    {"SELECT 1; garbage", "only one statement"},
    {"", "there is no statement"},
    {";", "there is no statement"},
    {"-- nothing", "there is no statement"},
    // Too much of something.
    {"SELECT printf('%.*c', 2147483647, 'x')", kNoFunction},
    {"SELECT format('%2147483647d', 1)", kNoFunction},
    {"WITH RECURSIVE n(t) AS (SELECT 'aaaaaaaaaa' UNION ALL SELECT replace(t, 'a', 'aaaaaaaaaa') FROM n) SELECT "
     "length(t) FROM n",
     "longer than 32 MiB"},
    {"WITH RECURSIVE n(t) AS (SELECT '0123456789' UNION ALL SELECT hex(t) FROM n) SELECT length(t) FROM n",
     "longer than 32 MiB"},
    {"SELECT ((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((("
     "(1+1)+1)+1)+1)+1)+1)+1)+1)+1)+1)+1)+1)+1)+1)+1)+1)+1)+1)+1)+1)+1)+1)+1)+1)+1)+1)+1)+1)+1)+1)+1)+1)+1)+1)+1)"
     "+1)+1)+1)+1)+1)+1)+1)+1)+1)+1)+1)+1)+1)+1)+1)+1)+1)+1)+1)+1)+1)+1)+1)+1)+1)+1)+1)+1)+1)+1)+1)+1)+1)+1)+1)+1)"
     "+1)+1)+1)+1)+1)+1)+1)+1)+1)+1)+1)+1)+1)+1)+1)+1)+1)+1)+1)+1)+1)+1)+1)+1)+1)+1)+1)+1)+1)+1)+1)+1)+1)",
     ""},
    {"SELECT 'x' LIKE replace('%%%%%%%%%%%%%%%%%%%%', '%', '%%%%%%%%%%')", "pattern too complex"},
    {"SELECT ?", "parameters have names"},
    {"SELECT :unknown", "has no value"}};

INSTANTIATE_TEST_SUITE_P(Table, Attacks, ::testing::ValuesIn(kAttacks));

SqlRequest within(const SqlFleet& sql, const std::string& statement, milliseconds time) {
  SqlRequest request = sql.request(statement);
  request.deadline = steady_clock::now() + time;
  return request;
}

/// An expression for 10 to the power of `zeros` times the letter a.
std::string many(int zeros) {
  std::string text = "'a'";
  for (int power = 0; power < zeros; ++power) text = "replace(" + text + ", 'a', 'aaaaaaaaaa')";
  return text;
}

// A machine under load gets its time; what matters is that they end at all.
constexpr std::chrono::seconds kSoon{15};

TEST(EndlessStatements, EndAtTheirDeadline) {
  const SqlFleet sql;
  const std::string digits = "(SELECT value AS d FROM json_each('[0,1,2,3,4,5,6,7,8,9]'))";
  for (const std::string& statement :
       {std::string{"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"},
        std::string{"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT 1 FROM n) SELECT i FROM n WHERE i = 2"},
        "SELECT count(*) FROM " + digits + "," + digits + "," + digits + "," + digits + "," + digits + "," + digits +
            "," + digits + "," + digits + "," + digits + "," + digits,
        std::string{"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "
                    "SELECT * FROM entries WHERE offset = (SELECT max(i) FROM n)"}}) {
    const auto start = steady_clock::now();
    const auto answer = run_sql(sql.fleet.path(), within(sql, statement, milliseconds{300}));
    ASSERT_FALSE(answer) << statement;
    EXPECT_EQ(answer.error().code, ErrorCode::kTimeout) << statement << ": " << answer.error().message;
    EXPECT_LT(steady_clock::now() - start, kSoon) << statement;
  }
}

TEST(EndlessStatements, EndWhenTheyTakeTooMuchMemory) {
  const SqlFleet sql;
  for (const std::string& statement :
       {"WITH RECURSIVE n(i, t) AS (SELECT 1, " + many(5) +
            " UNION ALL SELECT i + 1, t FROM n) SELECT i, t FROM n ORDER BY t || i",
        std::string{"WITH RECURSIVE n(i) AS (SELECT 1 UNION SELECT i + 1 FROM n) SELECT count(*) FROM n"},
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(DISTINCT hex(" + many(5) +
            ") || i) FROM n"}) {
    SqlRequest request = within(sql, statement, milliseconds{60'000});
    request.memory_bytes = int64_t{32} << 20U;
    const auto answer = run_sql(sql.fleet.path(), request);
    ASSERT_FALSE(answer) << statement;
    EXPECT_EQ(answer.error().code, ErrorCode::kTooLarge) << statement << ": " << answer.error().message;
  }
}

TEST(EndlessStatements, AnotherThreadsMemoryIsNotCounted) {
  const SqlFleet sql;
  SqlRequest request = within(
      sql, "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200000) SELECT count(*) FROM n",
      milliseconds{60'000});
  request.memory_bytes = int64_t{32} << 20U;
  void* taken = nullptr;  // by the projector, say, while the statement runs
  request.cancelled = [&taken] {
    if (taken == nullptr) std::thread{[&taken] { taken = sqlite3_malloc64(uint64_t{64} << 20U); }}.join();
    return false;
  };
  const auto answer = run_sql(sql.fleet.path(), request);
  EXPECT_NE(taken, nullptr) << "the statement ended too soon";
  EXPECT_TRUE(answer) << answer.error().message;
  sqlite3_free(taken);
}

TEST(EndlessStatements, EndWhenTheyAreCancelled) {
  const SqlFleet sql;
  SqlRequest request =
      within(sql, "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n",
             milliseconds{60'000});
  int asked = 0;
  request.cancelled = [&asked] { return ++asked > 100; };
  const auto answer = run_sql(sql.fleet.path(), request);
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, ErrorCode::kUnavailable) << answer.error().message;
}

TEST(EndlessStatements, ExpressionsThatMultiplyAreRefused) {
  const SqlFleet sql;
  std::string statement = "WITH x0 AS (SELECT 1 AS a)";
  for (int level = 1; level <= 40; ++level) {
    const std::string before = "x" + std::to_string(level - 1);
    statement += ", x" + std::to_string(level) + " AS (SELECT p.a FROM " + before + " p, " + before + " q)";
  }
  const auto start = steady_clock::now();
  const auto answer = sql.run(statement + " SELECT count(*) FROM x40");
  ASSERT_FALSE(answer);
  EXPECT_NE(answer.error().message.find("use each other too often"), std::string::npos) << answer.error().message;
  EXPECT_LT(steady_clock::now() - start, kSoon);
}

TEST(EndlessStatements, ThoseOfTooManyPartsAreRefused) {
  const SqlFleet sql;
  std::string list;
  while (list.size() < 59'000) list += "(SELECT 1 FROM evictions),";
  const auto start = steady_clock::now();
  const auto answer = sql.run("SELECT 1 WHERE 1 IN (" + list + "1)");
  ASSERT_FALSE(answer);
  EXPECT_NE(answer.error().message.find("too complex"), std::string::npos) << answer.error().message;
  EXPECT_LT(steady_clock::now() - start, kSoon);
}

// Two long texts that nearly match: SQLite's own functions take hours for them, in one step.
TEST(EndlessStatements, SearchesOfLongTextsAreLinear) {
  const SqlFleet sql;
  const std::string text = many(7);
  const std::string part = many(6) + " || 'b'";
  const auto start = steady_clock::now();
  EXPECT_EQ(to_json(sql.rows("SELECT instr(" + text + ", " + part + ")")), "[[0]]");
  EXPECT_EQ(to_json(sql.rows("SELECT length(replace(" + text + ", " + part + ", ''))")), "[[10000000]]");
  const std::string like = "'%" + std::string(95, 'a') + "b'";
  EXPECT_EQ(to_json(sql.rows("SELECT " + text + " LIKE " + like)), "[[0]]");
  EXPECT_EQ(to_json(sql.rows("SELECT " + text + " LIKE '%a%a%a%a%a%a%a%a%a%a%a%a%a%a%a%a%a%a%a%a%a%a%a%a%a%b'")),
            "[[0]]");
  EXPECT_LT(steady_clock::now() - start, kSoon);
}

}  // namespace
}  // namespace shiplog
