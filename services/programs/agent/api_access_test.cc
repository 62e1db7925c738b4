#include "services/programs/agent/api_access.h"

#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "events/base/system.h"
#include "services/http/tls.h"
#include "services/runtime/thread_loop.h"
#include "tests/support/http_peers.h"
#include "tests/support/http_server.h"
#include "tests/support/test_proxy.h"

namespace shiplog::agent {
namespace {

using testing::Awaited;

TEST(ApiAccess, TheServersCertificateMayBeForAnotherNameThanItsAddress) {
  const Validity validity = valid_for_days(SystemClock{}.now(), 1);
  const KeyPair authority = make_authority("test", validity).value();
  const KeyPair pair = issue_server_certificate(authority, "server", {{"kube.example"}, {}}, validity).value();
  HttpServer::Options options;
  options.certificate_pem = pair.certificate_pem;
  options.key_pem = pair.key_pem;
  const auto server = testing::serve(
      [](const HttpRequest&, const testing::Writer& writer) {
        writer->send({200, {{"Content-Type", "application/json"}}, "{}"});
      },
      options);

  ThreadLoop loop;
  SystemRandom random;
  auto access = std::make_unique<ApiAccess>(ApiAccess::Options{
      .name = "m1", .executor = &loop, .random = &random, .io = std::make_shared<IoThreads>(1), .user_agent = "test"});
  ClientTarget target;
  target.url = "https://127.0.0.1:" + std::to_string(server->bound_port());
  target.ca_pem = authority.certificate_pem;
  const auto status_for = [&](const std::string& name) {
    Awaited<int> answered;
    target.server_name = name;
    loop.call([&] {
      access->use(target);
      access->server().request(
          "m1", {.method = "GET", .path = "/x", .body = {}},
          [&](const Result<MemberResponse>& response) { answered.set(response ? response.value().status : 0); });
    });
    return answered.get().value_or(-1);
  };
  EXPECT_EQ(status_for(""), 0) << "the certificate is not for the address";
  EXPECT_EQ(status_for("kube.example"), 200);
  EXPECT_EQ(status_for("other.example"), 0);
  loop.call([&] { access.reset(); });
  loop.stop();
  server->stop(Millis{1000});
}

// What is behind a firewall often reaches nothing without it.
TEST(ApiAccess, TheProxyOfTheEnvironmentIsUsedAsByKubectl) {
  const auto server = testing::serve([](const HttpRequest&, const testing::Writer& writer) {
    writer->send({200, {{"Content-Type", "application/json"}}, "{}"});
  });
  const testing::TestProxy proxy{{}};
  const std::string proxy_url = proxy.url();
  ThreadLoop loop;
  SystemRandom random;
  auto access = std::make_unique<ApiAccess>(
      ApiAccess::Options{.name = "m1",
                         .executor = &loop,
                         .random = &random,
                         .io = std::make_shared<IoThreads>(1),
                         .user_agent = "test",
                         .environment = [&proxy_url](const std::string& name) -> const char* {
                           return name == "HTTP_PROXY" ? proxy_url.c_str() : nullptr;
                         }});
  ClientTarget target;
  target.url = "http://plane.test:" + std::to_string(server->bound_port());  // only the proxy knows this name
  Awaited<int> answered;
  loop.call([&] {
    access->use(target);
    access->server().request(
        "m1", {.method = "GET", .path = "/x", .body = {}},
        [&](const Result<MemberResponse>& response) { answered.set(response ? response.value().status : 0); });
  });
  EXPECT_EQ(answered.get().value_or(-1), 200);
  EXPECT_EQ(proxy.requests().size(), 1U);
  EXPECT_EQ(access->target().proxy_url, "") << "it is not stored with the credentials";
  loop.call([&] { access.reset(); });
  loop.stop();
  server->stop(Millis{1000});
}

}  // namespace
}  // namespace shiplog::agent
