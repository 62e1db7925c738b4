#pragma once

#include <cstddef>
#include <string_view>

namespace shiplog {

/// The two parts of an object's apiVersion; views into its text.
struct GroupVersion {
  std::string_view group;  ///< empty: the core group
  std::string_view version;
  bool operator==(const GroupVersion&) const = default;
};

/// "apps/v1" or, of the core group, "v1".
constexpr GroupVersion split_api_version(std::string_view api_version) {
  const size_t slash = api_version.find('/');
  if (slash == std::string_view::npos) return {"", api_version};
  return {api_version.substr(0, slash), api_version.substr(slash + 1)};
}

}  // namespace shiplog
