#pragma once

#include <string>
#include <vector>

#include "events/base/result.h"
#include "events/base/time.h"

namespace shiplog {

/// A certificate (maybe with its chain behind it) and its private key, both PEM.
struct KeyPair {
  std::string certificate_pem;
  std::string key_pem;
};

struct Validity {
  UtcMillis not_before;
  UtcMillis not_after;
};

/// From five minutes before `now` (clocks differ) until `days` after it.
Validity valid_for_days(UtcMillis now, int64_t days);

/// The names that clients may know a server by.
struct ServerNames {
  std::vector<std::string> dns;  ///< "localhost", "*.example.org"
  std::vector<std::string> ips;  ///< "127.0.0.1", "::1"
};

struct CertificateInfo {
  std::string subject;  ///< "CN=admin, O=system:masters"
  std::string issuer;
  std::string common_name;
  std::vector<std::string> organizations;
  std::vector<std::string> dns_names;
  std::vector<std::string> ip_addresses;
  UtcMillis not_before;
  UtcMillis not_after;
  bool authority = false;   ///< may sign certificates
  std::string fingerprint;  ///< SHA-256 of the DER form, 64 lower-case hexadecimal digits
};

/// A new self-signed authority with a new ECDSA P-256 key. The errors of all make_ and issue_ functions: kInvalid for a
/// name that cannot stand in a certificate, kBadRequest for an authority that cannot be read, kInternal from OpenSSL.
Result<KeyPair> make_authority(const std::string& common_name, const Validity& validity);

/// A new key and a certificate for TLS servers, signed by `authority`; the authority's certificate is not appended.
Result<KeyPair> issue_server_certificate(const KeyPair& authority, const std::string& common_name,
                                         const ServerNames& names, const Validity& validity);

/// A new key and a certificate for TLS clients. Kubernetes reads the common name as user, the organizations as groups.
Result<KeyPair> issue_client_certificate(const KeyPair& authority, const std::string& common_name,
                                         const std::vector<std::string>& organizations, const Validity& validity);

/// The first certificate of a PEM text. Error: kBadRequest.
Result<CertificateInfo> inspect_certificate(const std::string& certificate_pem);

/// True when `key_pair`'s key belongs to its certificate and `authority` has signed it.
bool issued_by(const KeyPair& key_pair, const KeyPair& authority);

/// Whether a certificate that is valid until then has less than 30 days left.
bool needs_renewal(UtcMillis not_after, UtcMillis now);

/// Reads the authority in `<path>.crt` and `<path>.key`; when both are missing, makes a new one for ten years and
/// writes it. The files of all three functions: the key has mode 0600, each is written whole or not at all, and
/// processes that start at once get the same pair. Errors: kIo, naming the file; kBadRequest when one of the two files
/// is missing or damaged, or they do not belong together: all that an authority has signed hangs on it, so it is never
/// replaced.
Result<KeyPair> load_or_create_authority(const std::string& path, const std::string& common_name, UtcMillis now);

/// For a server: made anew when a file is missing or damaged, it lacks one of the names, was signed by another
/// authority or needs_renewal().
Result<KeyPair> load_or_create_server_certificate(const std::string& path, const KeyPair& authority,
                                                  const std::string& common_name, const ServerNames& names,
                                                  UtcMillis now);

/// For a client: made anew when a file is missing or damaged, the names differ, another authority signed it or it
/// needs_renewal().
Result<KeyPair> load_or_create_client_certificate(const std::string& path, const KeyPair& authority,
                                                  const std::string& common_name,
                                                  const std::vector<std::string>& organizations, UtcMillis now);

}  // namespace shiplog
