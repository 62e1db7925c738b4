#include "services/api/table/json_path.h"

#include <gtest/gtest.h>

#include "events/base/json.h"

namespace shiplog::api {
namespace {

const Value& object() {
  static const Value kObject = parse_json(R"({"metadata":{"labels":{"a.b/c":"x"}},"spec":{"n":1,"list":[
      {"type":"Ready","status":"True","x":1},{"type":"Other","status":"False"}],"deep":[[1],[2]]}})")
                                   .value();
  return kObject;
}

std::string found(std::string_view path) {
  std::string all;
  for (const Value* value : json_path(object(), path)) all += (all.empty() ? "" : " ") + to_json(*value);
  return all;
}

TEST(JsonPath, PlainPathsAndIndexes) {  // TBL-9
  EXPECT_EQ(found(".spec.n"), "1");
  EXPECT_EQ(found("{.spec.n}"), "1");
  EXPECT_EQ(found("$.spec['n']"), "1");
  EXPECT_EQ(found(R"(.metadata.labels.a\.b/c)"), R"("x")");
  EXPECT_EQ(found(".metadata.labels['a.b/c']"), R"("x")");
  EXPECT_EQ(found(".spec.list[1].type"), R"("Other")");
  EXPECT_EQ(found(".spec.list[-1].type"), R"("Other")");
  EXPECT_EQ(found(".spec.deep[1][0]"), "2");
}

TEST(JsonPath, WildcardsAndFilters) {  // TBL-9
  EXPECT_EQ(found(".spec.list[*].type"), R"("Ready" "Other")");
  EXPECT_EQ(found(R"(.spec.list[?(@.type=="Ready")].status)"), R"("True")");
  EXPECT_EQ(found(".spec.list[?(@.type == 'Other')].status"), R"("False")");
  EXPECT_EQ(found(R"(.spec.list[?(@.type!="Ready")].status)"), R"("False")");
  EXPECT_EQ(found(".spec.list[?(@.x==1)].type"), R"("Ready")");
  EXPECT_EQ(found(".spec.list[?(@.x)].type"), R"("Ready")");
  EXPECT_EQ(found(R"(.spec.list[?(@.type=="]")].type)"), "");
}

TEST(JsonPath, WhatIsMissingOrUnreadableGivesNothing) {
  for (const char* path : {".x", ".spec.list[7]", ".spec.n.m", ".spec.list[", ".spec..n", "..", "[", "[]", "[?(",
                           ".spec.", ".spec.list[?(x)]", ".spec.list[99999999999999999999]", ".spec.list['", "{"}) {
    EXPECT_EQ(found(path), "") << path;
  }
}

}  // namespace
}  // namespace shiplog::api
