#pragma once

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "events/base/json.h"
#include "projections/sql/run_sql.h"
#include "tests/support/projected_fleet.h"

// Shared by the tests of projections/sql. Only they include it.
namespace shiplog {

/// A projection of a few entries: objects, a refused and a denied request, decisions.
class SqlFleet {
 public:
  SqlFleet() {
    const ObjectKey first = config_map("default", "a");
    put("alice", "create", {ObjectCreated{first, object_value(first, "1")}});
    put("alice", "update", {ObjectUpdated{first, object_value(first, "2")}});
    put("bob", "create", {ObjectCreated{first, object_value(first)}});  // refused: it exists
    put("eve", "delete", {RequestDenied{first, 403, "Forbidden", "eve may not"}});
    put("alice", "delete", {DeletionRequested{first}});
    const ObjectKey secret{"secrets", "default", "s"};
    put("bob", "create", {ObjectCreated{secret, object_value(secret, "HIDDEN")}});
  }

  void put(const std::string& user, const std::string& verb, std::vector<Event> events,
           const std::string& service = "api") {
    Entry entry;
    entry.actor = {user, {"dev"}, service, "10.1.2.3", "kubectl"};
    entry.request = {verb, "/somewhere"};
    entry.cause.trace_id = "4bf92f3577b34da6a3ce929d0e0e4736-01";
    entry.events = std::move(events);
    fleet.write(std::move(entry));
  }

  SqlRequest request(const std::string& statement) const {
    SqlRequest request;
    request.statement = statement;
    request.deadline = std::chrono::steady_clock::now() + std::chrono::seconds{20};
    request.now = fleet.now();
    request.secret = "0123456789abcdef0123456789abcdef";
    request.without_secrets = [](std::string_view type, std::string_view json) -> Result<std::string> {
      return type == "secrets" ? std::string{"{}"} : std::string{json};
    };
    return request;
  }
  Result<SqlAnswer> run(const std::string& statement) const { return run_sql(fleet.path(), request(statement)); }

  /// The rows as JSON; a failure fails the test.
  Value rows(const SqlRequest& request) const {
    auto answer = run_sql(fleet.path(), request);
    if (!answer) ADD_FAILURE() << request.statement << ": " << answer.error().message;
    return answer ? must(parse_json("[" + answer.value().rows + "]")) : Value::array();
  }
  Value rows(const std::string& statement) const { return rows(request(statement)); }

  TestFleet fleet;
};

}  // namespace shiplog
