// Which request to a member a path stands for, and with which headers it is sent.
#include "services/api/proxied_request.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "services/api/proxy/proxy_headers.h"

namespace shiplog::api {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::string kPrefix = "/apis/cluster.karmada.io/v1alpha1/clusters/";

HttpRequest request_to(const std::string& target, const std::string& method = "GET", HttpHeaders headers = {}) {
  HttpRequest request;
  request.method = method;
  request.target = target;
  EXPECT_TRUE(parse_target(request)) << target;
  request.headers = std::move(headers);
  return request;
}

ProxiedRequest proxied(const std::string& rest, const std::string& method = "GET", HttpHeaders headers = {}) {
  const auto made = proxied_request(request_to(kPrefix + rest, method, std::move(headers)));
  EXPECT_TRUE(made) << rest << ": " << made.error().message;
  return made ? made.value() : ProxiedRequest{};
}

std::vector<std::string> values_of(const HttpHeaders& headers, std::string_view name) {
  std::vector<std::string> values;
  for (const auto& [field, value] : headers.all()) {
    if (equal_ignoring_case(field, name)) values.push_back(value);
  }
  return values;
}

TEST(ProxiedPath, NamesClusterAndPath_1_16_2) {
  const ProxiedRequest pods = proxied("m1/proxy/api/v1/pods?limit=5&labelSelector=a%3Db");
  EXPECT_EQ(pods.cluster, "m1");
  EXPECT_EQ(pods.path, "/api/v1/pods");
  EXPECT_EQ(pods.target, "/api/v1/pods?limit=5&labelSelector=a%3Db");
  EXPECT_EQ(proxied("m1/proxy").target, "/");
  EXPECT_EQ(proxied("m1/proxy?x=1").target, "/?x=1");
  EXPECT_EQ(proxied("m1/proxy/").target, "/");
  EXPECT_EQ(proxied("m1/proxy/version/").target, "/version/");
  EXPECT_EQ(proxied("%2A/proxy/api").cluster, "*");
  EXPECT_EQ(proxied("*/proxy/api").cluster, "*");
}

TEST(ProxiedPath, EscapesPassUnchanged) {
  const ProxiedRequest role = proxied("m1/proxy/apis/rbac.authorization.k8s.io/v1/clusterroles/system%3Anode%20a");
  EXPECT_EQ(role.path, "/apis/rbac.authorization.k8s.io/v1/clusterroles/system:node a");
  EXPECT_EQ(role.target, "/apis/rbac.authorization.k8s.io/v1/clusterroles/system%3Anode%20a");
}

TEST(ProxiedPath, DoubledSlashesAreOne) { EXPECT_EQ(proxied("m1/proxy//api///v1").target, "/api/v1"); }

TEST(ProxiedPath, AmbiguousPathsAreRefused) {
  for (const char* rest : {"m1/proxy/../m2/proxy/api", "m1/proxy/api/%2e%2e/x", "m1/proxy/%2E./x", "m1/proxy/.",
                           "m1/proxy/a%2Fb", "m1/proxy/..%2f..%2fsecret", "m1/proxy/a%5cb", "m1/proxy/%0d%0aX: y",
                           "m%31/proxy/api", "m1/%70roxy/api", "m1%2Fproxy/api"}) {
    const auto made = proxied_request(request_to(kPrefix + rest));
    ASSERT_FALSE(made) << rest;
    EXPECT_EQ(made.error().code, ErrorCode::kBadRequest) << rest;
  }
  for (const char* target : {"//apis/cluster.karmada.io/v1alpha1/clusters/m1/proxy/api",
                             "/apis//cluster.karmada.io/v1alpha1/clusters/m1/proxy/api",
                             "http://evil/apis/cluster.karmada.io/v1alpha1/clusters/m1/proxy/api"}) {
    const HttpRequest request = request_to(target);
    EXPECT_TRUE(is_proxied(request.path)) << "authorized as a request to the member";
    EXPECT_FALSE(proxied_request(request)) << target;
  }
}

TEST(ProxiedPath, IsThatOfOneResourceOnly) {
  EXPECT_TRUE(is_proxied(kPrefix + "m1/proxy"));
  EXPECT_TRUE(is_proxied(kPrefix + "m1/proxy/api"));
  for (const char* path :
       {"/apis/cluster.karmada.io/v1alpha1/clusters/m1", "/apis/cluster.karmada.io/v1alpha1/clusters",
        "/apis/cluster.karmada.io/v1alpha1/clusters/m1/status", "/apis/cluster.karmada.io/v1alpha1/clusters/m1/proxyx",
        "/apis/cluster.karmada.io/v1alpha1/namespaces/a/clusters/m1/proxy", "/api/v1/namespaces/a/pods/m1/proxy"}) {
    EXPECT_FALSE(is_proxied(path)) << path;
  }
}

TEST(ProxiedPath, AllMethodsOfTheRuleAndNoOthers_1_16_2) {
  for (const char* method : {"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"}) {
    const bool reads = std::string_view{"GET HEAD OPTIONS"}.find(method) != std::string_view::npos;
    EXPECT_EQ(proxied("m1/proxy/api/v1/pods", method).changes, !reads) << method;
  }
  for (const char* method : {"TRACE", "CONNECT", "get"}) {
    EXPECT_FALSE(proxied_request(request_to(kPrefix + "m1/proxy/api", method))) << method;
  }
}

TEST(ProxiedPath, UpgradesAreChangesAndOfKnownProtocolsOnly_1_16_6) {
  const HttpHeaders spdy{{"Connection", "keep-alive, upgrade"}, {"Upgrade", "SPDY/3.1"}};
  const ProxiedRequest exec = proxied("m1/proxy/api/v1/namespaces/a/pods/b/exec?command=ls", "GET", spdy);
  EXPECT_EQ(exec.protocol, "SPDY/3.1");
  EXPECT_TRUE(exec.changes);
  EXPECT_TRUE(exec.streams);
  const HttpHeaders h2c{{"Connection", "Upgrade, HTTP2-Settings"}, {"Upgrade", "h2c"}, {"HTTP2-Settings", "AAM"}};
  EXPECT_EQ(proxied("m1/proxy/api", "GET", h2c).protocol, "");
  EXPECT_EQ(proxied("m1/proxy/api", "GET", {{"Upgrade", "websocket"}}).protocol, "") << "Connection does not name it";
}

TEST(ProxiedPath, WatchesAndFollowedLogsStream) {
  EXPECT_TRUE(proxied("m1/proxy/api/v1/pods?watch=true").streams);
  EXPECT_TRUE(proxied("m1/proxy/api/v1/namespaces/a/pods/b/log?follow=true").streams);
  EXPECT_FALSE(proxied("m1/proxy/api/v1/pods").streams);
}

const User kAnna{"anna", {"dev", "system:authenticated", "system:unauthenticated", "ops"}, "uid-1", {{"scope", {"x"}}}};

HttpHeaders to_member(const HttpHeaders& headers, const User& user = kAnna) {
  const auto made = headers_to_member(headers, {}, {user, "10.0.0.7", "audit-1", "00-abc-def-01", ""});
  EXPECT_TRUE(made);
  return made ? made.value() : HttpHeaders{};
}

TEST(ProxiedHeaders, ImpersonateUserAndGroupsOnly_1_16_3) {
  const HttpHeaders sent = to_member({{"Accept", "application/json"}});
  EXPECT_THAT(values_of(sent, "Impersonate-User"), ElementsAre("anna"));
  EXPECT_THAT(values_of(sent, "Impersonate-Group"), ElementsAre("dev", "ops"));
  EXPECT_THAT(values_of(sent, "Impersonate-Uid"), IsEmpty());
  EXPECT_THAT(values_of(sent, "Impersonate-Extra-scope"), IsEmpty());
  EXPECT_THAT(values_of(sent, "Accept"), ElementsAre("application/json"));
  EXPECT_THAT(values_of(sent, "Traceparent"), ElementsAre("00-abc-def-01"));
}

TEST(ProxiedHeaders, WhatTheClientSaysAboutItselfIsDropped) {
  const HttpHeaders sent = to_member({{"Authorization", "Bearer mine"},
                                      {"impersonate-user", "root"},
                                      {"Impersonate-Group", "system:masters"},
                                      {"IMPERSONATE-EXTRA-a", "b"},
                                      {"X-Remote-User", "root"},
                                      {"X-Remote-Group", "system:masters"},
                                      {"x-remote-extra-a", "b"},
                                      {"X-Forwarded-For", "1.2.3.4"},
                                      {"X-Real-Ip", "1.2.3.4"},
                                      {"Traceparent", "forged"}});
  EXPECT_THAT(values_of(sent, "Authorization"), IsEmpty());
  EXPECT_THAT(values_of(sent, "Impersonate-User"), ElementsAre("anna"));
  EXPECT_THAT(values_of(sent, "Impersonate-Group"), ElementsAre("dev", "ops"));
  EXPECT_THAT(values_of(sent, "X-Remote-User"), IsEmpty());
  EXPECT_THAT(values_of(sent, "X-Remote-Group"), IsEmpty());
  EXPECT_THAT(values_of(sent, "X-Forwarded-For"), ElementsAre("10.0.0.7"));
  EXPECT_THAT(values_of(sent, "X-Real-Ip"), IsEmpty());
  EXPECT_THAT(values_of(sent, "Traceparent"), ElementsAre("00-abc-def-01"));
}

TEST(ProxiedHeaders, HopByHopHeadersAndThoseNamedByConnectionEndHere) {
  const HttpHeaders sent = to_member({{"Connection", "close, X-Secret, Impersonate-User"},
                                      {"X-Secret", "1"},
                                      {"Keep-Alive", "5"},
                                      {"TE", "trailers"},
                                      {"Transfer-Encoding", "chunked"},
                                      {"Content-Length", "5"},
                                      {"Proxy-Authorization", "Basic x"},
                                      {"Upgrade", "h2c"},
                                      {"HTTP2-Settings", "AAM"},
                                      {"Expect", "100-continue"}});
  EXPECT_THAT(values_of(sent, "Impersonate-User"), ElementsAre("anna")) << "Connection cannot remove it";
  for (const char* name : {"Connection", "X-Secret", "Keep-Alive", "TE", "Transfer-Encoding", "Content-Length",
                           "Proxy-Authorization", "Upgrade", "HTTP2-Settings", "Expect"}) {
    EXPECT_THAT(values_of(sent, name), IsEmpty()) << name;
  }
}

TEST(ProxiedHeaders, ANameThatIsNoHeaderIsRefused) {
  for (const User& user : {User{"a\r\nImpersonate-Group: system:masters", {}, "", {}}, User{"", {}, "", {}},
                           User{"a", {"b\nc"}, "", {}}}) {
    EXPECT_FALSE(headers_to_member({}, {}, {user, "10.0.0.7", "a", "t", ""}));
  }
}

TEST(ProxiedHeaders, AMemberCannotActOnTheClientsRelationToThisServer) {
  ProxiedRequest proxied;
  proxied.cluster = "m1";
  const HttpResponse head{200,
                          {{"Content-Type", "application/json"},
                           {"Set-Cookie", "a=b"},
                           {"Strict-Transport-Security", "max-age=1"},
                           {"Audit-Id", "x"},
                           {"Connection", "X-Hop"},
                           {"X-Hop", "1"},
                           {"Transfer-Encoding", "chunked"}},
                          ""};
  const auto passed = headers_from_member(head, proxied);
  ASSERT_TRUE(passed);
  EXPECT_EQ(passed.value().all().size(), 1U);
  EXPECT_EQ(passed.value().get("Content-Type"), "application/json");
}

TEST(ProxiedHeaders, RedirectsStayInTheMember) {
  ProxiedRequest proxied;
  proxied.cluster = "m1";
  const auto within = headers_from_member({301, {{"Location", "/openapi/v3/api?hash=1"}}, ""}, proxied);
  ASSERT_TRUE(within);
  EXPECT_EQ(within.value().get("Location"), kPrefix + "m1/proxy/openapi/v3/api?hash=1");
  for (const char* elsewhere : {"https://evil/", "//evil/", "/\\evil", "x"}) {
    const auto refused = headers_from_member({302, {{"Location", elsewhere}}, ""}, proxied);
    ASSERT_FALSE(refused) << elsewhere;
    EXPECT_THAT(refused.error().message, HasSubstr("m1"));
  }
}

}  // namespace
}  // namespace shiplog::api
