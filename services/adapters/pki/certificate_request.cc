#include "services/adapters/pki/certificate_request.h"

#include <ctime>
#include <memory>

#include <openssl/err.h>
#include <openssl/pem.h>

#include "services/http/x509.h"

namespace shiplog {
namespace {

void free_extensions(STACK_OF(X509_EXTENSION) * extensions) {
  sk_X509_EXTENSION_pop_free(extensions, &::X509_EXTENSION_free);
}

using Request = std::unique_ptr<X509_REQ, Freed<&::X509_REQ_free>>;
using Extensions = std::unique_ptr<STACK_OF(X509_EXTENSION), Freed<&free_extensions>>;
Result<Request> read_request(const std::string& pem) {
  Request request{::PEM_read_bio_X509_REQ(x509::reader_of(pem).get(), nullptr, &x509::no_password, nullptr)};
  ::ERR_clear_error();
  if (!request) return Error{ErrorCode::kBadRequest, "the certificate request is not PEM of a PKCS#10 request"};
  EVP_PKEY* key = ::X509_REQ_get0_pubkey(request.get());
  const bool own = key != nullptr && ::X509_REQ_verify(request.get(), key) == 1;
  ::ERR_clear_error();
  if (!own) return Error{ErrorCode::kBadRequest, "the certificate request is not signed by the key that it is for"};
  return request;
}

x509::Names names_of(X509_REQ* request) {
  const Extensions extensions{::X509_REQ_get_extensions(request)};
  return x509::Names{
      static_cast<GENERAL_NAMES*>(::X509V3_get_d2i(extensions.get(), NID_subject_alt_name, nullptr, nullptr))};
}

/// A word of OpenSSL's for one of Kubernetes'; `extended`: it belongs to the extended key usage.
struct KeyUsage {
  const char* word;
  const char* openssl;
  bool extended;
};
constexpr KeyUsage kUsages[] = {{"digital signature", "digitalSignature", false},
                                {"signing", "digitalSignature", false},
                                {"content commitment", "nonRepudiation", false},
                                {"key encipherment", "keyEncipherment", false},
                                {"data encipherment", "dataEncipherment", false},
                                {"key agreement", "keyAgreement", false},
                                {"client auth", "clientAuth", true},
                                {"server auth", "serverAuth", true}};

Result<void> add_usages(X509* certificate, X509* issuer, const std::vector<std::string>& usages) {
  std::string plain = "critical";
  std::string extended;
  for (const std::string& usage : usages) {
    const KeyUsage* known = nullptr;
    for (const KeyUsage& each : kUsages) {
      if (usage == each.word) known = &each;
    }
    if (known == nullptr) return Error{ErrorCode::kInvalid, "no certificates are issued for \"" + usage + "\""};
    if (known->extended) {
      extended += (extended.empty() ? "" : ",") + std::string{known->openssl};
    } else {
      plain += "," + std::string{known->openssl};
    }
  }
  if (plain != "critical") {
    SHIPLOG_TRY(x509::add_extension(certificate, issuer, NID_key_usage, plain));
  }
  if (extended.empty()) return ok();
  return x509::add_extension(certificate, issuer, NID_ext_key_usage, extended);
}

/// Not beyond the issuer's own end.
Result<void> set_times(X509* certificate, X509* issuer, const Validity& validity) {
  SHIPLOG_TRY(x509::set_validity(certificate, validity));
  auto end = static_cast<time_t>(validity.not_after.value / 1000);
  const bool outlives = ::X509_cmp_time(::X509_get0_notAfter(issuer), &end) < 0;
  if (outlives && ::X509_set1_notAfter(certificate, ::X509_get0_notAfter(issuer)) != 1) return x509::error();
  return ok();
}

}  // namespace

Result<CertificateRequest> inspect_request(const std::string& request_pem) {
  SHIPLOG_TRY(const Request request, read_request(request_pem));
  CertificateRequest found;
  const X509_NAME* subject = ::X509_REQ_get_subject_name(request.get());
  for (const std::string& name : x509::entries(subject, NID_commonName)) found.common_name = name;
  found.organizations = x509::entries(subject, NID_organizationName);
  const x509::Names names = names_of(request.get());
  for (int i = 0; i < sk_GENERAL_NAME_num(names.get()); ++i) {
    int type = 0;
    const void* value = ::GENERAL_NAME_get0_value(sk_GENERAL_NAME_value(names.get(), i), &type);
    const auto* text = static_cast<const ASN1_STRING*>(value);
    if (type == GEN_DNS) found.dns_names.push_back(x509::text_of(text));
    if (type == GEN_IPADD) found.ip_addresses.push_back(x509::address_of(text));
    if (type == GEN_EMAIL) found.emails.push_back(x509::text_of(text));
    if (type == GEN_URI) found.uris.push_back(x509::text_of(text));
  }
  return found;
}

Result<std::string> sign_request(const KeyPair& authority, const std::string& request_pem,
                                 const std::vector<std::string>& usages, const Validity& validity) {
  SHIPLOG_TRY(const Request request, read_request(request_pem));
  const x509::Certificate issuer = x509::read_certificate(authority.certificate_pem);
  const x509::PrivateKey key = x509::read_private_key(authority.key_pem);
  if (!issuer || !key) return Error{ErrorCode::kBadRequest, "the authority's certificate or key is not PEM"};
  const x509::Certificate certificate{::X509_new()};
  ::X509_set_version(certificate.get(), X509_VERSION_3);
  SHIPLOG_TRY(x509::set_random_serial(certificate.get()));
  SHIPLOG_TRY(set_times(certificate.get(), issuer.get(), validity));
  if (::X509_set_subject_name(certificate.get(), ::X509_REQ_get_subject_name(request.get())) != 1 ||
      ::X509_set_issuer_name(certificate.get(), ::X509_get_subject_name(issuer.get())) != 1 ||
      ::X509_set_pubkey(certificate.get(), ::X509_REQ_get0_pubkey(request.get())) != 1) {
    return x509::error();
  }
  SHIPLOG_TRY(x509::add_extension(certificate.get(), issuer.get(), NID_basic_constraints, "critical,CA:FALSE"));
  SHIPLOG_TRY(add_usages(certificate.get(), issuer.get(), usages));
  SHIPLOG_TRY(x509::add_extension(certificate.get(), issuer.get(), NID_authority_key_identifier, "keyid"));
  const x509::Names names = names_of(request.get());
  if (names) {
    SHIPLOG_TRY(x509::add_names(certificate.get(), names.get()));
  }
  if (::X509_sign(certificate.get(), key.get(), ::EVP_sha256()) == 0) return x509::error();
  return x509::to_pem(certificate.get());
}

}  // namespace shiplog
