#pragma once

#include <string>
#include <utility>
#include <vector>

#include "events/base/result.h"
#include "events/base/time.h"
#include "projections/sql/run_sql.h"
#include "services/http/http.h"

namespace shiplog::api {

/// What a client asks /shiplog/v1/sql for.
struct SqlQuestion {
  std::string statement;
  std::vector<std::pair<std::string, SqlValue>> parameters;
  size_t most_rows = 1'000;
  Millis timeout{10'000};
};

inline constexpr size_t kMostSqlRows = 100'000;
inline constexpr Millis kLongestSql{50'000};  ///< below the time that the HTTP server gives a request

/// POST: a JSON object {statement, parameters: {NAME: VALUE}, limit, timeout: "10s"}. GET: the same as parameters of
/// the query, with param.NAME=TEXT for each parameter. Pure. Errors: kBadRequest, naming the field; kMethodNotAllowed.
Result<SqlQuestion> sql_question(const HttpRequest& request, const std::string& body);

}  // namespace shiplog::api
