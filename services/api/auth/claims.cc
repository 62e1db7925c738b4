#include "services/api/auth/claims.h"

#include <algorithm>

#include "events/base/base64.h"
#include "services/api/auth/rbac/attributes.h"
#include "services/api/auth/text_list.h"

namespace shiplog::api {
namespace {

Error unauthorized(std::string why) { return {ErrorCode::kUnauthorized, std::move(why)}; }

constexpr struct {
  const char* kind;
  const char* claim;
  const char* type;
  bool namespaced;
} kBindable[] = {{"Pod", "pod", "pods", true}, {"Secret", "secret", "secrets", true}, {"Node", "node", "nodes", false}};

constexpr const char* kLastingIssuer = "kubernetes/serviceaccount";
constexpr const char* kLasting = "kubernetes.io/serviceaccount/";

/// Equal texts take as long as unequal ones: what is compared is a secret.
bool same_secret(std::string_view a, std::string_view b) {
  unsigned difference = a.size() == b.size() ? 0 : 1;
  for (size_t i = 0; i < a.size() && i < b.size(); ++i) {
    difference |= static_cast<unsigned>(static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i]));
  }
  return difference == 0;
}

}  // namespace

Value claims_of(const TokenTerms& terms) {
  const int64_t now = terms.issued.value / 1000;
  const ObjectKey& account = terms.account.key;
  Value about = Value::object({{"namespace", account.ns}});
  about.set("serviceaccount", Value::object({{"name", account.name}, {"uid", terms.account.uid}}));
  for (const auto& bindable : kBindable) {
    if (!terms.bound || terms.bound->kind != bindable.kind) continue;
    about.set(bindable.claim, Value::object({{"name", terms.bound->key.name}, {"uid", terms.bound->uid}}));
  }
  return Value::object({{"iss", kTokenIssuer},
                        {"aud", list_of(terms.audiences)},
                        {"sub", std::string{kServiceAccountPrefix} + account.ns + ":" + account.name},
                        {"iat", now},
                        {"nbf", now},
                        {"exp", now + terms.seconds},
                        {"jti", terms.id},
                        {"kubernetes.io", about}});
}

Value lasting_claims_of(const TokenObject& account, const std::string& secret) {
  const std::string about = kLasting;
  return Value::object({{"iss", kLastingIssuer},
                        {"sub", std::string{kServiceAccountPrefix} + account.key.ns + ":" + account.key.name},
                        {about + "namespace", account.key.ns},
                        {about + "secret.name", secret},
                        {about + "service-account.name", account.key.name},
                        {about + "service-account.uid", account.uid}});
}

namespace {

Result<TokenIdentity> lasting_identity_from(const Value& claims, const std::vector<std::string>& audiences) {
  const auto claim_value = [&](const char* claim) { return claims[std::string{kLasting} + claim].str(); };
  const std::string ns = claim_value("namespace");
  const std::string name = claim_value("service-account.name");
  const std::string uid = claim_value("service-account.uid");
  const auto account = service_account_of(claims["sub"].as_string());
  if (!account || account->first != ns || account->second != name || uid.empty() ||
      claim_value("secret.name").empty()) {
    return unauthorized("the token names no service account");
  }
  if (std::ranges::find(audiences, kTokenIssuer) == audiences.end()) {
    return unauthorized("the token is for another audience");
  }
  TokenIdentity identity;
  identity.audiences = {kTokenIssuer};
  identity.user.name = claims["sub"].str();
  identity.user.uid = uid;
  identity.user.groups = service_account_groups(ns);
  identity.user.groups.emplace_back(kAuthenticatedGroup);
  identity.depends_on = {{"ServiceAccount", {"serviceaccounts", ns, name}, uid},
                         {"Secret", {"secrets", ns, claim_value("secret.name")}, ""}};
  return identity;
}

}  // namespace

Result<TokenIdentity> identity_from(const Value& claims, UtcMillis now, const std::vector<std::string>& audiences) {
  if (claims["iss"].as_string() == kLastingIssuer) return lasting_identity_from(claims, audiences);
  const int64_t seconds = now.value / 1000;
  if (claims["iss"].as_string() != kTokenIssuer) return unauthorized("the token is of another issuer");
  if (!claims["exp"].is_int() || claims["exp"].as_int() <= seconds) return unauthorized("the token has expired");
  // Clocks of a fleet's processes may differ a little.
  constexpr int64_t kLeeway = 60;
  if (claims["nbf"].as_int() > seconds + kLeeway) return unauthorized("the token is not valid yet");

  TokenIdentity identity;
  for (const Value& audience : claims["aud"].items()) {
    if (std::ranges::find(audiences, audience.as_string()) != audiences.end()) {
      identity.audiences.push_back(audience.str());
    }
  }
  if (identity.audiences.empty()) return unauthorized("the token is for another audience");

  const Value& about = claims["kubernetes.io"];
  const std::string ns = about["namespace"].str();
  const std::string name = about["serviceaccount"]["name"].str();
  const std::string uid = about["serviceaccount"]["uid"].str();
  const auto account = service_account_of(claims["sub"].as_string());
  if (!account || account->first != ns || account->second != name || uid.empty()) {
    return unauthorized("the token names no service account");
  }
  User& user = identity.user;
  user.name = claims["sub"].str();
  user.uid = uid;
  user.groups = service_account_groups(ns);
  user.groups.emplace_back(kAuthenticatedGroup);
  user.extra["authentication.kubernetes.io/credential-id"] = {"JTI=" + claims["jti"].str()};
  identity.depends_on.push_back({"ServiceAccount", {"serviceaccounts", ns, name}, uid});
  for (const auto& bindable : kBindable) {
    const Value& bound = about[bindable.claim];
    if (!bound.is_object()) continue;
    identity.depends_on.push_back(
        {bindable.kind, {bindable.type, bindable.namespaced ? ns : "", bound["name"].str()}, bound["uid"].str()});
    if (std::string_view{bindable.kind} == "Secret") continue;
    const std::string key = std::string{"authentication.kubernetes.io/"} + bindable.claim;
    user.extra[key + "-name"] = {bound["name"].str()};
    user.extra[key + "-uid"] = {bound["uid"].str()};
  }
  return identity;
}

std::optional<std::pair<std::string, std::string>> bootstrap_token_parts(std::string_view token) {
  constexpr size_t kId = 6;
  constexpr size_t kSecret = 16;
  if (token.size() != kId + 1 + kSecret || token[kId] != '.') return std::nullopt;
  for (size_t i = 0; i < token.size(); ++i) {
    const char c = token[i];
    if (i != kId && !(c >= 'a' && c <= 'z') && !(c >= '0' && c <= '9')) return std::nullopt;
  }
  return std::pair{std::string{token.substr(0, kId)}, std::string{token.substr(kId + 1)}};
}

Result<User> bootstrap_user(const Value& secret, const std::string& id, const std::string& token_secret,
                            UtcMillis now) {
  const auto field = [&](const char* key) { return base64_decode(secret["data"][key].as_string()).value_or(""); };
  if (secret["type"].as_string() != "bootstrap.kubernetes.io/token") {
    return unauthorized("the Secret of the bootstrap token is of another type");
  }
  if (field("token-id") != id || field("token-secret").empty() || !same_secret(field("token-secret"), token_secret)) {
    return unauthorized("the bootstrap token is not valid");
  }
  if (!field("expiration").empty()) {
    const auto expires = parse_rfc3339(field("expiration"));
    if (!expires || expires.value() <= now) return unauthorized("the bootstrap token has expired");
  }
  if (field("usage-bootstrap-authentication") != "true") {
    return unauthorized("the bootstrap token is not for authentication");
  }
  User user;
  user.name = "system:bootstrap:" + id;
  user.groups = {"system:bootstrappers"};
  std::string_view rest;
  const std::string extra = field("auth-extra-groups");
  for (rest = extra; !rest.empty();) {
    const size_t comma = std::min(rest.find(','), rest.size());
    const std::string_view group = rest.substr(0, comma);
    if (group.starts_with("system:bootstrappers:")) user.groups.emplace_back(group);
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
  user.groups.emplace_back(kAuthenticatedGroup);
  return user;
}

Value user_info(const User& user) {
  Value info = Value::object({{"username", user.name}});
  if (!user.uid.empty()) info.set("uid", user.uid);
  if (!user.groups.empty()) info.set("groups", list_of(user.groups));
  for (const auto& [key, values] : user.extra) info.edit("extra").set(key, list_of(values));
  return info;
}

}  // namespace shiplog::api
