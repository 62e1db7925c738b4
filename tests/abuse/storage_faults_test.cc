// A disk that does not sync, a journal file that is removed, and the permissions of files.
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "tests/support/fleet.h"

namespace shiplog::e2e {
namespace {

const std::string kConfigMaps = "/api/v1/namespaces/default/configmaps";
const std::string kSecrets = "/api/v1/namespaces/default/secrets";
const std::string kPlain = "the-plain-text-of-a-secret";
const std::string kEncoded = "dGhlLXBsYWluLXRleHQtb2YtYS1zZWNyZXQ=";

Value config_map(const std::string& name) { return json(R"({"metadata":{"name":")" + name + R"("}})"); }

class StorageFaults : public ::testing::Test {
 protected:
  void start(bool faulty_disk) {
    if (faulty_disk) {
      ::setenv("LD_PRELOAD", FAULTY_DISK, 1);
      ::setenv("SHIPLOG_DISK_FAULT", fault().c_str(), 1);
    }
    fleet_.serve();
    ::unsetenv("LD_PRELOAD");
    ASSERT_TRUE(eventually([&] { return fleet_.api().get("/api/v1/namespaces/default").status == 200; }));
  }
  std::string fault() const { return fleet_.path("fault"); }
  Answer create(const std::string& name, const std::string& query = {}) {
    return fleet_.api().post(kConfigMaps + query, config_map(name));
  }
  bool exists(const std::string& name) { return fleet_.api().get(kConfigMaps + "/" + name).status == 200; }

  /// Files below a folder that are accessible to users other than their owner.
  static std::vector<std::string> open_to_others(const std::string& folder) {
    std::vector<std::string> found;
    for (const auto& file : std::filesystem::recursive_directory_iterator{folder}) {
      struct stat status = {};
      if (!file.is_regular_file() || ::lstat(file.path().c_str(), &status) != 0) continue;
      if ((status.st_mode & 077) != 0) found.push_back(file.path().string());
    }
    return found;
  }

  Fleet fleet_;
};

TEST_F(StorageFaults, AWriteThatCannotBeSyncedIsRefusedPermanently) {
  start(true);
  ASSERT_EQ(create("before").status, 201);
  write_file(fault(), "fail");
  for (int i = 0; i < 5; ++i) {
    const Answer refused = create("refused-" + std::to_string(i));
    EXPECT_EQ(refused.status, 500) << refused;
    EXPECT_NE(refused.message().find("nothing was stored: check the disk"), std::string::npos) << refused;
  }
  EXPECT_TRUE(exists("before")) << "reads continue";
  // Killed before any sync succeeds: refused writes must not reappear.
  fleet_.kill("plane");
  std::filesystem::remove(fault());
  start(true);
  EXPECT_TRUE(exists("before"));
  for (int i = 0; i < 5; ++i) EXPECT_FALSE(exists("refused-" + std::to_string(i)));
  // Once the disk works again, writes succeed without a restart.
  write_file(fault(), "fail");
  EXPECT_EQ(create("again").status, 500);
  std::filesystem::remove(fault());
  EXPECT_EQ(create("again").status, 201);
  expect_replay_equals(fleet_, fleet_.api(), "sqlite:" + fleet_.path("plane/journal.db"));
}

TEST_F(StorageFaults, AWriteToADiskThatHangsIsAnsweredWithinItsDeadline) {
  start(true);
  ASSERT_EQ(create("before").status, 201);
  write_file(fault(), "hang");
  const Answer late = create("late", "?timeout=1s");
  EXPECT_EQ(late.status, 504) << late;
  EXPECT_NE(late.message().find("may or may not be stored"), std::string::npos) << late;
  EXPECT_TRUE(exists("before")) << "reads continue";
  std::filesystem::remove(fault());
  EXPECT_TRUE(eventually([&] { return exists("late"); })) << "it was stored, once";
  EXPECT_EQ(create("after").status, 201);
}

TEST_F(StorageFaults, ARemovedJournalRefusesFurtherWrites) {
  start(false);
  ASSERT_EQ(create("before").status, 201);
  const std::string journal = fleet_.path("plane/journal.db");
  std::filesystem::rename(journal, journal + ".moved");
  const Answer removed = create("lost");
  EXPECT_EQ(removed.status, 500) << removed;
  EXPECT_NE(removed.message().find("journal.db was removed while this process was writing to it"), std::string::npos)
      << removed;
  EXPECT_TRUE(exists("before")) << "reads continue";
  std::filesystem::copy_file(journal + ".moved", journal);
  EXPECT_EQ(create("lost").status, 500);
  EXPECT_EQ(fleet_.api().get(kConfigMaps + "/before").status, 500) << "entries of the other file would not be read";
  std::filesystem::rename(journal + ".moved", journal);
  EXPECT_EQ(create("after").status, 201) << "the original file is back";
  EXPECT_FALSE(exists("lost"));
}

TEST_F(StorageFaults, FilesAreReadableByTheirOwnerOnly) {
  ::umask(0022);
  start(false);
  ASSERT_EQ(create("one").status, 201);
  EXPECT_EQ(open_to_others(fleet_.path("plane")), std::vector<std::string>{});
  // A file of an older build that is readable by all users is restricted at the next start.
  const std::string projection = fleet_.path("plane/projection.db");
  ASSERT_EQ(fleet_.process("plane").terminate(), 0);
  ASSERT_EQ(::chmod(projection.c_str(), 0644), 0);
  start(false);
  EXPECT_EQ(open_to_others(fleet_.path("plane")), std::vector<std::string>{});
}

TEST_F(StorageFaults, ATrialMemberKeepsNoSecretInClearText) {
  fleet_.member("m1");
  const ApiClient api = fleet_.api("m1");
  ASSERT_TRUE(eventually([&] { return api.get("/api/v1/namespaces/default").status == 200; }));
  const Answer made = api.post(kSecrets, json(R"({"metadata":{"name":"s"},"data":{"word":")" + kEncoded + R"("}})"));
  ASSERT_EQ(made.status, 201) << made;
  EXPECT_EQ(api.get(kSecrets + "/s").json["data"]["word"].str(), kEncoded);
  EXPECT_EQ(api.patch(kSecrets + "/s", "merge", json(R"({"metadata":{"labels":{"a":"b"}}})")).status, 200);
  EXPECT_EQ(api.get(kSecrets).json["items"][0]["data"]["word"].str(), kEncoded);
  for (const auto& file : std::filesystem::recursive_directory_iterator{fleet_.path("m1")}) {
    if (!file.is_regular_file()) continue;
    const std::string content = read_file(file.path().string());
    EXPECT_EQ(content.find(kEncoded), std::string::npos) << file.path();
    EXPECT_EQ(content.find(kPlain), std::string::npos) << file.path();
  }
  EXPECT_EQ(open_to_others(fleet_.path("m1")), std::vector<std::string>{});
  EXPECT_EQ(api.remove(kSecrets + "/s").status, 200);
  EXPECT_EQ(api.get(kSecrets + "/s").status, 404);
}

}  // namespace
}  // namespace shiplog::e2e
