#pragma once

#include <filesystem>
#include <string>

#include <gtest/gtest.h>
#include <stdlib.h>

namespace shiplog {

/// A new directory, removed with all that is in it.
class TestDirectory {
 public:
  TestDirectory() {
    std::string name = testing::TempDir() + "shiplog-journal-XXXXXX";
    EXPECT_NE(::mkdtemp(name.data()), nullptr);
    path_ = name;
  }
  ~TestDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TestDirectory(const TestDirectory&) = delete;
  TestDirectory& operator=(const TestDirectory&) = delete;

  const std::string& path() const { return path_; }
  std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

}  // namespace shiplog
