// Bits that flip in files of a running process: a version of the projection is repaired, a damaged journal is not
// appended to any more.
#include <gtest/gtest.h>

#include "events/journal/embedded/sqlite_journal.h"
#include "events/sqlite/connection.h"
#include "projections/store/checked_table.h"
#include "projections/store/open.h"
#include "tests/support/fleet.h"
#include "tests/support/must.h"
#include "tests/support/stored_text.h"

namespace shiplog::crash {
namespace {

using e2e::Answer;
using e2e::ApiClient;
using e2e::eventually;

const std::string kConfigMaps = "/api/v1/namespaces/default/configmaps";

class RunningScrub : public ::testing::Test {
 protected:
  RunningScrub() { serve(); }

  void serve() { fleet_.serve("plane", {"--scrub-rate=1Gi", "--scrub-interval=1"}); }
  static Value config_map(const std::string& name, const std::string& text) {
    return Value::object({{"metadata", Value::object({{"name", name}})}, {"data", Value::object({{"text", text}})}});
  }
  Answer create(const std::string& name, const std::string& text) const {
    return fleet_.api().post(kConfigMaps, config_map(name, text));
  }
  std::string history() const { return fleet_.api().get("/shiplog/v1/history?kind=configmap&name=a").body; }

  e2e::Fleet fleet_;
};

TEST_F(RunningScrub, ADamagedVersionIsRepaired) {
  ASSERT_EQ(create("a", "the first text").status, 201);
  ASSERT_EQ(fleet_.api().put(kConfigMaps + "/a", config_map("a", "the second text")).status, 200);
  ASSERT_NE(history().find("the first text"), std::string::npos) << "it is in the projection";
  must(must(store::open_writer(fleet_.path("plane/projection.db")))
           ->execute("UPDATE version SET json = replace(" + store::version_json("version") +
                     ", 'the first text', 'another text!!') WHERE " + store::version_json("version") +
                     " LIKE '%the first text%'"));
  EXPECT_TRUE(eventually([&] { return fleet_.log_tail("plane", 1 << 20).find("scrub.repaired") != std::string::npos; }))
      << fleet_.log_tail("plane");
  EXPECT_NE(fleet_.log_tail("plane", 1 << 20).find("scrub.row_damaged"), std::string::npos);
  EXPECT_NE(history().find("the first text"), std::string::npos) << history();
  EXPECT_EQ(history().find("another text!!"), std::string::npos);
  EXPECT_EQ(create("b", "writes go on").status, 201);
}

TEST_F(RunningScrub, ADamagedAuditTrailIsRepaired) {
  ASSERT_EQ(create("a", "the first text").status, 201);
  const std::string audit = "/shiplog/v1/audit?kind=configmap&name=a";
  const std::string before = fleet_.api().get(audit).body;
  ASSERT_NE(before.find("create"), std::string::npos) << before;
  must(must(store::open_writer(fleet_.path("plane/projection.db")))
           ->execute(
               "UPDATE entry SET verb = 'delete' WHERE path LIKE '%configmaps%'; UPDATE actor SET user = 'nobody'"));
  EXPECT_TRUE(eventually([&] { return fleet_.log_tail("plane", 1 << 20).find("scrub.repaired") != std::string::npos; }))
      << fleet_.log_tail("plane");
  EXPECT_TRUE(eventually([&] { return fleet_.api().get(audit).body == before; })) << fleet_.api().get(audit).body;
}

TEST_F(RunningScrub, ADamagedJournalIsNotAppendedTo) {
  ASSERT_EQ(create("a", "text to be damaged").status, 201);
  for (int i = 0; i < 20; ++i) ASSERT_EQ(create("b" + std::to_string(i), "more").status, 201);
  const std::string file = fleet_.path("plane/journal.db");
  fleet_.kill("plane");
  must(open_sqlite_journal(file)).reset();  // moves the write-ahead log into the file
  serve();
  ASSERT_TRUE(e2e::damage_record(file, "text to be damaged"));
  const ApiClient api = fleet_.api();
  EXPECT_TRUE(eventually([&] { return api.get("/readyz").status == 500; })) << fleet_.log_tail("plane");
  const std::string ready = api.get("/readyz").body;
  EXPECT_NE(ready.find("[-]journal-appends failed: "), std::string::npos) << ready;
  EXPECT_NE(ready.find("the record at offset "), std::string::npos) << ready;
  const Answer refused = create("c", "late");
  EXPECT_EQ(refused.status, 500) << refused;
  EXPECT_NE(refused.message().find("restore the journal from a backup"), std::string::npos) << refused;
  EXPECT_EQ(api.get(kConfigMaps + "/c").status, 404);
  EXPECT_EQ(api.get(kConfigMaps + "/a").status, 200) << "reads go on";
  EXPECT_EQ(api.get("/livez").status, 200) << "a restart would not help";
}

TEST_F(RunningScrub, ARateOfZeroReadsNothing) {
  fleet_.kill("plane");
  fleet_.serve("plane", {"--scrub-rate=0"});
  ASSERT_EQ(create("a", "the first text").status, 201);
  EXPECT_EQ(fleet_.api().get("/metrics", "*/*").body.find("shiplog_scrub_bytes_total"), std::string::npos);
}

}  // namespace
}  // namespace shiplog::crash
