#include "services/http/tls.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <ctime>
#include <memory>
#include <system_error>

#include <arpa/inet.h>
#include <fcntl.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
#include <sys/file.h>
#include <unistd.h>

#include "events/base/freed.h"
#include "services/http/private_file.h"
#include "services/http/x509.h"

namespace shiplog {
namespace {

using Bio = std::unique_ptr<BIO, Freed<&::BIO_free>>;
using Certificate = std::unique_ptr<X509, Freed<&::X509_free>>;
using PrivateKey = std::unique_ptr<EVP_PKEY, Freed<&::EVP_PKEY_free>>;
using Extension = std::unique_ptr<X509_EXTENSION, Freed<&::X509_EXTENSION_free>>;
using Names = std::unique_ptr<GENERAL_NAMES, Freed<&::GENERAL_NAMES_free>>;

constexpr int64_t kDay = 24 * 60 * 60 * 1000LL;
constexpr int64_t kAuthorityDays = 3650;
constexpr int64_t kLeafDays = 365;
constexpr int64_t kRenewDays = 30;

Error openssl_error() { return {ErrorCode::kInternal, "OpenSSL: " + openssl_errors()}; }

int no_password(char*, int, int, void*) { return 0; }

Certificate read_certificate(const std::string& pem) {
  const Bio bio{::BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size()))};
  Certificate certificate{::PEM_read_bio_X509(bio.get(), nullptr, &no_password, nullptr)};
  ::ERR_clear_error();
  return certificate;
}

PrivateKey read_key(const std::string& pem) {
  const Bio bio{::BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size()))};
  PrivateKey key{::PEM_read_bio_PrivateKey(bio.get(), nullptr, &no_password, nullptr)};
  ::ERR_clear_error();
  return key;
}

std::string text_of(BIO* bio) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio, &data);
  return {data, static_cast<size_t>(size)};
}

Result<KeyPair> to_pem(X509* certificate, EVP_PKEY* key) {
  const Bio certificate_out{::BIO_new(::BIO_s_mem())};
  const Bio key_out{::BIO_new(::BIO_s_mem())};
  if (::PEM_write_bio_X509(certificate_out.get(), certificate) != 1 ||
      ::PEM_write_bio_PKCS8PrivateKey(key_out.get(), key, nullptr, nullptr, 0, nullptr, nullptr) != 1) {
    return openssl_error();
  }
  return KeyPair{text_of(certificate_out.get()), text_of(key_out.get())};
}

struct Subject {
  std::string common_name;
  std::vector<std::string> organizations;
};

Result<void> set_subject(X509* certificate, const Subject& subject) {
  X509_NAME* name = ::X509_get_subject_name(certificate);
  const auto add = [&](const char* field, const std::string& value) -> Result<void> {
    const auto* bytes = reinterpret_cast<const unsigned char*>(value.data());
    if (::X509_NAME_add_entry_by_txt(name, field, MBSTRING_UTF8, bytes, static_cast<int>(value.size()), -1, 0) != 1) {
      ::ERR_clear_error();
      return Error{ErrorCode::kInvalid, "\"" + value + "\" cannot stand in a certificate's subject"};
    }
    return ok();
  };
  for (const std::string& organization : subject.organizations) {
    SHIPLOG_TRY(add("O", organization));
  }
  return add("CN", subject.common_name);
}

/// `value` in the syntax of OpenSSL's configuration files: constants of ours only, never a caller's text.
Result<void> add_extension(X509* certificate, X509* issuer, int nid, const char* value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  const Extension extension{::X509V3_EXT_conf_nid(nullptr, &context, nid, value)};
  if (!extension || ::X509_add_ext(certificate, extension.get(), -1) != 1) return openssl_error();
  return ok();
}

Result<void> add_names(X509* certificate, const ServerNames& names) {
  if (names.dns.empty() && names.ips.empty()) return ok();
  const Names list{::GENERAL_NAMES_new()};
  const auto push = [&](int type, ASN1_STRING* value) {
    GENERAL_NAME* name = ::GENERAL_NAME_new();
    ::GENERAL_NAME_set0_value(name, type, value);
    sk_GENERAL_NAME_push(list.get(), name);
  };
  for (const std::string& dns : names.dns) {
    const bool plain = !dns.empty() && std::all_of(dns.begin(), dns.end(), [](char c) { return c > ' ' && c < 127; });
    if (!plain) return Error{ErrorCode::kInvalid, "\"" + dns + "\" is no DNS name"};
    ASN1_IA5STRING* value = ::ASN1_IA5STRING_new();
    ::ASN1_STRING_set(value, dns.data(), static_cast<int>(dns.size()));
    push(GEN_DNS, value);
  }
  for (const std::string& ip : names.ips) {
    ASN1_OCTET_STRING* value = ::a2i_IPADDRESS(ip.c_str());
    ::ERR_clear_error();
    if (value == nullptr) return Error{ErrorCode::kInvalid, "\"" + ip + "\" is no IP address"};
    push(GEN_IPADD, value);
  }
  if (::X509_add1_ext_i2d(certificate, NID_subject_alt_name, list.get(), 0, 0) != 1) return openssl_error();
  return ok();
}

/// What all certificates have: a random serial, the times, the subject, a new key.
Result<std::pair<Certificate, PrivateKey>> begin(const Subject& subject, const Validity& validity) {
  ::ERR_clear_error();
  PrivateKey key{EVP_EC_gen("P-256")};
  Certificate certificate{::X509_new()};
  std::array<unsigned char, 16> serial = {};
  if (!key || !certificate || ::RAND_bytes(serial.data(), static_cast<int>(serial.size())) != 1) return openssl_error();
  serial[0] = static_cast<unsigned char>((serial[0] & 0x7f) | 0x40);  // positive and of full length
  BIGNUM* number = ::BN_bin2bn(serial.data(), static_cast<int>(serial.size()), nullptr);
  ::BN_to_ASN1_INTEGER(number, ::X509_get_serialNumber(certificate.get()));
  ::BN_free(number);
  ::X509_set_version(certificate.get(), X509_VERSION_3);
  const auto seconds = [](UtcMillis at) { return static_cast<time_t>(at.value / 1000); };
  if (::ASN1_TIME_set(::X509_getm_notBefore(certificate.get()), seconds(validity.not_before)) == nullptr ||
      ::ASN1_TIME_set(::X509_getm_notAfter(certificate.get()), seconds(validity.not_after)) == nullptr ||
      ::X509_set_pubkey(certificate.get(), key.get()) != 1) {
    return openssl_error();
  }
  SHIPLOG_TRY(set_subject(certificate.get(), subject));
  return std::pair{std::move(certificate), std::move(key)};
}

Result<KeyPair> issue(const KeyPair& authority, const Subject& subject, const ServerNames& names, const char* usage,
                      const Validity& validity) {
  const Certificate issuer = read_certificate(authority.certificate_pem);
  const PrivateKey issuer_key = read_key(authority.key_pem);
  if (!issuer || !issuer_key) return Error{ErrorCode::kBadRequest, "the authority's certificate or key is not PEM"};
  SHIPLOG_TRY(const auto begun, begin(subject, validity));
  X509* certificate = begun.first.get();
  if (::X509_set_issuer_name(certificate, ::X509_get_subject_name(issuer.get())) != 1) return openssl_error();
  SHIPLOG_TRY(add_extension(certificate, issuer.get(), NID_basic_constraints, "critical,CA:FALSE"));
  SHIPLOG_TRY(add_extension(certificate, issuer.get(), NID_key_usage, "critical,digitalSignature"));
  SHIPLOG_TRY(add_extension(certificate, issuer.get(), NID_ext_key_usage, usage));
  SHIPLOG_TRY(add_extension(certificate, issuer.get(), NID_authority_key_identifier, "keyid"));
  SHIPLOG_TRY(add_names(certificate, names));
  if (::X509_sign(certificate, issuer_key.get(), ::EVP_sha256()) == 0) return openssl_error();
  return to_pem(certificate, begun.second.get());
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

std::string address_of(const ASN1_OCTET_STRING* bytes) {
  const int family = ::ASN1_STRING_length(bytes) == 4 ? AF_INET : AF_INET6;
  std::array<char, INET6_ADDRSTRLEN> text = {};
  ::inet_ntop(family, ::ASN1_STRING_get0_data(bytes), text.data(), text.size());
  return text.data();
}

/// One process at a time makes what is missing; released with the object.
class FolderLock {
 public:
  explicit FolderLock(const std::string& path) : fd_{::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)} {
    while (fd_ >= 0 && ::flock(fd_, LOCK_EX) != 0 && errno == EINTR) {
    }
  }
  ~FolderLock() {
    if (fd_ >= 0) ::close(fd_);
  }
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;
  bool held() const { return fd_ >= 0; }

 private:
  int fd_;
};

bool fresh_for_days(const CertificateInfo& info, UtcMillis now, int64_t days) {
  return info.not_before <= now && now + Millis{days * kDay} < info.not_after;
}

bool contains_all(const std::vector<std::string>& have, const std::vector<std::string>& want) {
  return std::all_of(want.begin(), want.end(),
                     [&](const std::string& name) { return std::find(have.begin(), have.end(), name) != have.end(); });
}

/// An address as certificate_info() writes it, so that "0:0::1" equals "::1".
std::string canonical_address(const std::string& ip) {
  ASN1_OCTET_STRING* bytes = ::a2i_IPADDRESS(ip.c_str());
  ::ERR_clear_error();
  if (bytes == nullptr) return ip;
  std::string text = address_of(bytes);
  ::ASN1_OCTET_STRING_free(bytes);
  return text;
}

}  // namespace

std::string openssl_errors() {
  std::string text;
  for (unsigned long code = ::ERR_get_error(); code != 0; code = ::ERR_get_error()) {
    const char* words = ::ERR_reason_error_string(code);
    if (words != nullptr) text += (text.empty() ? "" : "; ") + std::string{words};
  }
  return text.empty() ? "no further details" : text;
}

CertificateInfo certificate_info(X509* certificate) {
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
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest = {};
  unsigned int size = 0;
  ::X509_digest(certificate, ::EVP_sha256(), digest.data(), &size);
  static constexpr char kHex[] = "0123456789abcdef";
  for (unsigned int i = 0; i < size; ++i) {
    info.fingerprint += kHex[digest[i] >> 4];
    info.fingerprint += kHex[digest[i] & 15];
  }
  ::ERR_clear_error();
  return info;
}

Validity valid_for_days(UtcMillis now, int64_t days) {
  return {now + Millis{-5 * 60 * 1000}, now + Millis{days * kDay}};
}

Result<KeyPair> make_authority(const std::string& common_name, const Validity& validity) {
  SHIPLOG_TRY(const auto begun, begin({common_name, {}}, validity));
  X509* certificate = begun.first.get();
  if (::X509_set_issuer_name(certificate, ::X509_get_subject_name(certificate)) != 1) return openssl_error();
  SHIPLOG_TRY(add_extension(certificate, certificate, NID_basic_constraints, "critical,CA:TRUE"));
  SHIPLOG_TRY(add_extension(certificate, certificate, NID_key_usage, "critical,digitalSignature,keyCertSign,cRLSign"));
  SHIPLOG_TRY(add_extension(certificate, certificate, NID_subject_key_identifier, "hash"));
  if (::X509_sign(certificate, begun.second.get(), ::EVP_sha256()) == 0) return openssl_error();
  return to_pem(certificate, begun.second.get());
}

Result<KeyPair> issue_server_certificate(const KeyPair& authority, const std::string& common_name,
                                         const ServerNames& names, const Validity& validity) {
  return issue(authority, {common_name, {}}, names, "serverAuth", validity);
}

Result<KeyPair> issue_client_certificate(const KeyPair& authority, const std::string& common_name,
                                         const std::vector<std::string>& organizations, const Validity& validity) {
  return issue(authority, {common_name, organizations}, {}, "clientAuth", validity);
}

Result<CertificateInfo> inspect_certificate(const std::string& certificate_pem) {
  const Certificate certificate = read_certificate(certificate_pem);
  if (!certificate) return Error{ErrorCode::kBadRequest, "this is no certificate in PEM form"};
  return certificate_info(certificate.get());
}

bool issued_by(const KeyPair& key_pair, const KeyPair& authority) {
  const Certificate certificate = read_certificate(key_pair.certificate_pem);
  const Certificate issuer = read_certificate(authority.certificate_pem);
  const PrivateKey key = read_key(key_pair.key_pem);
  const bool yes = certificate && issuer && key && ::X509_check_private_key(certificate.get(), key.get()) == 1 &&
                   ::X509_verify(certificate.get(), ::X509_get0_pubkey(issuer.get())) == 1;
  ::ERR_clear_error();
  return yes;
}

Result<KeyPair> load_or_create(const std::string& path, const std::function<bool(const KeyPair&)>& usable,
                               const std::function<Result<KeyPair>()>& make) {
  const FolderLock lock{path + ".lock"};
  if (!lock.held()) {
    return Error{ErrorCode::kIo, "cannot create " + path + ".lock: " + std::generic_category().message(errno)};
  }
  auto certificate = read_file(path + ".crt");
  auto key = read_file(path + ".key");
  for (const auto* file : {&certificate, &key}) {
    if (!*file && file->error().code != ErrorCode::kNotFound) return file->error();
  }
  if (certificate && key) {
    KeyPair found{certificate.value(), key.value()};
    if (!read_certificate(found.certificate_pem))
      return Error{ErrorCode::kBadRequest, path + ".crt holds no PEM certificate"};
    if (!read_key(found.key_pem)) return Error{ErrorCode::kBadRequest, path + ".key holds no PEM private key"};
    if (usable(found)) return found;
  }
  SHIPLOG_TRY(auto made, make());
  // The certificate last: a crash in between leaves a pair that does not match, which `usable` turns down.
  SHIPLOG_TRY(write_private_file(path + ".key", made.key_pem));
  SHIPLOG_TRY(write_private_file(path + ".crt", made.certificate_pem));
  return made;
}

Result<KeyPair> load_or_create_authority(const std::string& path, const std::string& common_name, UtcMillis now) {
  SHIPLOG_TRY(auto authority, load_or_create(
                                  path, [](const KeyPair&) { return true; },
                                  [&] { return make_authority(common_name, valid_for_days(now, kAuthorityDays)); }));
  if (!issued_by(authority, authority)) {
    return Error{ErrorCode::kBadRequest, path + ".crt and " + path + ".key do not belong together or are no authority"};
  }
  return authority;
}

Result<KeyPair> load_or_create_server_certificate(const std::string& path, const KeyPair& authority,
                                                  const std::string& common_name, const ServerNames& names,
                                                  UtcMillis now) {
  std::vector<std::string> addresses;
  for (const std::string& ip : names.ips) addresses.push_back(canonical_address(ip));
  const auto usable = [&](const KeyPair& found) {
    const auto info = inspect_certificate(found.certificate_pem);
    return info && issued_by(found, authority) && fresh_for_days(info.value(), now, kRenewDays) &&
           contains_all(info.value().dns_names, names.dns) && contains_all(info.value().ip_addresses, addresses);
  };
  return load_or_create(path, usable, [&] {
    return issue_server_certificate(authority, common_name, names, valid_for_days(now, kLeafDays));
  });
}

Result<KeyPair> load_or_create_client_certificate(const std::string& path, const KeyPair& authority,
                                                  const std::string& common_name,
                                                  const std::vector<std::string>& organizations, UtcMillis now) {
  const auto usable = [&](const KeyPair& found) {
    const auto info = inspect_certificate(found.certificate_pem);
    return info && issued_by(found, authority) && fresh_for_days(info.value(), now, kRenewDays) &&
           info.value().common_name == common_name && info.value().organizations == organizations;
  };
  return load_or_create(path, usable, [&] {
    return issue_client_certificate(authority, common_name, organizations, valid_for_days(now, kLeafDays));
  });
}

}  // namespace shiplog
