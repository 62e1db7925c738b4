#pragma once

#include <string>
#include <string_view>

namespace shiplog {

/// ASCII only, whatever the locale: names of Kubernetes objects, HTTP headers and the like.
constexpr char lower_case(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

inline std::string lower_case(std::string_view text) {
  std::string lower{text};
  for (char& c : lower) c = lower_case(c);
  return lower;
}

}  // namespace shiplog
