#include "services/http/environment_proxy.h"

#include <map>

#include <gtest/gtest.h>

namespace shiplog {
namespace {

std::string proxy(const std::string& server, const std::map<std::string, std::string>& variables) {
  return proxy_of_environment(server, [&](const char* name) -> const char* {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  });
}

TEST(EnvironmentProxy, IsThatOfTheScheme) {
  const std::map<std::string, std::string> both = {{"HTTPS_PROXY", "http://secure:3128"},
                                                   {"HTTP_PROXY", "http://plain:3128"}};
  EXPECT_EQ(proxy("https://east:6443", both), "http://secure:3128");
  EXPECT_EQ(proxy("http://east:6443/prefix", both), "http://plain:3128");
  EXPECT_EQ(proxy("https://east", {{"https_proxy", "socks5://low:1080"}}), "socks5://low:1080");
  EXPECT_EQ(proxy("https://east", {{"HTTPS_PROXY", ""}, {"https_proxy", "low:1080"}}), "http://low:1080");
  EXPECT_EQ(proxy("https://east", {}), "");
}

TEST(EnvironmentProxy, IsNotForTheMachineItself) {
  for (const char* server :
       {"https://localhost:6443", "https://127.0.0.1", "https://127.8.8.8:1/x", "https://[::1]:6443"}) {
    EXPECT_EQ(proxy(server, {{"HTTPS_PROXY", "http://p:1"}}), "") << server;
  }
}

TEST(EnvironmentProxy, HasExceptions) {
  const auto direct = [](const std::string& server, const std::string& list) {
    return proxy(server, {{"HTTPS_PROXY", "http://p:1"}, {"NO_PROXY", list}}).empty();
  };
  EXPECT_TRUE(direct("https://east.example.com:6443", "example.com"));
  EXPECT_TRUE(direct("https://Example.com", " a.b , example.COM"));
  EXPECT_FALSE(direct("https://myexample.com", "example.com"));
  EXPECT_FALSE(direct("https://example.com", ".example.com")) << "its subdomains only";
  EXPECT_TRUE(direct("https://a.example.com", "*.example.com"));
  EXPECT_TRUE(direct("https://10.1.2.3:6443", "10.0.0.0/8"));
  EXPECT_FALSE(direct("https://11.1.2.3:6443", "10.0.0.0/8"));
  EXPECT_TRUE(direct("https://10.1.2.3", "10.1.2.3"));
  EXPECT_TRUE(direct("https://[fd00::1]:6443", "fd00::1"));
  EXPECT_TRUE(direct("https://[fd00::1]:6443", "[fd00::1]:6443"));
  EXPECT_TRUE(direct("https://east:6443", "east:6443"));
  EXPECT_FALSE(direct("https://east:6443", "east:443"));
  EXPECT_TRUE(direct("https://east", "east:443"));
  EXPECT_TRUE(direct("https://anything", "*"));
  EXPECT_FALSE(direct("https://east", ",,"));
}

TEST(EnvironmentProxy, IsForTargetsThatNameNone) {
  const EnvironmentVariable variable = [](const std::string& name) -> const char* {
    return name == "HTTPS_PROXY" ? "http://p:1" : nullptr;
  };
  ClientTarget target;
  target.url = "https://east:6443";
  EXPECT_EQ(through_environment_proxy(target, variable).proxy_url, "http://p:1");
  target.proxy_url = "socks5://own:1080";
  EXPECT_EQ(through_environment_proxy(target, variable).proxy_url, "socks5://own:1080");
}

}  // namespace
}  // namespace shiplog
