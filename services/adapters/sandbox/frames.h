#pragma once

#include <string>

namespace shiplog::sandbox {

/// Messages between a process and its sandbox: a length of four bytes, little-endian, and that many bytes of JSON.
inline constexpr size_t kHeader = 4;
inline constexpr size_t kLongestFrame = size_t{64} << 20;

std::string header_of(size_t length);
size_t length_in(const char* header);

}  // namespace shiplog::sandbox
