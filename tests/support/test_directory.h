#pragma once

#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <string>

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

namespace shiplog {

/// A new directory for a test, removed with all that is in it. It stays, and the test prints its path, when it has
/// failed or SHIPLOG_KEEP is set.
class TestDirectory {
 public:
  explicit TestDirectory(const std::string& what = "test", const std::string& parent = ::testing::TempDir()) {
    std::string name = (std::filesystem::path{parent} / ("shiplog-" + what + "-XXXXXX")).string();
    if (::mkdtemp(name.data()) == nullptr) {
      std::cerr << "no temporary directory " << name << ": set TEST_TMPDIR to a directory that exists\n";
      std::abort();
    }
    path_ = name;
  }
  ~TestDirectory() {
    // Outside of a test, as where a program's tests share something, any of them counts.
    const auto* tests = ::testing::UnitTest::GetInstance();
    const bool failed = tests->current_test_info() == nullptr ? tests->Failed() : ::testing::Test::HasFailure();
    if (failed || std::getenv("SHIPLOG_KEEP") != nullptr) {
      std::cerr << "kept: " << path_ << "\n";
      return;
    }
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TestDirectory(const TestDirectory&) = delete;
  TestDirectory& operator=(const TestDirectory&) = delete;

  /// Where an fsync costs nothing, if there is such a place: for tests that open hundreds of files.
  static std::string in_memory() { return ::access("/dev/shm", W_OK) == 0 ? "/dev/shm" : ::testing::TempDir(); }

  const std::string& path() const { return path_; }
  std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

}  // namespace shiplog
