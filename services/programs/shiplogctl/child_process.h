#pragma once

#include <optional>
#include <string>
#include <vector>

#include "events/base/result.h"

namespace shiplog::ctl {

struct ChildResult {
  int code = 0;     ///< exit code; 128 and the signal's number if one ended it
  std::string out;  ///< standard output, if it was captured
};

/// Runs a program (found on the PATH) and waits for it. Standard input is `input`, or ours; standard output is captured
/// or ours. Not both: a program that prints before it has read everything would wait forever. Errors: kNotFound, there
/// is no such program; kIo.
Result<ChildResult> run_child(const std::vector<std::string>& words, const std::optional<std::string>& input,
                              bool capture);

/// Replaces this process by a program. Returns only its failure: kNotFound, kIo.
Error become(const std::vector<std::string>& words);

}  // namespace shiplog::ctl
