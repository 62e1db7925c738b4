#pragma once

#include <string>
#include <vector>

#include "events/decision.h"
#include "services/http/tls.h"

namespace shiplog {

/// How aggregated servers know that a request comes from this control plane, as kube-apiserver's flags of these names.
struct FrontProxyOptions {
  std::string client_certificate_file, client_key_file;  ///< --proxy-client-cert-file, --proxy-client-key-file
  std::string authority_file;                            ///< --requestheader-client-ca-file
  std::vector<std::string> allowed_names;                ///< --requestheader-allowed-names
};

/// What an aggregated server reads to trust this control plane.
struct ExtensionAuthentication {
  std::string client_authority_pem;       ///< of the client certificates that this control plane accepts
  std::string front_proxy_authority_pem;  ///< of the certificate that it forwards requests with
  std::vector<std::string> allowed_names;
};

/// The certificate that requests are forwarded with, and what makes it trusted.
struct FrontProxy {
  KeyPair client;
  std::string authority_pem;
  std::vector<std::string> allowed_names;  ///< the common names of such certificates; none: any
};

/// From the files that the options name; without them from `<folder>/pki`, where an authority and a certificate of its
/// own are made; the folder exists. Errors: kInvalid, options that do not belong together; kIo and kBadRequest, naming
/// the file.
Result<FrontProxy> load_front_proxy(const FrontProxyOptions& options, const std::string& folder);

/// Keeps the ConfigMap extension-apiserver-authentication of kube-system, in which aggregated servers look up whom they
/// may trust. Several processes with authorities of their own are all in it. Pure.
Decided decide_extension_authentication(const State& state, const ExtensionAuthentication& own);

}  // namespace shiplog
