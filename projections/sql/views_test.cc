#include "projections/sql/views.h"

#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "events/state/object.h"
#include "tests/support/sql_fleet.h"

namespace shiplog {
namespace {

const ObjectKey kBinding{"resourcebindings.work.karmada.io", "default", "web-deployment"};

/// A binding that is placed twice, evicted from m1, and evicted no more.
class BindingLife : public SqlFleet {
 public:
  BindingLife() {
    put("system:shiplog:binder", "decide", {BindingPut{kBinding, binding(), {}}}, "binder");
    place({{"m1", 3}});
    EvictionStarted started;
    started.binding = kBinding;
    started.cluster = "m1";
    started.reason = "TaintUntolerated";
    started.message = "m1 has a taint";
    started.producer = "TaintManager";
    put("system:shiplog:taint", "decide", {started}, "taint");
    place({{"m2", 2}, {"m3", 1}});
    EvictionFinished finished;
    finished.binding = kBinding;
    finished.cluster = "m1";
    finished.reason = "Healthy";
    put("system:shiplog:taint", "decide", {finished}, "taint");
  }

 private:
  static Value binding() {
    return must(parse_json(R"({"apiVersion":"work.karmada.io/v1alpha2","kind":"ResourceBinding",
      "metadata":{"name":"web-deployment","namespace":"default"},
      "spec":{"resource":{"apiVersion":"apps/v1","kind":"Deployment","name":"web","namespace":"default"},"replicas":3}})"));
  }
  void place(std::vector<Target> targets) {
    PlacementDecided decided;
    decided.binding = kBinding;
    decided.targets = std::move(targets);
    put("system:shiplog:scheduler", "decide", {decided}, "scheduler");
  }
};

TEST(SqlViews, HaveTheColumnsAndTypesThatTheyName) {
  const BindingLife sql;
  for (const SqlView& view : sql_views()) {
    const auto answer = must(sql.run("SELECT * FROM " + view.name));
    std::vector<std::string> names;
    for (const SqlColumn& column : view.columns) names.push_back(column.name);
    EXPECT_EQ(answer.columns, names) << view.name;
    EXPECT_GT(answer.count, 0u) << view.name << " is tested with no row";
    for (const SqlColumn& column : view.columns) {
      const Value wrong =
          sql.rows("SELECT typeof(" + column.name + ") FROM " + view.name + " WHERE typeof(" + column.name +
                   ") NOT IN ('null', '" + (column.type == "INTEGER" ? "integer" : "text") + "')");
      EXPECT_EQ(wrong.size(), 0u) << view.name << "." << column.name << " " << to_json(wrong);
    }
  }
}

/// The rows of the tables in the guide's sections about views, as they are written there.
std::vector<std::string> documented_rows() {
  std::ifstream guide{std::string{SHIPLOG_SOURCE_DIR} + "/docs/guide/audit.md"};
  std::vector<std::string> rows;
  std::string view;
  for (std::string line; std::getline(guide, line);) {
    if (line.starts_with("#")) view.clear();
    if (line.starts_with("### `")) view = line.substr(5, line.find('`', 5) - 5);
    if (!view.empty() && line.starts_with("| ") && !line.starts_with("| column") && !line.starts_with("| ---")) {
      rows.push_back(view + " " + line);
    }
  }
  return rows;
}

TEST(SqlViews, AreThoseOfTheGuide) {
  std::vector<std::string> expected;
  for (const SqlView& view : sql_views()) {
    for (const SqlColumn& column : view.columns) {
      expected.push_back(view.name + " | `" + column.name + "` | " + column.type + " | " + column.meaning + " |");
    }
  }
  const std::vector<std::string> documented = documented_rows();
  for (const std::string& row : expected) {
    EXPECT_NE(std::ranges::find(documented, row), documented.end()) << "missing: " << row;
  }
  EXPECT_EQ(documented, expected);
}

TEST(SqlViews, EntriesAndEventsShowWhatHappenedToAnEntry) {
  const SqlFleet sql;
  EXPECT_EQ(
      to_json(sql.rows("SELECT user, verb, result, refusal, event, type, name, trace FROM entries WHERE offset >= 6 "
                       "ORDER BY offset LIMIT 4")),
      R"([["alice","create","accepted",null,"ObjectCreated","configmaps","a","4bf92f3577b34da6a3ce929d0e0e4736"],)"
      R"(["alice","update","accepted",null,"ObjectUpdated","configmaps","a","4bf92f3577b34da6a3ce929d0e0e4736"],)"
      R"(["bob","create","refused","already_exists","ObjectCreated","configmaps","a","4bf92f3577b34da6a3ce929d0e0e4736"],)"
      R"(["eve","delete","denied",null,"RequestDenied","configmaps","a","4bf92f3577b34da6a3ce929d0e0e4736"]])");
  EXPECT_EQ(sql.rows("SELECT * FROM events").size(), sql.fleet.journal().size());
}

TEST(SqlViews, ChangesAndObjectsAreVersionsAndWhatIsLeft) {
  const SqlFleet sql;
  EXPECT_EQ(
      to_json(sql.rows("SELECT operation, revision, previous, user, verb, json_extract(manifest, '$.data.text') FROM "
                       "changes WHERE name = 'a' ORDER BY revision")),
      R"([["created",3,0,"alice","create","1"],["updated",4,3,"alice","update","2"],)"
      R"(["removed",5,4,"alice","delete","2"]])");
  EXPECT_EQ(to_json(sql.rows("SELECT type, name, revision FROM objects WHERE namespace = 'default'")),
            R"([["secrets","s",6]])");
}

TEST(SqlViews, SecretsAreEmptyWhereverAManifestIs) {
  const SqlFleet sql;
  for (const SqlView& view : sql_views()) {
    const auto answer = must(sql.run("SELECT * FROM " + view.name));
    EXPECT_EQ(answer.rows.find("HIDDEN"), std::string::npos) << view.name;
  }
  // Not by way of a function of a view that a user could call, nor by a condition on it.
  EXPECT_EQ(to_json(sql.rows("SELECT count(*) FROM changes WHERE manifest LIKE '%HIDDEN%'")), "[[0]]");
}

TEST(SqlViews, PlacementsAndEvictionsTellOfABinding) {
  const BindingLife sql;
  EXPECT_EQ(
      to_json(sql.rows("SELECT namespace, name, placed, replicas, clusters FROM placements ORDER BY offset")),
      R"([["default","web-deployment","m1:3",3,"[{\"name\":\"m1\",\"replicas\":3}]"],)"
      R"(["default","web-deployment","m2:2 m3:1",3,"[{\"name\":\"m2\",\"replicas\":2},{\"name\":\"m3\",\"replicas\":1}]"]])");
  EXPECT_EQ(
      to_json(sql.rows("SELECT name, cluster, reason, producer, message, (ended_ms - time_ms) / 60000, ended IS NULL "
                       "FROM evictions")),
      R"([["web-deployment","m1","TaintUntolerated","TaintManager","m1 has a taint",2,0]])");
  EXPECT_EQ(sql.rows("SELECT * FROM decisions WHERE service = 'scheduler'").size(), 2u);
}

}  // namespace
}  // namespace shiplog
