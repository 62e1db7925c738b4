#include <fstream>
#include <iostream>
#include <iterator>

#include "events/base/json.h"
#include "events/base/utf8.h"
#include "projections/sql/saved_queries.h"
#include "services/http/private_file.h"
#include "services/programs/shiplogctl/audit_commands.h"
#include "services/programs/shiplogctl/sql_output.h"
#include "services/programs/shiplogctl/table.h"

namespace shiplog::ctl {
namespace {

Error bad_query(std::string message) { return {ErrorCode::kBadRequest, std::move(message)}; }

struct GivenParameter {
  std::string name, value;
};
Result<std::vector<GivenParameter>> given_parameters(const std::vector<std::string>& words) {
  std::vector<GivenParameter> given;
  for (const std::string& word : words) {
    const size_t equals = word.find('=');
    if (equals == 0 || equals == std::string::npos) {
      return bad_query("--param " + shiplog::quoted(word) + " is not NAME=VALUE");
    }
    given.push_back({word.substr(0, equals), word.substr(equals + 1)});
  }
  return given;
}

Result<std::string> statement_of(const AuditSqlOptions& options) {
  const int ways = int{!options.statement.empty()} + int{!options.file.empty()} + int{!options.query.empty()};
  if (ways != 1) {
    return bad_query(
        "name one statement: as an argument, with --file, or with --query (--list shows those that there are)");
  }
  if (!options.statement.empty()) return options.statement;
  if (options.file == "-") return std::string{std::istreambuf_iterator<char>{std::cin}, {}};
  return read_file(options.file);
}

/// The parameters of a predefined query: those that are given, and the defaults of the others.
Result<Value> parameters_of(const SavedQuery& query, const std::vector<GivenParameter>& given) {
  Value parameters = Value::object();
  for (const SavedParameter& parameter : query.parameters) {
    std::string text = parameter.fallback;
    bool found = false;
    for (const GivenParameter& each : given) {
      if (each.name != parameter.name) continue;
      text = each.value;
      found = true;
    }
    if (parameter.required && !found) {
      return bad_query("the query " + query.name + " needs --param " + parameter.name + "=VALUE: " + parameter.meaning);
    }
    if (parameter.number) {
      const auto number = parse_json(text);
      if (!number || !number.value().is_int())
        return bad_query("--param " + parameter.name + ": " + shiplog::quoted(text) + " is not a whole number");
      parameters.set(parameter.name, number.value());
    } else {
      parameters.set(parameter.name, text);
    }
  }
  for (const GivenParameter& each : given) {
    if (!parameters.contains(each.name))
      return bad_query("the query " + query.name + " has no parameter " + shiplog::quoted(each.name));
  }
  return parameters;
}

std::string usage_of(const SavedQuery& query) {
  std::string text;
  for (const SavedParameter& parameter : query.parameters) {
    text += (text.empty() ? "" : " ") + parameter.name + "=" +
            (parameter.required           ? "(required)"
             : parameter.fallback.empty() ? "(all)"
                                          : parameter.fallback);
  }
  return text;
}

}  // namespace

Result<Value> sql_question(const AuditSqlOptions& options) {
  SHIPLOG_TRY(const auto given, given_parameters(options.parameters));
  Value question = Value::object({{"limit", options.limit}, {"timeout", options.timeout}});
  Value parameters = Value::object();
  if (!options.query.empty() && options.statement.empty() && options.file.empty()) {
    SHIPLOG_TRY(const SavedQuery* query, find_saved_query(options.query));
    SHIPLOG_TRY(parameters, parameters_of(*query, given));
    question.set("statement", query->statement);
  } else {
    SHIPLOG_TRY(const std::string statement, statement_of(options));
    question.set("statement", statement);
    for (const GivenParameter& each : given) parameters.set(each.name, each.value);
  }
  question.set("parameters", std::move(parameters));
  return question;
}

void print_saved_queries(const Output& to) {
  Table table{{"QUERY", "ANSWERS", "PARAMETERS"}};
  for (const SavedQuery& query : saved_queries()) table.add({query.name, query.question, usage_of(query)});
  to.out << table.text(true, to.terminal) << std::flush;
}

Result<void> audit_sql(ServerConnection& plane, const Value& question, const AuditSqlOptions& options,
                       const Output& to) {
  SHIPLOG_TRY(const Value answer, plane.create("/shiplog/v1/sql", question));
  if (answer["kind"].as_string() != "SqlResult") {
    return Error{ErrorCode::kCorrupt, "the server answered /shiplog/v1/sql with something else"};
  }
  if (options.to.empty()) {
    SHIPLOG_TRY(print_sql(answer, options.output, to.terminal, to.out));
  } else {
    std::ofstream file{options.to, std::ios::binary | std::ios::trunc};
    if (!file) return Error{ErrorCode::kIo, "cannot write " + options.to};
    SHIPLOG_TRY(print_sql(answer, options.output, {}, file));
  }
  const size_t rows = answer["rows"].size();
  const std::string truncated = answer["truncated"].str();
  if (truncated == "rows") {
    to.err << "notice: only the first " << rows
           << " rows are shown; --limit shows more (0: as many as the server answers)" << std::endl;
  } else if (!truncated.empty()) {
    to.err << "notice: only the first " << rows << " rows are shown: an answer has at most 16 MiB; select fewer columns"
           << std::endl;
  } else if (rows == 0) {
    to.err << "no rows match" << std::endl;
  }
  return ok();
}

}  // namespace shiplog::ctl
