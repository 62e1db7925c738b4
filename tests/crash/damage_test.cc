// Damaged journal files with the real program: it refuses to start, reports the file and what is missing, and works
// again once the files are restored.
#include <filesystem>

#include <gtest/gtest.h>

#include "tests/crash/control_plane.h"

namespace shiplog::crash {
namespace {

namespace fs = std::filesystem;
using e2e::eventually;
using e2e::read_file;
using e2e::write_file;

constexpr size_t kFrame = 4096 + 24;

class Damage : public ::testing::Test {
 protected:
  /// A control plane that was killed with acknowledged writes in its write-ahead log only.
  void SetUp() override {
    plane_.start_all(nullptr);
    ClientWorkload load{seed_, 2};
    load.add_server("plane", std::make_shared<e2e::ApiClient>(plane_.fleet().kubeconfig("plane")));
    EXPECT_TRUE(load.wait_for(150));
    operations_ = load.finish();
    // The projection has all of them once it is read.
    EXPECT_EQ(e2e::ApiClient{plane_.fleet().kubeconfig("plane")}.get(ClientWorkload::kConfigMaps).status, 200);
    plane_.kill("plane", nullptr);
    ASSERT_GT(fs::file_size(journal_ + "-wal"), 50 * kFrame);
    fs::copy(shared_, plane_.fleet().path("backup"), fs::copy_options::recursive);
  }

  /// Restores the files as they were when the process was killed.
  void restore() {
    for (const char* suffix : {"", "-wal", "-shm", "-head"}) {
      fs::remove(journal_ + suffix);
      const std::string backup = plane_.fleet().path("backup/journal.db") + suffix;
      if (fs::exists(backup)) fs::copy(backup, journal_ + suffix);
    }
  }
  void cut(const std::string& suffix, size_t bytes) {
    fs::resize_file(journal_ + suffix, fs::file_size(journal_ + suffix) - bytes);
    fs::remove(journal_ + "-shm");
  }
  void remove_projection() {
    for (const auto& file : fs::directory_iterator{plane_.fleet().path("plane")}) {
      const std::string name = file.path().filename().string();
      if (name.find("projection") != std::string::npos || name == "snapshots") fs::remove_all(file.path());
    }
  }

  void expect_refusal(const std::vector<std::string>& parts) {
    const size_t before = read_file(plane_.fleet().path("plane.log")).size();
    plane_.start("plane", nullptr, false);
    EXPECT_TRUE(eventually([&] { return !plane_.fleet().process("plane").running(); })) << "it runs with damaged files";
    const std::string output = read_file(plane_.fleet().path("plane.log")).substr(before);
    for (const std::string& part : parts) EXPECT_NE(output.find(part), std::string::npos) << part << " in: " << output;
    EXPECT_FALSE(fs::exists(plane_.fleet().kubeconfig("plane"))) << "it served requests before it detected the damage";
    plane_.kill("plane", nullptr);
  }

  void expect_recovery_after_restore() {
    restore();
    plane_.start_all(nullptr);
    plane_.check(operations_);
    plane_.kill("plane", nullptr);
  }

  const uint64_t seed_ = seed_or(5);
  const ::testing::ScopedTrace trace_{__FILE__, __LINE__, "SHIPLOG_CRASH_SEED=" + std::to_string(seed_)};
  // Without roles that append entries on their own: the journal ends with the clients' writes.
  CrashControlPlane plane_{embedded_journal(), {{"plane", "api,lifecycle"}}, {}};
  const std::string shared_ = plane_.fleet().path("shared");
  const std::string journal_ = shared_ + "/journal.db";
  std::vector<Operation> operations_;
};

TEST_F(Damage, AJournalThatLacksAcknowledgedEntriesIsRefusedAtTheStart) {
  for (const size_t bytes : {size_t{1}, kFrame, 7 * kFrame + 100, 40 * kFrame}) {
    cut("-wal", bytes);
    expect_refusal({journal_, "shorter than what was acknowledged", "are missing", journal_ + "-head"});
    restore();
  }
  fs::remove(journal_ + "-wal");
  expect_refusal({journal_, "shorter than what was acknowledged", "are missing"});
  restore();
  remove_projection();  // only the head file records the acknowledged offset
  cut("-wal", kFrame);
  expect_refusal({journal_, "shorter than what was acknowledged", "are missing"});
  expect_recovery_after_restore();
}

TEST_F(Damage, WithoutTheHeadFileTheProjectionDetectsTheLoss) {
  fs::remove(journal_ + "-head");
  cut("-wal", 3 * kFrame);
  expect_refusal({journal_, "shorter than what this process has folded", "are missing", "--data-dir"});
  expect_recovery_after_restore();
}

TEST_F(Damage, ReplacedEntriesAreDetectedByAProcessThatHasFoldedTheLostOnes) {
  fs::remove(journal_ + "-head");
  cut("-wal", 3 * kFrame);
  // Another process without a projection continues with the remaining entries.
  plane_.fleet().serve("other", {"--roles=api,lifecycle", "--journal=" + plane_.journal().address()});
  const e2e::ApiClient other = plane_.fleet().api("other");
  for (int number = 0; number < 60; ++number) {
    const e2e::Answer made =
        other.post(ClientWorkload::kConfigMaps,
                   Value::object({{"metadata", Value::object({{"name", "x" + std::to_string(number)}})}}));
    ASSERT_EQ(made.status, 201) << made;
  }
  plane_.fleet().kill("other");
  expect_refusal({journal_, "others written in their place", "--data-dir"});
}

TEST_F(Damage, OtherDamageIsReportedToo) {
  // In the middle of the write-ahead log: SQLite would silently stop there.
  std::string wal = read_file(journal_ + "-wal");
  wal[wal.size() / 2] = static_cast<char>(wal[wal.size() / 2] ^ 1);
  write_file(journal_ + "-wal", wal);
  fs::remove(journal_ + "-shm");
  expect_refusal({journal_ + "-wal", "damaged in frame"});
  restore();
  write_file(journal_, "");
  fs::remove(journal_ + "-wal");
  expect_refusal({journal_, "the file is empty"});
  restore();
  fs::remove(journal_);
  expect_refusal({journal_, "are missing"});
  restore();
  write_file(journal_, "some other content, long enough for a header: " + std::string(5000, '.'));
  fs::remove(journal_ + "-wal");
  expect_refusal({journal_, "not a SQLite file"});
  restore();
  const std::string projection = plane_.fleet().path("plane/projection.db");
  fs::rename(projection, projection + ".aside");
  fs::create_directory(projection);
  expect_refusal({projection, "Is a directory"});
  fs::remove(projection);
  fs::rename(projection + ".aside", projection);
  expect_recovery_after_restore();
}

}  // namespace
}  // namespace shiplog::crash
