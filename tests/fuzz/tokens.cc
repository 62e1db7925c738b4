#include "events/base/check.h"
#include "events/base/json.h"
#include "services/api/auth/claims.h"
#include "services/api/auth/token_signer.h"
#include "services/http/tls.h"
#include "tests/fuzz/fuzz.h"

namespace shiplog {
namespace {

constexpr UtcMillis kNow{1'790'000'000'000};

const api::TokenSigner& signer() {
  static const auto made = [] {
    const auto keys = make_authority("tokens", valid_for_days(kNow, 10));
    SHIPLOG_CHECK(keys.has_value(), "keys can be made");
    return api::TokenSigner::from_key(keys.value().key_pem).value();
  }();
  return *made;
}

}  // namespace

// A token that this fleet has not signed, and claims.
SHIPLOG_FUZZ_TARGET(tokens) {
  const auto part = fuzz::parts(input, 2);
  const auto foreign = signer().verify(part[0]);
  SHIPLOG_CHECK(!foreign && foreign.error().code == ErrorCode::kUnauthorized, "a token of others is refused");
  if (const auto bootstrap = api::bootstrap_token_parts(part[0])) {
    SHIPLOG_CHECK(bootstrap->first.size() == 6 && bootstrap->second.size() == 16, "a bootstrap token has its form");
  }
  const Value claims = fuzz::json_or_null(part[1]);
  if (!claims.is_object()) return;
  const auto token = signer().sign(claims);
  SHIPLOG_CHECK(token.has_value(), "claims can be signed");
  const auto verified = signer().verify(token.value());
  SHIPLOG_CHECK(verified && verified.value() == claims, "what is signed is verified, and unchanged");
  const auto identity = api::identity_from(claims, kNow, {api::kTokenIssuer});
  if (!identity) {
    SHIPLOG_CHECK(!identity.error().message.empty(), "claims that are refused have a cause");
    return;
  }
  SHIPLOG_CHECK(identity.value().user.name.starts_with("system:serviceaccount:"), "a token is of a ServiceAccount");
  SHIPLOG_CHECK(!identity.value().depends_on.empty(), "a token ends with its account");
}

}  // namespace shiplog
