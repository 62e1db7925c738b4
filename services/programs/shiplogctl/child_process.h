#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "events/base/result.h"

namespace shiplog::ctl {

struct ChildResult {
  int code = 0;     ///< exit code; 128 and the signal's number if one ended it
  std::string out;  ///< standard output, if it was captured
};

struct ChildSettings {
  std::optional<std::string> input = {};  ///< its standard input; nullopt: ours
  /// Its standard output is captured; else it is ours. Not with an input that is not empty: a program that prints
  /// before it has read everything would wait forever.
  bool capture = false;
  std::vector<std::pair<std::string, std::string>> env = {};  ///< instead of our variables of these names
};

/// Runs a program (found on the PATH) and waits for it. Errors: kNotFound, there is no such program; kIo.
Result<ChildResult> run_child(const std::vector<std::string>& words, const ChildSettings& settings);

/// Replaces this process by a program. Returns only its failure: kNotFound, kIo.
Error become(const std::vector<std::string>& words);

}  // namespace shiplog::ctl
