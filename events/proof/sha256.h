#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

namespace shiplog::proof {

/// A SHA-256.
using Digest = std::array<unsigned char, 32>;

/// Of the parts, one after the other.
Digest sha256(std::initializer_list<std::string_view> parts);

/// The 32 bytes.
std::string_view bytes_of(const Digest& digest);
/// nullopt: these are not 32 bytes.
std::optional<Digest> digest_from(std::string_view bytes);

/// Standard base64 with padding, as checkpoints and proofs write a hash.
std::string to_base64(const Digest& digest);
/// nullopt: not the base64 of 32 bytes, or another spelling of it.
std::optional<Digest> digest_from_base64(std::string_view text);

}  // namespace shiplog::proof
