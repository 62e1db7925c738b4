// Connections through HTTP and SOCKS 5 proxies.
#include "services/http/proxy_route.h"

#include <memory>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "services/http/client.h"
#include "tests/support/http_peers.h"
#include "tests/support/test_proxy.h"

namespace shiplog {
namespace {

using testing::ask;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::TestProxy;

class ThroughProxy : public ::testing::Test {
 protected:
  std::unique_ptr<HttpClient> client_through(const std::string& proxy_url,
                                             std::vector<std::pair<std::string, std::string>> headers = {}) {
    ClientTarget target = testing::tls_target(*server_);
    target.proxy_url = proxy_url;
    target.proxy_headers = std::move(headers);
    return HttpClient::create(io_, target).value();
  }
  void expect_reaches(HttpClient& client) {
    HttpRequest request;
    request.method = "POST";
    request.path = "/large";
    request.body = std::string(200'000, 'x');
    const auto answer = ask(client, request);
    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_EQ(answer.value().body, request.body);
  }
  std::string problem(HttpClient& client) {
    const auto answer = ask(client, {});
    return answer ? "reached" : answer.error().message;
  }
  std::string destination() const { return "127.0.0.1:" + std::to_string(server_->bound_port()); }

  std::unique_ptr<HttpServer> server_ =
      HttpServer::start(testing::tls_options(), [](HttpRequest request, const std::shared_ptr<ResponseWriter>& writer) {
        writer->send({200, {}, std::move(request.body)});
      }).value();
  std::shared_ptr<IoThreads> io_ = std::make_shared<IoThreads>(1);
};

TEST_F(ThroughProxy, HttpConnectWithHeadersAndLogin_1_16_4) {
  const TestProxy proxy{{.user = "team", .password = "p:w"}};
  const auto client =
      client_through("http://team:p%3Aw@127.0.0.1:" + std::to_string(proxy.port()), {{"X-Team", "a"}, {"X-Team", "b"}});
  expect_reaches(*client);
  ASSERT_EQ(proxy.requests().size(), 1U);
  EXPECT_THAT(proxy.requests()[0], HasSubstr("CONNECT " + destination() + " HTTP/1.1\r\n"));
  EXPECT_THAT(proxy.requests()[0], HasSubstr("X-Team: a\r\nX-Team: b\r\n"));
}

TEST_F(ThroughProxy, TlsInsideOfTls) {
  const TestProxy proxy{{.tls = true}};
  const auto client = client_through(proxy.url());
  expect_reaches(*client);
  expect_reaches(*client);
  EXPECT_EQ(client->connections_opened(), 1U);
}

TEST_F(ThroughProxy, Socks5WithAndWithoutLogin_1_16_4) {
  const TestProxy open{{.socks = true}};
  expect_reaches(*client_through(open.url()));
  EXPECT_THAT(open.requests(), ElementsAre(destination()));
  const TestProxy closed{{.socks = true, .user = "team", .password = "secret"}};
  expect_reaches(*client_through(closed.url()));
  const auto stranger = client_through("socks5://team:wrong@127.0.0.1:" + std::to_string(closed.port()));
  EXPECT_THAT(problem(*stranger), HasSubstr("it refused user and password"));
  EXPECT_THAT(problem(*stranger), ::testing::Not(HasSubstr("wrong")));
}

TEST_F(ThroughProxy, ARefusalNamesTheProxyAndTheCause) {
  const TestProxy proxy{{.refusal = "HTTP/1.1 407 Proxy Authentication Required\r\n\r\n"}};
  const std::string text = problem(*client_through(proxy.url()));
  EXPECT_THAT(text, HasSubstr("proxy " + proxy.url()));
  EXPECT_THAT(text, HasSubstr("407 Proxy Authentication Required"));
  const TestProxy endless{{.refusal = "HTTP/1.1 200 OK\r\nX: " + std::string(40'000, 'x')}};
  EXPECT_THAT(problem(*client_through(endless.url())), HasSubstr("its response is longer than"));
  const TestProxy garbage{{.refusal = "220 mail ready\r\n\r\n"}};
  EXPECT_THAT(problem(*client_through(garbage.url())), HasSubstr("it does not speak HTTP"));
}

TEST_F(ThroughProxy, DeniedNetworksHoldThroughAProxy) {
  const TestProxy proxy{{}};
  ClientTarget target;
  target.url = "https://169.254.169.254";
  target.proxy_url = proxy.url();
  HttpClient::Options options;
  options.denied_networks = std::make_shared<const Networks>(Networks::parse({"169.254.0.0/16"}).value());
  const auto client = HttpClient::create(io_, target, options).value();
  const auto answer = ask(*client, {});
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, ErrorCode::kForbidden);
  EXPECT_TRUE(proxy.requests().empty());
}

TEST(ProxyRoute, UnusableUrlsAndHeadersAreRefusedWithoutRepeatingPasswords) {
  for (const char* url :
       {"proxy:3128", "ftp://proxy", "http://", "http://proxy:0", "http://[::1", "http://u:%zz@proxy"}) {
    ClientTarget target;
    target.proxy_url = url;
    const auto route = proxy_route_of(target);
    ASSERT_FALSE(route) << url;
    EXPECT_EQ(route.error().code, ErrorCode::kBadRequest);
    EXPECT_EQ(route.error().message.find("%zz"), std::string::npos);
  }
  ClientTarget target;
  target.proxy_url = "http://proxy";
  target.proxy_headers = {{"X-Team", "a\r\nX-Other: b"}};
  EXPECT_FALSE(proxy_route_of(target));
}

}  // namespace
}  // namespace shiplog
