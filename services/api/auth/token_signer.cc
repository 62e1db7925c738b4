#include "services/api/auth/token_signer.h"

#include <array>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include <openssl/core_names.h>
#include <openssl/ecdsa.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/x509.h>

#include "events/base/base64.h"
#include "events/base/freed.h"
#include "events/base/hash.h"
#include "events/base/json.h"
#include "services/http/x509.h"

namespace shiplog::api {
namespace {

constexpr size_t kMostRemembered = 1024;
constexpr size_t kHalf = 32;  // bytes of r and of s, and of each coordinate

using Digest = std::unique_ptr<EVP_MD_CTX, Freed<&::EVP_MD_CTX_free>>;
using Signature = std::unique_ptr<ECDSA_SIG, Freed<&::ECDSA_SIG_free>>;
using Number = std::unique_ptr<BIGNUM, Freed<&::BN_free>>;

const unsigned char* bytes_of(std::string_view text) { return reinterpret_cast<const unsigned char*>(text.data()); }

Error unauthorized(const char* why) { return {ErrorCode::kUnauthorized, why}; }

std::string number_bytes(const BIGNUM* number) {
  std::array<unsigned char, kHalf> bytes = {};
  ::BN_bn2binpad(number, bytes.data(), kHalf);
  return {bytes.begin(), bytes.end()};
}

std::string coordinate(const EVP_PKEY* key, const char* name) {
  BIGNUM* number = nullptr;
  ::EVP_PKEY_get_bn_param(key, name, &number);
  const Number held{number};
  return number == nullptr ? "" : number_bytes(number);
}

/// Names the public key: the SHA-256 of its DER form.
std::string key_id(EVP_PKEY* key) {
  unsigned char* der = nullptr;
  const int size = ::i2d_PUBKEY(key, &der);
  if (size <= 0) return "";
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest = {};
  unsigned int length = 0;
  ::EVP_Digest(der, static_cast<size_t>(size), digest.data(), &length, ::EVP_sha256(), nullptr);
  ::OPENSSL_free(der);
  return base64url_encode({reinterpret_cast<const char*>(digest.data()), length});
}

}  // namespace

struct TokenSigner::Impl {
  x509::PrivateKey key;
  std::string id;
  std::string header;  // encoded: the same for every token
  std::mutex mutex;
  std::map<Hash128, std::pair<std::string, Value>> genuine;  // tokens that were checked, and their claims
};

TokenSigner::TokenSigner(std::unique_ptr<Impl> impl) : impl_{std::move(impl)} {}
TokenSigner::~TokenSigner() = default;

Result<std::unique_ptr<TokenSigner>> TokenSigner::from_key(const std::string& key_pem) {
  auto impl = std::make_unique<Impl>();
  impl->key = x509::read_private_key(key_pem);
  std::array<char, 64> curve = {};
  size_t length = 0;
  if (!impl->key || ::EVP_PKEY_get_base_id(impl->key.get()) != EVP_PKEY_EC ||
      ::EVP_PKEY_get_group_name(impl->key.get(), curve.data(), curve.size(), &length) != 1 ||
      std::string_view(curve.data(), length) != "prime256v1") {
    return Error{ErrorCode::kBadRequest, "the key for tokens is no private key on the curve P-256 in PEM form"};
  }
  impl->id = key_id(impl->key.get());
  impl->header = base64url_encode(to_json(Value::object({{"alg", "ES256"}, {"kid", impl->id}, {"typ", "JWT"}})));
  return std::unique_ptr<TokenSigner>{new TokenSigner{std::move(impl)}};
}

Result<std::string> TokenSigner::sign(const Value& claims) const {
  std::string token = impl_->header + "." + base64url_encode(to_json(claims));
  const Digest digest{::EVP_MD_CTX_new()};
  std::vector<unsigned char> der(static_cast<size_t>(::EVP_PKEY_get_size(impl_->key.get())));
  size_t size = der.size();
  if (::EVP_DigestSignInit(digest.get(), nullptr, ::EVP_sha256(), nullptr, impl_->key.get()) != 1 ||
      ::EVP_DigestSign(digest.get(), der.data(), &size, bytes_of(token), token.size()) != 1) {
    ::ERR_clear_error();
    return Error{ErrorCode::kInternal, "OpenSSL could not sign a token"};
  }
  const unsigned char* at = der.data();
  const Signature signature{::d2i_ECDSA_SIG(nullptr, &at, static_cast<long>(size))};
  const std::string raw =
      number_bytes(::ECDSA_SIG_get0_r(signature.get())) + number_bytes(::ECDSA_SIG_get0_s(signature.get()));
  return token + "." + base64url_encode(raw);
}

Result<Value> TokenSigner::verify(std::string_view token) const {
  // Programs show the same token with every request; a genuine signature stays genuine.
  const Hash128 digest_of_token = siphash128(token);
  {
    const std::lock_guard lock{impl_->mutex};
    const auto known = impl_->genuine.find(digest_of_token);
    if (known != impl_->genuine.end() && known->second.first == token) return known->second.second;
  }
  SHIPLOG_TRY(Value claims, check(token));
  const std::lock_guard lock{impl_->mutex};
  if (impl_->genuine.size() >= kMostRemembered) impl_->genuine.clear();
  impl_->genuine.insert_or_assign(digest_of_token, std::pair{std::string{token}, claims});
  return claims;
}

Result<Value> TokenSigner::check(std::string_view token) const {
  const size_t first = token.find('.');
  const size_t second = first == std::string_view::npos ? first : token.find('.', first + 1);
  if (second == std::string_view::npos || token.find('.', second + 1) != std::string_view::npos) {
    return unauthorized("the token is no JSON web token");
  }
  const auto header_text = base64url_decode(token.substr(0, first));
  const auto claims_text = base64url_decode(token.substr(first + 1, second - first - 1));
  const auto raw = base64url_decode(token.substr(second + 1));
  if (!header_text || !claims_text || !raw) return unauthorized("the token is no JSON web token");
  const auto header = parse_json(*header_text);
  // Only our own algorithm: the sender of a token does not choose how it is verified.
  if (!header || header.value()["alg"].as_string() != "ES256" || header.value()["kid"].as_string() != impl_->id) {
    return unauthorized("the token was not signed by this fleet's key");
  }
  if (raw->size() != 2 * kHalf) return unauthorized("the token's signature is malformed");
  const Signature signature{::ECDSA_SIG_new()};
  if (::ECDSA_SIG_set0(signature.get(), ::BN_bin2bn(bytes_of(*raw), kHalf, nullptr),
                       ::BN_bin2bn(bytes_of(*raw) + kHalf, kHalf, nullptr)) != 1) {
    return unauthorized("the token's signature is malformed");
  }
  unsigned char* der = nullptr;
  const int size = ::i2d_ECDSA_SIG(signature.get(), &der);
  const Digest digest{::EVP_MD_CTX_new()};
  const std::string_view signed_part = token.substr(0, second);
  const bool genuine =
      size > 0 && ::EVP_DigestVerifyInit(digest.get(), nullptr, ::EVP_sha256(), nullptr, impl_->key.get()) == 1 &&
      ::EVP_DigestVerify(digest.get(), der, static_cast<size_t>(size), bytes_of(signed_part), signed_part.size()) == 1;
  ::OPENSSL_free(der);
  ::ERR_clear_error();
  if (!genuine) return unauthorized("the token's signature is not valid");
  auto claims = parse_json(*claims_text);
  if (!claims || !claims.value().is_object()) return unauthorized("the token's claims are no JSON object");
  return std::move(claims).value();
}

Value TokenSigner::key_set() const {
  return Value::object(
      {{"keys", Value::array({Value::object(
                    {{"kty", "EC"},
                     {"crv", "P-256"},
                     {"use", "sig"},
                     {"alg", "ES256"},
                     {"kid", impl_->id},
                     {"x", base64url_encode(coordinate(impl_->key.get(), OSSL_PKEY_PARAM_EC_PUB_X))},
                     {"y", base64url_encode(coordinate(impl_->key.get(), OSSL_PKEY_PARAM_EC_PUB_Y))}})})}});
}

}  // namespace shiplog::api
