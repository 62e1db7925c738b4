#include "projections/sql/saved_queries.h"

#include <fstream>
#include <iterator>
#include <map>
#include <set>

#include <gtest/gtest.h>

#include "tests/support/sql_fleet.h"

namespace shiplog {
namespace {

SqlRequest asked(const SqlFleet& sql, const SavedQuery& query, const std::map<std::string, std::string>& given = {}) {
  SqlRequest request = sql.request(query.statement);
  for (const SavedParameter& parameter : query.parameters) {
    const auto found = given.find(parameter.name);
    const std::string text = found == given.end() ? parameter.fallback : found->second;
    if (parameter.number) {
      request.parameters.emplace_back(parameter.name, int64_t{text.empty() ? 4 : std::stoll(text)});
    } else {
      request.parameters.emplace_back(parameter.name, text);
    }
  }
  return request;
}
Value rows_of(const SqlFleet& sql, const char* name, const std::map<std::string, std::string>& given = {}) {
  return sql.rows(asked(sql, *must(find_saved_query(name)), given));
}

TEST(SavedQueries, RunWithTheirDefaults) {
  const SqlFleet sql;
  std::set<std::string> names;
  for (const SavedQuery& query : saved_queries()) {
    EXPECT_TRUE(names.insert(query.name).second) << query.name;
    EXPECT_FALSE(query.question.empty()) << query.name;
    const auto answer = run_sql(sql.fleet.path(), asked(sql, query));
    EXPECT_TRUE(answer) << query.name << ": " << (answer ? "" : answer.error().message);
    for (const SavedParameter& parameter : query.parameters) {
      EXPECT_NE(query.statement.find(":" + parameter.name), std::string::npos) << query.name;
      EXPECT_TRUE(!parameter.required || parameter.fallback.empty()) << query.name;
    }
  }
  EXPECT_GE(names.size(), 10u);
}

TEST(SavedQueries, OneThatDoesNotExistNamesTheOthers) {
  const auto found = find_saved_query("refusal");
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, ErrorCode::kNotFound);
  EXPECT_NE(found.error().message.find("touched, refusals"), std::string::npos) << found.error().message;
}

TEST(SavedQueries, AreThoseOfTheGuide) {
  std::ifstream file{std::string{SHIPLOG_SOURCE_DIR} + "/docs/guide/audit.md"};
  const std::string guide{std::istreambuf_iterator<char>{file}, {}};
  std::string table = "| query | answers | parameters |\n| --- | --- | --- |\n";
  for (const SavedQuery& query : saved_queries()) {
    std::string parameters;
    for (const SavedParameter& parameter : query.parameters) {
      parameters +=
          (parameters.empty() ? "`" : ", `") + parameter.name + "`" + (parameter.required ? " (required)" : "");
    }
    table += "| `" + query.name + "` | " + query.question + " | " + parameters + " |\n";
  }
  EXPECT_NE(guide.find(table + "\n"), std::string::npos) << "the guide should have:\n" << table;
}

TEST(SavedQueries, AnswerTheirQuestions) {
  const SqlFleet sql;
  const Value touched = rows_of(sql, "touched", {{"type", "configmaps"}, {"name", "a"}});
  ASSERT_EQ(touched.size(), 5u);  // created, updated, refused, denied, deleted
  EXPECT_EQ(touched[1][1].str(), "eve");
  EXPECT_EQ(touched[1][4].str(), "denied");
  EXPECT_EQ(touched[2][4].str(), "refused");
  EXPECT_EQ(rows_of(sql, "refusals").size(), 2u);
  EXPECT_EQ(rows_of(sql, "refusals", {{"user", "eve"}})[0][8].str(), "403 Forbidden: eve may not");
  EXPECT_EQ(rows_of(sql, "deleted")[0][3].str(), "a");
  const Value as_of = rows_of(sql, "as-of", {{"type", "configmaps"}, {"name", "a"}, {"revision", "4"}});
  ASSERT_EQ(as_of.size(), 1u);
  EXPECT_NE(as_of[0][4].str().find(R"("text":"2")"), std::string::npos) << to_json(as_of);
  EXPECT_EQ(rows_of(sql, "trace", {{"trace", "4bf92f3577b34da6a3ce929d0e0e4736"}}).size(), 6u);
}

}  // namespace
}  // namespace shiplog
