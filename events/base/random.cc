#include "events/base/random.h"

#include <bit>

#include "events/base/check.h"

namespace shiplog {

SeededRandom::SeededRandom(uint64_t seed) {
  // splitmix64: seeds that are close to each other must not give sequences that are.
  for (uint64_t& word : state_) {
    seed += 0x9e3779b97f4a7c15;
    uint64_t mixed = (seed ^ (seed >> 30U)) * 0xbf58476d1ce4e5b9;
    mixed = (mixed ^ (mixed >> 27U)) * 0x94d049bb133111eb;
    word = mixed ^ (mixed >> 31U);
  }
}

uint64_t SeededRandom::next() {
  const uint64_t made = std::rotl(state_[1] * 5, 7) * 9;
  const uint64_t shifted = state_[1] << 17U;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= shifted;
  state_[3] = std::rotl(state_[3], 45);
  return made;
}

uint64_t random_below(Random& random, uint64_t bound) {
  SHIPLOG_CHECK(bound > 0, "a random number is drawn from a range that is not empty");
  // The lowest 2^64 mod bound numbers would be drawn once too often.
  const uint64_t surplus = (0 - bound) % bound;
  uint64_t drawn = random.next();
  while (drawn < surplus) drawn = random.next();
  return drawn % bound;
}

EntryId new_entry_id(Random& random) {
  EntryId id;
  while (id.empty()) {
    for (size_t i = 0; i < id.bytes.size(); i += 8) {
      const uint64_t word = random.next();
      for (size_t byte = 0; byte < 8; ++byte) id.bytes[i + byte] = static_cast<uint8_t>(word >> (8 * byte));
    }
  }
  return id;
}

}  // namespace shiplog
