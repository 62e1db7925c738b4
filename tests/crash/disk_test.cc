// A disk that is full, and one that cannot be written: said clearly, nothing acknowledged is lost, and with room again
// it goes on.
#include <filesystem>

#include <gtest/gtest.h>

#include "tests/crash/plane.h"
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
  Answer write_one(const std::string& name) {
    return plane_.fleet().api().post(Workload::kConfigMaps,
                                     Value::object({{"metadata", Value::object({{"name", name}})},
                                                    {"data", Value::object({{"filler", std::string(30'000, 'x')}})}}));
  }

  /// Writes are refused, reads go on; or the process ends, as it must when what it serves can no longer follow what it
  /// has acknowledged. Whichever comes first, it says why.
  void expect_the_full_disk_is_named(Workload& load) {
    EXPECT_TRUE(eventually([&] { return !load.last_server_error().empty() || !process().running(); }))
        << "a full disk is noticed by nobody";
    for (int number = 0; process().running() && number < 20; ++number) {
      const Answer refused = write_one("refused-" + std::to_string(number));
      EXPECT_TRUE(refused.status == 500 || refused.status == 201 || refused.status == 0) << refused;
      const Answer read = plane_.fleet().api().get(Workload::kConfigMaps);
      EXPECT_TRUE(read.status == 200 || !process().running() || eventually([&] { return !process().running(); }))
          << "reads go on: " << read;
    }
    const std::string said =
        process().running() ? load.last_server_error() : plane_.fleet().log_tail("plane", size_t{1} << 20);
    EXPECT_NE(said.find("the disk is full: free some space"), std::string::npos) << said;
    if (!process().running()) {
      EXPECT_EQ(process().terminate(), 1);
    }
  }

  /// Fills the disk under load; what clients see, and that it goes on once there is room.
  void fill_and_free(SmallDisk& disk, bool goes_on) {
    ASSERT_TRUE(disk.mounted());
    plane_.start_all(nullptr);
    Workload load{seed_, 3};
    load.add_server("plane", std::make_shared<e2e::ApiClient>(plane_.fleet().kubeconfig("plane")));
    ASSERT_TRUE(load.wait_for(60));
    disk.fill();
    expect_the_full_disk_is_named(load);
    EXPECT_TRUE(process().running() || !goes_on) << plane_.fleet().log_tail("plane");
    disk.free_space();
    if (!process().running()) plane_.start("plane", &load);
    EXPECT_TRUE(eventually([&] { return write_one("with-room").status == 201; })) << write_one("with-room");
    const size_t before = load.acknowledged();
    EXPECT_TRUE(eventually([&] { return load.acknowledged() > before + 20; }));
    const auto operations = load.finish();
    plane_.check(operations);
    // And after a crash, which has only the files.
    plane_.kill("plane", nullptr);
    plane_.start_all(nullptr);
    plane_.check(operations);
  }

  void expect_refusal_on_a_read_only_disk(SmallDisk& disk, const std::string& file) {
    ASSERT_TRUE(disk.mounted());
    plane_.start_all(nullptr);
    EXPECT_EQ(write_one("before").status, 201);
    EXPECT_EQ(process().terminate(), 0);
    disk.make_read_only(true);
    const size_t before = read_file(process().log()).size();
    plane_.start("plane", nullptr, false);
    EXPECT_TRUE(eventually([&] { return !process().running(); })) << "it runs on a disk it cannot write";
    const std::string said = read_file(folder("plane.log")).substr(before);
    EXPECT_NE(said.find(file), std::string::npos) << "which file? " << said;
    EXPECT_NE(said.find("ead-only"), std::string::npos) << said;
    EXPECT_EQ(process().terminate(), 1);
    disk.make_read_only(false);
    plane_.start_all(nullptr);
    EXPECT_EQ(write_one("after").status, 201);
    EXPECT_EQ(plane_.fleet().api().get(std::string{Workload::kConfigMaps} + "/before").status, 200);
  }

  const uint64_t seed_ = seed_or(6);
  const ::testing::ScopedTrace trace_{__FILE__, __LINE__, "SHIPLOG_CRASH_SEED=" + std::to_string(seed_)};
  Plane plane_{embedded_journal(), Plane::one_process(), {}};
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
  EXPECT_EQ(write_one("before").status, 201);
  plane_.kill("plane", nullptr);
  disk.fill();
  const size_t before = read_file(folder("plane.log")).size();
  plane_.start("plane", nullptr, false);
  EXPECT_TRUE(
      eventually([&] { return !process().running() || !read_file(plane_.fleet().kubeconfig("plane")).empty(); }));
  if (!process().running()) {
    const std::string said = read_file(folder("plane.log")).substr(before);
    EXPECT_NE(said.find("disk is full"), std::string::npos) << said;
  }
  plane_.kill("plane", nullptr);
  disk.free_space();
  plane_.start_all(nullptr);
  EXPECT_EQ(write_one("after").status, 201);
  EXPECT_EQ(plane_.fleet().api().get(std::string{Workload::kConfigMaps} + "/before").status, 200);
}

}  // namespace
}  // namespace shiplog::crash
