#include "services/programs/shiplogctl/cluster_table.h"

#include <gtest/gtest.h>

#include "tests/support/literals.h"

namespace shiplog::ctl {
namespace {

using test::json;

const char* kDeployments = R"({"kind":"Table","columnDefinitions":[{"name":"Name","priority":0},
  {"name":"Ready","priority":0},{"name":"Images","priority":1}],"rows":[{"cells":["web","1/2","nginx"],"object":
  {"metadata":{"namespace":"shop","labels":{"karmada.io/managed":"true","example.com/tier":"front"}}}}]})";

std::vector<std::vector<std::string>> cells(const ClusterTable& table, const std::string& cluster, bool is_plane,
                                            const Value& answer) {
  std::vector<std::vector<std::string>> all;
  for (const auto& row : table.rows(cluster, is_plane, answer, answer["columnDefinitions"])) all.push_back(row.cells);
  return all;
}

using Cells = std::vector<std::string>;

TEST(ClusterTableOfGet, ClusterIsTheSecondColumnAndAdoptionTheLast_cli_3) {
  ClusterTable table{{.namespaces = true}};
  const Value answer = json(kDeployments);
  table.learn(answer);
  EXPECT_EQ(table.header(), (Cells{"NAMESPACE", "NAME", "CLUSTER", "READY", "ADOPTION"}));
  EXPECT_EQ(cells(table, "m1", false, answer), (std::vector<Cells>{{"shop", "web", "m1", "1/2", "Y"}}));
  EXPECT_EQ(cells(table, "Karmada", true, answer), (std::vector<Cells>{{"shop", "web", "Karmada", "1/2", "-"}}));
}

TEST(ClusterTableOfGet, AnObjectThatTheControlPlaneDoesNotManageIsNotAdopted_cli_3) {
  ClusterTable table{{}};
  const Value answer = json(R"({"columnDefinitions":[{"name":"Name"}],"rows":[{"cells":["a"],"object":{"metadata":{}}},
      {"cells":["b"],"object":{"metadata":{"labels":{"karmada.io/managed":"false"}}}}]})");
  table.learn(answer);
  EXPECT_EQ(cells(table, "m1", false, answer), (std::vector<Cells>{{"a", "m1", "N"}, {"b", "m1", "N"}}));
}

TEST(ClusterTableOfGet, WideLabelsAndPrefix) {
  TableForm form{
      .wide = true, .labels = true, .label_columns = {"example.com/tier"}, .name_prefix = "deployment.apps/"};
  ClusterTable table{form};
  const Value answer = json(kDeployments);
  table.learn(answer);
  EXPECT_EQ(table.header(), (Cells{"NAME", "CLUSTER", "READY", "IMAGES", "ADOPTION", "TIER", "LABELS"}));
  EXPECT_EQ(cells(table, "m1", false, answer),
            (std::vector<Cells>{{"deployment.apps/web", "m1", "1/2", "nginx", "Y", "front",
                                 "example.com/tier=front,karmada.io/managed=true"}}));
}

TEST(ClusterTableOfGet, AdoptionOfPodsIsShownOnlyInTheWideForm_cli_3) {
  const Value answer = json(R"({"columnDefinitions":[{"name":"Name"}],"rows":[]})");
  for (const bool wide : {false, true}) {
    ClusterTable table{{.wide = wide, .adoption_wide_only = true}};
    table.learn(answer);
    EXPECT_EQ(table.header(), wide ? (Cells{"NAME", "CLUSTER", "ADOPTION"}) : (Cells{"NAME", "CLUSTER"}));
  }
}

// Members have different releases, and a column may be missing or elsewhere.
TEST(ClusterTableOfGet, ColumnsOfServersAreMergedByName) {
  ClusterTable table{{}};
  const Value one = json(R"({"columnDefinitions":[{"name":"Name"},{"name":"Old"},{"name":"Age"}],
      "rows":[{"cells":["a","x","1d"],"object":{}}]})");
  const Value other = json(R"({"columnDefinitions":[{"name":"Age"},{"name":"Name"},{"name":"New"}],
      "rows":[{"cells":["2d","b",3],"object":{}}]})");
  table.learn(one);
  table.learn(other);
  EXPECT_EQ(table.header(), (Cells{"NAME", "CLUSTER", "OLD", "AGE", "NEW", "ADOPTION"}));
  EXPECT_EQ(cells(table, "m1", false, one), (std::vector<Cells>{{"a", "m1", "x", "1d", "<none>", "N"}}));
  EXPECT_EQ(cells(table, "m2", false, other), (std::vector<Cells>{{"b", "m2", "<none>", "2d", "3", "N"}}));
}

// A hostile member: control sequences in names, cells, labels and columns; rows without cells or objects.
TEST(ClusterTableOfGet, AMemberCannotControlTheTerminal) {
  ClusterTable table{{.labels = true}};
  const Value answer = json(R"({"columnDefinitions":[{"name":"Na\u001b[2Jme"},{"name":7}],"rows":[
      {"cells":["\u001b]0;x\u0007web\nnext"],"object":{"metadata":{"labels":{"a":"\u001b[31m"}}}},{"cells":7},{}]})");
  table.learn(answer);
  for (const auto& row : cells(table, "m1", false, answer)) {
    for (const std::string& cell : row) {
      EXPECT_EQ(cell.find_first_of("\033\007\n"), std::string::npos) << cell;
    }
  }
  for (const std::string& name : table.header()) EXPECT_EQ(name.find('\033'), std::string::npos);
}

std::vector<std::string> sorted(std::vector<std::string> values) {
  std::vector<ClusterTable::Row> rows;
  for (const std::string& value : values) rows.push_back({.cells = {value}, .object = json(value)});
  EXPECT_TRUE(sort_rows(rows, ".v"));
  std::vector<std::string> order;
  for (const auto& row : rows)
    order.push_back(row.object["v"].is_int() ? std::to_string(row.object["v"].as_int()) : row.object["v"].str());
  return order;
}

TEST(ClusterTableOfGet, SortsNumbersQuantitiesAndNamesInNaturalOrder) {
  EXPECT_EQ(sorted({R"({"v":10})", R"({"v":9})"}), (Cells{"9", "10"}));
  EXPECT_EQ(sorted({R"({"v":"1Gi"})", R"({"v":"500Mi"})"}), (Cells{"500Mi", "1Gi"}));
  EXPECT_EQ(sorted({R"({"v":"web-10"})", R"({"v":"web-9"})", R"({"v":"a"})"}), (Cells{"a", "web-9", "web-10"}));
  EXPECT_EQ(sorted({R"({"v":"b"})", R"({})", R"({"v":"a"})"}), (Cells{"", "a", "b"}));
}

TEST(ClusterTableOfGet, AWrongSortPathIsAnError) {
  std::vector<ClusterTable::Row> rows(1);
  EXPECT_FALSE(sort_rows(rows, "{.a[}"));
}

}  // namespace
}  // namespace shiplog::ctl
