// Webhooks that are asked whose tokens these are, and for permission.
#include <atomic>
#include <mutex>
#include <vector>

#include "events/base/json.h"
#include "events/base/random.h"
#include "services/api/auth/webhook/access_webhook.h"
#include "services/api/auth/webhook/token_webhook.h"
#include "services/http/kubeconfig.h"
#include "tests/support/http_peers.h"
#include "tests/support/http_server.h"
#include "tests/support/test_directory.h"

namespace shiplog::api {
namespace {

using shiplog::testing::Awaited;
using shiplog::testing::Writer;

Value json(std::string_view text) { return parse_json(text).value(); }

TEST(TokenReviews, ASuccessNamesTheUser) {
  const auto identity = identity_in_review(
      json(R"({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview", "status": {"authenticated": true,
               "user": {"username": "ann", "uid": "7", "groups": ["dev"], "extra": {"a": ["b"]}}}})"),
      "v1", {kTokenIssuer});
  ASSERT_TRUE(identity) << identity.error().message;
  const User& user = identity.value()->user;
  EXPECT_EQ(user.name, "ann");
  EXPECT_EQ(user.uid, "7");
  EXPECT_EQ(user.groups, (std::vector<std::string>{"dev", "system:authenticated"}));
  EXPECT_EQ(user.extra.at("a"), std::vector<std::string>{"b"});
  EXPECT_EQ(identity.value()->audiences, std::vector<std::string>{kTokenIssuer});
}

TEST(TokenReviews, WhatIsNoSuccessIsNone) {
  const auto read = [](const char* status, const std::vector<std::string>& audiences = {kTokenIssuer}) {
    Value answer = json(R"({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview"})");
    answer.set("status", json(status));
    return identity_in_review(answer, "v1", audiences);
  };
  EXPECT_FALSE(read(R"({"authenticated": false})").value());
  EXPECT_EQ(read(R"({"error": "secret text"})").error().message.find("secret"), std::string::npos);
  EXPECT_EQ(read(R"({"authenticated": "yes", "user": {"username": "ann"}})").value(), std::nullopt) << "a text";
  EXPECT_FALSE(read(R"({"authenticated": true, "user": {}})"));
  EXPECT_FALSE(read(R"({"authenticated": true, "user": {"username": "ann"}, "audiences": ["other"]})"));
  EXPECT_FALSE(read(R"({"authenticated": true, "user": {"username": "ann"}})", {"another server"}));
  EXPECT_FALSE(identity_in_review(json(R"({"status": {"authenticated": true, "user": {"username": "ann"}}})"), "v1",
                                  {kTokenIssuer}))
      << "no TokenReview";
}

AccessQuestion question(const std::string& user, const std::string& name = "a") {
  AccessQuestion asked{User{user, {"dev"}, "7", {{"k", {"v"}}}}, {}, "v1"};
  asked.wanted.verb = "get";
  asked.wanted.group = "apps";
  asked.wanted.resource = "deployments";
  asked.wanted.subresource = "scale";
  asked.wanted.ns = "default";
  asked.wanted.name = name;
  return asked;
}

TEST(AccessReviews, AskAsKubeApiserverDoes) {
  const Value spec = access_review("v1", question("ann"))["spec"];
  EXPECT_EQ(spec, json(R"({"user": "ann", "groups": ["dev"], "uid": "7", "extra": {"k": ["v"]}, "resourceAttributes":
      {"verb": "get", "group": "apps", "version": "v1", "resource": "deployments", "subresource": "scale",
       "namespace": "default", "name": "a"}})"));
  EXPECT_EQ(access_review("v1beta1", question("ann"))["spec"]["group"], json(R"(["dev"])")) << "its typo";
  AccessQuestion path = question("ann");
  path.wanted.is_resource = false;
  path.wanted.path = "/metrics";
  EXPECT_EQ(access_review("v1", path)["spec"]["nonResourceAttributes"], json(R"({"path": "/metrics", "verb": "get"})"));
}

TEST(AccessReviews, VerdictsAreReadStrictly) {
  const auto read = [](const char* status) {
    Value answer = json(R"({"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview"})");
    answer.set("status", json(status));
    return verdict_in_review(answer, "v1");
  };
  using Kind = WebhookVerdict::Kind;
  EXPECT_EQ(read(R"({"allowed": true})").value().kind, Kind::kAllowed);
  EXPECT_EQ(read(R"({"allowed": false})").value().kind, Kind::kNoOpinion);
  EXPECT_EQ(read(R"({"denied": true, "reason": "r"})").value().reason, "r");
  EXPECT_EQ(read("{}").value().kind, Kind::kNoOpinion);
  EXPECT_EQ(read(R"({"allowed": "true"})").value().kind, Kind::kNoOpinion);
  EXPECT_FALSE(read(R"({"allowed": true, "denied": true})"));
  EXPECT_FALSE(verdict_in_review(json(R"({"status": {"allowed": true}})"), "v1"));
}

TEST(ExpiringCache, EntriesExpireAndTheOldestGiveWay) {
  ExpiringCache<int> cache{3};
  for (int i = 0; i < 5; ++i) cache.put(std::to_string(i), i, Millis{100});
  EXPECT_EQ(cache.size(), 3U);
  EXPECT_EQ(cache.find("0", Millis{0}), std::nullopt);
  EXPECT_EQ(cache.find("4", Millis{99}), 4);
  EXPECT_EQ(cache.find("4", Millis{100}), std::nullopt);
  cache.put("4", 5, Millis{200});
  EXPECT_EQ(cache.find("4", Millis{100}), 5);
}

/// A webhook on loopback, over TLS, and the kubeconfig that leads to it.
class AuthWebhook : public ::testing::Test {
 protected:
  AuthWebhook()
      : server{shiplog::testing::serve(
            [this](const HttpRequest& request, const Writer& writer) { answer(request, writer); },
            shiplog::testing::tls_options())} {
    ClientTarget target = shiplog::testing::tls_target(*server);
    target.url += "/review?cluster=a";
    EXPECT_TRUE(write_kubeconfig(folder.file("webhook.kubeconfig"), "webhook", target));
  }
  ~AuthWebhook() override {
    respond_to_held(500, "");
    server->stop(Millis{1000});
  }

  void answer(const HttpRequest& request, const Writer& writer) {
    const std::lock_guard lock{mutex};
    received.push_back(request.path + " " + request.body);
    if (holds) return held.push_back(writer);
    writer->send({status, {{"Content-Type", "application/json"}}, body});
  }
  void respond_to_held(int with_status, const std::string& with_body) {
    const std::lock_guard lock{mutex};
    for (const Writer& writer : held) writer->send({with_status, {}, with_body});
    held.clear();
    holds = false;
  }
  size_t calls() {
    const std::lock_guard lock{mutex};
    return received.size();
  }
  std::shared_ptr<ReviewClient> client(Millis timeout = Millis{10'000}) {
    auto made = ReviewClient::from_kubeconfig(folder.file("webhook.kubeconfig"), timeout);
    EXPECT_TRUE(made) << made.error().message;
    return made.value();
  }
  std::unique_ptr<TokenWebhook> tokens(Millis timeout = Millis{10'000}) {
    return std::make_unique<TokenWebhook>(
        TokenWebhook::Options{"v1", Millis{120'000}, [this] { return Millis{uptime.load()}; }}, client(timeout),
        random);
  }
  std::unique_ptr<AccessWebhook> access() {
    return std::make_unique<AccessWebhook>(
        AccessWebhook::Options{"v1", Millis{300'000}, Millis{30'000}, [this] { return Millis{uptime.load()}; }},
        client(), random);
  }
  static std::string name_in(const Result<std::optional<TokenIdentity>>& identity) {
    if (!identity) return "error";
    return identity.value() ? identity.value()->user.name : "nobody";
  }
  static std::string ask(TokenWebhook& webhook, const std::string& token) {
    const auto answered = std::make_shared<Awaited<std::string>>();
    webhook.authenticate(token, {kTokenIssuer}, [answered](const Result<std::optional<TokenIdentity>>& identity) {
      answered->set(name_in(identity));
    });
    return answered->get().value_or("no answer");
  }
  static std::string ask(const AccessWebhook& webhook, const AccessQuestion& asked) {
    const auto answered = std::make_shared<Awaited<std::string>>();
    webhook.decide(asked, [answered](const Result<WebhookVerdict>& verdict) {
      constexpr const char* kNames[] = {"no opinion", "allowed", "denied"};
      answered->set(verdict ? kNames[static_cast<int>(verdict.value().kind)] : "error");
    });
    return answered->get().value_or("no answer");
  }

  static constexpr const char* kAnn = R"({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview", "status":
      {"authenticated": true, "user": {"username": "ann"}}})";
  static constexpr const char* kUnknown =
      R"({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview", "status": {"authenticated": false}})";

  TestDirectory folder{"webhook"};
  std::mutex mutex;
  int status = 200;
  std::string body = kAnn;
  bool holds = false;
  std::vector<Writer> held;
  std::vector<std::string> received;
  std::atomic<int64_t> uptime{1'000'000};
  SeededRandom random{7};
  std::unique_ptr<HttpServer> server;
};

TEST_F(AuthWebhook, AnswersAboutTokensAreKeptForAWhile) {
  const auto webhook = tokens();
  EXPECT_EQ(ask(*webhook, "t-1"), "ann");
  EXPECT_EQ(ask(*webhook, "t-1"), "ann");
  ASSERT_EQ(calls(), 1U);
  EXPECT_EQ(received[0].substr(0, 8), "/review ");
  EXPECT_EQ(json(received[0].substr(8))["spec"]["token"], "t-1");
  EXPECT_EQ(json(received[0].substr(8))["spec"]["audiences"][0], kTokenIssuer);
  uptime += 120'000;
  body = kUnknown;
  EXPECT_EQ(ask(*webhook, "t-1"), "nobody");
  EXPECT_EQ(ask(*webhook, "t-1"), "nobody");
  EXPECT_EQ(calls(), 2U);
  EXPECT_EQ(ask(*webhook, std::string(kMostTokenBytes + 1, 'a')), "nobody");
  EXPECT_EQ(calls(), 2U) << "such a token is not passed on";
}

TEST_F(AuthWebhook, RequestsWithOneTokenWaitForOneCall) {
  holds = true;
  const auto webhook = tokens();
  std::vector<std::shared_ptr<Awaited<std::string>>> all;
  for (int i = 0; i < 20; ++i) {
    all.push_back(std::make_shared<Awaited<std::string>>());
    webhook->authenticate("t", {kTokenIssuer},
                          [answered = all.back()](const Result<std::optional<TokenIdentity>>& identity) {
                            answered->set(name_in(identity));
                          });
  }
  EXPECT_TRUE(shiplog::testing::eventually([this] { return calls() == 1; }));
  respond_to_held(200, kAnn);
  for (const auto& answered : all) EXPECT_EQ(answered->get().value_or("no answer"), "ann");
  EXPECT_EQ(calls(), 1U);
}

TEST_F(AuthWebhook, OneThatFailsHasNoOpinionAndIsAskedAgain) {
  const auto webhook = tokens();
  status = 503;
  EXPECT_EQ(ask(*webhook, "t"), "error");
  EXPECT_EQ(calls(), 2U) << "tried twice";
  status = 200;
  for (const char* garbage : {"", "no JSON", "[]", "{}", R"({"kind": "Status"})"}) {
    body = garbage;
    EXPECT_EQ(ask(*webhook, "t"), "error") << garbage;
  }
  body = kAnn;
  EXPECT_EQ(ask(*webhook, "t"), "ann");
}

TEST_F(AuthWebhook, OneThatHangsIsGivenUp) {
  holds = true;
  const auto webhook = tokens(Millis{200});
  EXPECT_EQ(ask(*webhook, "t"), "error");
}

TEST_F(AuthWebhook, VerdictsAreKeptByWhatTheyAre) {
  const auto webhook = access();
  const auto answer_with = [this](const char* verdict) {
    body = std::string{R"({"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview", "status": )"} +
           verdict + "}";
  };
  answer_with(R"({"allowed": true})");
  EXPECT_EQ(ask(*webhook, question("ann")), "allowed");
  answer_with(R"({"allowed": false, "denied": true})");
  EXPECT_EQ(ask(*webhook, question("ann")), "allowed");
  EXPECT_EQ(ask(*webhook, question("ann", "b")), "denied") << "another question";
  EXPECT_EQ(ask(*webhook, question("bob")), "denied");
  EXPECT_EQ(calls(), 3U);
  answer_with(R"({"allowed": true})");
  uptime += 30'000;
  EXPECT_EQ(ask(*webhook, question("bob")), "allowed");
  answer_with("{}");
  uptime += 270'000;
  EXPECT_EQ(ask(*webhook, question("ann")), "no opinion");
  AccessQuestion long_one = question(std::string(20'000, 'a'));
  const size_t before = calls();
  ask(*webhook, long_one);
  ask(*webhook, long_one);
  EXPECT_EQ(calls(), before + 2) << "what is kept is bounded";
}

TEST_F(AuthWebhook, AKubeconfigWithoutTlsIsRefused) {
  ClientTarget plain;
  plain.url = "http://127.0.0.1:1";
  EXPECT_TRUE(write_kubeconfig(folder.file("plain"), "plain", plain));
  EXPECT_FALSE(ReviewClient::from_kubeconfig(folder.file("plain")));
  EXPECT_FALSE(ReviewClient::from_kubeconfig(folder.file("absent")));
}

}  // namespace
}  // namespace shiplog::api
