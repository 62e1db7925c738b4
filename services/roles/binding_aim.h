#pragma once

#include <algorithm>
#include <string>

#include "events/base/value.h"

namespace shiplog {

/// A binding, by its spec, has a Work in this cluster (B-5): its own clusters, and those of what depends on it.
inline bool aims_at(const Value& spec, std::string_view cluster) {
  const auto names = [&](const Value& targets) {
    return std::ranges::any_of(targets.items(),
                               [&](const Value& target) { return target["name"].as_string() == cluster; });
  };
  return names(spec["clusters"]) || std::ranges::any_of(spec["requiredBy"].items(), [&](const Value& required) {
           return names(required["clusters"]);
         });
}

}  // namespace shiplog
