#pragma once

#include <memory>
#include <string>
#include <vector>

#include "events/base/networks.h"
#include "events/base/random.h"
#include "events/base/result.h"
#include "events/base/time.h"
#include "services/api/auth/oidc/oidc_rules.h"
#include "services/api/auth/token_authenticator.h"
#include "services/api/auth/webhook/access_webhook.h"

namespace CLI {
class App;
}

namespace shiplog {

namespace api {
struct ServerOptions;
}

/// kube-apiserver's flags for users and permissions that services outside know.
struct OutsideAuthOptions {
  api::OidcRules oidc;  ///< without an issuer: none
  std::string oidc_username_prefix, oidc_ca_file;
  std::vector<std::string> oidc_required_claims;  ///< "name=value"
  std::string token_webhook;                      ///< a kubeconfig file; empty: none
  std::string token_webhook_version = "v1beta1";
  std::string token_webhook_ttl = "2m0s";
  std::vector<std::string> authorization_modes{"RBAC"};
  std::string access_webhook;  ///< a kubeconfig file; empty: none
  std::string access_webhook_version = "v1beta1";
  std::string access_webhook_allowed_ttl = "5m0s", access_webhook_refused_ttl = "30s";
};

void add_outside_auth(CLI::App& app, OutsideAuthOptions& options);
/// Error: kInvalid, naming the flag. `warnings` gets a sentence for each flag without an effect.
Result<void> check_outside_auth(OutsideAuthOptions& options, bool serves_api, std::vector<std::string>& warnings);

/// What the flags configure.
struct OutsideAuth {
  std::vector<std::unique_ptr<api::TokenAuthenticator>> tokens;  ///< in the order they are asked in
  std::unique_ptr<api::AccessWebhook> access;                    ///< nullptr: there is none
  bool webhook_before_rbac = false;

  /// Before the API server starts, which this outlives.
  void enable_in(api::ServerOptions& server) const;
};
/// Errors: kInvalid, kBadRequest, kNotFound, kIo: a file or an address cannot be used, naming the flag.
Result<OutsideAuth> make_outside_auth(const OutsideAuthOptions& options, const Clock& clock, Random& random,
                                      std::shared_ptr<const Networks> denied_networks);

}  // namespace shiplog
