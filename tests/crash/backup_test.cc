// Backups of a fleet that is being written to, restored: what was acknowledged before the backup is served again.
#include <atomic>
#include <filesystem>
#include <thread>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "tests/support/fleet.h"

namespace shiplog::crash {
namespace {

using e2e::Ran;

const std::string kConfigMaps = "/api/v1/namespaces/default/configmaps";

class BackedUpFleet : public ::testing::Test {
 protected:
  static Value config_map(const std::string& name, int number) {
    return Value::object(
        {{"metadata", Value::object({{"name", name}})}, {"data", Value::object({{"number", std::to_string(number)}})}});
  }
  Ran backup(const std::string& to) {
    return fleet_.shiplogctl({"backup", "--data-dir=" + fleet_.path("plane"), "--to=" + fleet_.path(to)});
  }
  Ran restore(const std::string& from, const std::string& to, std::vector<std::string> more = {}) {
    std::vector<std::string> words{"restore", "--from=" + fleet_.path(from), "--to-data-dir=" + fleet_.path(to)};
    words.insert(words.end(), more.begin(), more.end());
    return fleet_.shiplogctl(std::move(words));
  }
  std::string word(const std::string& process) {
    return fleet_.kubectl({"get", "secret", "password", "-o", "jsonpath={.data.word}"}, {}, process).out;
  }
  e2e::Fleet fleet_;
};

TEST_F(BackedUpFleet, ServesWhatWasAcknowledgedBeforeTheBackup) {
  fleet_.serve("plane", {"--roles=api", "--snapshot-every=200"});
  fleet_.kubectl_ok({"create", "secret", "generic", "password", "--from-literal=word=hunter2"});
  std::atomic<int> acknowledged{0};
  std::atomic<bool> stop{false};
  std::thread writer{[&] {
    const e2e::ApiClient api = fleet_.api();
    for (int number = 0; !stop; ++number) {
      if (api.post(kConfigMaps, config_map("c" + std::to_string(number), number)).status == 201) ++acknowledged;
    }
  }};
  EXPECT_TRUE(e2e::eventually([&] { return acknowledged > 400; }));
  const int before = acknowledged;
  const Ran made = backup("backup");
  EXPECT_GT(acknowledged, before) << "writes go on during a backup";
  stop = true;
  writer.join();
  ASSERT_TRUE(made.ok()) << made;
  EXPECT_TRUE(made.says("snapshot of revision")) << made;
  struct stat status = {};
  ASSERT_EQ(::stat(fleet_.path("backup/fleet.key").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0600U);
  EXPECT_FALSE(std::filesystem::exists(fleet_.path("backup/journal.db-wal")));
  fleet_.kill("plane");

  const Ran done = restore("backup", "restored");
  ASSERT_TRUE(done.ok()) << done;
  EXPECT_TRUE(done.says("as in the manifest")) << done;
  fleet_.serve("restored", {"--roles=api"});
  EXPECT_NE(fleet_.log_tail("restored", 1 << 20).find("snapshot.restored"), std::string::npos);
  EXPECT_EQ(word("restored"), "aHVudGVyMg==");
  const auto found = fleet_.api("restored").get(kConfigMaps).json["items"].items().size();
  EXPECT_GE(found, static_cast<size_t>(before));
  EXPECT_EQ(fleet_.api("restored").post(kConfigMaps, config_map("later", 1)).status, 201);
  EXPECT_EQ(restore("backup", "restored").code, 1) << "a target that is not empty";
}

TEST_F(BackedUpFleet, IsRestoredAsOfARevision) {
  fleet_.serve("plane", {"--roles=api"});
  fleet_.kubectl_ok({"create", "secret", "generic", "password", "--from-literal=word=hunter2"});
  const e2e::ApiClient api = fleet_.api();
  ASSERT_EQ(api.post(kConfigMaps, config_map("kept", 1)).status, 201);
  const std::string revision = api.get(kConfigMaps + "/kept").json["metadata"]["resourceVersion"].str();
  ASSERT_EQ(api.post(kConfigMaps, config_map("unwanted", 2)).status, 201);
  ASSERT_EQ(api.remove(kConfigMaps + "/kept").status, 200);
  ASSERT_TRUE(backup("backup").ok());
  const Ran done = restore("backup", "restored", {"--to-revision=" + revision});
  ASSERT_TRUE(done.ok()) << done;
  EXPECT_TRUE(done.says("restored revision " + revision + " of")) << done;
  fleet_.serve("restored", {"--roles=api"});
  EXPECT_EQ(fleet_.api("restored").get(kConfigMaps + "/kept").status, 200);
  EXPECT_EQ(fleet_.api("restored").get(kConfigMaps + "/unwanted").status, 404);
  EXPECT_EQ(word("restored"), "aHVudGVyMg==");
  const Ran beyond = restore("backup", "beyond", {"--to-revision=1000000"});
  EXPECT_EQ(beyond.code, 1);
  EXPECT_TRUE(beyond.says("does not have revision 1000000")) << beyond;
  EXPECT_FALSE(std::filesystem::exists(fleet_.path("beyond")));
  EXPECT_FALSE(std::filesystem::exists(fleet_.path("beyond.restoring"))) << "it would have a copy of fleet.key";
  for (const char* moment : {"--to-time=2001-01-01T00:00:00Z", "--to-revision=0"}) {
    const Ran empty = restore("backup", "empty", {moment});
    EXPECT_EQ(empty.code, 1) << moment;
    EXPECT_TRUE(empty.says("nothing of the backup is as old as that")) << empty;
    EXPECT_FALSE(std::filesystem::exists(fleet_.path("empty"))) << moment;
  }
}

TEST_F(BackedUpFleet, IsNotRestoredFromADamagedBackup) {
  fleet_.serve("plane", {"--roles=api"});
  ASSERT_TRUE(backup("backup").ok());
  EXPECT_EQ(backup("backup").code, 1) << "the target is not empty";
  std::string bytes = e2e::read_file(fleet_.path("backup/journal.db"));
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
  e2e::write_file(fleet_.path("backup/journal.db"), bytes);
  const Ran damaged = restore("backup", "restored");
  EXPECT_EQ(damaged.code, 1);
  EXPECT_TRUE(damaged.says("backup/journal.db is damaged")) << damaged;
  EXPECT_FALSE(std::filesystem::exists(fleet_.path("restored")));
  std::filesystem::remove(fleet_.path("backup/manifest.json"));
  EXPECT_TRUE(restore("backup", "restored").says("no backup, or one that was interrupted"));
}

}  // namespace
}  // namespace shiplog::crash
