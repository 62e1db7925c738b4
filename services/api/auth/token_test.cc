#include <gtest/gtest.h>

#include "events/base/base64.h"
#include "services/api/auth/claims.h"
#include "services/api/auth/token_signer.h"
#include "services/http/tls.h"

namespace shiplog::api {
namespace {

constexpr UtcMillis kNow{1'790'000'000'000};

std::unique_ptr<TokenSigner> signer() {
  const auto keys = make_authority("tokens", valid_for_days(kNow, 10));
  EXPECT_TRUE(keys);
  auto made = TokenSigner::from_key(keys.value().key_pem);
  EXPECT_TRUE(made);
  return std::move(made).value();
}

TokenTerms terms() {
  TokenTerms terms;
  terms.account = {"ServiceAccount", {"serviceaccounts", "a", "robot"}, "uid-1"};
  terms.audiences = {kTokenIssuer};
  terms.issued = kNow;
  terms.id = "id-1";
  return terms;
}

TEST(TokenSigner, VerifiesWhatItSignedAndNothingElse) {  // AUTHN-4
  const auto ours = signer();
  const std::string token = ours->sign(claims_of(terms())).value();
  const auto claims = ours->verify(token);
  ASSERT_TRUE(claims) << claims.error().message;
  EXPECT_EQ(claims.value()["sub"].as_string(), "system:serviceaccount:a:robot");
  EXPECT_EQ(claims.value()["kubernetes.io"]["serviceaccount"]["uid"].as_string(), "uid-1");
  EXPECT_FALSE(signer()->verify(token)) << "another fleet's key";
  for (const size_t at : {token.find('.') + 3, token.size() - 5}) {
    std::string changed = token;
    changed[at] = changed[at] == 'A' ? 'B' : 'A';
    EXPECT_FALSE(ours->verify(changed)) << "changed at " << at;
  }
  EXPECT_FALSE(ours->verify(""));
  EXPECT_FALSE(ours->verify("a.b"));
  EXPECT_FALSE(ours->verify(token + "."));
  // {"alg":"none"} with no signature.
  EXPECT_FALSE(
      ours->verify("eyJhbGciOiJub25lIn0" + token.substr(token.find('.'), token.rfind('.') - token.find('.')) + "."));
  EXPECT_FALSE(TokenSigner::from_key("no key"));
}

TEST(TokenSigner, PublishesItsKey) {  // AUTHN-8
  const Value key = signer()->key_set()["keys"][0];
  EXPECT_EQ(key["alg"].as_string(), "ES256");
  EXPECT_EQ(key["x"].as_string().size(), 43u);
  EXPECT_EQ(key["y"].as_string().size(), 43u);
  EXPECT_FALSE(key.contains("d"));
}

TEST(Claims, NameTheUserOfTheToken) {  // AUTHN-3, AUTHN-4
  TokenTerms wanted = terms();
  wanted.bound = TokenObject{"Pod", {"pods", "a", "p"}, "uid-2"};
  const auto identity = identity_from(claims_of(wanted), kNow, {kTokenIssuer, "other"});
  ASSERT_TRUE(identity) << identity.error().message;
  const User& user = identity.value().user;
  EXPECT_EQ(user.name, "system:serviceaccount:a:robot");
  EXPECT_EQ(user.uid, "uid-1");
  EXPECT_EQ(user.groups,
            (std::vector<std::string>{"system:serviceaccounts", "system:serviceaccounts:a", "system:authenticated"}));
  EXPECT_EQ(user.extra.at("authentication.kubernetes.io/pod-name"), std::vector<std::string>{"p"});
  EXPECT_EQ(identity.value().audiences, std::vector<std::string>{kTokenIssuer});
  ASSERT_EQ(identity.value().depends_on.size(), 2u);
  EXPECT_EQ(identity.value().depends_on[1].uid, "uid-2");
}

TEST(Claims, AreGoodForTheirTimeAndAudienceOnly) {  // AUTHN-4
  const Value claims = claims_of(terms());
  const std::vector<std::string> us = {kTokenIssuer};
  EXPECT_TRUE(identity_from(claims, kNow + Millis{3'599'000}, us));
  EXPECT_FALSE(identity_from(claims, kNow + Millis{3'600'000}, us));
  EXPECT_FALSE(identity_from(claims, kNow + Millis{-120'000}, us));
  EXPECT_FALSE(identity_from(claims, kNow, {"elsewhere"}));
  Value other = claims;
  other.set("iss", "https://elsewhere");
  EXPECT_FALSE(identity_from(other, kNow, us));
  Value endless = claims;
  endless.erase("exp");
  EXPECT_FALSE(identity_from(endless, kNow, us));
  Value renamed = claims;
  renamed.set("sub", "system:serviceaccount:b:robot");
  EXPECT_FALSE(identity_from(renamed, kNow, us));
}

TEST(BootstrapTokens, AreReadFromTheirSecret) {  // AUTHN-6, 1.6.1, 1.6.2
  EXPECT_FALSE(bootstrap_token_parts("abcdef.0123456789ABCDEF"));
  EXPECT_FALSE(bootstrap_token_parts("abcdef.0123456789abcde"));
  const auto parts = bootstrap_token_parts("abcdef.0123456789abcdef");
  ASSERT_TRUE(parts);
  const auto& [id, secret_part] = *parts;
  Value secret = Value::object({{"type", "bootstrap.kubernetes.io/token"}});
  const auto set = [&](const char* key, const char* value) { secret.edit("data").set(key, base64_encode(value)); };
  set("token-id", "abcdef");
  set("token-secret", "0123456789abcdef");
  set("auth-extra-groups", "system:bootstrappers:karmada,system:masters");
  EXPECT_FALSE(bootstrap_user(secret, id, secret_part, kNow)) << "not for authentication";
  set("usage-bootstrap-authentication", "true");
  set("expiration", "2030-01-01T00:00:00Z");
  const auto user = bootstrap_user(secret, id, secret_part, kNow);
  ASSERT_TRUE(user) << user.error().message;
  EXPECT_EQ(user.value().name, "system:bootstrap:abcdef");
  EXPECT_EQ(user.value().groups,
            (std::vector<std::string>{"system:bootstrappers", "system:bootstrappers:karmada", "system:authenticated"}));
  EXPECT_FALSE(bootstrap_user(secret, id, "0123456789abcdeg", kNow));
  EXPECT_FALSE(bootstrap_user(secret, id, secret_part, UtcMillis{1'900'000'000'000})) << "expired";
  secret.set("type", "Opaque");
  EXPECT_FALSE(bootstrap_user(secret, id, secret_part, kNow));
}

}  // namespace
}  // namespace shiplog::api
