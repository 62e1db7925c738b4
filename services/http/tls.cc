#include "services/http/tls.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <functional>
#include <optional>
#include <system_error>

#include <fcntl.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <sys/file.h>
#include <unistd.h>

#include "services/http/private_file.h"
#include "services/http/x509.h"

namespace shiplog {
namespace {

constexpr int64_t kDay = 24 * 60 * 60 * 1000LL;
constexpr int64_t kAuthorityDays = 3650;
constexpr int64_t kLeafDays = 365;
constexpr int64_t kRenewDays = 30;

Result<KeyPair> to_key_pair(X509* certificate, EVP_PKEY* key) {
  KeyPair pair;
  SHIPLOG_TRY(pair.certificate_pem, x509::to_pem(certificate));
  SHIPLOG_TRY(pair.key_pem, x509::to_pem(key));
  return pair;
}

struct CertificateSubject {
  std::string common_name;
  std::vector<std::string> organizations;
};

Result<void> set_subject(X509* certificate, const CertificateSubject& subject) {
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

Result<void> add_names(X509* certificate, const ServerNames& names) {
  if (names.dns.empty() && names.ips.empty()) return ok();
  const x509::Names list{::GENERAL_NAMES_new()};
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
  return x509::add_names(certificate, list.get());
}

/// What all certificates have: a random serial, the times, the subject, a new key.
Result<std::pair<x509::Certificate, x509::PrivateKey>> begin(const CertificateSubject& subject,
                                                             const Validity& validity) {
  ::ERR_clear_error();
  x509::PrivateKey key{EVP_EC_gen("P-256")};
  x509::Certificate certificate{::X509_new()};
  if (!key || !certificate) return x509::error();
  ::X509_set_version(certificate.get(), X509_VERSION_3);
  SHIPLOG_TRY(x509::set_random_serial(certificate.get()));
  SHIPLOG_TRY(x509::set_validity(certificate.get(), validity));
  if (::X509_set_pubkey(certificate.get(), key.get()) != 1) return x509::error();
  SHIPLOG_TRY(set_subject(certificate.get(), subject));
  return std::pair{std::move(certificate), std::move(key)};
}

Result<KeyPair> issue(const KeyPair& authority, const CertificateSubject& subject, const ServerNames& names,
                      const char* usage, const Validity& validity) {
  const x509::Certificate issuer = x509::read_certificate(authority.certificate_pem);
  const x509::PrivateKey issuer_key = x509::read_private_key(authority.key_pem);
  if (!issuer || !issuer_key) return Error{ErrorCode::kBadRequest, "the authority's certificate or key is not PEM"};
  SHIPLOG_TRY(const auto begun, begin(subject, validity));
  X509* certificate = begun.first.get();
  if (::X509_set_issuer_name(certificate, ::X509_get_subject_name(issuer.get())) != 1) return x509::error();
  SHIPLOG_TRY(x509::add_extension(certificate, issuer.get(), NID_basic_constraints, "critical,CA:FALSE"));
  SHIPLOG_TRY(x509::add_extension(certificate, issuer.get(), NID_key_usage, "critical,digitalSignature"));
  SHIPLOG_TRY(x509::add_extension(certificate, issuer.get(), NID_ext_key_usage, usage));
  SHIPLOG_TRY(x509::add_extension(certificate, issuer.get(), NID_authority_key_identifier, "keyid"));
  SHIPLOG_TRY(add_names(certificate, names));
  if (::X509_sign(certificate, issuer_key.get(), ::EVP_sha256()) == 0) return x509::error();
  return to_key_pair(certificate, begun.second.get());
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

bool fresh(const CertificateInfo& info, UtcMillis now) {
  return info.not_before <= now && !needs_renewal(info.not_after, now);
}

bool contains_all(const std::vector<std::string>& have, const std::vector<std::string>& want) {
  return std::all_of(want.begin(), want.end(),
                     [&](const std::string& name) { return std::find(have.begin(), have.end(), name) != have.end(); });
}

/// An address as in a CertificateInfo, so that "0:0::1" equals "::1".
std::string canonical_address(const std::string& ip) {
  ASN1_OCTET_STRING* bytes = ::a2i_IPADDRESS(ip.c_str());
  ::ERR_clear_error();
  if (bytes == nullptr) return ip;
  std::string text = x509::address_of(bytes);
  ::ASN1_OCTET_STRING_free(bytes);
  return text;
}

/// The two files of a pair; nullopt: there is none.
struct PairFiles {
  std::optional<std::string> certificate, key;
};

Result<std::optional<std::string>> read_if_there(const std::string& path) {
  auto text = read_file(path);
  if (text) return std::optional{std::move(text).value()};
  if (text.error().code == ErrorCode::kNotFound) return std::optional<std::string>{};
  return text.error();
}

Result<PairFiles> read_pair(const std::string& path) {
  PairFiles files;
  SHIPLOG_TRY(files.certificate, read_if_there(path + ".crt"));
  SHIPLOG_TRY(files.key, read_if_there(path + ".key"));
  return files;
}

Error cannot_lock(const std::string& path) {
  return Error{ErrorCode::kIo, "cannot create " + path + ".lock: " + std::generic_category().message(errno)};
}

/// Reads `<path>.crt` and `<path>.key`. When either is missing, or `usable` rejects them, also as they are damaged,
/// makes new ones and writes them: nothing hangs on a certificate that signs nothing.
Result<KeyPair> load_or_create(const std::string& path, const std::function<bool(const KeyPair&)>& usable,
                               const std::function<Result<KeyPair>()>& make) {
  const FolderLock lock{path + ".lock"};
  if (!lock.held()) return cannot_lock(path);
  SHIPLOG_TRY(const PairFiles files, read_pair(path));
  if (files.certificate && files.key) {
    KeyPair found{*files.certificate, *files.key};
    if (usable(found)) return found;
  }
  SHIPLOG_TRY(auto made, make());
  // The certificate last: a crash in between leaves a pair that does not match, which `usable` turns down.
  SHIPLOG_TRY(write_private_file(path + ".key", made.key_pem));
  SHIPLOG_TRY(write_private_file(path + ".crt", made.certificate_pem));
  return made;
}

/// Where the key of a new authority is until its certificate is written: a crash leaves both of them or none, so that
/// one without the other always means that a file was lost.
std::string new_key_of(const std::string& path) { return path + ".key.new"; }

Result<void> write_authority(const std::string& path, const KeyPair& made) {
  SHIPLOG_TRY(write_private_file(new_key_of(path), made.key_pem));
  SHIPLOG_TRY(write_private_file(path + ".crt", made.certificate_pem));
  if (::rename(new_key_of(path).c_str(), (path + ".key").c_str()) != 0) {
    return Error{ErrorCode::kIo, "cannot write " + path + ".key: " + std::generic_category().message(errno)};
  }
  return ok();
}

Error half_missing(const std::string& missing, const std::string& there) {
  return Error{ErrorCode::kBadRequest,
               missing + " is missing, but not " + there + ": restore it from a backup; or remove " + there +
                   ", too, to make a new authority, after which nothing that this one has signed is valid any more"};
}

Result<void> check_authority(const std::string& path, const KeyPair& authority) {
  std::string damage;
  if (!x509::read_certificate(authority.certificate_pem)) {
    damage = path + ".crt holds no PEM certificate";
  } else if (!x509::read_private_key(authority.key_pem)) {
    damage = path + ".key holds no PEM private key";
  } else if (!issued_by(authority, authority)) {
    damage = path + ".crt and " + path + ".key do not belong together or are no authority";
  }
  if (damage.empty()) return ok();
  return Error{ErrorCode::kBadRequest,
               damage +
                   ": restore both files from a backup; or remove both to make a new authority, after which "
                   "nothing that this one has signed is valid any more"};
}

}  // namespace

Validity valid_for_days(UtcMillis now, int64_t days) {
  return {now + Millis{-5 * 60 * 1000}, now + Millis{days * kDay}};
}

Result<KeyPair> make_authority(const std::string& common_name, const Validity& validity) {
  SHIPLOG_TRY(const auto begun, begin({common_name, {}}, validity));
  X509* certificate = begun.first.get();
  if (::X509_set_issuer_name(certificate, ::X509_get_subject_name(certificate)) != 1) return x509::error();
  SHIPLOG_TRY(x509::add_extension(certificate, certificate, NID_basic_constraints, "critical,CA:TRUE"));
  SHIPLOG_TRY(
      x509::add_extension(certificate, certificate, NID_key_usage, "critical,digitalSignature,keyCertSign,cRLSign"));
  SHIPLOG_TRY(x509::add_extension(certificate, certificate, NID_subject_key_identifier, "hash"));
  if (::X509_sign(certificate, begun.second.get(), ::EVP_sha256()) == 0) return x509::error();
  return to_key_pair(certificate, begun.second.get());
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
  const x509::Certificate certificate = x509::read_certificate(certificate_pem);
  if (!certificate) return Error{ErrorCode::kBadRequest, "this is no certificate in PEM form"};
  return x509::info_of(certificate.get());
}

bool issued_by(const KeyPair& key_pair, const KeyPair& authority) {
  const x509::Certificate certificate = x509::read_certificate(key_pair.certificate_pem);
  const x509::Certificate issuer = x509::read_certificate(authority.certificate_pem);
  const x509::PrivateKey key = x509::read_private_key(key_pair.key_pem);
  const bool yes = certificate && issuer && key && ::X509_check_private_key(certificate.get(), key.get()) == 1 &&
                   ::X509_verify(certificate.get(), ::X509_get0_pubkey(issuer.get())) == 1;
  ::ERR_clear_error();
  return yes;
}

bool needs_renewal(UtcMillis not_after, UtcMillis now) { return not_after <= now + Millis{kRenewDays * kDay}; }

Result<KeyPair> load_or_create_authority(const std::string& path, const std::string& common_name, UtcMillis now) {
  const FolderLock lock{path + ".lock"};
  if (!lock.held()) return cannot_lock(path);
  SHIPLOG_TRY(PairFiles files, read_pair(path));
  if (files.certificate && !files.key && ::rename(new_key_of(path).c_str(), (path + ".key").c_str()) == 0) {
    SHIPLOG_TRY(files.key, read_if_there(path + ".key"));
  }
  if (!files.certificate && !files.key) {
    SHIPLOG_TRY(auto made, make_authority(common_name, valid_for_days(now, kAuthorityDays)));
    SHIPLOG_TRY(write_authority(path, made));
    return made;
  }
  if (!files.certificate) return half_missing(path + ".crt", path + ".key");
  if (!files.key) return half_missing(path + ".key", path + ".crt");
  const KeyPair found{*files.certificate, *files.key};
  SHIPLOG_TRY(check_authority(path, found));
  return found;
}

Result<KeyPair> load_or_create_server_certificate(const std::string& path, const KeyPair& authority,
                                                  const std::string& common_name, const ServerNames& names,
                                                  UtcMillis now) {
  std::vector<std::string> addresses;
  for (const std::string& ip : names.ips) addresses.push_back(canonical_address(ip));
  const auto usable = [&](const KeyPair& found) {
    const auto info = inspect_certificate(found.certificate_pem);
    return info && issued_by(found, authority) && fresh(info.value(), now) &&
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
    return info && issued_by(found, authority) && fresh(info.value(), now) && info.value().common_name == common_name &&
           info.value().organizations == organizations;
  };
  return load_or_create(path, usable, [&] {
    return issue_client_certificate(authority, common_name, organizations, valid_for_days(now, kLeafDays));
  });
}

}  // namespace shiplog
