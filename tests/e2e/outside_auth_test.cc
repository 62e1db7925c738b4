// Users of an OpenID Connect issuer, and webhooks that are asked for users and permissions, with real processes.
#include <chrono>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "events/base/json.h"
#include "services/http/kubeconfig.h"
#include "tests/support/fleet.h"
#include "tests/support/http_peers.h"
#include "tests/support/http_server.h"
#include "tests/support/token_issuer.h"

namespace shiplog::e2e {
namespace {

using testing::IssuerKey;
using testing::Writer;

const std::string kMaps = "/api/v1/namespaces/default/configmaps";

/// The issuer and both webhooks: one server on loopback.
class OutsideAuthentication : public ::testing::Test {
 protected:
  OutsideAuthentication()
      : server_{testing::serve([this](const HttpRequest& request, const Writer& writer) { answer(request, writer); },
                               testing::tls_options())} {
    write_file(fleet_.path("issuer-ca.pem"), testing::TestCertificates::get().authority.certificate_pem);
    for (const char* webhook : {"tokens", "access"}) {
      ClientTarget target = testing::tls_target(*server_);
      target.url += std::string{"/"} + webhook;
      EXPECT_TRUE(write_kubeconfig(fleet_.path(webhook), webhook, target));
    }
  }
  ~OutsideAuthentication() override { server_->stop(Millis{1000}); }

  void serve(std::vector<std::string> options) { fleet_.serve("plane", std::move(options)); }
  std::vector<std::string> oidc_options() {
    return {"--oidc-issuer-url=" + server_->url(),
            "--oidc-client-id=shiplog",
            "--oidc-username-prefix=oidc:",
            "--oidc-groups-claim=groups",
            "--oidc-groups-prefix=oidc:",
            "--oidc-ca-file=" + fleet_.path("issuer-ca.pem"),
            "--oidc-signing-algs=ES256"};
  }

  void answer(const HttpRequest& request, const Writer& writer) {
    const std::lock_guard lock{mutex_};
    const auto reply = [&](const Value& value) {
      writer->send({200, {{"Content-Type", "application/json"}}, to_json(value)});
    };
    if (request.path == "/keys") return reply(testing::key_set({&key_}));
    if (request.path == "/.well-known/openid-configuration") {
      return reply(Value::object({{"issuer", server_->url()}, {"jwks_uri", server_->url() + "/keys"}}));
    }
    if (hangs_) return held_.push_back(writer);
    if (fails_) return writer->send({500, {}, "broken"});
    const Value review = parse_json(request.body).value();
    Value answered = Value::object({{"apiVersion", review["apiVersion"]}, {"kind", review["kind"]}});
    if (request.path == "/tokens") {
      const bool known = review["spec"]["token"].as_string() == "token-of-bob";
      answered.set("status", known ? json(R"({"authenticated": true, "user": {"username": "bob", "groups": ["ops"]}})")
                                   : json(R"({"authenticated": false})"));
    } else {
      const Value& asked = review["spec"]["resourceAttributes"];
      const bool maps = asked["resource"].as_string() == "configmaps";
      const bool tunnel =
          review["spec"]["nonResourceAttributes"]["path"].as_string().starts_with("/shiplog/v1/tunnels/");
      const bool denied = asked["name"].as_string() == "forbidden";
      answered.set(
          "status",
          Value::object({{"allowed", (maps && !denied) || tunnel}, {"denied", denied}, {"reason", "the webhook"}}));
    }
    reply(answered);
  }

  Answer as(const std::string& token, const std::string& method, const std::string& path, std::string body = {},
            HttpHeaders more = {}) {
    HttpHeaders headers{{"Authorization", "Bearer " + token}, {"Content-Type", "application/json"}};
    for (const auto& [name, value] : more.all()) headers.set(name, value);
    return anonymous().call(method, path, std::move(body), headers);
  }
  /// The control plane without a client certificate.
  ApiClient anonymous() {
    const std::string url = fleet_.kubectl_ok({"config", "view", "-o", "jsonpath={.clusters[0].cluster.server}"});
    ClientTarget target;
    target.url = url;
    target.insecure = true;
    EXPECT_TRUE(write_kubeconfig(fleet_.path("anonymous.kubeconfig"), "anonymous", target));
    return ApiClient{fleet_.path("anonymous.kubeconfig")};
  }
  Value claims() {
    const auto now =
        std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch());
    return Value::object({{"iss", server_->url()},
                          {"sub", "ann"},
                          {"aud", "shiplog"},
                          {"exp", now.count() + 3600},
                          {"groups", Value::array({"dev"})}});
  }
  void set(bool& what, bool value) {
    const std::lock_guard lock{mutex_};
    what = value;
  }
  void expect_not_logged(const std::string& secret) {
    EXPECT_EQ(read_file(fleet_.path("plane.log")).find(secret), std::string::npos);
  }

  std::mutex mutex_;
  bool fails_ = false, hangs_ = false;
  std::vector<Writer> held_;
  const IssuerKey key_{"k", "ES256"};
  std::unique_ptr<HttpServer> server_;
  Fleet fleet_;
};

TEST_F(OutsideAuthentication, UsersOfAnIssuerHaveTheRightsOfTheirNamesAndGroups) {  // AUTHN-7
  serve(oidc_options());
  fleet_.kubectl_ok({"create", "rolebinding", "dev", "--clusterrole=edit", "--group=oidc:dev"});
  const std::string token = key_.token(claims());
  ASSERT_TRUE(eventually([&] { return as(token, "GET", kMaps).status == 200; })) << as(token, "GET", kMaps);
  const Answer self = as(token, "POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", "{}");
  EXPECT_EQ(self.json["status"]["userInfo"]["username"].str(), "oidc:ann");
  EXPECT_EQ(as(token, "GET", "/api/v1/nodes").status, 403);

  Value review = json(R"({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview"})");
  review.edit("spec").set("token", token);
  const Answer reviewed = fleet_.api().post("/apis/authentication.k8s.io/v1/tokenreviews", review);
  EXPECT_EQ(reviewed.json["status"]["user"]["username"].str(), "oidc:ann") << reviewed;

  const IssuerKey forger{"k", "ES256"};
  Value expired = claims();
  expired.set("exp", 1000);
  Value other_audience = claims();
  other_audience.set("aud", "another");
  Value other_issuer = claims();
  other_issuer.set("iss", "https://elsewhere");
  const Value none = json(R"({"alg": "none", "kid": "k"})");
  const Value shared = json(R"({"alg": "HS256", "kid": "k"})");
  for (const std::string& bad :
       {forger.token(claims()), key_.token(expired), key_.token(other_audience), key_.token(other_issuer),
        testing::token_with(none, claims(), ""), testing::token_with_secret(shared, claims(), key_.public_pem()),
        std::string(30'000, 'a')}) {
    EXPECT_EQ(as(bad, "GET", kMaps).status, 401);
  }
  Value masters = claims();
  masters.set("groups", Value::array({"system:masters"}));
  EXPECT_EQ(as(key_.token(masters), "GET", "/api/v1/nodes").status, 403)
      << "with the prefix it is a group like any other";
  expect_not_logged(token.substr(token.size() - 40));
}

TEST_F(OutsideAuthentication, AnUnreachableIssuerDelaysNoOtherRequest) {
  auto options = oidc_options();
  options[0] = "--oidc-issuer-url=https://127.0.0.1:1";
  serve(options);
  Value foreign = claims();
  foreign.set("iss", "https://127.0.0.1:1");
  EXPECT_EQ(as(key_.token(foreign), "GET", kMaps).status, 401);
  EXPECT_EQ(fleet_.api().get(kMaps).status, 200);
  EXPECT_NE(read_file(fleet_.path("plane.log")).find("oidc.keys_failed"), std::string::npos);
}

TEST_F(OutsideAuthentication, AWebhookKnowsWhoseTokensTheseAre) {
  serve({"--authentication-token-webhook-config-file=" + fleet_.path("tokens"),
         "--authentication-token-webhook-version=v1"});
  const Answer self = as("token-of-bob", "POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", "{}");
  EXPECT_EQ(self.json["status"]["userInfo"]["username"].str(), "bob") << self;
  EXPECT_EQ(as("token-of-nobody", "GET", kMaps).status, 401);
  fleet_.kubectl_ok({"create", "serviceaccount", "robot"});
  const std::string printed = fleet_.kubectl_ok({"create", "token", "robot"});
  const std::string own = printed.substr(0, printed.find('\n'));
  set(fails_, true);
  EXPECT_EQ(as("token-of-eve", "GET", kMaps).status, 401);
  EXPECT_EQ(as(own, "GET", "/version").status, 200) << "the fleet's own tokens need no webhook";
  expect_not_logged("token-of-");
}

TEST_F(OutsideAuthentication, AWebhookThatHangsDelaysOnlyWhatItIsAskedAbout) {
  serve({"--authentication-token-webhook-config-file=" + fleet_.path("tokens")});
  set(hangs_, true);
  const ApiClient client = anonymous();
  std::vector<std::thread> waiting;
  for (int i = 0; i < 8; ++i) {
    waiting.emplace_back([&client, i] {
      client.call("GET", kMaps, {}, {{"Authorization", "Bearer unknown-" + std::to_string(i)}});
    });
  }
  ASSERT_TRUE(eventually([&] {
    const std::lock_guard lock{mutex_};
    return held_.size() == 8;
  }));
  EXPECT_EQ(fleet_.api().get(kMaps).status, 200);
  {
    const std::lock_guard lock{mutex_};
    hangs_ = false;
    for (const Writer& writer : held_) writer->send({200, {}, "{}"});
  }
  for (std::thread& thread : waiting) thread.join();
}

TEST_F(OutsideAuthentication, AWebhookIsAskedForPermissionWhereRbacHasNone) {
  serve({"--authentication-token-webhook-config-file=" + fleet_.path("tokens"),
         "--authentication-token-webhook-version=v1", "--authorization-mode=RBAC,Webhook",
         "--authorization-webhook-config-file=" + fleet_.path("access"), "--authorization-webhook-version=v1"});
  const std::string bob = "token-of-bob";
  EXPECT_EQ(as(bob, "GET", kMaps).status, 200);
  EXPECT_EQ(as(bob, "POST", kMaps, R"({"metadata": {"name": "a"}})").status, 201);
  const auto apply = [&](const std::string& name) {
    return as(bob, "PATCH", kMaps + "/" + name + "?fieldManager=me",
              R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":")" + name + R"("}})",
              {{"Content-Type", "application/apply-patch+yaml"}});
  };
  EXPECT_EQ(apply("b").status, 201) << "what a patch creates";
  EXPECT_EQ(apply("forbidden").status, 403);
  EXPECT_EQ(as(bob, "GET", kMaps + "/forbidden").status, 403);
  EXPECT_EQ(as(bob, "GET", "/shiplog/v1/tunnels/p1").status, 403) << "no webhook permits what is the agent's alone";
  EXPECT_EQ(as(bob, "GET", "/api/v1/nodes").status, 403);
  const Answer can =
      as(bob, "POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
         R"({"spec": {"resourceAttributes": {"verb": "get", "resource": "configmaps", "namespace": "default"}}})");
  EXPECT_TRUE(can.json["status"]["allowed"].as_bool()) << can;
  const Answer cannot = as(
      bob, "POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
      R"({"spec": {"resourceAttributes": {"verb": "get", "resource": "configmaps", "namespace": "default", "name": "forbidden"}}})");
  EXPECT_TRUE(cannot.json["status"]["denied"].as_bool()) << cannot;
  EXPECT_EQ(as(bob, "GET", kMaps, {}, {{"Impersonate-User", "alice"}}).status, 403);

  set(fails_, true);
  const Answer unsure = as(bob, "GET", kMaps + "/other");
  EXPECT_EQ(unsure.status, 500) << unsure;
  EXPECT_EQ(fleet_.api().get(kMaps).status, 200) << "administrators need no webhook";
}

TEST_F(OutsideAuthentication, AWebhookThatIsAskedFirstHasTheLastWord) {
  serve({"--authentication-token-webhook-config-file=" + fleet_.path("tokens"),
         "--authentication-token-webhook-version=v1", "--authorization-mode=Webhook,RBAC",
         "--authorization-webhook-config-file=" + fleet_.path("access"), "--authorization-webhook-version=v1"});
  fleet_.kubectl_ok({"create", "clusterrolebinding", "bob", "--clusterrole=cluster-admin", "--user=bob"});
  const std::string bob = "token-of-bob";
  EXPECT_EQ(as(bob, "GET", "/api/v1/nodes").status, 200) << "it has no opinion, and RBAC allows";
  EXPECT_EQ(as(bob, "GET", kMaps + "/forbidden").status, 403);
  EXPECT_EQ(as(bob, "PUT", kMaps + "/forbidden", R"({"metadata": {"name": "forbidden"}})").status, 403);
  EXPECT_EQ(as(bob, "GET", "/shiplog/v1/history/configmaps/default/forbidden").status == 200, false);
  set(fails_, true);
  EXPECT_EQ(as(bob, "GET", "/api/v1/pods").status, 200) << "of one that fails RBAC takes the place";
}

TEST_F(OutsideAuthentication, FlagsThatDoNotFitTogetherAreRefused) {
  const auto refused = [&](std::vector<std::string> options) {
    Process& process = fleet_.serve("bad", std::move(options), false);
    EXPECT_TRUE(eventually([&] { return !process.running(); }));
    return fleet_.log_tail("bad");
  };
  EXPECT_NE(refused({"--oidc-issuer-url=https://x.example"}).find("--oidc-client-id"), std::string::npos);
  EXPECT_NE(refused({"--oidc-client-id=x"}).find("--oidc-issuer-url"), std::string::npos);
  EXPECT_NE(refused({"--oidc-issuer-url=http://x.example", "--oidc-client-id=x"}).find("https://"), std::string::npos);
  EXPECT_NE(refused({"--oidc-issuer-url=https://x", "--oidc-client-id=x", "--oidc-signing-algs=HS256"}).find("RS256"),
            std::string::npos);
  EXPECT_NE(refused({"--authorization-mode=AlwaysAllow"}).find("AlwaysAllow"), std::string::npos);
  EXPECT_NE(refused({"--authorization-mode=RBAC,Webhook"}).find("--authorization-webhook-config-file"),
            std::string::npos);
}

}  // namespace
}  // namespace shiplog::e2e
