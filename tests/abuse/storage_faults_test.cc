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

/// The end of a log that is as short as log_tail's default may hold nothing but the release of leases.
std::string whole_log(const Fleet& fleet) { return fleet.log_tail("plane", size_t{1} << 22); }

class StorageFaults : public ::testing::Test {
 protected:
  void start(bool faulty_disk, std::vector<std::string> options = {}) {
    if (faulty_disk) {
      ::setenv("LD_PRELOAD", FAULTY_DISK, 1);
      ::setenv("SHIPLOG_DISK_FAULT", fault().c_str(), 1);
    }
    fleet_.serve("plane", std::move(options));
    ::unsetenv("LD_PRELOAD");
    ASSERT_TRUE(eventually([&] { return fleet_.api().get("/api/v1/namespaces/default").status == 200; }));
  }
  std::string fault() const { return fleet_.path("fault"); }
  Answer create(const std::string& name, const std::string& query = {}) {
    return fleet_.api().post(kConfigMaps + query, config_map(name));
  }
  /// "write EIO projection.db": see faulty_disk.cc.
  void break_disk(const std::string& what) const { write_file(fault(), what); }
  void mend_disk() const { std::filesystem::remove(fault()); }
  bool logged(const std::string& text) const {
    return eventually([&] { return whole_log(fleet_).find(text) != std::string::npos; });
  }
  /// Killed, so that nothing is written at the end, and started on a disk without faults.
  void restart() {
    fleet_.kill("plane");
    mend_disk();
    start(false);
  }
  Answer create_secret(const std::string& name) {
    return fleet_.api().post(kSecrets,
                             json(R"({"metadata":{"name":")" + name + R"("},"data":{"a":")" + kEncoded + R"("}})"));
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

TEST_F(StorageFaults, AJournalThatCannotBeWrittenRefusesWritesUntilItCan) {
  start(true);
  ASSERT_EQ(create("before").status, 201);
  for (const std::string error : {"EIO", "ENOSPC"}) {
    SCOPED_TRACE(error);
    const std::string suffix = error == "EIO" ? "-a" : "-b";
    break_disk("write " + error + " /journal.db-wal");
    const Answer refused = create("refused" + suffix);
    EXPECT_TRUE(refused.status == 500 || refused.status == 503) << refused;
    EXPECT_NE(refused.message().find("journal.db"), std::string::npos) << refused;
    EXPECT_TRUE(exists("before")) << "reads continue";
    mend_disk();
    EXPECT_EQ(create("after" + suffix).status, 201) << "without a restart";
  }
  restart();
  EXPECT_TRUE(exists("before") && exists("after-a") && exists("after-b"));
  EXPECT_FALSE(exists("refused-a") || exists("refused-b"));
}

TEST_F(StorageFaults, AHeadMarkThatCannotBeWrittenIsReportedAndDelaysNothing) {
  start(true);
  break_disk("write EIO /journal.db-head");
  ASSERT_EQ(create("one").status, 201) << "it is in the journal";
  ASSERT_EQ(create("two").status, 201);
  EXPECT_TRUE(logged("journal.head_mark_failed")) << fleet_.log_tail("plane");
  const std::string log = whole_log(fleet_);
  EXPECT_EQ(log.find("journal.head_mark_failed"), log.rfind("journal.head_mark_failed"))
      << "once, until it works again";
  restart();
  EXPECT_TRUE(exists("one") && exists("two"));
}

TEST_F(StorageFaults, AProjectionThatCannotBeWrittenEndsTheProcessAndLosesNothing) {
  std::vector<std::string> accepted;
  for (const std::string error : {"EIO", "ENOSPC"}) {
    SCOPED_TRACE(error);
    const std::string suffix = error == "EIO" ? "-a" : "-b";
    start(true);
    ASSERT_EQ(create("before" + suffix).status, 201);
    break_disk("write " + error + " /projection.db-wal");
    accepted.push_back("before" + suffix);
    // What was accepted before is still being written: the process may end before it accepts another one.
    if (create("cut-off" + suffix).status == 201) accepted.push_back("cut-off" + suffix);
    EXPECT_TRUE(eventually([&] { return !fleet_.process("plane").running(); })) << fleet_.log_tail("plane");
    EXPECT_EQ(fleet_.process("plane").terminate(), 1);
    EXPECT_TRUE(logged("projection.failed"));
    mend_disk();
  }
  start(false);
  for (const std::string& name : accepted) EXPECT_TRUE(exists(name)) << name << ": the journal had stored it";
}

TEST_F(StorageFaults, AProjectionThatCannotBeSyncedIsAsGoodAsItsJournal) {
  start(true);
  break_disk("sync EIO /projection.db");
  // More than its write-ahead log holds before it is copied into the file, which is when it is synced.
  const std::string text(200'000, 'x');
  for (int i = 0; i < 60; ++i) {
    const Answer created = fleet_.api().post(kConfigMaps, json(R"({"metadata":{"name":"c)" + std::to_string(i) +
                                                               R"("},"data":{"text":")" + text + R"("}})"));
    ASSERT_EQ(created.status, 201) << created;
  }
  fleet_.process("plane").terminate();  // syncs once more, in vain
  mend_disk();
  start(false);
  for (int i = 0; i < 60; ++i) EXPECT_TRUE(exists("c" + std::to_string(i)));
  expect_replay_equals(fleet_, fleet_.api(), "sqlite:" + fleet_.path("plane/journal.db"));
}

TEST_F(StorageFaults, ASnapshotThatCannotBeWrittenOrSyncedIsReportedAndNotLeftBehind) {
  const auto snapshots = [&] {
    std::vector<std::string> found;
    std::error_code none;
    for (const auto& file : std::filesystem::directory_iterator{fleet_.path("plane/snapshots"), none}) {
      if (file.path().extension() == ".db") found.push_back(file.path().filename());
    }
    return found;
  };
  start(true, {"--snapshot-every=20"});
  size_t failures = 0;
  int next = 0;
  for (const char* fault : {"write ENOSPC /snapshots/", "sync EIO /snapshots", "rename EIO /snapshots/"}) {
    SCOPED_TRACE(fault);
    const auto before = snapshots();
    break_disk(fault);
    const auto count = [&] {
      const std::string log = whole_log(fleet_);
      size_t found = 0;
      for (size_t at = log.find("snapshot.failed"); at != std::string::npos; at = log.find("snapshot.failed", at + 1))
        ++found;
      return found;
    };
    EXPECT_TRUE(eventually([&] { return create("c" + std::to_string(next++)).status == 201 && count() > failures; }))
        << fleet_.log_tail("plane");
    failures = count();
    mend_disk();
  }
  EXPECT_TRUE(eventually([&] { return create("c" + std::to_string(next++)).status == 201 && !snapshots().empty(); }));
}

TEST_F(StorageFaults, ASnapshotStoreThatCannotBeWrittenIsReportedAndWritesContinue) {
  // Broken before the start, which itself appends enough for a first snapshot.
  break_disk("write ENOSPC " + fleet_.path("store"));
  start(true, {"--snapshot-every=20", "--snapshot-store=file://" + fleet_.path("store")});
  int next = 0;
  EXPECT_TRUE(eventually([&] {
    return create("c" + std::to_string(next++)).status == 201 &&
           whole_log(fleet_).find("snapshot.store_failed") != std::string::npos;
  })) << fleet_.log_tail("plane");
  EXPECT_FALSE(std::filesystem::exists(fleet_.path("store/journal/manifest.json")));
  mend_disk();
  EXPECT_TRUE(eventually([&] {
    return create("c" + std::to_string(next++)).status == 201 &&
           std::filesystem::exists(fleet_.path("store/journal/manifest.json"));
  }));
}

TEST_F(StorageFaults, ASecretWhoseKeyCannotBeStoredIsRefused) {
  start(true);
  ASSERT_EQ(create_secret("before").status, 201);
  int number = 0;
  for (const char* fault : {"write EIO /keys.db", "write ENOSPC /keys.db", "sync EIO /keys.db"}) {
    SCOPED_TRACE(fault);
    break_disk(fault);
    const std::string name = "s" + std::to_string(number++);
    const Answer refused = create_secret(name);
    EXPECT_TRUE(refused.status == 500 || refused.status == 503) << refused;
    EXPECT_NE(refused.message().find("keys.db"), std::string::npos) << refused;
    EXPECT_EQ(create("no-secret-" + name).status, 201) << "what needs no key";
    EXPECT_EQ(fleet_.api().get(kSecrets + "/before").status, 200);
    mend_disk();
    EXPECT_EQ(create_secret("after-" + name).status, 201) << "without a restart";
  }
  restart();
  for (const char* name : {"before", "after-s0", "after-s1", "after-s2"}) {
    EXPECT_NE(fleet_.api().get(kSecrets + "/" + name).body.find(kEncoded), std::string::npos) << name;
  }
  EXPECT_EQ(fleet_.api().get(kSecrets + "/s2").status, 404);
}

// Files that are made at the first start: it fails with the name and the cause, and nothing incomplete remains.
TEST_F(StorageFaults, AFirstStartThatCannotWriteAFileNamesItAndCanBeRepeated) {
  struct Case {
    const char *fault, *file;
  };
  for (const Case& example :
       {Case{"write ENOSPC /fleet.key", "fleet.key"}, Case{"sync EIO /fleet.key", "fleet.key"},
        Case{"write EIO /pki/", "pki/"}, Case{"rename EIO /pki/", "pki/"}, Case{"open EIO plane/lock", "plane/lock"},
        Case{"write ENOSPC kubeconfig", "kubeconfig"}}) {
    SCOPED_TRACE(example.fault);
    Fleet fleet;
    const std::string trouble = fleet.path("fault");
    write_file(trouble, example.fault);
    ::setenv("LD_PRELOAD", FAULTY_DISK, 1);
    ::setenv("SHIPLOG_DISK_FAULT", trouble.c_str(), 1);
    fleet.serve("plane", {}, false);
    ::unsetenv("LD_PRELOAD");
    EXPECT_TRUE(eventually([&] { return !fleet.process("plane").running(); })) << fleet.log_tail("plane");
    EXPECT_EQ(fleet.process("plane").terminate(), 1);
    const std::string log = whole_log(fleet);
    EXPECT_NE(log.find(example.file), std::string::npos) << log;
    EXPECT_TRUE(log.find("No space left") != std::string::npos || log.find("Input/output") != std::string::npos) << log;
    std::filesystem::remove(trouble);
    fleet.serve();
    EXPECT_EQ(fleet.api().post(kConfigMaps, config_map("a")).status, 201);
  }
}

TEST_F(StorageFaults, LeasesThatCannotBeWrittenAreNoReasonToStop) {
  start(true);
  break_disk("write EIO /leases/");
  for (int i = 0; i < 5; ++i) EXPECT_EQ(create("c" + std::to_string(i)).status, 201);
  EXPECT_EQ(fleet_.api().get("/readyz").status, 200);
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
