#include "services/adapters/pki/new_request.h"

#include <array>
#include <memory>
#include <string_view>

#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>

#include "services/http/x509.h"

namespace shiplog {
namespace {

using Request = std::unique_ptr<X509_REQ, Freed<&::X509_REQ_free>>;
void free_bytes(unsigned char* bytes) { OPENSSL_free(bytes); }
using Bytes = std::unique_ptr<unsigned char, Freed<&free_bytes>>;

bool add_entry(X509_NAME* name, const char* field, const std::string& value) {
  return ::X509_NAME_add_entry_by_txt(name, field, MBSTRING_UTF8, reinterpret_cast<const unsigned char*>(value.data()),
                                      static_cast<int>(value.size()), -1, 0) == 1;
}

Error no_name(const std::string& text) {
  ::ERR_clear_error();
  return {ErrorCode::kInvalid, "\"" + text + "\" cannot stand in a certificate"};
}

Result<std::string> to_pem(X509_REQ* request) {
  const x509::Bio bio{::BIO_new(::BIO_s_mem())};
  if (!bio || ::PEM_write_bio_X509_REQ(bio.get(), request) != 1) return x509::error();
  return x509::text_of(bio.get());
}

}  // namespace

Result<NewRequest> new_request(const std::string& common_name, const std::vector<std::string>& organizations) {
  const x509::PrivateKey key{::EVP_EC_gen("P-256")};
  const Request request{::X509_REQ_new()};
  if (!key || !request) return x509::error();
  X509_NAME* subject = ::X509_REQ_get_subject_name(request.get());
  for (const std::string& organization : organizations) {
    if (!add_entry(subject, "O", organization)) return no_name(organization);
  }
  if (!add_entry(subject, "CN", common_name)) return no_name(common_name);
  if (::X509_REQ_set_pubkey(request.get(), key.get()) != 1 ||
      ::X509_REQ_sign(request.get(), key.get(), ::EVP_sha256()) == 0) {
    return x509::error();
  }
  NewRequest made;
  SHIPLOG_TRY(made.request_pem, to_pem(request.get()));
  SHIPLOG_TRY(made.key_pem, x509::to_pem(key.get()));
  return made;
}

Result<std::string> public_key_pin(const std::string& certificate_pem) {
  const x509::Certificate certificate = x509::read_certificate(certificate_pem);
  if (!certificate) return Error{ErrorCode::kBadRequest, "the authority is not a certificate in PEM"};
  unsigned char* encoded = nullptr;
  const int size = ::i2d_X509_PUBKEY(::X509_get_X509_PUBKEY(certificate.get()), &encoded);
  const Bytes bytes{encoded};
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int length = 0;
  if (size <= 0 ||
      ::EVP_Digest(encoded, static_cast<size_t>(size), digest.data(), &length, ::EVP_sha256(), nullptr) != 1) {
    return x509::error();
  }
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string pin = "sha256:";
  for (unsigned int i = 0; i < length; ++i) {
    pin += kHex[digest.at(i) >> 4U];
    pin += kHex[digest.at(i) & 15U];
  }
  return pin;
}

}  // namespace shiplog
