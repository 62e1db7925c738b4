#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "events/kinds/pattern.h"
#include "events/state/fleet_options.h"

namespace shiplog {

/// The regular expression is about all of the text. Users of this header link shiplog_kinds.
inline bool matches_whole(const std::string& expression, std::string_view text) {
  // Asked at every change of an object: "kube-.*" and plain names need no engine.
  std::string_view plain = expression;
  const bool open = plain.ends_with(".*");
  if (open) plain.remove_suffix(2);
  if (plain.find_first_of("\\^$.|?*+()[]{}") == std::string_view::npos) {
    return open ? text.starts_with(plain) : text == plain;
  }
  return pattern_matches("^(?:" + expression + ")$", text);
}

/// --skipped-propagating-namespaces (D-4, B-27); the empty name is that of objects without a namespace.
inline bool skips_namespace(const FleetOptions& options, std::string_view ns) {
  return std::ranges::any_of(options.skipped_namespaces,
                             [&](const std::string& expression) { return matches_whole(expression, ns); });
}

}  // namespace shiplog
