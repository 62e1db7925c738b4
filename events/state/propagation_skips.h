#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "events/base/ascii.h"
#include "events/kinds/pattern.h"
#include "events/state/fleet_options.h"
#include "events/state/work.h"

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

/// Why a Namespace is not synchronized to members (B-27); empty: it is.
inline std::string not_synced_because(const FleetOptions& options, const Value& ns) {
  const auto name = ns["metadata"]["name"].as_string();
  if (reserved_namespace(name)) return "its name is reserved for the control plane";
  if (name == "default") return "every cluster has a namespace of this name";
  if (skips_namespace(options, name)) return "--skipped-propagating-namespaces leaves it out";
  constexpr const char* kSkip = "namespace.karmada.io/skip-auto-propagation";
  return lower_case(label_of(ns, kSkip)) == "true" ? std::string{"its label "} + kSkip + " is true" : std::string{};
}

}  // namespace shiplog
