#include "services/ctl/table.h"

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

TEST(CtlTable, CellOfSeveralLinesGoesOnBelow) {
  Table table{{"REV", "CHANGED"}};
  table.add({"1", "a\nbb"});
  EXPECT_EQ(table.text(), "REV   CHANGED\n1     a\n      bb\n");
}

TEST(CtlTable, CountsCharactersAndNotBytes) {
  Table table{{"A", "B"}};
  table.add({"é", "x"});
  table.add({"ee", "y"});
  EXPECT_EQ(table.text(false), "é    x\nee   y\n");
  EXPECT_EQ(cut("éééééé", 5), "éé...");
  EXPECT_EQ(cut("abcde", 5), "abcde");
}

}  // namespace
}  // namespace shiplog::ctl
