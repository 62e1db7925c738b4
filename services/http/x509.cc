#include "services/http/x509.h"

#include <array>
#include <ctime>

#include <arpa/inet.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/rand.h>

namespace shiplog::x509 {
namespace {

using Extension = std::unique_ptr<X509_EXTENSION, Freed<&::X509_EXTENSION_free>>;

/// "CN=admin, O=system:masters"
std::string line_of(const X509_NAME* name) {
  const Bio out{::BIO_new(::BIO_s_mem())};
  constexpr unsigned long kForm =
      (XN_FLAG_RFC2253 & ~static_cast<unsigned long>(XN_FLAG_SEP_MASK | XN_FLAG_DN_REV | ASN1_STRFLGS_ESC_MSB)) |
      XN_FLAG_SEP_CPLUS_SPC;
  ::X509_NAME_print_ex(out.get(), name, 0, kForm);
  return text_of(out.get());
}

UtcMillis time_of(const ASN1_TIME* time) {
  std::tm parts = {};
  if (::ASN1_TIME_to_tm(time, &parts) != 1) return {};
  return {static_cast<int64_t>(::timegm(&parts)) * 1000};
}

std::string fingerprint_of(X509* certificate) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest = {};
  unsigned int size = 0;
  ::X509_digest(certificate, ::EVP_sha256(), digest.data(), &size);
  static constexpr char kHex[] = "0123456789abcdef";
  std::string text;
  for (unsigned int i = 0; i < size; ++i) {
    text += kHex[digest[i] >> 4];
    text += kHex[digest[i] & 15];
  }
  return text;
}

}  // namespace

std::string error_text() {
  std::string text;
  for (unsigned long code = ::ERR_get_error(); code != 0; code = ::ERR_get_error()) {
    const char* words = ::ERR_reason_error_string(code);
    if (words != nullptr) text += (text.empty() ? "" : "; ") + std::string{words};
  }
  return text.empty() ? "no further details" : text;
}

Error error() { return {ErrorCode::kInternal, "OpenSSL: " + error_text()}; }

Bio reader_of(const std::string& pem) { return Bio{::BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size()))}; }

std::string text_of(BIO* bio) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio, &data);
  return {data, static_cast<size_t>(size)};
}

int no_password(char*, int, int, void*) { return 0; }

Certificate next_certificate(BIO* bio) {
  Certificate certificate{::PEM_read_bio_X509(bio, nullptr, &no_password, nullptr)};
  if (certificate) ::X509_check_purpose(certificate.get(), -1, 0);
  return certificate;
}

Certificate read_certificate(const std::string& pem) {
  Certificate certificate = next_certificate(reader_of(pem).get());
  ::ERR_clear_error();
  return certificate;
}

PrivateKey read_private_key(const std::string& pem) {
  PrivateKey key{::PEM_read_bio_PrivateKey(reader_of(pem).get(), nullptr, &no_password, nullptr)};
  ::ERR_clear_error();
  return key;
}

Result<std::string> to_pem(X509* certificate) {
  const Bio out{::BIO_new(::BIO_s_mem())};
  if (::PEM_write_bio_X509(out.get(), certificate) != 1) return error();
  return text_of(out.get());
}

Result<std::string> to_pem(EVP_PKEY* key) {
  const Bio out{::BIO_new(::BIO_s_mem())};
  if (::PEM_write_bio_PrivateKey_traditional(out.get(), key, nullptr, nullptr, 0, nullptr, nullptr) != 1)
    return error();
  return text_of(out.get());
}

std::string text_of(const ASN1_STRING* value) {
  unsigned char* utf8 = nullptr;
  const int size = ::ASN1_STRING_to_UTF8(&utf8, value);
  if (size < 0) return {};
  std::string text{reinterpret_cast<char*>(utf8), static_cast<size_t>(size)};
  ::OPENSSL_free(utf8);
  return text;
}

std::string address_of(const ASN1_OCTET_STRING* bytes) {
  const int family = ::ASN1_STRING_length(bytes) == 4 ? AF_INET : AF_INET6;
  std::array<char, INET6_ADDRSTRLEN> text = {};
  ::inet_ntop(family, ::ASN1_STRING_get0_data(bytes), text.data(), text.size());
  return text.data();
}

std::vector<std::string> entries(const X509_NAME* name, int nid) {
  std::vector<std::string> found;
  for (int index = ::X509_NAME_get_index_by_NID(name, nid, -1); index >= 0;
       index = ::X509_NAME_get_index_by_NID(name, nid, index)) {
    found.push_back(text_of(::X509_NAME_ENTRY_get_data(::X509_NAME_get_entry(name, index))));
  }
  return found;
}

CertificateInfo info_of(X509* certificate) {
  CertificateInfo info;
  const X509_NAME* subject = ::X509_get_subject_name(certificate);
  info.subject = line_of(subject);
  info.issuer = line_of(::X509_get_issuer_name(certificate));
  const auto common_names = entries(subject, NID_commonName);
  if (!common_names.empty()) info.common_name = common_names.back();
  info.organizations = entries(subject, NID_organizationName);
  info.not_before = time_of(::X509_get0_notBefore(certificate));
  info.not_after = time_of(::X509_get0_notAfter(certificate));
  info.authority = ::X509_check_ca(certificate) > 0;
  const Names names{
      static_cast<GENERAL_NAMES*>(::X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr))};
  for (int i = 0; names && i < sk_GENERAL_NAME_num(names.get()); ++i) {
    int type = 0;
    void* value = ::GENERAL_NAME_get0_value(sk_GENERAL_NAME_value(names.get(), i), &type);
    if (type == GEN_DNS) info.dns_names.push_back(text_of(static_cast<ASN1_IA5STRING*>(value)));
    if (type == GEN_IPADD) info.ip_addresses.push_back(address_of(static_cast<ASN1_OCTET_STRING*>(value)));
  }
  info.fingerprint = fingerprint_of(certificate);
  ::ERR_clear_error();
  return info;
}

Result<void> set_random_serial(X509* certificate) {
  std::array<unsigned char, 16> serial = {};
  if (::RAND_bytes(serial.data(), static_cast<int>(serial.size())) != 1) return error();
  serial[0] = static_cast<unsigned char>((serial[0] & 0x7f) | 0x40);  // positive and of full length
  BIGNUM* number = ::BN_bin2bn(serial.data(), static_cast<int>(serial.size()), nullptr);
  ::BN_to_ASN1_INTEGER(number, ::X509_get_serialNumber(certificate));
  ::BN_free(number);
  return ok();
}

Result<void> set_validity(X509* certificate, const Validity& validity) {
  const auto seconds = [](UtcMillis time) { return static_cast<time_t>(time.value / 1000); };
  if (::ASN1_TIME_set(::X509_getm_notBefore(certificate), seconds(validity.not_before)) == nullptr ||
      ::ASN1_TIME_set(::X509_getm_notAfter(certificate), seconds(validity.not_after)) == nullptr) {
    return error();
  }
  return ok();
}

Result<void> add_extension(X509* certificate, X509* issuer, int nid, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  const Extension extension{::X509V3_EXT_conf_nid(nullptr, &context, nid, value.c_str())};
  if (!extension || ::X509_add_ext(certificate, extension.get(), -1) != 1) return error();
  return ok();
}

Result<void> add_names(X509* certificate, GENERAL_NAMES* names) {
  if (::X509_add1_ext_i2d(certificate, NID_subject_alt_name, names, 0, 0) != 1) return error();
  return ok();
}

}  // namespace shiplog::x509
