#pragma once

#include <string>
#include <string_view>

namespace shiplog {

/// A name as one segment of a URL's path: what RFC 3986 does not allow there is escaped, so that a name with ? or #, as
/// a Role may have, neither ends the path nor the request line.
inline std::string path_segment(std::string_view name) {
  constexpr std::string_view kPlain = "-._~!$&'()*+,;=:@";
  constexpr char kHex[] = "0123456789ABCDEF";
  std::string segment;
  segment.reserve(name.size());
  for (const char c : name) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (letter || kPlain.find(c) != std::string_view::npos) {
      segment += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    segment += '%';
    segment += kHex[byte >> 4U];
    segment += kHex[byte & 0xFU];
  }
  return segment;
}

}  // namespace shiplog
