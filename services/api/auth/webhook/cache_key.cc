#include "services/api/auth/webhook/cache_key.h"

#include <array>
#include <cstdint>

#include <openssl/evp.h>

#include "events/base/check.h"

namespace shiplog::api {

CacheKeys::CacheKeys(Random& random) {
  for (int words = 0; words < 4; ++words) {
    const uint64_t word = random.next();
    for (int byte = 0; byte < 8; ++byte) salt_.push_back(static_cast<char>(word >> (8 * byte) & 0xFFU));
  }
}

std::string CacheKeys::key_of(std::string_view text) const {
  const std::string salted = salt_ + std::string{text};
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest = {};
  unsigned int length = 0;
  SHIPLOG_CHECK(::EVP_Digest(salted.data(), salted.size(), digest.data(), &length, ::EVP_sha256(), nullptr) == 1,
                "OpenSSL has SHA-256");
  return {reinterpret_cast<const char*>(digest.data()), length};
}

}  // namespace shiplog::api
