#include "services/api/auditing/rotating_file.h"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <vector>

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "services/http/private_file.h"

namespace shiplog::api {
namespace {

namespace fs = std::filesystem;

class SetClock final : public Clock {
 public:
  UtcMillis now() const override { return at; }
  UtcMillis at{1'795'529'107'123};  // 2026-11-24T14:05:07.123Z
};

class RotatingFileTest : public ::testing::Test {
 protected:
  RotatingFileTest() {
    std::string name = fs::temp_directory_path() / "rotating-XXXXXX";
    folder_ = ::mkdtemp(name.data());
  }
  ~RotatingFileTest() override { fs::remove_all(folder_); }

  RotatingFile::Options options() const {
    RotatingFile::Options options;
    options.path = folder_ / "audit.log";
    options.most_bytes = 100;
    options.clock = &clock_;
    return options;
  }
  std::unique_ptr<RotatingFile> open(const RotatingFile::Options& options) {
    auto file = RotatingFile::open(options);
    EXPECT_TRUE(file) << file.error().message;
    return std::move(file).value();
  }
  std::string text(const std::string& name = "audit.log") const { return read_file(folder_ / name).value(); }
  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator{folder_}) names.push_back(entry.path().filename());
    std::ranges::sort(names);
    return names;
  }

  fs::path folder_;
  SetClock clock_;
};

using Names = std::vector<std::string>;

TEST_F(RotatingFileTest, RotatesBeforeItIsTooLongUnderLumberjacksNames) {
  auto file = open(options());
  const std::string line = std::string(59, 'a') + "\n";
  ASSERT_TRUE(file->append(line));
  EXPECT_EQ(names(), (Names{"audit.log"}));
  ASSERT_TRUE(file->append(line));
  EXPECT_EQ(names(), (Names{"audit-2026-11-24T14-05-07.123.log", "audit.log"}));
  EXPECT_EQ(text(), line);
  ASSERT_TRUE(file->append(line));  // in the same millisecond: the older one stays
  EXPECT_EQ(names(), (Names{"audit-2026-11-24T14-05-07.123.log", "audit-2026-11-24T14-05-07.124.log", "audit.log"}));
  struct stat about = {};
  ASSERT_EQ(::stat((folder_ / "audit.log").c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 0777U, 0600U);
}

TEST_F(RotatingFileTest, ContinuesTheFileThatIsThere) {
  ASSERT_TRUE(open(options())->append(std::string(59, 'a') + "\n"));
  ASSERT_TRUE(open(options())->append(std::string(59, 'b') + "\n"));
  EXPECT_EQ(names().size(), 2U);
  EXPECT_EQ(text(), std::string(59, 'b') + "\n");
}

TEST_F(RotatingFileTest, ALineLongerThanAFileIsWrittenAllTheSame) {
  auto file = open(options());
  ASSERT_TRUE(file->append(std::string(1000, 'a') + "\n"));
  ASSERT_TRUE(file->append("b\n"));
  EXPECT_EQ(text(), "b\n");
  EXPECT_EQ(names().size(), 2U);
}

TEST_F(RotatingFileTest, DeletesByNumberAndAgeAndLeavesWhatIsNotItsOwn) {
  RotatingFile::Options few = options();
  few.most_backups = 2;
  few.most_days = 7;
  std::ofstream{folder_ / "audit-2026-01-01T00-00-00.000.log"} << "old";
  std::ofstream{folder_ / "audit-2026-01-01T00-00-00.000.log.gz"} << "old";
  std::ofstream{folder_ / "audit-notes.log"} << "of an administrator";
  std::ofstream{folder_ / "other-2026-01-01T00-00-00.000.log"} << "of another program";
  open(few).reset();
  EXPECT_EQ(names(), (Names{"audit-notes.log", "audit.log", "other-2026-01-01T00-00-00.000.log"}));
  for (int i = 0; i < 5; ++i) {
    auto file = open(few);
    ASSERT_TRUE(file->append(std::string(90, 'a') + "\n"));
    clock_.at.value += 1000;
  }
  open(few).reset();
  EXPECT_EQ(names(), (Names{"audit-2026-11-24T14-05-10.123.log", "audit-2026-11-24T14-05-11.123.log", "audit-notes.log",
                            "audit.log", "other-2026-01-01T00-00-00.000.log"}));
}

TEST_F(RotatingFileTest, CompressesWhatIsRotated) {
  RotatingFile::Options compressed = options();
  compressed.compress = true;
  compressed.most_bytes = 6 * 1024 * 1024;
  std::string lines;
  for (int i = 0; lines.size() < 5 * 1024 * 1024; ++i) lines += "line " + std::to_string(i) + "\n";
  {
    auto file = open(compressed);
    ASSERT_TRUE(file->append(lines));
    ASSERT_TRUE(file->append(lines));
  }
  const std::string packed = "audit-2026-11-24T14-05-07.123.log.gz";
  EXPECT_EQ(names(), (Names{packed, "audit.log"}));
  ASSERT_EQ(std::system(("gunzip -c " + (folder_ / packed).string() + " > " + (folder_ / "plain").string()).c_str()),
            0);
  EXPECT_EQ(text("plain"), lines);
}

TEST_F(RotatingFileTest, AFullDiskIsAnError) {
  RotatingFile::Options full = options();
  full.path = "/dev/full";
  auto file = open(full);
  const auto appended = file->append("a\n");
  ASSERT_FALSE(appended);
  EXPECT_EQ(appended.error().message, "/dev/full: cannot be written: No space left on device");
}

// The limit of a process's files behaves as a disk that has room for half a line.
TEST_F(RotatingFileTest, AFailedAppendLeavesNoPartOfItself) {
  RotatingFile::Options large = options();
  large.most_bytes = 1 << 20;
  auto file = open(large);
  ASSERT_TRUE(file->append("first\n"));
  struct rlimit before = {};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  struct rlimit limit = before;
  limit.rlim_cur = 50;
  ::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
  const auto appended = file->append(std::string(100, 'a') + "\n");
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  EXPECT_FALSE(appended);
  EXPECT_EQ(text(), "first\n");
  ASSERT_TRUE(file->append("second\n"));
  EXPECT_EQ(text(), "first\nsecond\n");
}

TEST_F(RotatingFileTest, MakesTheFolderAsKubeApiserverDoes) {
  RotatingFile::Options deep = options();
  deep.path = folder_ / "log" / "shiplog" / "audit.log";
  ASSERT_TRUE(open(deep)->append("a\n"));
  EXPECT_EQ(text("log/shiplog/audit.log"), "a\n");
}

TEST_F(RotatingFileTest, AFolderThatCannotBeMadeIsAnError) {
  std::ofstream{folder_ / "log"} << "a file";
  RotatingFile::Options below = options();
  below.path = folder_ / "log" / "shiplog" / "audit.log";
  const auto file = RotatingFile::open(below);
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().message,
            below.path + ": its folder cannot be made: " + (folder_ / "log/shiplog").string() + ": Not a directory");
}

}  // namespace
}  // namespace shiplog::api
