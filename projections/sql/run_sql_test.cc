#include "projections/sql/run_sql.h"

#include <gtest/gtest.h>

#include "tests/support/sql_fleet.h"

namespace shiplog {
namespace {

std::string json_of(const SqlFleet& sql, const std::string& statement) { return to_json(sql.rows(statement)); }

TEST(RunSql, AnswersWithColumnsRowsAndTheRevision) {
  const SqlFleet sql;
  const auto answer =
      must(sql.run("SELECT user, count(*) AS n, NULL AS absent, 1.5 AS half FROM entries WHERE user IN "
                   "('bob', 'eve') GROUP BY user ORDER BY user;  -- done"));
  EXPECT_EQ(answer.columns, (std::vector<std::string>{"user", "n", "absent", "half"}));
  EXPECT_EQ(answer.rows, R"(["bob",2,null,1.5],["eve",1,null,1.5])");
  EXPECT_EQ(answer.count, 2u);
  EXPECT_STREQ(answer.truncated, "");
  EXPECT_EQ(answer.revision, sql.fleet.revision());
}

TEST(RunSql, BindsParametersByName) {
  const SqlFleet sql;
  SqlRequest request = sql.request("SELECT :text || :number, :real, :nothing IS NULL, :text");
  request.parameters = {{"text", "it's; DROP"}, {"number", int64_t{7}}, {"real", 0.5}, {"nothing", std::monostate{}}};
  EXPECT_EQ(to_json(sql.rows(request)), R"([["it's; DROP7",0.5,1,"it's; DROP"]])");
  request.parameters.emplace_back("other", int64_t{1});
  const auto unused = run_sql(sql.fleet.path(), request);
  ASSERT_FALSE(unused);
  EXPECT_NE(unused.error().message.find("has no parameter :other"), std::string::npos);
}

TEST(RunSql, StopsAtTheLimitsAndNamesThem) {
  const SqlFleet sql;
  SqlRequest request = sql.request("SELECT offset FROM entries ORDER BY offset");
  request.most_rows = 3;
  auto answer = must(run_sql(sql.fleet.path(), request));
  EXPECT_EQ(answer.rows, "[0],[3],[6]");
  EXPECT_STREQ(answer.truncated, "rows");
  request.most_rows = 8;  // exactly all
  answer = must(run_sql(sql.fleet.path(), request));
  EXPECT_EQ(answer.count, 8u);
  EXPECT_STREQ(answer.truncated, "");
  request.statement = "SELECT '" + std::string(600, 'x') + "' FROM entries";
  request.most_bytes = 1000;
  answer = must(run_sql(sql.fleet.path(), request));
  EXPECT_EQ(answer.count, 2u);
  EXPECT_STREQ(answer.truncated, "bytes");
}

TEST(RunSql, WritesEveryValueAsJson) {
  const SqlFleet sql;
  EXPECT_EQ(json_of(sql,
                    "SELECT 9223372036854775807, -9223372036854775807 - 1, 9e999, 1e300, x'00ff', "
                    "CAST(x'61ff62' AS TEXT), char(0x1F600), 'a\"b' || char(10), ''"),
            "[[9223372036854775807,-9223372036854775808,null,1e+300,\"00ff\",\"a\xEF\xBF\xBD"
            "b\",\"\xF0\x9F\x98\x80\",\"a\\\"b\\n\",\"\"]]");
}

TEST(RunSql, MomentsAreTimesOrHowLongAgo) {
  const SqlFleet sql;
  SqlRequest request = sql.request("SELECT utc(moment('90s')), utc(moment('2d')), utc(moment('2026-11-20T03:12:00Z'))");
  request.now = UtcMillis{1'763'608'320'000};
  EXPECT_EQ(to_json(sql.rows(request)),
            R"([["2025-11-20T03:10:30.000Z","2025-11-18T03:12:00.000Z","2026-11-20T03:12:00.000Z"]])");
  for (const char* text : {"", "yesterday", "d", "12"}) {
    const auto answer = sql.run("SELECT moment('" + std::string{text} + "')");
    ASSERT_FALSE(answer) << text;
    EXPECT_NE(answer.error().message.find("is neither a time like"), std::string::npos) << answer.error().message;
  }
  EXPECT_FALSE(sql.run("SELECT moment(NULL)"));
}

TEST(RunSql, FunctionsOfTextsAreThoseOfSqlite) {
  const SqlFleet sql;
  EXPECT_EQ(json_of(sql,
                    "SELECT instr('hällo', 'l'), instr('abc', ''), instr('', 'a'), instr(NULL, 'a'), instr('ab', 'c'), "
                    "instr(x'c3a462', x'62'), instr(123, 3)"),
            "[[3,1,0,null,0,3,3]]");
  EXPECT_EQ(json_of(sql,
                    "SELECT replace('aXbX', 'X', 'yy'), replace('ab', '', 'y'), replace(NULL, 'a', 'b'), "
                    "replace('aaa', 'aa', 'b'), replace('', 'a', 'b')"),
            R"([["ayybyy","ab",null,"ba",""]])");
}

// SQLite puts the value of "column = value" in the place of the column in other conditions, which would make each row
// with another value seem damaged.
TEST(RunSql, ConditionsOnEveryColumnFindRowsAndNoDamage) {
  const SqlFleet sql;
  for (const char* condition :
       {"user = 'alice'", "verb = 'update' AND service = 'api'", "time_ms = 1700000120000 AND offset > 0",
        "offset = 6 AND time_ms = 1700000060000", "revision = 3 AND as_of = 0", "refusal = 'already_exists'",
        "offset = 6 AND user = 'bob' AND verb = 'create' AND path = '/somewhere' AND cause_revision = 0"}) {
    EXPECT_TRUE(sql.run(std::string{"SELECT * FROM entries WHERE "} + condition)) << condition;
    EXPECT_TRUE(sql.run("SELECT x.offset FROM entries x JOIN events y ON y.offset = x.offset WHERE x." +
                        std::string{condition}.substr(0, std::string{condition}.find(" AND"))))
        << condition;
  }
  EXPECT_EQ(json_of(sql,
                    "SELECT count(*) FROM changes WHERE type = 'configmaps' AND namespace = 'default' AND name = 'a' "
                    "AND operation = 'updated' AND revision = 4 AND previous = 3"),
            "[[1]]");
}

TEST(RunSql, ADamagedRowIsAnErrorAndNeverLeftOut) {
  const SqlFleet sql;
  // Behind the checksum's back, as a bit that flips on the disk.
  const auto connection = must(store::open_writer(sql.fleet.path()));
  must(connection->execute("UPDATE entry SET reason = 'forged' WHERE offset = 12"));
  const auto answer = sql.run("SELECT reason FROM entries");
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, ErrorCode::kCorrupt);
  EXPECT_NE(answer.error().message.find("does not match its checksum"), std::string::npos) << answer.error().message;
  EXPECT_FALSE(sql.run("SELECT reason FROM entries WHERE user = 'nobody'"));
  EXPECT_TRUE(sql.run("SELECT reason FROM entries WHERE offset < 12"));
}

TEST(RunSql, AFileOfAnotherBuildIsNotRead) {
  const SqlFleet sql;
  const auto connection = must(store::open_writer(sql.fleet.path()));
  must(connection->execute("UPDATE checkpoint SET fingerprint = 'other'"));
  const auto answer = sql.run("SELECT 1");
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, ErrorCode::kUnavailable);
  EXPECT_FALSE(run_sql(sql.fleet.folder.file("none.db"), sql.request("SELECT 1")));
}

TEST(RunSql, ReadsOneRevisionWhileOthersWrite) {
  SqlFleet sql;
  SqlRequest request =
      sql.request("SELECT (SELECT count(*) FROM entries), (SELECT count(*) FROM touches WHERE name = 'late')");
  bool written = false;
  request.cancelled = [&] {
    if (!written) {
      written = true;
      sql.fleet.create(config_map("default", "late"));
    }
    return false;
  };
  const std::string before = json_of(sql, "SELECT count(*) FROM entries");
  const Value rows = sql.rows(request);
  ASSERT_TRUE(written);
  EXPECT_EQ(to_json(Value::array({Value::array({rows[0][0]})})), before);
  EXPECT_EQ(rows[0][1].as_int(), 0);
  EXPECT_EQ(json_of(sql, "SELECT count(*) FROM touches WHERE name = 'late'"), "[[1]]");
}

}  // namespace
}  // namespace shiplog
