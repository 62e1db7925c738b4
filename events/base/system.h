#pragma once

#include "events/base/random.h"
#include "events/base/time.h"

namespace shiplog {

/// The time of this process: that of the machine's clock, but when the machine's clock is set, it follows slowly
/// (PacedTime). Threads: any.
class SystemClock final : public Clock {
 public:
  UtcMillis now() const override;
  /// How far it is behind the machine's clock; negative: ahead of it.
  Millis behind() const;
};

/// The kernel's random numbers: fit for ids, tokens and keys. Threads: any.
class SystemRandom final : public Random {
 public:
  uint64_t next() override;
};

}  // namespace shiplog
