#pragma once

#include <string>
#include <string_view>

namespace shiplog::codec {

/// The text with U+FFFD for every byte that belongs to no well-formed character.
std::string repaired(std::string_view text);

}  // namespace shiplog::codec
