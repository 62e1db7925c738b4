#include "services/api/sql/sql_request.h"

#include <gtest/gtest.h>

namespace shiplog::api {
namespace {

HttpRequest request(const std::string& method, HttpRequest::Query query = {}) {
  HttpRequest asked;
  asked.method = method;
  asked.query = std::move(query);
  return asked;
}

TEST(SqlRequest, IsReadFromABody) {
  const auto question = sql_question(
      request("POST"),
      R"({"statement":"SELECT :a","limit":0,"timeout":"1m","parameters":{"a":"x","b":2,"c":2.5,"d":null,"e":true}})");
  ASSERT_FALSE(question) << "a minute is longer than what the server gives a request";
  const auto shorter = sql_question(
      request("POST"),
      R"({"statement":"SELECT :a","limit":0,"timeout":"50s","parameters":{"a":"x","b":2,"c":2.5,"d":null,"e":true}})");
  ASSERT_TRUE(shorter) << shorter.error().message;
  EXPECT_EQ(shorter.value().statement, "SELECT :a");
  EXPECT_EQ(shorter.value().most_rows, kMostSqlRows);
  EXPECT_EQ(shorter.value().timeout, Millis{50'000});
  const std::vector<std::pair<std::string, SqlValue>> expected = {
      {"a", "x"}, {"b", int64_t{2}}, {"c", 2.5}, {"d", std::monostate{}}, {"e", int64_t{1}}};
  EXPECT_EQ(shorter.value().parameters, expected);
}

TEST(SqlRequest, IsReadFromTheQuery) {
  const auto question = sql_question(
      request("GET", {{"statement", "SELECT 1"}, {"limit", "7"}, {"timeout", "200ms"}, {"param.since", "1h"}}), "");
  ASSERT_TRUE(question) << question.error().message;
  EXPECT_EQ(question.value().most_rows, 7u);
  EXPECT_EQ(question.value().timeout, Millis{200});
  EXPECT_EQ(question.value().parameters.at(0).first, "since");
}

TEST(SqlRequest, ErrorsNameTheField) {
  const std::pair<const char*, const char*> cases[] = {
      {R"({"limit":1})", "statement: "},
      {R"({"statement":""})", "statement: "},
      {R"({"statement":"SELECT 1","limit":"1"})", "limit: "},
      {R"({"statement":"SELECT 1","limit":100001})", "limit: 100001 is not"},
      {R"({"statement":"SELECT 1","timeout":"0s"})", "timeout: \"0s\" is not"},
      {R"({"statement":"SELECT 1","timeout":"51s"})", "timeout: "},
      {R"({"statement":"SELECT 1","parameters":{"a":{}}})", "parameters.a: "},
      {R"({"statement":"SELECT 1","format":"csv"})", "format: "},
      {R"("SELECT 1")", "body: "}};
  for (const auto& [body, text] : cases) {
    const auto question = sql_question(request("POST"), body);
    ASSERT_FALSE(question) << body;
    EXPECT_EQ(question.error().code, ErrorCode::kBadRequest) << body;
    EXPECT_TRUE(question.error().message.starts_with(text)) << body << ": " << question.error().message;
  }
  EXPECT_FALSE(sql_question(request("GET", {{"statement", "SELECT 1"}, {"limit", "1x"}}), ""));
  EXPECT_EQ(sql_question(request("PUT"), "{}").error().code, ErrorCode::kMethodNotAllowed);
}

}  // namespace
}  // namespace shiplog::api
