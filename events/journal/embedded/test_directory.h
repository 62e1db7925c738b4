#pragma once

#include <filesystem>
#include <string>

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

namespace shiplog {

/// A new directory, removed with all that is in it.
class TestDirectory {
 public:
  explicit TestDirectory(const std::string& parent = testing::TempDir()) {
    std::string name = parent + "/shiplog-journal-XXXXXX";
    EXPECT_NE(::mkdtemp(name.data()), nullptr);
    path_ = name;
  }
  ~TestDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TestDirectory(const TestDirectory&) = delete;
  TestDirectory& operator=(const TestDirectory&) = delete;

  /// Where an fsync costs nothing, if there is such a place: for tests that open hundreds of files.
  static std::string in_memory() { return ::access("/dev/shm", W_OK) == 0 ? "/dev/shm" : testing::TempDir(); }

  const std::string& path() const { return path_; }
  std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

}  // namespace shiplog
