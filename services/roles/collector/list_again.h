#pragma once

#include <cstdint>
#include <string_view>

#include "events/base/hash.h"
#include "events/base/time.h"

namespace shiplog::collector {

/// After how long everything is listed once more, against mistakes of the member's. `what` is listed: a member, or a
/// type in it. Not all of them at the same time.
inline Millis list_again_after(std::string_view what) {
  constexpr Millis kAtLeast{1'800'000};
  constexpr uint64_t kSpread = 600'000;
  return {kAtLeast.value + static_cast<int64_t>(siphash128(what).lo % kSpread)};
}

}  // namespace shiplog::collector
