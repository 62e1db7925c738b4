#include "services/api/auth/oidc/oidc_rules.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

namespace shiplog::api {
namespace {

constexpr std::string_view kReserved = "system:";
/// Of the issuer's clock: a token that was made in its near future is accepted.
constexpr int64_t kLeewaySeconds = 300;
constexpr size_t kMostGroups = 10'000;

Error unauthorized(std::string why) { return {ErrorCode::kUnauthorized, std::move(why)}; }

/// Seconds since 1970; JSON numbers may have a fraction.
std::optional<int64_t> seconds_in(const Value& claim) {
  if (claim.is_int()) return claim.as_int();
  if (!claim.is_number()) return std::nullopt;
  const double seconds = claim.as_double();
  if (!(std::abs(seconds) < 1e15)) return std::nullopt;
  return static_cast<int64_t>(seconds);
}

Result<void> check_times(const Value& claims, UtcMillis now) {
  const int64_t seconds = now.value / 1000;
  const auto expires = seconds_in(claims["exp"]);
  if (!expires) return unauthorized("the token has no expiry (claim exp)");
  if (*expires <= seconds) return unauthorized("the token has expired");
  const Value& not_before = claims["nbf"];
  if (not_before.is_null()) return ok();
  const auto begins = seconds_in(not_before);
  if (!begins || *begins > seconds + kLeewaySeconds) return unauthorized("the token is not valid yet (claim nbf)");
  return ok();
}

bool is_for(const Value& audiences, const std::string& client_id) {
  if (audiences.is_string()) return audiences.as_string() == client_id;
  return std::ranges::any_of(audiences.items(), [&](const Value& each) { return each.as_string() == client_id; });
}

Result<std::string> name_in(const OidcRules& rules, const Value& claims) {
  const Value& claim = claims[rules.username_claim];
  if (!claim.is_string() || claim.as_string().empty()) {
    return unauthorized("the token has no text in claim " + rules.username_claim + ", which is the user's name");
  }
  const Value& verified = claims["email_verified"];
  if (rules.username_claim == "email" && !verified.is_null() && !verified.as_bool()) {
    return unauthorized("the e-mail address of the token is not verified (claim email_verified)");
  }
  std::string name = rules.username_prefix + claim.str();
  if (name.starts_with(kReserved)) {
    return unauthorized("names that begin with \"system:\" are this control plane's own: use --oidc-username-prefix");
  }
  return name;
}

Result<std::vector<std::string>> groups_in(const OidcRules& rules, const Value& claims) {
  std::vector<std::string> groups;
  if (rules.groups_claim.empty()) return groups;
  if (!claims["_claim_names"][rules.groups_claim].is_null()) {
    return unauthorized("the groups are kept outside of the token (claim _claim_names), which is not supported");
  }
  const Value& claim = claims[rules.groups_claim];
  const auto add = [&](const Value& group) -> Result<void> {
    if (!group.is_string()) return unauthorized("claim " + rules.groups_claim + " is no list of texts");
    std::string name = rules.groups_prefix + group.str();
    if (name.starts_with(kReserved)) {
      return unauthorized("groups that begin with \"system:\" are this control plane's own: use --oidc-groups-prefix");
    }
    groups.push_back(std::move(name));
    return ok();
  };
  if (claim.is_null()) return groups;
  if (claim.is_string()) {
    SHIPLOG_TRY(add(claim));
    return groups;
  }
  if (!claim.is_array() || claim.size() > kMostGroups) {
    return unauthorized("claim " + rules.groups_claim + " is no list of texts, or too long a one");
  }
  for (const Value& group : claim.items()) {
    SHIPLOG_TRY(add(group));
  }
  return groups;
}

}  // namespace

std::string username_prefix(const std::string& flag, const std::string& username_claim, const std::string& issuer) {
  if (flag == "-") return "";
  if (!flag.empty()) return flag;
  return username_claim == "email" ? "" : issuer + "#";
}

Result<User> user_from(const OidcRules& rules, const Value& claims, UtcMillis now) {
  if (claims["iss"].as_string() != rules.issuer) return unauthorized("the token is of another issuer");
  SHIPLOG_TRY(check_times(claims, now));
  if (!is_for(claims["aud"], rules.client_id)) return unauthorized("the token is for another audience (claim aud)");
  for (const auto& [name, value] : rules.required_claims) {
    if (!claims[name].is_string() || claims[name].as_string() != value) {
      return unauthorized("the token has not the value in claim " + name + " that --oidc-required-claim wants");
    }
  }
  User user;
  SHIPLOG_TRY(user.name, name_in(rules, claims));
  SHIPLOG_TRY(user.groups, groups_in(rules, claims));
  user.groups.emplace_back(kAuthenticatedGroup);
  return user;
}

}  // namespace shiplog::api
