#include "services/programs/shiplogd/outside_auth.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include <CLI/CLI.hpp>

#include "services/api/auth/oidc/issuer_keys.h"
#include "services/api/auth/oidc/oidc_authenticator.h"
#include "services/api/auth/oidc/web_key_set.h"
#include "services/api/auth/webhook/review_client.h"
#include "services/api/auth/webhook/token_webhook.h"
#include "services/api/pipeline/server.h"
#include "services/http/private_file.h"
#include "services/runtime/log.h"

namespace shiplog {
namespace {

constexpr const char* kRbac = "RBAC";
constexpr const char* kWebhook = "Webhook";
/// Of kubelets, which do not talk to a control plane of many clusters; scripts for Karmada name it.
constexpr const char* kNode = "Node";

Error wrong(const std::string& flag, const std::string& why) { return {ErrorCode::kInvalid, "--" + flag + ": " + why}; }

Millis steady_now() {
  return Millis{
      std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now().time_since_epoch())
          .count()};
}

Result<Millis> duration_in(const std::string& flag, const std::string& text) {
  const auto parsed = parse_duration(text);
  if (!parsed || parsed.value().value < 0) return wrong(flag, "\"" + text + "\" is no duration such as 2m or 30s");
  return parsed.value();
}

void add_oidc(CLI::App& app, OutsideAuthOptions& options) {
  app.add_option("--oidc-issuer-url", options.oidc.issuer,
                 "An OpenID Connect issuer, https only: its ID tokens are accepted [none are]")
      ->type_name("URL");
  app.add_option("--oidc-client-id", options.oidc.client_id, "The audience that its tokens need")->type_name("ID");
  app.add_option("--oidc-username-claim", options.oidc.username_claim, "The claim with the user's name")
      ->capture_default_str();
  app.add_option("--oidc-username-prefix", options.oidc_username_prefix,
                 "Put before every name; - is none [the issuer's URL and #; nothing before an email]");
  app.add_option("--oidc-groups-claim", options.oidc.groups_claim, "The claim with the user's groups [no groups]");
  app.add_option("--oidc-groups-prefix", options.oidc.groups_prefix, "Put before every group");
  app.add_option("--oidc-required-claim", options.oidc_required_claims, "A claim that tokens need, and its value")
      ->type_name("CLAIM=VALUE,...")
      ->delimiter(',')
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  app.add_option("--oidc-ca-file", options.oidc_ca_file,
                 "Authorities of the issuer's certificate [those of the system]")
      ->type_name("FILE");
  app.add_option("--oidc-signing-algs", options.oidc.signing_algorithms,
                 "Algorithms that its tokens may be signed with")
      ->delimiter(',')
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->type_name("ALG,...")
      ->capture_default_str();
}

Result<void> check_oidc(OutsideAuthOptions& options) {
  api::OidcRules& oidc = options.oidc;
  if (oidc.issuer.empty()) {
    if (!oidc.client_id.empty() || !oidc.groups_claim.empty() || !options.oidc_ca_file.empty() ||
        !options.oidc_required_claims.empty() || !oidc.groups_prefix.empty() || !options.oidc_username_prefix.empty()) {
      return wrong("oidc-issuer-url", "it is needed with the other flags --oidc-*");
    }
    return ok();
  }
  if (oidc.client_id.empty()) return wrong("oidc-client-id", "it is needed with --oidc-issuer-url");
  if (oidc.username_claim.empty()) return wrong("oidc-username-claim", "it must not be empty");
  if (oidc.signing_algorithms.empty()) return wrong("oidc-signing-algs", "it must not be empty");
  for (const std::string& algorithm : oidc.signing_algorithms) {
    const auto& known = api::signing_algorithms();
    if (std::ranges::find(known, algorithm) != known.end()) continue;
    std::string all;
    for (const std::string& name : known) all += (all.empty() ? "" : ", ") + name;
    return wrong("oidc-signing-algs", "\"" + algorithm + "\" is none of " + all);
  }
  for (const std::string& claim : options.oidc_required_claims) {
    const size_t equals = claim.find('=');
    if (equals == 0 || equals == std::string::npos) {
      return wrong("oidc-required-claim", "\"" + claim + "\" has not the form CLAIM=VALUE");
    }
    oidc.required_claims[claim.substr(0, equals)] = claim.substr(equals + 1);
  }
  oidc.username_prefix = api::username_prefix(options.oidc_username_prefix, oidc.username_claim, oidc.issuer);
  return ok();
}

Result<void> check_modes(OutsideAuthOptions& options, std::vector<std::string>& warnings) {
  std::vector<std::string>& modes = options.authorization_modes;
  for (const std::string& mode : modes) {
    if (mode != kRbac && mode != kWebhook && mode != kNode) {
      return wrong("authorization-mode", "\"" + mode + "\" is not supported; there are RBAC and Webhook");
    }
    if (std::ranges::count(modes, mode) > 1) return wrong("authorization-mode", mode + " is named twice");
  }
  if (std::erase(modes, kNode) > 0) {
    warnings.emplace_back("--authorization-mode=Node has no effect: kubelets do not use this API server");
  }
  if (std::ranges::find(modes, kRbac) == modes.end()) {
    return wrong("authorization-mode",
                 "RBAC must be one of them: the roles of the control plane's own parts are RBAC's");
  }
  const bool webhook = std::ranges::find(modes, kWebhook) != modes.end();
  if (webhook && options.access_webhook.empty()) {
    return wrong("authorization-webhook-config-file", "it is needed with --authorization-mode=Webhook");
  }
  if (!webhook && !options.access_webhook.empty()) {
    return wrong("authorization-mode", "Webhook must be one of them with --authorization-webhook-config-file");
  }
  return ok();
}

Result<std::unique_ptr<api::TokenAuthenticator>> make_oidc(const OutsideAuthOptions& options, const Clock& clock,
                                                           std::shared_ptr<const Networks> denied_networks) {
  api::IssuerKeys::Options keys{
      .issuer = options.oidc.issuer, .ca_pem = {}, .denied_networks = std::move(denied_networks), .now = steady_now};
  if (!options.oidc_ca_file.empty()) {
    auto authorities = read_file(options.oidc_ca_file);
    if (!authorities) return authorities.error().context("--oidc-ca-file");
    keys.ca_pem = std::move(authorities).value();
  }
  auto made = api::IssuerKeys::make(std::move(keys));
  if (!made) return made.error().context("--oidc-issuer-url");
  log::info("oidc.configured", {log::kv("issuer", options.oidc.issuer), log::kv("client", options.oidc.client_id)});
  return std::unique_ptr<api::TokenAuthenticator>{
      std::make_unique<api::OidcAuthenticator>(options.oidc, std::move(made).value(), clock)};
}

}  // namespace

void add_outside_auth(CLI::App& app, OutsideAuthOptions& options) {
  add_oidc(app, options);
  const auto version = [&](const std::string& flag, std::string& into, const char* kind) {
    app.add_option(flag, into, std::string{"The version of "} + kind + " that it is sent")
        ->check(CLI::IsMember({"v1", "v1beta1"}))
        ->capture_default_str();
  };
  const auto duration = [&](const std::string& flag, std::string& into, const char* what) {
    app.add_option(flag, into, what)->type_name("DURATION")->capture_default_str();
  };
  app.add_option("--authentication-token-webhook-config-file", options.token_webhook,
                 "A kubeconfig file: ask the server of its current context whose bearer tokens these are")
      ->type_name("FILE");
  version("--authentication-token-webhook-version", options.token_webhook_version, "TokenReview");
  duration("--authentication-token-webhook-cache-ttl", options.token_webhook_ttl, "Keep its answers for so long");
  app.add_option("--authorization-mode", options.authorization_modes,
                 "Who is asked for permission, in this order: RBAC and Webhook; the first with an opinion decides")
      ->delimiter(',')
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->type_name("MODE,...")
      ->capture_default_str();
  app.add_option("--authorization-webhook-config-file", options.access_webhook,
                 "A kubeconfig file: ask the server of its current context for permission")
      ->type_name("FILE");
  version("--authorization-webhook-version", options.access_webhook_version, "SubjectAccessReview");
  duration("--authorization-webhook-cache-authorized-ttl", options.access_webhook_allowed_ttl,
           "Keep for so long that it allows something");
  duration("--authorization-webhook-cache-unauthorized-ttl", options.access_webhook_refused_ttl,
           "Keep for so long that it does not");
}

Result<void> check_outside_auth(OutsideAuthOptions& options, bool serves_api, std::vector<std::string>& warnings) {
  SHIPLOG_TRY(check_oidc(options));
  SHIPLOG_TRY(check_modes(options, warnings));
  SHIPLOG_TRY(duration_in("authentication-token-webhook-cache-ttl", options.token_webhook_ttl));
  SHIPLOG_TRY(duration_in("authorization-webhook-cache-authorized-ttl", options.access_webhook_allowed_ttl));
  SHIPLOG_TRY(duration_in("authorization-webhook-cache-unauthorized-ttl", options.access_webhook_refused_ttl));
  const bool any = !options.oidc.issuer.empty() || !options.token_webhook.empty() || !options.access_webhook.empty();
  if (any && !serves_api) {
    warnings.emplace_back(
        "flags for authentication and authorization have no effect: this process does not have the "
        "role api");
  }
  return ok();
}

void OutsideAuth::enable_in(api::ServerOptions& server) const {
  for (const auto& authenticator : tokens) server.token_authenticators.push_back(authenticator.get());
  server.access_webhook = access.get();
  server.webhook_before_rbac = webhook_before_rbac;
}

Result<OutsideAuth> make_outside_auth(const OutsideAuthOptions& options, const Clock& clock, Random& random,
                                      std::shared_ptr<const Networks> denied_networks) {
  OutsideAuth made;
  if (!options.oidc.issuer.empty()) {
    SHIPLOG_TRY(auto oidc, make_oidc(options, clock, std::move(denied_networks)));
    made.tokens.push_back(std::move(oidc));
  }
  if (!options.token_webhook.empty()) {
    auto client = api::ReviewClient::from_kubeconfig(options.token_webhook);
    if (!client) return client.error().context("--authentication-token-webhook-config-file");
    SHIPLOG_TRY(const Millis keep, duration_in("authentication-token-webhook-cache-ttl", options.token_webhook_ttl));
    made.tokens.push_back(
        std::make_unique<api::TokenWebhook>(api::TokenWebhook::Options{options.token_webhook_version, keep, steady_now},
                                            std::move(client).value(), random));
  }
  if (!options.access_webhook.empty()) {
    auto client = api::ReviewClient::from_kubeconfig(options.access_webhook);
    if (!client) return client.error().context("--authorization-webhook-config-file");
    SHIPLOG_TRY(const Millis allowed,
                duration_in("authorization-webhook-cache-authorized-ttl", options.access_webhook_allowed_ttl));
    SHIPLOG_TRY(const Millis refused,
                duration_in("authorization-webhook-cache-unauthorized-ttl", options.access_webhook_refused_ttl));
    made.access = std::make_unique<api::AccessWebhook>(
        api::AccessWebhook::Options{options.access_webhook_version, allowed, refused, steady_now},
        std::move(client).value(), random);
    made.webhook_before_rbac = options.authorization_modes.front() == kWebhook;
  }
  return made;
}

}  // namespace shiplog
