#include "services/adapters/vault/cipher.h"

#include <memory>

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>

#include "events/base/check.h"
#include "events/base/freed.h"

namespace shiplog::vault {
namespace {

constexpr size_t kTagBytes = 16;

using Cipher = std::unique_ptr<EVP_CIPHER_CTX, Freed<&EVP_CIPHER_CTX_free>>;

}  // namespace

std::string random_bytes(size_t size) {
  std::string bytes(size, '\0');
  SHIPLOG_CHECK(RAND_bytes(reinterpret_cast<unsigned char*>(bytes.data()), static_cast<int>(size)) == 1,
                "the operating system has random bytes");
  return bytes;
}

Key random_key() {
  const std::string bytes = random_bytes(kKeyBytes);
  Key key{};
  std::copy(bytes.begin(), bytes.end(), key.begin());
  return key;
}

std::string hmac(const Key& key, std::string_view message) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), reinterpret_cast<const unsigned char*>(message.data()),
       message.size(), digest.data(), &size);
  return {digest.begin(), digest.begin() + size};
}

std::string encrypt(const Key& key, std::string_view nonce, std::string_view plain) {
  const Cipher cipher{EVP_CIPHER_CTX_new()};
  std::string out{nonce};
  out.resize(kNonceBytes + plain.size() + kTagBytes);
  auto* at = reinterpret_cast<unsigned char*>(out.data()) + kNonceBytes;
  int size = 0;
  EVP_EncryptInit_ex(cipher.get(), EVP_aes_256_gcm(), nullptr, key.data(),
                     reinterpret_cast<const unsigned char*>(nonce.data()));
  EVP_EncryptUpdate(cipher.get(), at, &size, reinterpret_cast<const unsigned char*>(plain.data()),
                    static_cast<int>(plain.size()));
  EVP_EncryptFinal_ex(cipher.get(), at + size, &size);
  EVP_CIPHER_CTX_ctrl(cipher.get(), EVP_CTRL_GCM_GET_TAG, kTagBytes, at + plain.size());
  return out;
}

std::optional<std::string> decrypt(const Key& key, std::string_view sealed) {
  if (sealed.size() < kNonceBytes + kTagBytes) return std::nullopt;
  const size_t size = sealed.size() - kNonceBytes - kTagBytes;
  std::string plain(size, '\0');
  std::string tag{sealed.substr(kNonceBytes + size)};
  const Cipher cipher{EVP_CIPHER_CTX_new()};
  int written = 0;
  EVP_DecryptInit_ex(cipher.get(), EVP_aes_256_gcm(), nullptr, key.data(),
                     reinterpret_cast<const unsigned char*>(sealed.data()));
  EVP_DecryptUpdate(cipher.get(), reinterpret_cast<unsigned char*>(plain.data()), &written,
                    reinterpret_cast<const unsigned char*>(sealed.data()) + kNonceBytes, static_cast<int>(size));
  EVP_CIPHER_CTX_ctrl(cipher.get(), EVP_CTRL_GCM_SET_TAG, kTagBytes, tag.data());
  int rest = 0;
  if (EVP_DecryptFinal_ex(cipher.get(), reinterpret_cast<unsigned char*>(plain.data()) + written, &rest) != 1) {
    return std::nullopt;
  }
  return plain;
}

}  // namespace shiplog::vault
