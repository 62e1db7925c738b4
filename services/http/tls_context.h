#pragma once

#include <string>

#include "events/base/result.h"
#include "services/http/client_target.h"
#include "services/http/transport.h"

/// OpenSSL contexts: TLS 1.2 and newer, forward-secret AEAD ciphers. Internal to services/http.
namespace shiplog {

/// `client_ca_pem` empty: no client certificate is requested. Else one is requested, may be missing, and a
/// certificate that the CA did not sign ends the handshake. Error: kBadRequest, naming what cannot be read.
Result<net::TlsContext> server_tls(const std::string& certificate_pem, const std::string& key_pem,
                                   const std::string& client_ca_pem);

Result<net::TlsContext> client_tls(const ClientTarget& target);

}  // namespace shiplog
