#pragma once

#include <string>
#include <vector>

namespace shiplog {

/// What the parser says of an option, without the largest number there is as the end of a range.
std::string readable_option_error(const std::string& message);

/// Of a command line that the parser refused: that its first word is none of these commands; empty: it is one, or an
/// option, or there is none.
std::string unknown_command(const std::vector<std::string>& words, const std::vector<std::string>& commands);

}  // namespace shiplog
