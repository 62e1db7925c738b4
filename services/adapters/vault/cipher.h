#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace shiplog::vault {

inline constexpr size_t kKeyBytes = 32;
inline constexpr size_t kNonceBytes = 12;

using Key = std::array<unsigned char, kKeyBytes>;

/// From the operating system's source of random bytes.
Key random_key();
std::string random_bytes(size_t size);

/// HMAC-SHA-256.
std::string hmac(const Key& key, std::string_view message);

/// AES-256-GCM: nonce, ciphertext, tag.
std::string encrypt(const Key& key, std::string_view nonce, std::string_view plain);
/// nullopt: it is not what encrypt() made with this key.
std::optional<std::string> decrypt(const Key& key, std::string_view sealed);

}  // namespace shiplog::vault
