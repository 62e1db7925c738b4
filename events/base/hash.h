#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

namespace shiplog {

/// 128 bits. Adding is commutative, so the hash of a set is the sum of its members' hashes and is kept up to date in
/// constant time per change.
struct Hash128 {
  uint64_t lo = 0;
  uint64_t hi = 0;
  auto operator<=>(const Hash128&) const = default;
  Hash128& operator+=(const Hash128& other);
  Hash128& operator-=(const Hash128& other);
};

/// SipHash-2-4 with 128-bit output under a fixed key: the same on every machine and every build. Tells accidental
/// difference, not forgery. Source: Aumasson and Bernstein, "SipHash: a fast short-input PRF".
Hash128 siphash128(std::string_view bytes);

/// FNV-1a, 32 bits: what Karmada's names are made with (N-4).
uint32_t fnv1a32(std::string_view bytes);

/// 32 lower-case hexadecimal digits, high half first.
std::string to_string(const Hash128& hash);

}  // namespace shiplog
