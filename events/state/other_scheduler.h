#pragma once

#include <string>
#include <string_view>

#include "events/base/value.h"

namespace shiplog {

/// A binding that names another scheduler than this control plane's (S-1), in words; empty: it is for this one's.
inline std::string other_scheduler_text(const Value& binding) {
  constexpr std::string_view kScheduler = "default-scheduler";
  const std::string_view name = binding["spec"]["schedulerName"].as_string();
  if (name.empty() || name == kScheduler) return "";
  return "it is for the scheduler \"" + std::string{name} +
         "\" (spec.schedulerName): this control plane places only what is for " + std::string{kScheduler};
}

}  // namespace shiplog
