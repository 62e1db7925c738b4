#include "tests/support/token_issuer.h"

#include <array>
#include <utility>
#include <vector>

#include <openssl/core_names.h>
#include <openssl/ecdsa.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>

#include "events/base/base64.h"
#include "events/base/check.h"
#include "events/base/json.h"

namespace shiplog::testing {
namespace {

const unsigned char* bytes_of(const std::string& text) { return reinterpret_cast<const unsigned char*>(text.data()); }

const EVP_MD* digest_of(const std::string& algorithm) {
  return algorithm.ends_with("512") ? ::EVP_sha512() : algorithm.ends_with("384") ? ::EVP_sha384() : ::EVP_sha256();
}

std::string parameter(EVP_PKEY* key, const char* name, size_t width) {
  BIGNUM* number = nullptr;
  SHIPLOG_CHECK(::EVP_PKEY_get_bn_param(key, name, &number) == 1, "the key has the parameter");
  std::vector<unsigned char> bytes(width == 0 ? static_cast<size_t>(BN_num_bytes(number)) : width);
  ::BN_bn2binpad(number, bytes.data(), static_cast<int>(bytes.size()));
  ::BN_free(number);
  return base64url_encode({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

std::string signed_part(const Value& header, const Value& claims) {
  return base64url_encode(to_json(header)) + "." + base64url_encode(to_json(claims));
}

}  // namespace

struct IssuerKey::Impl {
  std::string id, algorithm;
  EVP_PKEY* key = nullptr;

  bool is_ec() const { return algorithm.starts_with("ES"); }
  const char* curve() const { return algorithm == "ES256" ? "P-256" : algorithm == "ES384" ? "P-384" : "P-521"; }
  size_t half() const { return algorithm == "ES256" ? 32 : algorithm == "ES384" ? 48 : 66; }

  std::string sign(const std::string& text) const {
    EVP_MD_CTX* digest = ::EVP_MD_CTX_new();
    EVP_PKEY_CTX* context = nullptr;
    ::EVP_DigestSignInit(digest, &context, digest_of(algorithm), nullptr, key);
    if (algorithm.starts_with("PS")) {
      ::EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_PSS_PADDING);
      ::EVP_PKEY_CTX_set_rsa_pss_saltlen(context, RSA_PSS_SALTLEN_DIGEST);
    }
    std::vector<unsigned char> bytes(static_cast<size_t>(::EVP_PKEY_get_size(key)));
    size_t size = bytes.size();
    SHIPLOG_CHECK(::EVP_DigestSign(digest, bytes.data(), &size, bytes_of(text), text.size()) == 1, "it can be signed");
    ::EVP_MD_CTX_free(digest);
    if (!is_ec()) return {reinterpret_cast<const char*>(bytes.data()), size};
    const unsigned char* at = bytes.data();
    ECDSA_SIG* signature = ::d2i_ECDSA_SIG(nullptr, &at, static_cast<long>(size));
    std::vector<unsigned char> raw(2 * half());
    ::BN_bn2binpad(::ECDSA_SIG_get0_r(signature), raw.data(), static_cast<int>(half()));
    ::BN_bn2binpad(::ECDSA_SIG_get0_s(signature), raw.data() + half(), static_cast<int>(half()));
    ::ECDSA_SIG_free(signature);
    return {reinterpret_cast<const char*>(raw.data()), raw.size()};
  }
};

IssuerKey::IssuerKey(std::string id, std::string algorithm, int rsa_bits) : impl_{std::make_unique<Impl>()} {
  impl_->id = std::move(id);
  impl_->algorithm = std::move(algorithm);
  impl_->key = impl_->is_ec() ? ::EVP_PKEY_Q_keygen(nullptr, nullptr, "EC", impl_->curve())
                              : ::EVP_PKEY_Q_keygen(nullptr, nullptr, "RSA", static_cast<size_t>(rsa_bits));
  SHIPLOG_CHECK(impl_->key != nullptr, "OpenSSL makes a key");
}
IssuerKey::~IssuerKey() { ::EVP_PKEY_free(impl_->key); }

Value IssuerKey::jwk() const {
  Value jwk = Value::object({{"kid", impl_->id}, {"alg", impl_->algorithm}, {"use", "sig"}});
  if (impl_->is_ec()) {
    jwk.set("kty", "EC");
    jwk.set("crv", impl_->curve());
    jwk.set("x", parameter(impl_->key, OSSL_PKEY_PARAM_EC_PUB_X, impl_->half()));
    jwk.set("y", parameter(impl_->key, OSSL_PKEY_PARAM_EC_PUB_Y, impl_->half()));
  } else {
    jwk.set("kty", "RSA");
    jwk.set("n", parameter(impl_->key, OSSL_PKEY_PARAM_RSA_N, 0));
    jwk.set("e", parameter(impl_->key, OSSL_PKEY_PARAM_RSA_E, 0));
  }
  return jwk;
}

std::string IssuerKey::public_pem() const {
  BIO* bio = ::BIO_new(::BIO_s_mem());
  ::PEM_write_bio_PUBKEY(bio, impl_->key);
  char* text = nullptr;
  const long size = BIO_get_mem_data(bio, &text);
  std::string pem{text, static_cast<size_t>(size)};
  ::BIO_free(bio);
  return pem;
}

std::string IssuerKey::token(const Value& claims) const {
  return token(claims, Value::object({{"alg", impl_->algorithm}, {"kid", impl_->id}, {"typ", "JWT"}}));
}

std::string IssuerKey::token(const Value& claims, const Value& header) const {
  const std::string text = signed_part(header, claims);
  return text + "." + base64url_encode(impl_->sign(text));
}

std::string token_with(const Value& header, const Value& claims, const std::string& signature) {
  return signed_part(header, claims) + "." + base64url_encode(signature);
}

std::string token_with_secret(const Value& header, const Value& claims, const std::string& secret) {
  const std::string text = signed_part(header, claims);
  std::array<unsigned char, EVP_MAX_MD_SIZE> mac = {};
  unsigned int size = 0;
  ::HMAC(::EVP_sha256(), secret.data(), static_cast<int>(secret.size()), bytes_of(text), text.size(), mac.data(),
         &size);
  return text + "." + base64url_encode({reinterpret_cast<const char*>(mac.data()), size});
}

}  // namespace shiplog::testing
