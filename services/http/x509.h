#pragma once

#include <memory>
#include <string>
#include <vector>

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include "events/base/freed.h"
#include "events/base/result.h"
#include "services/http/tls.h"

/// X.509 certificates and keys of OpenSSL as plain values and back. For .cc files alone.
namespace shiplog::x509 {

using Bio = std::unique_ptr<BIO, Freed<&::BIO_free>>;
using Certificate = std::unique_ptr<X509, Freed<&::X509_free>>;
using PrivateKey = std::unique_ptr<EVP_PKEY, Freed<&::EVP_PKEY_free>>;
using Names = std::unique_ptr<GENERAL_NAMES, Freed<&::GENERAL_NAMES_free>>;

/// The oldest errors in OpenSSL's queue of this thread as a sentence; empties the queue.
std::string error_text();
/// The same as a kInternal error.
Error error();

/// Reads from the text, which must stay.
Bio reader_of(const std::string& pem);
std::string text_of(BIO* bio);
/// The callback for encrypted PEM: OpenSSL would prompt for the pass phrase on the terminal.
int no_password(char*, int, int, void*);

/// The next one of a chain, with its extensions read: OpenSSL does that at the first use, which would be in the
/// handshakes of several threads at once. nullptr: there is none, and why is in OpenSSL's queue.
Certificate next_certificate(BIO* bio);
/// The first one of a PEM text; nullptr: there is none. Leaves no errors in OpenSSL's queue.
Certificate read_certificate(const std::string& pem);
PrivateKey read_private_key(const std::string& pem);
Result<std::string> to_pem(X509* certificate);
/// In the form that names the algorithm ("BEGIN EC PRIVATE KEY"): fabric8's client for Java takes any other for RSA.
Result<std::string> to_pem(EVP_PKEY* key);

std::string text_of(const ASN1_STRING* value);
/// "10.0.0.1", "::1"
std::string address_of(const ASN1_OCTET_STRING* bytes);
/// All entries of that kind in a subject, in order.
std::vector<std::string> entries(const X509_NAME* name, int nid);
CertificateInfo info_of(X509* certificate);

/// Of full length and positive.
Result<void> set_random_serial(X509* certificate);
Result<void> set_validity(X509* certificate, const Validity& validity);
/// `value` in the syntax of OpenSSL's configuration files: constants of ours only, never a caller's text.
Result<void> add_extension(X509* certificate, X509* issuer, int nid, const std::string& value);
Result<void> add_names(X509* certificate, GENERAL_NAMES* names);

}  // namespace shiplog::x509
