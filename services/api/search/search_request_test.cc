// Which request a path of search.karmada.io stands for.
#include "services/api/search_request.h"

#include <gtest/gtest.h>

namespace shiplog::api {
namespace {

const std::string kGroup = "/apis/search.karmada.io/v1alpha1/";

HttpRequest of(const std::string& path, const std::string& method = "GET") {
  HttpRequest request;
  request.method = method;
  request.target = kGroup + path;
  EXPECT_TRUE(parse_target(request));
  return request;
}

TEST(SearchRequest, TheSegmentBeforeProxyIsIgnored_6_4_1) {
  for (const char* name : {"karmada", "x", "a.b"}) {
    const auto made = search_request(of("proxying/" + std::string{name} + "/proxy/api/v1/pods?limit=5"));
    ASSERT_TRUE(made) << name;
    EXPECT_TRUE(made.value().proxying);
    EXPECT_EQ(made.value().native.path, "/api/v1/pods");
    EXPECT_EQ(made.value().native.target, "/api/v1/pods?limit=5");
    EXPECT_EQ(made.value().native.cluster, "");
  }
  EXPECT_EQ(search_request(of("proxying/karmada/proxy")).value().native.path, "/");
}

TEST(SearchRequest, ASearchHasACategory_6_2_1) {
  const auto made = search_request(of("search/cache/apis/apps/v1/namespaces/default/deployments"));
  ASSERT_TRUE(made);
  EXPECT_FALSE(made.value().proxying);
  EXPECT_EQ(made.value().category, "cache");
  EXPECT_EQ(made.value().native.path, "/apis/apps/v1/namespaces/default/deployments");
  EXPECT_EQ(search_request(of("search/opensearch")).value().category, "opensearch");
}

TEST(SearchRequest, PathsOfTwoMeaningsAreRefused) {
  for (const char* path : {"proxying/karmada/proxy/api/v1/../../secrets", "proxying/karmada/proxy/api%2Fv1/pods",
                           "proxying/%6barmada/proxy/api", "search/cache/./api/v1/pods", "search/cache/api/v1/a%5Cb"}) {
    const auto made = search_request(of(path));
    ASSERT_FALSE(made) << path;
    EXPECT_EQ(made.error().code, ErrorCode::kBadRequest) << path;
  }
}

TEST(SearchRequest, TheGlobalProxyDoesNotPassOnToItself) {
  EXPECT_FALSE(search_request(of("proxying/karmada/proxy" + kGroup + "proxying/karmada/proxy/api/v1/pods")));
  EXPECT_FALSE(search_request(of("proxying/karmada/proxy" + kGroup + "search/cache/api/v1/pods")));
  EXPECT_TRUE(search_request(of("proxying/karmada/proxy" + kGroup + "resourceregistries")));
}

TEST(SearchRequest, OnlyPathsBelowTheTwoResourcesAreOne) {
  EXPECT_TRUE(is_search(kGroup + "search/cache/api/v1/pods"));
  EXPECT_TRUE(is_search(kGroup + "proxying/karmada/proxy"));
  EXPECT_TRUE(is_search(kGroup + "proxying/karmada/proxy/api"));
  for (const char* path :
       {"proxying", "proxying/karmada", "proxying/karmada/other", "resourceregistries/search", "search"}) {
    EXPECT_FALSE(is_search(kGroup + path)) << path;
  }
  EXPECT_FALSE(is_search("/apis/search.karmada.io/v1alpha1/namespaces/a/search/cache"));
}

TEST(SearchRequest, WatchesAndUpgradesStream) {
  EXPECT_TRUE(is_search_stream(of("proxying/karmada/proxy/api/v1/pods?watch=true")));
  EXPECT_TRUE(is_search_stream(of("proxying/karmada/proxy/api/v1/namespaces/a/pods/b/log?follow=true")));
  EXPECT_FALSE(is_search_stream(of("proxying/karmada/proxy/api/v1/pods")));
  EXPECT_FALSE(is_search_stream(of("search/cache/api/v1/pods?watch=true"))) << "a search has no watches";
}

}  // namespace
}  // namespace shiplog::api
