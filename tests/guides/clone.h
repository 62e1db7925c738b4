#pragma once

#include <string>

#include "tests/support/process.h"
#include "tests/support/test_directory.h"

namespace shiplog::guides {

/// A folder with the layout of a clone and the built programs, and a shell in it (session.sh). All processes that a
/// script starts end with it.
class Clone {
 public:
  Clone();
  std::string path(const std::string& name) const { return folder_.file(name); }
  /// Runs bash commands with the functions of session.sh.
  e2e::Ran run(const std::string& script);

 private:
  TestDirectory folder_{"guide"};
};

}  // namespace shiplog::guides
