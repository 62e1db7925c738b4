#pragma once

#include <string>

#include "services/http/tls.h"

struct x509_st;  // OpenSSL's X509

/// OpenSSL's certificate as plain values. Internal to services/http.
namespace shiplog {

CertificateInfo certificate_info(x509_st* certificate);

/// The oldest errors in OpenSSL's queue of this thread as a sentence; empties the queue.
std::string openssl_errors();

}  // namespace shiplog
