#pragma once

#include <string>
#include <vector>

namespace shiplog {

/// A command line in which every word `--NAME=` before `--` is two: `--NAME` and an empty one. The parser takes the
/// following word for the value otherwise: `--cluster-context= --dry-run` would be a context of that name.
std::vector<std::string> with_empty_values(const std::vector<std::string>& words);

}  // namespace shiplog
