// ID tokens of an OpenID Connect issuer: what they have to be, and what they must not be.
#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>

#include <gtest/gtest.h>

#include "events/base/json.h"
#include "services/api/auth/oidc/oidc_authenticator.h"
#include "services/api/auth/oidc/web_key_set.h"
#include "tests/support/http_peers.h"
#include "tests/support/http_server.h"
#include "tests/support/token_issuer.h"

namespace shiplog::api {
namespace {

using shiplog::testing::Awaited;
using shiplog::testing::IssuerKey;
using shiplog::testing::key_set;

constexpr UtcMillis kNow{1'790'000'000'000};
constexpr int64_t kSeconds = kNow.value / 1000;

Value json(std::string_view text) { return parse_json(text).value(); }

OidcRules rules_of(const std::string& issuer = "https://issuer.example") {
  OidcRules rules;
  rules.issuer = issuer;
  rules.client_id = "shiplog";
  rules.username_prefix = "oidc:";
  rules.groups_claim = "groups";
  rules.signing_algorithms = {"RS256", "ES256"};
  rules.groups_prefix = "oidc:";
  return rules;
}

Value claims_for(const std::string& issuer = "https://issuer.example") {
  return Value::object({{"iss", issuer},
                        {"sub", "ann"},
                        {"aud", "shiplog"},
                        {"exp", kSeconds + 600},
                        {"groups", Value::array({"dev", "ops"})}});
}

std::string refusal_of(const OidcRules& rules, const Value& claims, UtcMillis now = kNow) {
  const auto user = user_from(rules, claims, now);
  return user ? "" : user.error().message;
}

Value with(const char* claim, Value value) {
  Value claims = claims_for();
  claims.set(claim, std::move(value));
  return claims;
}

TEST(OidcRules, TheUserIsInTheClaims) {
  const auto user = user_from(rules_of(), claims_for(), kNow);
  ASSERT_TRUE(user) << user.error().message;
  EXPECT_EQ(user.value().name, "oidc:ann");
  EXPECT_EQ(user.value().groups, (std::vector<std::string>{"oidc:dev", "oidc:ops", "system:authenticated"}));
  EXPECT_TRUE(user_from(rules_of(), with("aud", Value::array({"other", "shiplog"})), kNow));
  EXPECT_EQ(user_from(rules_of(), with("groups", "dev"), kNow).value().groups.front(), "oidc:dev");
  Value none = claims_for();
  none.erase("groups");
  EXPECT_EQ(user_from(rules_of(), none, kNow).value().groups.size(), 1U);
}

TEST(OidcRules, TimesAudiencesAndRequiredClaimsAreChecked) {
  const OidcRules rules = rules_of();
  EXPECT_NE(refusal_of(rules, with("exp", kSeconds)).find("expired"), std::string::npos);
  EXPECT_NE(refusal_of(rules, with("exp", "tomorrow")).find("no expiry"), std::string::npos);
  EXPECT_NE(refusal_of(rules, with("nbf", kSeconds + 301)).find("not valid yet"), std::string::npos);
  EXPECT_EQ(refusal_of(rules, with("nbf", kSeconds + 299)), "") << "clocks differ";
  for (Value audience : {Value{"other"}, Value::array({"shiplog2"}), Value{}, Value{7}}) {
    EXPECT_NE(refusal_of(rules, with("aud", std::move(audience))).find("another audience"), std::string::npos);
  }
  EXPECT_NE(refusal_of(rules, with("iss", "https://issuer.example/")).find("another issuer"), std::string::npos);
  OidcRules demanding = rules;
  demanding.required_claims["hd"] = "example.com";
  EXPECT_NE(refusal_of(demanding, claims_for()).find("hd"), std::string::npos);
  EXPECT_NE(refusal_of(demanding, with("hd", Value::array({"example.com"}))).find("hd"), std::string::npos);
  EXPECT_EQ(refusal_of(demanding, with("hd", "example.com")), "");
}

TEST(OidcRules, NamesAreTextsOfVerifiedAddresses) {
  OidcRules rules = rules_of();
  for (const Value& name : {Value{}, Value{7}, Value{""}, Value::array({"ann"})}) {
    EXPECT_NE(refusal_of(rules, with("sub", name)).find("claim sub"), std::string::npos);
  }
  rules.username_claim = "email";
  Value claims = with("email", "ann@example.com");
  EXPECT_EQ(refusal_of(rules, claims), "");
  claims.set("email_verified", false);
  EXPECT_NE(refusal_of(rules, claims).find("not verified"), std::string::npos);
  claims.set("email_verified", "true");
  EXPECT_NE(refusal_of(rules, claims).find("not verified"), std::string::npos) << "a text is no truth";
  claims.set("email_verified", true);
  EXPECT_EQ(refusal_of(rules, claims), "");
  EXPECT_EQ(username_prefix("", "sub", "https://i"), "https://i#");
  EXPECT_EQ(username_prefix("", "email", "https://i"), "");
  EXPECT_EQ(username_prefix("-", "sub", "https://i"), "");
  EXPECT_EQ(username_prefix("x:", "email", "https://i"), "x:");
}

// An issuer that may name everybody could name the control plane itself.
TEST(OidcRules, WhatIsTheControlPlanesOwnCannotBeClaimed) {
  OidcRules open = rules_of();
  open.username_prefix = open.groups_prefix = "";
  EXPECT_NE(refusal_of(open, with("sub", "system:admin")).find("--oidc-username-prefix"), std::string::npos);
  for (const Value& groups : {Value{"system:masters"}, Value::array({"dev", "system:masters"})}) {
    EXPECT_NE(refusal_of(open, with("groups", groups)).find("--oidc-groups-prefix"), std::string::npos);
  }
  EXPECT_EQ(user_from(rules_of(), with("groups", "system:masters"), kNow).value().groups.front(),
            "oidc:system:masters");
  EXPECT_NE(refusal_of(open, with("groups", Value::array({1}))).find("no list of texts"), std::string::npos);
  EXPECT_NE(refusal_of(open, with("_claim_names", json(R"({"groups": "src1"})"))).find("_claim_names"),
            std::string::npos);
}

bool signed_by(const Value& keys, const std::string& token) {
  const auto set = WebKeySet::parse(to_json(keys));
  EXPECT_TRUE(set) << set.error().message;
  const auto parsed = parse_web_token(token);
  return parsed && set.value()->has_signed(parsed.value());
}

TEST(WebKeySet, EveryAlgorithmIsVerifiedWithTheKeyItBelongsTo) {
  const IssuerKey other{"k", "ES256"};
  for (const std::string& algorithm : signing_algorithms()) {
    const IssuerKey key{"k", algorithm};
    const std::string token = key.token(claims_for());
    EXPECT_TRUE(signed_by(key_set({&key}), token)) << algorithm;
    EXPECT_FALSE(signed_by(key_set({&other}), token)) << algorithm;
    std::string changed = token;
    changed[token.find('.') + 5] = changed[token.find('.') + 5] == 'A' ? 'B' : 'A';
    EXPECT_FALSE(signed_by(key_set({&key}), changed)) << algorithm;
    std::string cut = token;
    cut.resize(cut.size() - 8);
    EXPECT_FALSE(signed_by(key_set({&key}), cut)) << algorithm;
  }
}

// The classic attacks on libraries that let a token choose how it is verified.
TEST(WebKeySet, ATokenDoesNotChooseHowItIsVerified) {
  const IssuerKey key{"k", "RS256"};
  Value unbound = key_set({&key});
  unbound.edit("keys").edit_items()[0].erase("alg");
  for (const char* none : {"none", "None", "", "NONE"}) {
    const Value header = Value::object({{"alg", none}, {"kid", "k"}});
    EXPECT_FALSE(signed_by(unbound, shiplog::testing::token_with(header, claims_for(), ""))) << none;
  }
  const Value shared = Value::object({{"alg", "HS256"}, {"kid", "k"}});
  EXPECT_FALSE(signed_by(unbound, shiplog::testing::token_with_secret(shared, claims_for(), key.public_pem())));
  EXPECT_FALSE(signed_by(unbound, shiplog::testing::token_with_secret(shared, claims_for(), "")));
  const IssuerKey padded{"k", "PS256"};
  EXPECT_FALSE(signed_by(key_set({&padded}), padded.token(claims_for(), json(R"({"alg": "RS256", "kid": "k"})"))));
  const Value embedded = Value::object({{"alg", "RS256"}, {"jwk", key.jwk()}, {"kid", "mine"}});
  EXPECT_FALSE(signed_by(key_set({&padded}), key.token(claims_for(), embedded))) << "a key that comes with the token";
}

TEST(WebKeySet, KeysThatWillNotDoAreLeftOut) {
  const IssuerKey weak{"k", "RS256", 1024};
  EXPECT_FALSE(signed_by(key_set({&weak}), weak.token(claims_for())));
  const IssuerKey key{"k", "ES256"};
  Value encrypts = key_set({&key});
  encrypts.edit("keys").edit_items()[0].set("use", "enc");
  EXPECT_FALSE(signed_by(encrypts, key.token(claims_for())));
  Value off_curve = key_set({&key});
  off_curve.edit("keys").edit_items()[0].set("x", off_curve["keys"][0]["y"]);
  EXPECT_FALSE(signed_by(off_curve, key.token(claims_for())));
  Value odd = key_set({&key});
  odd.edit("keys").push_back(json(R"({"kty": "OKP", "crv": "Ed25519", "x": "AA"})"));
  odd.edit("keys").push_back(7);
  EXPECT_TRUE(signed_by(odd, key.token(claims_for())));
  EXPECT_FALSE(WebKeySet::parse("[]"));
  EXPECT_FALSE(WebKeySet::parse("no JSON"));
  Value many = Value::object({{"keys", Value::array()}});
  for (int i = 0; i < 101; ++i) many.edit("keys").push_back(key.jwk());
  EXPECT_FALSE(WebKeySet::parse(to_json(many)));
}

TEST(WebToken, WhatIsNoTokenIsRefusedWithoutQuotingIt) {
  for (const std::string& text :
       {std::string{"secret"}, std::string{"a.b"}, std::string{"a.b.c.d"}, std::string{"e30.bnVsbA.AA"},
        std::string{"\0.\0.\0", 5}, std::string(70'000, 'a') + ".e30.AA", std::string{"e30.e30.*"}}) {
    const auto parsed = parse_web_token(text);
    ASSERT_FALSE(parsed);
    EXPECT_EQ(parsed.error().message.find("secret"), std::string::npos);
  }
}

struct ClockOfTheTokens final : Clock {
  UtcMillis now() const override { return kNow; }
};

/// An issuer on loopback, over TLS.
class OidcIssuer : public ::testing::Test {
 protected:
  OidcIssuer()
      : server{shiplog::testing::serve(
            [this](const HttpRequest& request, const shiplog::testing::Writer& writer) { answer(request, writer); },
            shiplog::testing::tls_options())} {}

  void answer(const HttpRequest& request, const shiplog::testing::Writer& writer) {
    std::unique_lock lock{mutex};
    opened.wait(lock, [this] { return open; });
    ++requests;
    if (fails) return writer->send({500, {}, "no"});
    const Value body =
        request.path == "/keys"
            ? keys
            : Value::object({{"issuer", named.empty() ? server->url() : named}, {"jwks_uri", server->url() + "/keys"}});
    writer->send({200, {{"Content-Type", "application/json"}}, to_json(body)});
  }
  void set(const std::function<void()>& change) {
    const std::lock_guard lock{mutex};
    change();
    opened.notify_all();
  }
  std::unique_ptr<OidcAuthenticator> authenticator() {
    issuer_keys = IssuerKeys::make({.issuer = server->url(),
                                    .ca_pem = shiplog::testing::TestCertificates::get().authority.certificate_pem,
                                    .denied_networks = nullptr,
                                    .now = [this] { return Millis{uptime.load()}; }})
                      .value();
    return std::make_unique<OidcAuthenticator>(rules_of(server->url()), issuer_keys, clock);
  }
  /// "oidc:ann", "no user", or the error.
  static std::string identified(const Result<std::optional<TokenIdentity>>& identity) {
    if (!identity) return identity.error().message;
    return identity.value() ? identity.value()->user.name : "no user";
  }
  static std::string ask(TokenAuthenticator& authenticator, const std::string& token,
                         const std::vector<std::string>& audiences = {kTokenIssuer}) {
    const auto answered = std::make_shared<Awaited<std::string>>();
    authenticator.authenticate(token, audiences, [answered](const Result<std::optional<TokenIdentity>>& identity) {
      answered->set(identified(identity));
    });
    return answered->get().value_or("no answer");
  }
  std::string token_of(const IssuerKey& key) const { return key.token(claims_for(server->url())); }

  std::mutex mutex;
  std::condition_variable opened;
  bool open = true, fails = false;
  int requests = 0;
  std::string named;
  const IssuerKey first{"first", "ES256"};
  Value keys = key_set({&first});
  std::atomic<int64_t> uptime{1'000'000};
  ClockOfTheTokens clock;
  std::unique_ptr<HttpServer> server;
  std::shared_ptr<IssuerKeys> issuer_keys;
};

TEST_F(OidcIssuer, KeysAreFoundByDiscoveryAndKept) {
  const auto oidc = authenticator();
  EXPECT_EQ(ask(*oidc, token_of(first)), "oidc:ann");
  const int asked = requests;
  for (int i = 0; i < 20; ++i) EXPECT_EQ(ask(*oidc, token_of(first)), "oidc:ann");
  EXPECT_EQ(requests, asked);
  EXPECT_EQ(ask(*oidc, first.token(claims_for("https://elsewhere"))), "no user") << "another may know this issuer";
  EXPECT_EQ(ask(*oidc, "abcdef.0123456789abcdef"), "no user");
  EXPECT_EQ(ask(*oidc, token_of(first), {"another audience"}), "no user");
  EXPECT_NE(ask(*oidc, shiplog::testing::token_with_secret(json(R"({"alg": "HS256", "kid": "first"})"),
                                                           claims_for(server->url()), first.public_pem()))
                .find("algorithm"),
            std::string::npos);
}

TEST_F(OidcIssuer, ANewKeyIsFetchedAndMadeUpOnesMakeNoLoad) {
  const auto oidc = authenticator();
  EXPECT_EQ(ask(*oidc, token_of(first)), "oidc:ann");
  const IssuerKey second{"second", "ES256"};
  set([&] { keys = key_set({&first, &second}); });
  EXPECT_NE(ask(*oidc, token_of(second)).find("not fetched again yet"), std::string::npos);
  uptime += 10'000;
  EXPECT_EQ(ask(*oidc, token_of(second)), "oidc:ann");
  const uint64_t fetched = issuer_keys->fetches();
  uptime += 10'000;
  for (int i = 0; i < 200; ++i) {
    Value header = json(R"({"alg": "ES256"})");
    header.set("kid", "made-up-" + std::to_string(i));
    EXPECT_NE(ask(*oidc, second.token(claims_for(server->url()), header)), "oidc:ann");
  }
  EXPECT_EQ(issuer_keys->fetches(), fetched + 1);
  EXPECT_EQ(ask(*oidc, token_of(first)), "oidc:ann");
  Value expired = claims_for(server->url());
  expired.set("exp", kSeconds - 1);
  uptime += 10'000;
  EXPECT_EQ(ask(*oidc, second.token(expired, json(R"({"alg": "ES256", "kid": "x"})"))), "the token has expired");
  EXPECT_EQ(issuer_keys->fetches(), fetched + 1) << "what will not do is no reason to call the issuer";
}

TEST_F(OidcIssuer, OldKeysAreFetchedAgainInTheBackground) {
  const auto oidc = authenticator();
  EXPECT_EQ(ask(*oidc, token_of(first)), "oidc:ann");
  set([this] { fails = true; });
  uptime += 3'600'001;
  EXPECT_EQ(ask(*oidc, token_of(first)), "oidc:ann") << "an issuer that fails does not invalidate its keys";
  EXPECT_TRUE(shiplog::testing::eventually([this] { return issuer_keys->fetches() == 2; }));
}

TEST_F(OidcIssuer, AnIssuerThatHangsDelaysNoOtherToken) {
  set([this] { open = false; });
  const auto oidc = authenticator();
  const auto waiting = std::make_shared<Awaited<std::string>>();
  oidc->authenticate(token_of(first), {kTokenIssuer}, [waiting](const Result<std::optional<TokenIdentity>>& identity) {
    waiting->set(identified(identity));
  });
  EXPECT_EQ(ask(*oidc, "abcdef.0123456789abcdef"), "no user") << "is answered at once";
  const auto refused = std::make_shared<std::atomic<int>>(0);  // what waits is answered after this test, too
  for (int i = 0; i < 300; ++i) {
    oidc->authenticate(
        token_of(first), {kTokenIssuer},
        [refused](const Result<std::optional<TokenIdentity>>& identity) { *refused += identity ? 0 : 1; });
  }
  EXPECT_GE(*refused, 44) << "what waits is bounded";
  set([this] { open = true; });
  EXPECT_EQ(waiting->get().value_or("no answer"), "oidc:ann");
  EXPECT_TRUE(shiplog::testing::eventually([this] {
    const std::lock_guard lock{mutex};
    return requests == 2;
  })) << "one fetch for all";
}

TEST_F(OidcIssuer, ADiscoveryDocumentOfAnotherIssuerIsRefused) {
  set([this] { named = "https://elsewhere"; });
  const auto oidc = authenticator();
  const std::string first_answer = ask(*oidc, token_of(first));
  EXPECT_NE(first_answer.find("another issuer"), std::string::npos) << first_answer;
  EXPECT_FALSE(IssuerKeys::make({.issuer = "http://plain", .ca_pem = {}, .now = [] { return Millis{0}; }}));
}

}  // namespace
}  // namespace shiplog::api
