#include "events/proof/sha256.h"

#include <algorithm>
#include <memory>

#include <openssl/evp.h>

#include "events/base/base64.h"
#include "events/base/check.h"
#include "events/base/freed.h"

namespace shiplog::proof {

Digest sha256(std::initializer_list<std::string_view> parts) {
  // Looked up once: finding the algorithm takes as long as hashing a small record.
  static const std::unique_ptr<EVP_MD, Freed<&::EVP_MD_free>> kSha256{::EVP_MD_fetch(nullptr, "SHA256", nullptr)};
  thread_local const std::unique_ptr<EVP_MD_CTX, Freed<&::EVP_MD_CTX_free>> context{::EVP_MD_CTX_new()};
  Digest digest{};
  bool done = kSha256 && context && ::EVP_DigestInit_ex2(context.get(), kSha256.get(), nullptr) == 1;
  for (const std::string_view part : parts) {
    done = done && ::EVP_DigestUpdate(context.get(), part.data(), part.size()) == 1;
  }
  done = done && ::EVP_DigestFinal_ex(context.get(), digest.data(), nullptr) == 1;
  SHIPLOG_CHECK(done, "the cryptographic library computes SHA-256");
  return digest;
}

std::string_view bytes_of(const Digest& digest) {
  return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

std::optional<Digest> digest_from(std::string_view bytes) {
  Digest digest{};
  if (bytes.size() != digest.size()) return std::nullopt;
  std::ranges::copy(bytes, digest.begin());
  return digest;
}

std::string to_base64(const Digest& digest) { return base64_encode(bytes_of(digest)); }

std::optional<Digest> digest_from_base64(std::string_view text) {
  const auto bytes = base64_decode(text);
  if (!bytes || base64_encode(*bytes) != text) return std::nullopt;
  return digest_from(*bytes);
}

}  // namespace shiplog::proof
