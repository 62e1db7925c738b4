#include "services/programs/shiplogctl/csv.h"

#include <sstream>

#include <gtest/gtest.h>

namespace shiplog::ctl {
namespace {

TEST(Csv, QuotesWhatTheFormatRequires) {
  EXPECT_EQ(csv_text("plain text"), "plain text");
  EXPECT_EQ(csv_text(""), "");
  EXPECT_EQ(csv_text("a,b"), "\"a,b\"");
  EXPECT_EQ(csv_text("say \"x\""), "\"say \"\"x\"\"\"");
  EXPECT_EQ(csv_text("two\nlines"), "\"two\nlines\"");
  EXPECT_EQ(csv_record({"1", csv_text("a,b"), ""}), "1,\"a,b\",\r\n");
}

TEST(Csv, TextsAreNoFormulas) {
  for (const char* text : {"=HYPERLINK(\"http://x\")", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1"}) {
    const std::string field = csv_text(text);
    EXPECT_EQ(field.substr(field.front() == '"' ? 1 : 0, 1), "'") << text;
  }
  EXPECT_EQ(csv_text("a=b"), "a=b");
}

TEST(Csv, CompleteRecordsEndBeforeWhatWasCutOff) {
  std::istringstream file{"offset,text\r\n1,\"two\nlines\"\r\n2,\"cut\noff"};
  const CompleteRecords found = complete_csv(file);
  EXPECT_EQ(found.records, 2u);
  EXPECT_EQ(found.last, "1,\"two\nlines\"");
  EXPECT_EQ(found.bytes, std::string{"offset,text\r\n1,\"two\nlines\"\r\n"}.size());
  std::istringstream empty{""};
  EXPECT_EQ(complete_csv(empty).bytes, 0u);
  std::istringstream lines{"{\"a\":1}\n{\"b\":\"\\\"\"}\n{\"c\""};
  EXPECT_EQ(complete_lines(lines).last, "{\"b\":\"\\\"\"}");
}

}  // namespace
}  // namespace shiplog::ctl
