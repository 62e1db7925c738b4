#pragma once

#include "events/state/work.h"

namespace shiplog {

/// Condition of a Work whose object is changed in the member again and again by others: it is restored more and more
/// rarely while that lasts.
inline constexpr const char* kRevertsLimited = "RevertsLimited";

inline bool reverts_limited(const Value& work) {
  return condition_of(work, kRevertsLimited)["status"].as_string() == "True";
}

}  // namespace shiplog
