#include "services/programs/shiplogctl/table.h"

#include <gtest/gtest.h>

namespace shiplog::ctl {
namespace {

TEST(CtlTable, AlignsColumnsWithoutTrailingSpace) {
  Table table{{"NAME", "VERSION", "READY"}};
  table.add({"m1", "v1.30.0", "True"});
  table.add({"a-long-name", "", "False"});
  table.add({"short"});
  EXPECT_EQ(table.text(),
            "NAME          VERSION   READY\n"
            "m1            v1.30.0   True\n"
            "a-long-name             False\n"
            "short\n");
  EXPECT_EQ(table.text(false).substr(0, 3), "m1 ");
}

TEST(CtlTable, CellOfSeveralLinesContinuesBelow) {
  Table table{{"REV", "CHANGED"}};
  table.add({"1", "a\nbb"});
  EXPECT_EQ(table.text(), "REV   CHANGED\n1     a\n      bb\n");
}

TEST(CtlTable, WhatUsersWriteDoesNotControlTheTerminal) {
  Table table{{"OBJECT", "REASON"}};
  table.add({"a\033[31m", "b\033]0;title\007\r\nc\302\233d"});
  EXPECT_EQ(table.text(false, {.colour = true}), "a?[31m   b?]0;title??\n         c?d\n");
}

TEST(CtlTable, CountsCharactersAndNotBytes) {
  Table table{{"A", "B"}};
  table.add({"é", "x"});
  table.add({"ee", "y"});
  EXPECT_EQ(table.text(false), "é    x\nee   y\n");
  EXPECT_EQ(cut("éééééé", 5), "éé...");
  EXPECT_EQ(cut("abcde", 5), "abcde");
}

TEST(CtlTable, OnATerminalTheWidestColumnsAreWrappedAndNothingIsLost) {
  Table table{{"NAME", "REASON"}};
  table.add({"web", "no cluster has CPUs for four more replicas"});
  table.add({"a", "https://example.com/without-any-space"});
  EXPECT_EQ(table.text(true, {.columns = 30}),
            "NAME   REASON\n"
            "web    no cluster has CPUs for\n"
            "       four more replicas\n"
            "a      https://example.com/wit\n"
            "       hout-any-space\n");
  EXPECT_EQ(table.text(true, {.columns = 200}), table.text()) << "a table that fits is not changed";
}

TEST(CtlTable, ColoursOfStatesDoNotAffectTheWidth) {
  Table table{{"APPLIED", "NAME"}};
  table.add({"True", "web"});
  table.add({"refused: why", "Truely"});
  EXPECT_EQ(table.text(false, {.colour = true}),
            "\033[32mTrue\033[0m           web\n"
            "\033[31mrefused: why\033[0m   Truely\n");
}

}  // namespace
}  // namespace shiplog::ctl
