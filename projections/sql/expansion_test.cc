#include "projections/sql/expansion.h"

#include <string>

#include <gtest/gtest.h>

namespace shiplog {
namespace {

/// Each level uses the one before twice.
std::string doubling(int levels, const std::string& open, const std::string& close, const std::string& as) {
  std::string statement = "WITH x0 AS (SELECT 1 AS a)";
  for (int level = 1; level <= levels; ++level) {
    const std::string before = open + "x" + std::to_string(level - 1) + close;
    statement +=
        ", " + open + "X" + std::to_string(level) + close + as + "(SELECT 1 FROM " + before + ", " + before + ")";
  }
  return statement + " SELECT * FROM x" + std::to_string(levels);
}

TEST(Expansion, RefusesWhatDoublesWithEachLevel) {
  for (const std::string& as : {std::string{" AS "}, std::string{" as not materialized"},
                                std::string{"(a) AS /* ( */ "}, std::string{" AS MATERIALIZED -- \n"}}) {
    EXPECT_TRUE(check_expansion(doubling(5, "", "", as))) << as;
    EXPECT_FALSE(check_expansion(doubling(30, "", "", as))) << as;
    EXPECT_FALSE(check_expansion(doubling(30, "\"", "\"", as))) << as;
    EXPECT_FALSE(check_expansion(doubling(30, "[", "]", as))) << as;
    EXPECT_FALSE(check_expansion(doubling(30, "`", "`", as))) << as;
    EXPECT_FALSE(check_expansion(doubling(30, "'", "'", as))) << as;
  }
}

TEST(Expansion, TakesOrdinaryStatements) {
  EXPECT_TRUE(check_expansion("SELECT 1"));
  EXPECT_TRUE(
      check_expansion("WITH a AS (SELECT 1 AS x), b AS (SELECT a.x, a.x + 1, a.x + 2 FROM a), c AS (SELECT "
                      "b.x, b.x FROM b) SELECT a.x, b.x, c.x, a.x, b.x, c.x FROM a, b, c WHERE a.x = b.x"));
  EXPECT_TRUE(check_expansion("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n"));
  EXPECT_TRUE(check_expansion("SELECT 'it''s WITH a AS (' FROM entries -- a AS ("));
}

TEST(Expansion, TakesAnyBytes) {
  for (const std::string& text :
       {std::string{"'"}, std::string{"\"\""}, std::string{"[ /*"}, std::string{"--"}, std::string{"/* x"},
        std::string{"\0\xFF''", 4}, std::string{"a AS"}, std::string{"a("}}) {
    EXPECT_TRUE(check_expansion(text)) << text;
  }
}

}  // namespace
}  // namespace shiplog
