// Which label values a request through the cluster proxy counts under.
#include "services/api/proxy/proxy_meter.h"

#include <string>

#include <gtest/gtest.h>

namespace shiplog::api {
namespace {

std::string verb_of(const std::string& method, const std::string& path, HttpHeaders headers = {}) {
  HttpRequest request;
  request.method = method;
  request.target = "/apis/cluster.karmada.io/v1alpha1/clusters/m1/proxy" + path;
  EXPECT_TRUE(parse_target(request)) << path;
  request.headers = std::move(headers);
  const auto proxied = proxied_request(request);
  return metric_verb(request, proxied ? &proxied.value() : nullptr);
}

const std::string kPods = "/api/v1/namespaces/default/pods";

TEST(ProxyMeter, VerbsAreThoseOfTheRequestInTheMember) {
  EXPECT_EQ(verb_of("GET", kPods + "/a"), "GET");
  EXPECT_EQ(verb_of("GET", kPods), "LIST");
  EXPECT_EQ(verb_of("GET", kPods + "?watch=true"), "WATCH");
  EXPECT_EQ(verb_of("GET", "/version"), "GET");
  EXPECT_EQ(verb_of("POST", kPods), "POST");
  EXPECT_EQ(verb_of("PUT", kPods + "/a"), "PUT");
  EXPECT_EQ(verb_of("PATCH", kPods + "/a", {{"Content-Type", "application/merge-patch+json"}}), "PATCH");
  EXPECT_EQ(verb_of("PATCH", kPods + "/a", {{"Content-Type", "application/apply-patch+yaml"}}), "APPLY");
  EXPECT_EQ(verb_of("DELETE", kPods + "/a"), "DELETE");
  EXPECT_EQ(verb_of("DELETE", kPods), "DELETECOLLECTION");
}

TEST(ProxyMeter, UpgradesAreConnects) {
  EXPECT_EQ(verb_of("POST", kPods + "/a/exec", {{"Connection", "Upgrade"}, {"Upgrade", "SPDY/3.1"}}), "CONNECT");
  EXPECT_EQ(verb_of("GET", kPods + "/a/exec", {{"Connection", "Upgrade"}, {"Upgrade", "websocket"}}), "CONNECT");
  EXPECT_EQ(verb_of("GET", kPods + "/a/exec", {{"Connection", "Upgrade"}, {"Upgrade", "h2c"}}), "GET");
}

TEST(ProxyMeter, RefusedRequestsInventNoVerb) {
  EXPECT_EQ(verb_of("BREW", kPods), "OTHER");
  EXPECT_EQ(verb_of("GET", "/a/%2e%2e/b"), "GET");
}

TEST(ProxyMeter, StatusesAreCountedByClass) {
  EXPECT_EQ(code_class(101), "1xx");
  EXPECT_EQ(code_class(200), "2xx");
  EXPECT_EQ(code_class(302), "3xx");
  EXPECT_EQ(code_class(429), "4xx");
  EXPECT_EQ(code_class(599), "5xx");
  for (const int status : {0, 99, 600, 999, -1}) EXPECT_EQ(code_class(status), "none") << status;
}

}  // namespace
}  // namespace shiplog::api
