#include "services/adapters/pki/certificate_request.h"

#include <array>
#include <ctime>
#include <memory>
#include <utility>

#include <arpa/inet.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include "events/base/freed.h"
#include "services/http/x509.h"

namespace shiplog {
namespace {

void free_extensions(STACK_OF(X509_EXTENSION) * extensions) {
  sk_X509_EXTENSION_pop_free(extensions, &::X509_EXTENSION_free);
}

using Bio = std::unique_ptr<BIO, Freed<&::BIO_free>>;
using Certificate = std::unique_ptr<X509, Freed<&::X509_free>>;
using PrivateKey = std::unique_ptr<EVP_PKEY, Freed<&::EVP_PKEY_free>>;
using Request = std::unique_ptr<X509_REQ, Freed<&::X509_REQ_free>>;
using Extension = std::unique_ptr<X509_EXTENSION, Freed<&::X509_EXTENSION_free>>;
using Extensions = std::unique_ptr<STACK_OF(X509_EXTENSION), Freed<&free_extensions>>;
using Names = std::unique_ptr<GENERAL_NAMES, Freed<&::GENERAL_NAMES_free>>;

Error openssl_error() { return {ErrorCode::kInternal, "OpenSSL: " + openssl_errors()}; }

int no_password(char*, int, int, void*) { return 0; }

Bio reading(const std::string& pem) { return Bio{::BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size()))}; }

Result<Request> read_request(const std::string& pem) {
  Request request{::PEM_read_bio_X509_REQ(reading(pem).get(), nullptr, &no_password, nullptr)};
  ::ERR_clear_error();
  if (!request) return Error{ErrorCode::kBadRequest, "the certificate request is not PEM of a PKCS#10 request"};
  EVP_PKEY* key = ::X509_REQ_get0_pubkey(request.get());
  const bool own = key != nullptr && ::X509_REQ_verify(request.get(), key) == 1;
  ::ERR_clear_error();
  if (!own) return Error{ErrorCode::kBadRequest, "the certificate request is not signed by the key that it is for"};
  return request;
}

std::string text_of(const ASN1_STRING* value) {
  unsigned char* utf8 = nullptr;
  const int size = ::ASN1_STRING_to_UTF8(&utf8, value);
  if (size < 0) return {};
  std::string text{reinterpret_cast<char*>(utf8), static_cast<size_t>(size)};
  ::OPENSSL_free(utf8);
  return text;
}

std::vector<std::string> entries(const X509_NAME* name, int nid) {
  std::vector<std::string> found;
  for (int at = ::X509_NAME_get_index_by_NID(name, nid, -1); at >= 0;
       at = ::X509_NAME_get_index_by_NID(name, nid, at)) {
    found.push_back(text_of(::X509_NAME_ENTRY_get_data(::X509_NAME_get_entry(name, at))));
  }
  return found;
}

std::string address_of(const ASN1_OCTET_STRING* value) {
  char text[INET6_ADDRSTRLEN] = {};
  const int family = ::ASN1_STRING_length(value) == 4 ? AF_INET : AF_INET6;
  if (::inet_ntop(family, ::ASN1_STRING_get0_data(value), text, sizeof text) == nullptr) return {};
  return text;
}

Names names_of(X509_REQ* request) {
  const Extensions extensions{::X509_REQ_get_extensions(request)};
  return Names{static_cast<GENERAL_NAMES*>(::X509V3_get_d2i(extensions.get(), NID_subject_alt_name, nullptr, nullptr))};
}

/// A word of OpenSSL's for one of Kubernetes'; `extended`: it belongs to the extended key usage.
struct Usage {
  const char* word;
  const char* openssl;
  bool extended;
};
constexpr Usage kUsages[] = {{"digital signature", "digitalSignature", false},
                             {"signing", "digitalSignature", false},
                             {"content commitment", "nonRepudiation", false},
                             {"key encipherment", "keyEncipherment", false},
                             {"data encipherment", "dataEncipherment", false},
                             {"key agreement", "keyAgreement", false},
                             {"client auth", "clientAuth", true},
                             {"server auth", "serverAuth", true}};

Result<void> add_extension(X509* certificate, X509* issuer, int nid, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  const Extension extension{::X509V3_EXT_conf_nid(nullptr, &context, nid, value.c_str())};
  if (!extension || ::X509_add_ext(certificate, extension.get(), -1) != 1) return openssl_error();
  return ok();
}

Result<void> add_usages(X509* certificate, X509* issuer, const std::vector<std::string>& usages) {
  std::string plain = "critical";
  std::string extended;
  for (const std::string& usage : usages) {
    const Usage* known = nullptr;
    for (const Usage& each : kUsages) {
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
    SHIPLOG_TRY(add_extension(certificate, issuer, NID_key_usage, plain));
  }
  if (extended.empty()) return ok();
  return add_extension(certificate, issuer, NID_ext_key_usage, extended);
}

Result<void> set_serial_and_times(X509* certificate, X509* issuer, const Validity& validity) {
  std::array<unsigned char, 16> serial = {};
  if (::RAND_bytes(serial.data(), static_cast<int>(serial.size())) != 1) return openssl_error();
  serial[0] = static_cast<unsigned char>((serial[0] & 0x7f) | 0x40);  // positive and of full length
  BIGNUM* number = ::BN_bin2bn(serial.data(), static_cast<int>(serial.size()), nullptr);
  ::BN_to_ASN1_INTEGER(number, ::X509_get_serialNumber(certificate));
  ::BN_free(number);
  auto end = static_cast<time_t>(validity.not_after.value / 1000);
  const bool outlives = ::X509_cmp_time(::X509_get0_notAfter(issuer), &end) < 0;
  const bool set = ::ASN1_TIME_set(::X509_getm_notBefore(certificate),
                                   static_cast<time_t>(validity.not_before.value / 1000)) != nullptr &&
                   (outlives ? ::X509_set1_notAfter(certificate, ::X509_get0_notAfter(issuer)) == 1
                             : ::ASN1_TIME_set(::X509_getm_notAfter(certificate), end) != nullptr);
  if (!set) return openssl_error();
  return ok();
}

}  // namespace

Result<CertificateRequest> inspect_request(const std::string& request_pem) {
  SHIPLOG_TRY(const Request request, read_request(request_pem));
  CertificateRequest found;
  const X509_NAME* subject = ::X509_REQ_get_subject_name(request.get());
  for (const std::string& name : entries(subject, NID_commonName)) found.common_name = name;
  found.organizations = entries(subject, NID_organizationName);
  const Names names = names_of(request.get());
  for (int i = 0; i < sk_GENERAL_NAME_num(names.get()); ++i) {
    int type = 0;
    const void* value = ::GENERAL_NAME_get0_value(sk_GENERAL_NAME_value(names.get(), i), &type);
    const auto* text = static_cast<const ASN1_STRING*>(value);
    if (type == GEN_DNS) found.dns_names.push_back(text_of(text));
    if (type == GEN_IPADD) found.ip_addresses.push_back(address_of(text));
    if (type == GEN_EMAIL) found.emails.push_back(text_of(text));
    if (type == GEN_URI) found.uris.push_back(text_of(text));
  }
  return found;
}

Result<std::string> sign_request(const KeyPair& authority, const std::string& request_pem,
                                 const std::vector<std::string>& usages, const Validity& validity) {
  SHIPLOG_TRY(const Request request, read_request(request_pem));
  const Certificate issuer{
      ::PEM_read_bio_X509(reading(authority.certificate_pem).get(), nullptr, &no_password, nullptr)};
  const PrivateKey key{::PEM_read_bio_PrivateKey(reading(authority.key_pem).get(), nullptr, &no_password, nullptr)};
  ::ERR_clear_error();
  if (!issuer || !key) return Error{ErrorCode::kBadRequest, "the authority's certificate or key is not PEM"};
  const Certificate certificate{::X509_new()};
  ::X509_set_version(certificate.get(), X509_VERSION_3);
  SHIPLOG_TRY(set_serial_and_times(certificate.get(), issuer.get(), validity));
  if (::X509_set_subject_name(certificate.get(), ::X509_REQ_get_subject_name(request.get())) != 1 ||
      ::X509_set_issuer_name(certificate.get(), ::X509_get_subject_name(issuer.get())) != 1 ||
      ::X509_set_pubkey(certificate.get(), ::X509_REQ_get0_pubkey(request.get())) != 1) {
    return openssl_error();
  }
  SHIPLOG_TRY(add_extension(certificate.get(), issuer.get(), NID_basic_constraints, "critical,CA:FALSE"));
  SHIPLOG_TRY(add_usages(certificate.get(), issuer.get(), usages));
  SHIPLOG_TRY(add_extension(certificate.get(), issuer.get(), NID_authority_key_identifier, "keyid"));
  const Names names = names_of(request.get());
  if (names && ::X509_add1_ext_i2d(certificate.get(), NID_subject_alt_name, names.get(), 0, 0) != 1) {
    return openssl_error();
  }
  if (::X509_sign(certificate.get(), key.get(), ::EVP_sha256()) == 0) return openssl_error();
  const Bio out{::BIO_new(::BIO_s_mem())};
  if (::PEM_write_bio_X509(out.get(), certificate.get()) != 1) return openssl_error();
  char* data = nullptr;
  const long size = BIO_get_mem_data(out.get(), &data);
  return std::string{data, static_cast<size_t>(size)};
}

}  // namespace shiplog
