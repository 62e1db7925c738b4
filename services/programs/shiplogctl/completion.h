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

/// The values an option can have, where they are known beforehand.
using OptionValues = std::map<const CLI::Option*, std::vector<std::string>>;

/// The script that a shell sources: "bash", "zsh" or "fish". Error: kBadRequest, another shell.
Result<std::string> completion_script(const std::string& shell);

/// Prints what the last of `words` can become, one candidate a line, a tab and what it is behind it where that is
/// known; then a line ":N" as programs built with Cobra do, which kubectl reads from its plugins: 2, no space behind
/// it; 4, no file names. Names of objects come from the control plane; when it does not answer within 3 s there are
/// none.
void complete(const CLI::App& app, const OptionValues& values, Access access, std::vector<std::string> words,
              std::ostream& out);

}  // namespace shiplog::ctl
