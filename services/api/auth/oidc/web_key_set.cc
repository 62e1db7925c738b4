#include "services/api/auth/oidc/web_key_set.h"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <utility>

#include <openssl/core_names.h>
#include <openssl/ecdsa.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>
#include <openssl/rsa.h>

#include "events/base/base64.h"
#include "events/base/freed.h"
#include "events/base/json.h"
#include "services/http/x509.h"

namespace shiplog::api {
namespace {

constexpr size_t kMostKeys = 100;
constexpr int kLeastRsaBits = 2048, kMostRsaBits = 8192;

using Number = std::unique_ptr<BIGNUM, Freed<&::BN_free>>;
using ParamBuilder = std::unique_ptr<OSSL_PARAM_BLD, Freed<&::OSSL_PARAM_BLD_free>>;
using Params = std::unique_ptr<OSSL_PARAM, Freed<&::OSSL_PARAM_free>>;
using KeyContext = std::unique_ptr<EVP_PKEY_CTX, Freed<&::EVP_PKEY_CTX_free>>;
using Digest = std::unique_ptr<EVP_MD_CTX, Freed<&::EVP_MD_CTX_free>>;
using Signature = std::unique_ptr<ECDSA_SIG, Freed<&::ECDSA_SIG_free>>;

struct SigningAlgorithm {
  const char* name;
  const char* key_type;
  const EVP_MD* (*digest)();
  bool padded = false;     ///< RSA-PSS
  const char* curve = "";  ///< of EC
  size_t half = 0;         ///< bytes of r and of s
};
constexpr std::array<SigningAlgorithm, 9> kAlgorithms = {{{"RS256", "RSA", ::EVP_sha256},
                                                          {"RS384", "RSA", ::EVP_sha384},
                                                          {"RS512", "RSA", ::EVP_sha512},
                                                          {"ES256", "EC", ::EVP_sha256, false, "P-256", 32},
                                                          {"ES384", "EC", ::EVP_sha384, false, "P-384", 48},
                                                          {"ES512", "EC", ::EVP_sha512, false, "P-521", 66},
                                                          {"PS256", "RSA", ::EVP_sha256, true},
                                                          {"PS384", "RSA", ::EVP_sha384, true},
                                                          {"PS512", "RSA", ::EVP_sha512, true}}};

const SigningAlgorithm* algorithm_of(std::string_view name) {
  const auto found = std::ranges::find_if(kAlgorithms, [&](const auto& each) { return name == each.name; });
  return found == kAlgorithms.end() ? nullptr : &*found;
}

const unsigned char* bytes_of(std::string_view text) { return reinterpret_cast<const unsigned char*>(text.data()); }

Number number_from(const std::optional<std::string>& bytes) {
  if (!bytes || bytes->empty()) return nullptr;
  return Number{::BN_bin2bn(bytes_of(*bytes), static_cast<int>(bytes->size()), nullptr)};
}

/// The public key of these parameters; nullptr: they are none.
x509::PrivateKey key_from(const char* type, ParamBuilder builder) {
  const Params params{::OSSL_PARAM_BLD_to_param(builder.get())};
  const KeyContext context{::EVP_PKEY_CTX_new_from_name(nullptr, type, nullptr)};
  EVP_PKEY* key = nullptr;
  if (params == nullptr || context == nullptr || ::EVP_PKEY_fromdata_init(context.get()) != 1) return nullptr;
  if (::EVP_PKEY_fromdata(context.get(), &key, EVP_PKEY_PUBLIC_KEY, params.get()) != 1) return nullptr;
  x509::PrivateKey held{key};
  const KeyContext check{::EVP_PKEY_CTX_new_from_pkey(nullptr, key, nullptr)};
  return ::EVP_PKEY_public_check(check.get()) == 1 ? std::move(held) : nullptr;
}

x509::PrivateKey rsa_key(const Value& jwk) {
  const Number modulus = number_from(base64url_decode(jwk["n"].as_string()));
  const Number exponent = number_from(base64url_decode(jwk["e"].as_string()));
  if (!modulus || !exponent) return nullptr;
  const int bits = ::BN_num_bits(modulus.get());
  // Verifying takes as long as the exponent is; 64 bits are more than any issuer uses.
  if (bits < kLeastRsaBits || bits > kMostRsaBits || ::BN_num_bits(exponent.get()) > 64) return nullptr;
  ParamBuilder builder{::OSSL_PARAM_BLD_new()};
  ::OSSL_PARAM_BLD_push_BN(builder.get(), OSSL_PKEY_PARAM_RSA_N, modulus.get());
  ::OSSL_PARAM_BLD_push_BN(builder.get(), OSSL_PKEY_PARAM_RSA_E, exponent.get());
  return key_from("RSA", std::move(builder));
}

x509::PrivateKey ec_key(const Value& jwk, size_t half) {
  const auto x = base64url_decode(jwk["x"].as_string());
  const auto y = base64url_decode(jwk["y"].as_string());
  if (!x || !y || x->size() != half || y->size() != half) return nullptr;
  const std::string point = "\x04" + *x + *y;  // uncompressed
  const std::string curve = jwk["crv"].str();
  ParamBuilder builder{::OSSL_PARAM_BLD_new()};
  ::OSSL_PARAM_BLD_push_utf8_string(builder.get(), OSSL_PKEY_PARAM_GROUP_NAME, curve.c_str(), 0);
  ::OSSL_PARAM_BLD_push_octet_string(builder.get(), OSSL_PKEY_PARAM_PUB_KEY, point.data(), point.size());
  return key_from("EC", std::move(builder));
}

/// r and s one after the other, as in tokens, in the form that OpenSSL verifies. Empty: they are none.
std::string der_of(const std::string& raw, size_t half) {
  if (raw.size() != 2 * half) return "";
  const Signature signature{::ECDSA_SIG_new()};
  ::ECDSA_SIG_set0(signature.get(), ::BN_bin2bn(bytes_of(raw), static_cast<int>(half), nullptr),
                   ::BN_bin2bn(bytes_of(raw) + half, static_cast<int>(half), nullptr));
  unsigned char* der = nullptr;
  const int size = ::i2d_ECDSA_SIG(signature.get(), &der);
  std::string text = size > 0 ? std::string{reinterpret_cast<const char*>(der), static_cast<size_t>(size)} : "";
  ::OPENSSL_free(der);
  return text;
}

bool verifies(EVP_PKEY* key, const SigningAlgorithm& algorithm, const WebToken& token) {
  const std::string signature = algorithm.half == 0 ? token.signature : der_of(token.signature, algorithm.half);
  if (signature.empty()) return false;
  const Digest digest{::EVP_MD_CTX_new()};
  EVP_PKEY_CTX* context = nullptr;
  if (::EVP_DigestVerifyInit(digest.get(), &context, algorithm.digest(), nullptr, key) != 1) return false;
  if (algorithm.padded && (::EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_PSS_PADDING) != 1 ||
                           ::EVP_PKEY_CTX_set_rsa_pss_saltlen(context, RSA_PSS_SALTLEN_DIGEST) != 1)) {
    return false;
  }
  return ::EVP_DigestVerify(digest.get(), bytes_of(signature), signature.size(), bytes_of(token.signed_part),
                            token.signed_part.size()) == 1;
}

}  // namespace

const std::vector<std::string>& signing_algorithms() {
  static const std::vector<std::string> kNames = [] {
    std::vector<std::string> names;
    for (const SigningAlgorithm& algorithm : kAlgorithms) names.emplace_back(algorithm.name);
    return names;
  }();
  return kNames;
}

struct WebKeySet::Impl {
  struct WebKey {
    std::string id;
    std::string type;       ///< "RSA", "EC"
    std::string curve;      ///< of EC
    std::string algorithm;  ///< the only one it is for; empty: any that fits
    x509::PrivateKey key;
  };
  std::vector<WebKey> keys;

  static std::optional<WebKey> read(const Value& jwk) {
    const std::string type = jwk["kty"].str();
    if (!jwk["use"].is_empty() && jwk["use"].as_string() != "sig") return std::nullopt;
    WebKey read{jwk["kid"].str(), type, jwk["crv"].str(), jwk["alg"].str(), nullptr};
    if (type == "RSA") read.key = rsa_key(jwk);
    if (type == "EC") {
      const auto of_curve =
          std::ranges::find_if(kAlgorithms, [&](const auto& each) { return read.curve == each.curve; });
      if (of_curve != kAlgorithms.end() && of_curve->half > 0) read.key = ec_key(jwk, of_curve->half);
    }
    return read.key == nullptr ? std::nullopt : std::optional{std::move(read)};
  }
};

WebKeySet::WebKeySet(std::unique_ptr<Impl> impl) : impl_{std::move(impl)} {}
WebKeySet::~WebKeySet() = default;

Result<std::shared_ptr<const WebKeySet>> WebKeySet::parse(std::string_view json) {
  const auto document = parse_json(json);
  if (!document || !document.value()["keys"].is_array()) {
    return Error{ErrorCode::kInvalid, "it is no JSON web key set"};
  }
  const auto keys = document.value()["keys"].items();
  if (keys.size() > kMostKeys) {
    return Error{ErrorCode::kInvalid, "the key set has more than " + std::to_string(kMostKeys) + " keys"};
  }
  auto impl = std::make_unique<Impl>();
  for (const Value& jwk : keys) {
    if (auto key = Impl::read(jwk)) impl->keys.push_back(*std::move(key));
  }
  ::ERR_clear_error();
  return std::shared_ptr<const WebKeySet>{new WebKeySet{std::move(impl)}};
}

bool WebKeySet::has_signed(const WebToken& token) const {
  const SigningAlgorithm* algorithm = algorithm_of(token.algorithm());
  if (algorithm == nullptr) return false;
  const std::string id = token.key_id();
  const bool found = std::ranges::any_of(impl_->keys, [&](const Impl::WebKey& key) {
    // The key determines what may be done with it, not the token: an RSA key is never a shared secret.
    const bool fits = key.type == algorithm->key_type && (algorithm->half == 0 || key.curve == algorithm->curve) &&
                      (key.algorithm.empty() || key.algorithm == algorithm->name);
    return fits && (id.empty() || key.id.empty() || key.id == id) && verifies(key.key.get(), *algorithm, token);
  });
  ::ERR_clear_error();
  return found;
}

size_t WebKeySet::size() const { return impl_->keys.size(); }

}  // namespace shiplog::api
