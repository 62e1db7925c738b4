#pragma once

#include "events/base/random.h"
#include "events/base/time.h"

namespace shiplog {

/// The machine's clock. Threads: any.
class SystemClock final : public Clock {
 public:
  UtcMillis now() const override;
};

/// The kernel's random numbers: fit for ids, tokens and keys. Threads: any.
class SystemRandom final : public Random {
 public:
  uint64_t next() override;
};

}  // namespace shiplog
