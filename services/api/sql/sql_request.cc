#include "services/api/sql/sql_request.h"

#include <charconv>

#include "events/base/json.h"
#include "events/base/utf8.h"

namespace shiplog::api {
namespace {

constexpr std::string_view kParameter = "param.";

Error bad(const std::string& field, const std::string& why) { return {ErrorCode::kBadRequest, field + ": " + why}; }

Result<void> set_limit(int64_t limit, SqlQuestion& question) {
  if (limit < 0 || limit > static_cast<int64_t>(kMostSqlRows)) {
    return bad("limit", std::to_string(limit) + " is not a number of rows from 1 to " + std::to_string(kMostSqlRows) +
                            ", or 0 for that many");
  }
  question.most_rows = limit == 0 ? kMostSqlRows : static_cast<size_t>(limit);
  return ok();
}

Result<void> set_timeout(const std::string& text, SqlQuestion& question) {
  const auto timeout = parse_duration(text);
  if (!timeout || timeout.value().value <= 0 || timeout.value() > kLongestSql) {
    return bad("timeout", quoted(text) + " is not a duration up to 50s, like 10s");
  }
  question.timeout = timeout.value();
  return ok();
}

Result<SqlValue> parameter_value(const std::string& name, const Value& value) {
  if (value.is_null()) return SqlValue{};
  if (value.is_string()) return SqlValue{value.str()};
  if (value.is_int()) return SqlValue{value.as_int()};
  if (value.is_number()) return SqlValue{value.as_double()};
  if (value.is_bool()) return SqlValue{int64_t{value.as_bool()}};
  return bad("parameters." + name, "a text, a number, true, false or null is needed");
}

Result<SqlQuestion> of_body(const std::string& body) {
  SqlQuestion question;
  SHIPLOG_TRY(const Value asked, parse_json(body));
  if (!asked.is_object()) return bad("body", "a JSON object with the member statement is needed");
  for (const auto& member : asked.members()) {
    const std::string name{member.key()};
    if (name == "statement" && member.value.is_string()) {
      question.statement = member.value.str();
    } else if (name == "limit" && member.value.is_int()) {
      SHIPLOG_TRY(set_limit(member.value.as_int(), question));
    } else if (name == "timeout" && member.value.is_string()) {
      SHIPLOG_TRY(set_timeout(member.value.str(), question));
    } else if (name == "parameters" && member.value.is_object()) {
      for (const auto& parameter : member.value.members()) {
        SHIPLOG_TRY(auto value, parameter_value(std::string{parameter.key()}, parameter.value));
        question.parameters.emplace_back(std::string{parameter.key()}, std::move(value));
      }
    } else {
      return bad(printable(name),
                 "statement and timeout are texts, limit is a whole number, parameters an object; "
                 "there is nothing else");
    }
  }
  return question;
}

Result<SqlQuestion> of_query(const HttpRequest& request) {
  SqlQuestion question;
  for (const auto& [name, value] : request.query) {
    if (name == "statement") {
      question.statement = value;
    } else if (name == "limit") {
      int64_t limit = 0;
      const auto [end, wrong] = std::from_chars(value.data(), value.data() + value.size(), limit);
      if (wrong != std::errc{} || end != value.data() + value.size()) {
        return bad("limit", quoted(value) + " is not a whole number");
      }
      SHIPLOG_TRY(set_limit(limit, question));
    } else if (name == "timeout") {
      SHIPLOG_TRY(set_timeout(value, question));
    } else if (name.starts_with(kParameter)) {
      question.parameters.emplace_back(name.substr(kParameter.size()), value);
    } else {
      return bad(printable(name), "is not a parameter: there are statement, limit, timeout and param.NAME");
    }
  }
  return question;
}

}  // namespace

Result<SqlQuestion> sql_question(const HttpRequest& request, const std::string& body) {
  if (request.method != "POST" && request.method != "GET") {
    return Error{ErrorCode::kMethodNotAllowed, "statements are sent with POST, or with GET, not " + request.method};
  }
  SHIPLOG_TRY(SqlQuestion question, request.method == "POST" ? of_body(body) : of_query(request));
  if (question.statement.empty()) return bad("statement", "a SELECT is missing");
  return question;
}

}  // namespace shiplog::api
