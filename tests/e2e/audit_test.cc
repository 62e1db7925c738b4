// SQL over the audit trail and exports, on the command line.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "events/base/json.h"
#include "events/base/time.h"
#include "tests/e2e/expect_contains.h"
#include "tests/support/fleet.h"

namespace shiplog::e2e {
namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in{text};
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

/// A fleet with two members, a placed Deployment, and a refused request of a client with an evil name.
class AuditCommands : public ::testing::Test {
 protected:
  AuditCommands() {
    fleet_.serve();
    fleet_.kubectl_ok({"create", "configmap", "settings", "--from-literal=a=1"});
    fleet_.kubectl_ok({"delete", "configmap", "settings"});
    fleet_.kubectl({"get", "secrets", "-A", "--as==HYPERLINK(\"http://x\")"});
  }

  /// All entries of the record so far, none of which is of this test's own reading.
  std::vector<Value> entries() {
    std::vector<Value> all;
    for (const std::string& line :
         lines_of(fleet_.shiplogctl_ok({"events", "tail", "--no-follow", "--since-start", "-o", "json"}))) {
      all.push_back(json(line));
    }
    return all;
  }
  std::string export_to(const std::string& format, const std::string& file, std::vector<std::string> more = {}) {
    std::vector<std::string> words = {"audit", "export", "--format", format, "-o", fleet_.path(file)};
    words.insert(words.end(), more.begin(), more.end());
    const Ran ran = fleet_.shiplogctl(words);
    EXPECT_TRUE(ran.ok()) << ran;
    EXPECT_EQ(ran.out, "") << ran;
    return read_file(fleet_.path(file));
  }

  Fleet fleet_;
};

TEST_F(AuditCommands, SqlPrintsInEveryFormat) {
  const std::string statement =
      "SELECT operation, name, NULL AS none, 2 AS two FROM changes WHERE name = 'settings' ORDER BY revision";
  const auto sql = [&](const std::string& format) {
    return fleet_.shiplogctl_ok({"audit", "sql", statement, "-o", format});
  };
  EXPECT_EQ(fleet_.shiplogctl_ok({"audit", "sql", statement}),
            "OPERATION   NAME       NONE   TWO\ncreated     settings          2\nremoved     settings          2\n");
  EXPECT_EQ(sql("csv"), "operation,name,none,two\r\ncreated,settings,,2\r\nremoved,settings,,2\r\n");
  EXPECT_EQ(lines_of(sql("jsonl")).at(1), R"({"operation":"removed","name":"settings","none":null,"two":2})");
  EXPECT_EQ(json(sql("json"))["rows"][0][1].str(), "settings");
  expect_contains(sql("yaml"), {"kind: SqlResult"});
  EXPECT_TRUE(sql("parquet").starts_with("PAR1"));
  // From a file, with parameters, to a file.
  write_file(fleet_.path("statement.sql"), "SELECT :what AS what");
  fleet_.shiplogctl_ok({"audit", "sql", "-f", fleet_.path("statement.sql"), "--param", "what=a=b", "-o", "csv", "--to",
                        fleet_.path("answer.csv")});
  EXPECT_EQ(read_file(fleet_.path("answer.csv")), "what\r\na=b\r\n");
}

TEST_F(AuditCommands, SqlRunsPredefinedQueriesAndShowsThem) {
  expect_contains(fleet_.shiplogctl_ok({"audit", "sql", "--list"}), {"touched", "rescheduled", "since=24h"});
  expect_contains(fleet_.shiplogctl_ok({"audit", "sql", "--query", "deleted"}), {"settings"});
  expect_contains(fleet_.shiplogctl_ok(
                      {"audit", "sql", "--query", "touched", "--param", "type=configmaps", "--param", "name=settings"}),
                  {"ObjectCreated", "DeletionRequested"});
  const std::string shown = fleet_.shiplogctl_ok({"audit", "sql", "--query", "deleted", "--show"});
  expect_contains(shown, {"SELECT", "FROM changes"});
  // What is shown can be run.
  fleet_.shiplogctl_ok({"audit", "sql", shown, "--param", "since=1h", "--param", "type=", "--param", "namespace="});
}

TEST_F(AuditCommands, SqlReportsWhatIsWrong) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
      {{}, "name one statement"},
      {{"SELECT 1", "--query", "refusals"}, "name one statement"},
      {{"--query", "none"}, "there is no query \"none\": there are touched"},
      {{"--query", "touched"}, "needs --param type=VALUE"},
      {{"--query", "refusals", "--param", "sicne=1h"}, "has no parameter \"sicne\""},
      {{"SELECT 1", "--param", "x"}, "is not NAME=VALUE"},
      {{"SELECT * FROM entry"}, "\"entry\" is not a view: there are entries, events"},
      {{"DROP TABLE entry"}, "only SELECT is permitted"},
      {{"SELECT 1", "--timeout", "1h"}, "timeout: \"1h\" is not a duration"},
      {{"SELECT moment('x')"}, "is neither a time like"}};
  for (const auto& [words, text] : cases) {
    std::vector<std::string> all = {"audit", "sql"};
    all.insert(all.end(), words.begin(), words.end());
    const Ran ran = fleet_.shiplogctl(all);
    EXPECT_FALSE(ran.ok()) << ran;
    EXPECT_TRUE(ran.says(text)) << text << ran;
  }
  const Ran cut = fleet_.shiplogctl({"audit", "sql", "SELECT * FROM entries", "--limit", "2"});
  EXPECT_TRUE(cut.says("notice: only the first 2 rows are shown")) << cut;
}

// A right in one namespace is none here.
TEST_F(AuditCommands, ATenantGetsAClearRefusal) {
  fleet_.kubectl_ok({"create", "rolebinding", "ann", "--clusterrole=admin", "--user=ann"});
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"audit", "sql", "SELECT * FROM objects", "--as=ann"},
        std::vector<std::string>{"audit", "export", "--format", "jsonl", "--as=ann"},
        std::vector<std::string>{"audit", "export", "--format", "cloudevents", "--as=ann"}}) {
    const Ran ran = fleet_.shiplogctl(words);
    EXPECT_EQ(ran.code, 1) << ran;
    EXPECT_EQ(ran.out, "");
    EXPECT_TRUE(ran.says("User \"ann\" cannot")) << ran;
  }
}

TEST_F(AuditCommands, ExportsHoldEveryEntry) {
  const std::string jsonl = export_to("jsonl", "entries.jsonl");
  const auto exported = lines_of(jsonl);
  const auto all = entries();
  ASSERT_GE(exported.size(), 10u);
  ASSERT_LE(exported.size(), all.size());
  for (size_t index = 0; index < exported.size(); ++index) EXPECT_EQ(json(exported[index]), all[index]) << index;
  const std::string last = std::to_string(all[exported.size() - 1]["offset"].as_int());

  // The other formats, up to the same entry: later ones may have come.
  const std::string csv = export_to("csv", "entries.csv");
  expect_contains(csv, {"offset,time,id,user,groups", "'=HYPERLINK"});
  const std::string refused = export_to("jsonl", "refused.jsonl", {"--refused"});
  ASSERT_EQ(lines_of(refused).size(), 1u) << refused;
  EXPECT_EQ(json(lines_of(refused)[0])["user"].str(), "=HYPERLINK(\"http://x\")");
  const std::string from = export_to("jsonl", "from.jsonl", {"--from", last});
  EXPECT_EQ(lines_of(from).at(0), exported.back());
  const std::string events = export_to("cloudevents", "events.jsonl", {"--family", "api", "--verb", "create"});
  ASSERT_FALSE(lines_of(events).empty());
  for (const std::string& line : lines_of(events)) {
    EXPECT_EQ(json(line)["specversion"].str(), "1.0");
    EXPECT_EQ(json(line)["data"]["request"]["verb"].str(), "create");
  }

  // Parquet, as Apache Arrow reads it, value for value.
  export_to("parquet", "entries.parquet");
  const Ran installed = run({SHIPLOG_SOURCE_DIR "/tests/parquet/install.sh"}, {}, "", std::chrono::minutes{4});
  ASSERT_TRUE(installed.ok()) << installed;
  const Ran read = run({SHIPLOG_SOURCE_DIR "/.cache/pyarrow/bin/python3", SHIPLOG_SOURCE_DIR "/tests/parquet/read.py",
                        fleet_.path("entries.parquet")},
                       {}, "", kPatience);
  ASSERT_TRUE(read.ok()) << read;
  const auto rows = lines_of(read.out);
  const Value columns = json(rows.at(0))["columns"];
  EXPECT_EQ(columns.size(), 20u);
  ASSERT_GT(rows.size(), exported.size());
  for (size_t index = 0; index < exported.size(); ++index) {
    const Value row = json(rows[index + 1]);
    const Value entry = json(exported[index]);
    const auto same = [&](size_t column, const Value& value) {
      const Value wanted = value.is_null() || value.is_string() || value.is_int() ? value : Value{to_json(value)};
      EXPECT_EQ(row[column], wanted) << index << " " << columns[column][0].str();
    };
    same(0, entry["offset"]);
    EXPECT_EQ(row[1].as_int(), parse_rfc3339(entry["time"].as_string()).value().value);
    const char* names[] = {"id", "user", "groups", "service", "sourceIP", "userAgent", "verb", "path", "result"};
    for (size_t column = 0; column < std::size(names); ++column) same(2 + column, entry[names[column]]);
    same(11, entry["refusal"]["code"]);
    same(12, entry["refusal"]["reason"]);
    same(13, entry["revision"]);
    same(14, entry["asOf"]);
    same(15, entry["cause"]["revision"]);
    same(16, entry["cause"]["entry"]);
    same(17, entry["trace"]);
    same(18, entry["events"]);
    same(19, entry["alsoChanged"]);
  }
}

TEST_F(AuditCommands, AnExportThatWasCutOffContinues) {
  for (const std::string& format : {std::string{"jsonl"}, std::string{"csv"}, std::string{"cloudevents"}}) {
    const std::string file = "cut." + format;
    const std::string whole = export_to(format, file);
    const Ran again = fleet_.shiplogctl({"audit", "export", "--format", format, "-o", fleet_.path(file)});
    EXPECT_TRUE(again.says("exists: remove it")) << again;
    for (const size_t kept : {whole.size() / 2, whole.size() / 3, size_t{10}, size_t{0}}) {
      write_file(fleet_.path(file), whole.substr(0, kept));
      EXPECT_TRUE(export_to(format, file, {"--append"}).starts_with(whole)) << format << " from " << kept;
    }
  }
  write_file(fleet_.path("other"), "this is\nno export\nand was cut");
  const Ran other = fleet_.shiplogctl({"audit", "export", "--format", "jsonl", "-o", fleet_.path("other"), "--append"});
  EXPECT_TRUE(other.says("not of such an export")) << other;
  for (const std::string& format : {std::string{"jsonl"}, std::string{"csv"}, std::string{"cloudevents"}}) {
    write_file(fleet_.path("precious"), "what someone wrote");
    const Ran refused =
        fleet_.shiplogctl({"audit", "export", "--format", format, "-o", fleet_.path("precious"), "--append"});
    EXPECT_TRUE(refused.says("not of such an export")) << refused;
    EXPECT_EQ(read_file(fleet_.path("precious")), "what someone wrote") << format;
  }
  const Ran parquet =
      fleet_.shiplogctl({"audit", "export", "--format", "parquet", "-o", fleet_.path("other"), "--append"});
  EXPECT_TRUE(parquet.says("cannot be continued")) << parquet;
  EXPECT_EQ(read_file(fleet_.path("other")), "this is\nno export\nand was cut");
  const Ran device = fleet_.shiplogctl({"audit", "export", "--format", "jsonl", "-o", "/dev/full", "--append"});
  EXPECT_TRUE(device.says("is not a regular file")) << device;
  const Ran full = run({"/bin/sh", "-c", "exec \"$0\" audit export --format jsonl >/dev/full", SHIPLOG_CTL},
                       {{"KUBECONFIG", fleet_.kubeconfig("plane")}}, "", kPatience);
  EXPECT_EQ(full.code, 1);
  EXPECT_TRUE(full.says("is the disk full?")) << full;
}

}  // namespace
}  // namespace shiplog::e2e
