#pragma once

#include <string>

#include "events/base/result.h"
#include "events/control.h"

namespace shiplog {

/// One option that decisions read, as the command line gives it: words between commas (--...-apis: semicolons); "" is a
/// list of none. Error: kInvalid, naming the option and the word that is wrong.
Result<OptionSetting> parse_fleet_option(const std::string& name, const std::string& text);

}  // namespace shiplog
