// How deep evaluations of the variables of a policy are nested.
#include "services/api/expressions/variable_depth.h"

#include <functional>

#include <gtest/gtest.h>

namespace shiplog::api {
namespace {

/// `inner` below so many levels.
std::string nested(const std::string& inner, int levels) {
  std::string text = inner;
  for (int level = 0; level < levels; ++level) text = "(" + text + " + 1)";
  return text;
}

/// How many variables are accepted, of which each reads the one before it by such an expression.
int accepted(const std::function<std::string(const std::string& before)>& reads, int most = 128) {
  VariableDepths depths;
  for (int i = 0; i < most; ++i) {
    const std::string before = i == 0 ? "0" : reads("v" + std::to_string(i - 1));
    if (!depths.add("v" + std::to_string(i), before)) return i;
  }
  return most;
}

TEST(VariableDepths, AChainIsAsDeepAsAllItsExpressions) {
  EXPECT_EQ(accepted([](const std::string& before) { return "variables." + before + " + 1"; }), 128);
  const int long_ones = accepted([](const std::string& before) { return nested("variables." + before, 90); });
  EXPECT_GT(long_ones, 5);
  EXPECT_LT(long_ones, 12);
}

TEST(VariableDepths, AnyWayToReadAVariableCounts) {
  for (const auto& [begin, end] : {std::pair{"has(variables.", ")"},
                                   {"[1].all(x, variables.", " == x)"},
                                   {"{'a': [.variables.", "]}"},
                                   {"variables.?", ".orValue(0)"},
                                   {"[variables].map(v, v.", ")"},
                                   {"dyn(variables)['", "']"}}) {
    const auto reads = [&](const std::string& before) { return nested(begin + before + end, 90); };
    EXPECT_LT(accepted(reads), 12) << begin;
  }
}

TEST(VariableDepths, VariablesBesideEachOtherAreNotNested) {
  VariableDepths depths;
  for (int i = 0; i < 128; ++i) {
    EXPECT_TRUE(depths.add("v" + std::to_string(i), nested("object.a", 200))) << i;
  }
  EXPECT_TRUE(depths.add("sum", "variables.v1 + variables.v2"));
}

TEST(VariableDepths, WhatCannotBeParsedIsNotNested) {
  VariableDepths depths;
  EXPECT_TRUE(depths.add("a", "1 +"));
  EXPECT_TRUE(depths.add("b", "variables.a"));
}

}  // namespace
}  // namespace shiplog::api
