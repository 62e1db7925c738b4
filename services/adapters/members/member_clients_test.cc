// Clients of members for requests on behalf of users.
#include "services/adapters/members/member_clients.h"

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "events/base/base64.h"
#include "events/base/json.h"
#include "services/adapters/members/member_target.h"
#include "tests/support/folded_change.h"
#include "tests/support/http_peers.h"

namespace shiplog {
namespace {

using ::testing::HasSubstr;
using Use = MemberClients::Use;

class MemberClientsTest : public ::testing::Test {
 protected:
  void SetUp() override { configure({}); }
  void configure(MemberClients::Limits limits) {
    MemberClients::Options options;
    options.io = io_;
    options.limits = limits;
    clients_.configure(std::move(options));
  }
  static Value json(const std::string& text) { return parse_json(text).value(); }
  static ObjectKey cluster_key(const std::string& name) { return {type::kCluster, "", name}; }
  static ObjectKey secret_key(const std::string& name) { return {type::kSecret, "fleet", name}; }

  void fold_change(const ObjectKey& key, const Value& after) {
    clients_.on_folded(state_, DecodedRecord{}, test::folded_change(key, {}, after));
  }
  void put_cluster(const std::string& spec) { fold_change(cluster_key("m1"), Value::object({{"spec", json(spec)}})); }
  void put_secret(const std::string& name, const std::string& field, const std::string& text) {
    fold_change(secret_key(name), Value::object({{"data", Value::object({{field, base64_encode(text)}})}}));
  }
  void join(const std::string& url) {
    put_cluster(R"({"apiEndpoint":")" + url + R"(","secretRef":{"namespace":"fleet","name":"m1"},)" +
                R"("impersonatorSecretRef":{"namespace":"fleet","name":"m1-impersonator"}})");
    put_secret("m1", "caBundle", testing::TestCertificates::get().authority.certificate_pem);
    put_secret("m1-impersonator", "token", "impersonator");
  }
  /// Answers every request with 200.
  static std::unique_ptr<HttpServer> server_that_notes(std::string& authorization) {
    return HttpServer::start(
               testing::tls_options(),
               [&authorization](const HttpRequest& request, const std::shared_ptr<ResponseWriter>& writer) {
                 authorization = request.headers.get("Authorization");
                 writer->send({200, {}, ""});
               })
        .value();
  }
  std::string problem() {
    const auto borrowed = clients_.borrow("m1", Use::kRequest);
    return borrowed ? "" : borrowed.error().message;
  }

  State state_;
  std::shared_ptr<IoThreads> io_ = std::make_shared<IoThreads>(1);
  MemberClients clients_;
};

TEST_F(MemberClientsTest, TrustTheSecretsAuthorityOverTls13_1_16_4) {
  std::string authorization;
  const auto server = server_that_notes(authorization);
  join(server->url());
  const auto borrowed = clients_.borrow("m1", Use::kRequest);
  ASSERT_TRUE(borrowed) << borrowed.error().message;
  const auto answer = testing::ask(*borrowed.value().client, {});
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(authorization, "Bearer impersonator");
  EXPECT_TRUE(clients_.ready("m1"));
  EXPECT_EQ(clients_.borrow("m1", Use::kRequest).value().client, borrowed.value().client);
}

TEST_F(MemberClientsTest, AreMadeAnewWhenSpecOrSecretsChangeAndNotForAStatus) {
  join("https://127.0.0.1:1");
  const auto first = clients_.borrow("m1", Use::kRequest).value().client;
  put_cluster(R"({"apiEndpoint":"https://127.0.0.1:1","secretRef":{"namespace":"fleet","name":"m1"},)"
              R"("impersonatorSecretRef":{"namespace":"fleet","name":"m1-impersonator"}})");
  EXPECT_EQ(clients_.borrow("m1", Use::kRequest).value().client, first) << "the spec is the same";
  put_secret("m1-impersonator", "token", "rotated");
  const auto second = clients_.borrow("m1", Use::kRequest).value().client;
  EXPECT_NE(second, first);
  fold_change(cluster_key("m1"), Value{});
  EXPECT_THAT(problem(), HasSubstr("\"m1\" not found"));
  EXPECT_TRUE(clients_.names().empty());
}

TEST_F(MemberClientsTest, AClusterWithoutImpersonatorIsAnErrorThatNamesIt_1_16_5) {
  put_cluster(R"({"apiEndpoint":"https://127.0.0.1:1"})");
  EXPECT_THAT(problem(), HasSubstr("cluster m1"));
  EXPECT_THAT(problem(), HasSubstr("spec.impersonatorSecretRef"));
  put_cluster(R"({"apiEndpoint":"https://127.0.0.1:1","impersonatorSecretRef":{"namespace":"fleet","name":"gone"}})");
  EXPECT_THAT(problem(), HasSubstr("fleet/gone"));
  put_cluster(R"({"impersonatorSecretRef":{"namespace":"fleet","name":"gone"}})");
  EXPECT_THAT(problem(), HasSubstr("spec.apiEndpoint"));
}

TEST_F(MemberClientsTest, EachMemberHasItsOwnLimits) {
  configure({.requests = 1, .streams = 1});
  join("https://127.0.0.1:1");
  auto one = clients_.borrow("m1", Use::kRequest);
  ASSERT_TRUE(one);
  const auto two = clients_.borrow("m1", Use::kRequest);
  ASSERT_FALSE(two);
  EXPECT_EQ(two.error().code, ErrorCode::kTooManyRequests);
  EXPECT_TRUE(clients_.borrow("m1", Use::kStream)) << "streams are counted apart";
  one = Error{};
  EXPECT_TRUE(clients_.borrow("m1", Use::kRequest));
}

TEST_F(MemberClientsTest, WhatTheControlPlaneReadsItselfHasTheCredentialsOfTheCluster) {
  std::string authorization;
  const auto server = server_that_notes(authorization);
  join(server->url());
  fold_change(
      secret_key("m1"),
      Value::object(
          {{"data",
            Value::object({{"caBundle", base64_encode(testing::TestCertificates::get().authority.certificate_pem)},
                           {"token", base64_encode("control plane")}})}}));
  const auto own = clients_.own_client("m1");
  ASSERT_TRUE(own) << own.error().message;
  ASSERT_TRUE(testing::ask(*own.value(), {}));
  EXPECT_EQ(authorization, "Bearer control plane");
  EXPECT_EQ(clients_.own_client("m1").value(), own.value());
  EXPECT_NE(clients_.borrow("m1", Use::kRequest).value().client, own.value()) << "users do not get it";
  put_cluster(R"({"apiEndpoint":"https://127.0.0.1:1"})");
  EXPECT_THAT(clients_.own_client("m1").error().message, HasSubstr("spec.secretRef is not set"));
  put_cluster(R"({"apiEndpoint":"https://127.0.0.1:1","secretRef":{"namespace":"fleet","name":"gone"}})");
  EXPECT_THAT(clients_.own_client("m1").error().message, HasSubstr("fleet/gone"));
}

TEST_F(MemberClientsTest, NotifiesOfOtherAddressesAndCredentialsOnly) {
  std::string notified;
  clients_.set_listener([&](const std::string& cluster) { notified += cluster + " "; });
  join("https://127.0.0.1:1");
  notified.clear();
  put_secret("unrelated", "token", "x");
  join("https://127.0.0.1:1");  // the Cluster is the same, its two Secrets are written
  EXPECT_EQ(notified, "m1 m1 ");
  put_cluster(R"({"apiEndpoint":"https://127.0.0.1:2"})");
  EXPECT_EQ(notified, "m1 m1 m1 ");
  put_secret("m1", "token", "x");
  EXPECT_EQ(notified, "m1 m1 m1 ") << "it does not name the Secret any more";
  clients_.set_listener({});
  put_cluster(R"({"apiEndpoint":"https://127.0.0.1:3"})");
  EXPECT_EQ(notified, "m1 m1 m1 ");
}

TEST_F(MemberClientsTest, AClusterThatIsMadeAgainDoesNotGetTheClientOfTheOneBefore) {
  std::function<void()> meanwhile;
  MemberClients::Options options;
  options.io = io_;
  options.open = [&](Value secret) -> Result<Value> {
    if (const auto once = std::exchange(meanwhile, {})) once();
    return secret;
  };
  clients_.configure(std::move(options));
  join("https://127.0.0.1:1");
  // As another thread would, while this one opens the Secrets: as many changes as before.
  meanwhile = [&] {
    fold_change(cluster_key("m1"), {});
    join("https://127.0.0.1:2");
  };
  const auto before = clients_.own_client("m1");
  ASSERT_TRUE(before) << before.error().message;
  const auto after = clients_.own_client("m1");
  ASSERT_TRUE(after) << after.error().message;
  EXPECT_NE(before.value(), after.value());
}

TEST(MemberTarget, HasTheProxyOfTheClusterWithItsHeaders_1_16_4) {
  const Value spec = parse_json(R"({"apiEndpoint":"https://m1:6443","insecureSkipTLSVerification":true,)"
                                R"("proxyURL":"http://proxy:3128","proxyHeader":{"X-Team":"a, b"}})")
                         .value();
  const ClientTarget target = member_target(spec);
  EXPECT_EQ(target.url, "https://m1:6443");
  EXPECT_TRUE(target.insecure);
  EXPECT_EQ(target.proxy_url, "http://proxy:3128");
  const std::vector<std::pair<std::string, std::string>> headers{{"X-Team", "a"}, {"X-Team", "b"}};
  EXPECT_EQ(target.proxy_headers, headers);
  EXPECT_NE(route_of(spec), route_of(parse_json(R"({"apiEndpoint":"https://m1:6443"})").value()));
}

}  // namespace
}  // namespace shiplog
