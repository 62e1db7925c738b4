#pragma once

#include <string>

#include "tests/support/process.h"
#include "tests/support/test_directory.h"

namespace shiplog::guides {

/// A folder that looks like a clone with the programs built, and a shell in it (session.sh). Whatever a script starts
/// ends with it.
class Clone {
 public:
  Clone();
  std::string path(const std::string& name) const { return folder_.file(name); }
  /// Runs bash commands; the functions of session.sh are there.
  e2e::Ran run(const std::string& script);

 private:
  TestDirectory folder_{"guide"};
};

}  // namespace shiplog::guides
