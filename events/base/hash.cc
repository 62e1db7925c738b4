#include "events/base/hash.h"

#include <bit>
#include <cstddef>
#include <cstring>

namespace shiplog {
namespace {

__extension__ using Unsigned128 = unsigned __int128;

Unsigned128 wide(const Hash128& hash) { return (static_cast<Unsigned128>(hash.hi) << 64U) | hash.lo; }
Hash128 narrow(Unsigned128 value) { return {static_cast<uint64_t>(value), static_cast<uint64_t>(value >> 64U)}; }

// Eight bytes, least significant first whatever the machine's own order. Compilers make one load of it when they see
// the count.
uint64_t little_endian64(const char* bytes) {
  if constexpr (std::endian::native == std::endian::little) {
    uint64_t word = 0;
    std::memcpy(&word, bytes, sizeof word);
    return word;
  }
  uint64_t word = 0;
  for (size_t i = 0; i < sizeof word; ++i) {
    word |= static_cast<uint64_t>(static_cast<unsigned char>(bytes[i])) << (8 * i);
  }
  return word;
}

struct SipState {
  uint64_t v0, v1, v2, v3;

  template <int kCount>
  void rounds() {
    for (int i = 0; i < kCount; ++i) {
      v0 += v1;
      v1 = std::rotl(v1, 13) ^ v0;
      v0 = std::rotl(v0, 32);
      v2 += v3;
      v3 = std::rotl(v3, 16) ^ v2;
      v0 += v3;
      v3 = std::rotl(v3, 21) ^ v0;
      v2 += v1;
      v1 = std::rotl(v1, 17) ^ v2;
      v2 = std::rotl(v2, 32);
    }
  }
  void absorb(uint64_t word) {
    v3 ^= word;
    rounds<2>();
    v0 ^= word;
  }
  uint64_t digest() const { return v0 ^ v1 ^ v2 ^ v3; }
};

}  // namespace

Hash128& Hash128::operator+=(const Hash128& other) { return *this = narrow(wide(*this) + wide(other)); }
Hash128& Hash128::operator-=(const Hash128& other) { return *this = narrow(wide(*this) - wide(other)); }

Hash128 siphash128(std::string_view bytes) {
  // The key of the reference vectors, bytes 00 to 0f. It guards nothing here and must never change.
  constexpr uint64_t kKey0 = 0x0706050403020100;
  constexpr uint64_t kKey1 = 0x0f0e0d0c0b0a0908;
  SipState state{kKey0 ^ 0x736f6d6570736575, kKey1 ^ 0x646f72616e646f6d ^ 0xee, kKey0 ^ 0x6c7967656e657261,
                 kKey1 ^ 0x7465646279746573};
  const size_t whole = bytes.size() / 8 * 8;
  for (size_t at = 0; at < whole; at += 8) state.absorb(little_endian64(bytes.data() + at));
  char rest[8] = {};
  if (bytes.size() > whole) std::memcpy(rest, bytes.data() + whole, bytes.size() - whole);
  state.absorb(static_cast<uint64_t>(bytes.size()) << 56U | little_endian64(rest));
  Hash128 hash;
  state.v2 ^= 0xee;
  state.rounds<4>();
  hash.lo = state.digest();
  state.v1 ^= 0xdd;
  state.rounds<4>();
  hash.hi = state.digest();
  return hash;
}

uint32_t fnv1a32(std::string_view bytes) {
  uint32_t hash = 2166136261;
  for (const char c : bytes) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619;
  return hash;
}

std::string to_string(const Hash128& hash) {
  constexpr std::string_view kHex = "0123456789abcdef";
  constexpr size_t kDigits = 16;  // of a half
  std::string text(2 * kDigits, '0');
  for (size_t digit = 0; digit < kDigits; ++digit) {
    const auto shift = static_cast<unsigned>(4 * (kDigits - 1 - digit));
    text[digit] = kHex[hash.hi >> shift & 15U];
    text[kDigits + digit] = kHex[hash.lo >> shift & 15U];
  }
  return text;
}

}  // namespace shiplog
