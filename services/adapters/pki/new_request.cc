#include "services/adapters/pki/new_request.h"

#include <memory>

#include <openssl/err.h>
#include <openssl/pem.h>

#include "services/http/x509.h"

namespace shiplog {
namespace {

using Request = std::unique_ptr<X509_REQ, Freed<&::X509_REQ_free>>;

Result<void> add_entry(X509_NAME* name, int kind, const std::string& text) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(text.data());
  if (::X509_NAME_add_entry_by_NID(name, kind, MBSTRING_UTF8, bytes, static_cast<int>(text.size()), -1, 0) == 1) {
    return ok();
  }
  ::ERR_clear_error();
  return Error{ErrorCode::kInvalid, "\"" + text + "\" cannot stand in a certificate"};
}

}  // namespace

Result<NewRequest> make_request(const std::string& common_name, const std::vector<std::string>& organizations) {
  const x509::PrivateKey key{EVP_EC_gen("P-256")};
  const Request request{::X509_REQ_new()};
  if (!key || !request) return x509::error();
  X509_NAME* name = ::X509_REQ_get_subject_name(request.get());
  for (const std::string& organization : organizations) {
    SHIPLOG_TRY(add_entry(name, NID_organizationName, organization));
  }
  SHIPLOG_TRY(add_entry(name, NID_commonName, common_name));
  if (::X509_REQ_set_pubkey(request.get(), key.get()) != 1 ||
      ::X509_REQ_sign(request.get(), key.get(), ::EVP_sha256()) <= 0) {
    return x509::error();
  }
  const x509::Bio text{::BIO_new(::BIO_s_mem())};
  if (!text || ::PEM_write_bio_X509_REQ(text.get(), request.get()) != 1) return x509::error();
  SHIPLOG_TRY(std::string key_pem, x509::to_pem(key.get()));
  return NewRequest{std::move(key_pem), x509::text_of(text.get())};
}

}  // namespace shiplog
