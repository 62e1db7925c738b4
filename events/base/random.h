#pragma once

#include <array>
#include <cstdint>

#include "events/base/ids.h"

namespace shiplog {

/// Source of random values. Only effects hold one; a decide function is passed the values.
class Random {
 public:
  virtual ~Random() = default;
  /// 64 uniformly distributed bits.
  virtual uint64_t next() = 0;
};

/// The same numbers for the same seed, on every machine: for simulation and tests. Source: Blackman and Vigna,
/// xoshiro256**, seeded by splitmix64. Threads: one.
class SeededRandom final : public Random {
 public:
  explicit SeededRandom(uint64_t seed);
  uint64_t next() override;

 private:
  std::array<uint64_t, 4> state_;
};

/// Uniform in [0, bound). `bound` must be positive.
uint64_t random_below(Random& random, uint64_t bound);

/// 128 random bits; never the empty id.
EntryId new_entry_id(Random& random);

}  // namespace shiplog
