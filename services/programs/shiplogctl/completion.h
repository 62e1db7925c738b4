#pragma once

#include <iosfwd>
#include <map>
#include <string>
#include <vector>

#include "events/base/result.h"
#include "services/programs/shiplogctl/access.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace shiplog::ctl {

/// The possible values of options, where known in advance.
using OptionValues = std::map<const CLI::Option*, std::vector<std::string>>;

/// The script that a shell sources: "bash", "zsh" or "fish". Error: kBadRequest, another shell.
Result<std::string> completion_script(const std::string& shell);

/// Prints the completions of the last of `words`, one candidate per line, followed by a tab and its description if
/// there is one; then a line ":N" as programs built with Cobra do, which kubectl reads from its plugins: 2, no space
/// after the candidate; 4, no file names. Names of objects are read from the control plane; if it does not answer
/// within 3 s there are none.
void complete(const CLI::App& app, const OptionValues& values, AccessOptions access, std::vector<std::string> words,
              std::ostream& out);

}  // namespace shiplog::ctl
