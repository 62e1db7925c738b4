// A full disk and a read-only disk: the error names the cause, no acknowledged write is lost, and the process continues
// with free space.
#include <filesystem>

#include <gtest/gtest.h>

#include "tests/crash/control_plane.h"
#include "tests/crash/small_disk.h"

namespace shiplog::crash {
namespace {

using e2e::Answer;
using e2e::eventually;
using e2e::read_file;

class Disk : public ::testing::Test {
 protected:
  std::string folder(const std::string& name) { return plane_.fleet().path(name); }
  e2e::Process& process() { return plane_.fleet().process("plane"); }
  Answer create(const std::string& name) {
    return plane_.fleet().api().post(ClientWorkload::kConfigMaps,
                                     Value::object({{"metadata", Value::object({{"name", name}})},
                                                    {"data", Value::object({{"filler", std::string(30'000, 'x')}})}}));
  }

  /// Writes are refused and reads continue, or the process ends because its projection can no longer contain what it
  /// has acknowledged. In both cases it reports the cause.
  void expect_full_disk_is_reported(ClientWorkload& load) {
    EXPECT_TRUE(eventually([&] { return !load.last_server_error().empty() || !process().running(); }))
        << "the full disk is not reported";
    for (int number = 0; process().running() && number < 20; ++number) {
      const Answer refused = create("refused-" + std::to_string(number));
      // 503: it is about to end.
      EXPECT_TRUE(refused.status == 500 || refused.status == 503 || refused.status == 201 || refused.status == 0)
          << refused;
      const Answer read = plane_.fleet().api().get(ClientWorkload::kConfigMaps);
      EXPECT_TRUE(read.status == 200 || !process().running() || eventually([&] { return !process().running(); }))
          << "reads continue: " << read;
    }
    const std::string output =
        process().running() ? load.last_server_error() : plane_.fleet().log_tail("plane", size_t{1} << 20);
    EXPECT_NE(output.find("the disk is full: free some space"), std::string::npos) << output;
    if (!process().running()) {
      EXPECT_EQ(process().terminate(), 1);
    }
  }

  /// Fills the disk under load and frees it: checks the clients' responses, and that writes succeed again.
  void fill_and_free(SmallDisk& disk, bool survives) {
    ASSERT_TRUE(disk.mounted());
    plane_.start_all(nullptr);
    ClientWorkload load{seed_, 3};
    load.add_server("plane", std::make_shared<e2e::ApiClient>(plane_.fleet().kubeconfig("plane")));
    ASSERT_TRUE(load.wait_for(60));
    disk.fill();
    expect_full_disk_is_reported(load);
    EXPECT_TRUE(process().running() || !survives) << plane_.fleet().log_tail("plane");
    disk.free_space();
    if (!process().running()) plane_.start("plane", &load);
    EXPECT_TRUE(eventually([&] { return create("with-space").status == 201; })) << create("with-space");
    const size_t before = load.acknowledged();
    EXPECT_TRUE(eventually([&] { return load.acknowledged() > before + 20; }));
    const auto operations = load.finish();
    plane_.check(operations);
    // The same after a crash, from the files only.
    plane_.kill("plane", nullptr);
    plane_.start_all(nullptr);
    plane_.check(operations);
  }

  void expect_refusal_on_a_read_only_disk(SmallDisk& disk, const std::string& file) {
    ASSERT_TRUE(disk.mounted());
    plane_.start_all(nullptr);
    EXPECT_EQ(create("before").status, 201);
    EXPECT_EQ(process().terminate(), 0);
    disk.make_read_only(true);
    const size_t before = read_file(process().log()).size();
    plane_.start("plane", nullptr, false);
    EXPECT_TRUE(eventually([&] { return !process().running(); })) << "it runs on a read-only disk";
    const std::string output = read_file(folder("plane.log")).substr(before);
    EXPECT_NE(output.find(file), std::string::npos) << "which file? " << output;
    EXPECT_NE(output.find("ead-only"), std::string::npos) << output;
    EXPECT_EQ(process().terminate(), 1);
    disk.make_read_only(false);
    plane_.start_all(nullptr);
    EXPECT_EQ(create("after").status, 201);
    EXPECT_EQ(plane_.fleet().api().get(std::string{ClientWorkload::kConfigMaps} + "/before").status, 200);
  }

  const uint64_t seed_ = seed_or(6);
  const ::testing::ScopedTrace trace_{__FILE__, __LINE__, "SHIPLOG_CRASH_SEED=" + std::to_string(seed_)};
  CrashControlPlane plane_{embedded_journal(), CrashControlPlane::one_process(), {}};
};

TEST_F(Disk, OfTheJournalIsFull) {
  SmallDisk disk{{folder("shared")}, 32};
  fill_and_free(disk, true);
}

TEST_F(Disk, OfTheProjectionIsFull) {
  SmallDisk disk{{folder("plane")}, 32};
  fill_and_free(disk, false);
}

TEST_F(Disk, OfEverythingIsFull) {
  SmallDisk disk{{folder("plane"), folder("shared")}, 32};
  fill_and_free(disk, false);
}

TEST_F(Disk, OfTheJournalIsReadOnly) {
  SmallDisk disk{{folder("shared")}, 32};
  expect_refusal_on_a_read_only_disk(disk, folder("shared") + "/journal.db");
}

TEST_F(Disk, OfTheDataFolderIsReadOnly) {
  SmallDisk disk{{folder("plane")}, 32};
  expect_refusal_on_a_read_only_disk(disk, folder("plane") + "/lock");
}

TEST_F(Disk, IsTooFullToStart) {
  SmallDisk disk{{folder("plane"), folder("shared")}, 32};
  ASSERT_TRUE(disk.mounted());
  plane_.start_all(nullptr);
  EXPECT_EQ(create("before").status, 201);
  plane_.kill("plane", nullptr);
  disk.fill();
  const size_t before = read_file(folder("plane.log")).size();
  plane_.start("plane", nullptr, false);
  EXPECT_TRUE(
      eventually([&] { return !process().running() || !read_file(plane_.fleet().kubeconfig("plane")).empty(); }));
  if (!process().running()) {
    const std::string output = read_file(folder("plane.log")).substr(before);
    EXPECT_NE(output.find("disk is full"), std::string::npos) << output;
  }
  plane_.kill("plane", nullptr);
  disk.free_space();
  plane_.start_all(nullptr);
  EXPECT_EQ(create("after").status, 201);
  EXPECT_EQ(plane_.fleet().api().get(std::string{ClientWorkload::kConfigMaps} + "/before").status, 200);
}

}  // namespace
}  // namespace shiplog::crash
