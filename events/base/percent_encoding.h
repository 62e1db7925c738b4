#pragma once

#include <string>
#include <string_view>

namespace shiplog {

/// The text for a URL: letters, digits and the characters in `plain` stay, every other byte becomes "%2F" or the like.
std::string percent_encoded(std::string_view text, std::string_view plain);

}  // namespace shiplog
