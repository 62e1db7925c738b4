#include "services/http/http.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace shiplog {
namespace {

TEST(Http, HeadersCompareWithoutCase) {
  HttpHeaders headers{{"Accept", "a"}, {"ACCEPT", "b"}, {"Host", "x"}};
  EXPECT_EQ(headers.get("accept"), "a");
  EXPECT_EQ(headers.get("content-type", "none"), "none");
  headers.set("aCCept", "c");
  EXPECT_EQ(headers.all().size(), 2U);
  EXPECT_EQ(headers.get("Accept"), "c");
  headers.erase("HOST");
  EXPECT_FALSE(headers.contains("Host"));
}

TEST(Http, ParsesWhatItEncodes) {
  const std::string path = "/apis/a%b/ä ?#&+";
  const HttpRequest::Query query{{"labelSelector", "a=b,c!=d"}, {"empty", ""}, {"plus", "1+1 = 2 & more"}};
  HttpRequest request;
  request.target = encode_target(path, query);
  ASSERT_TRUE(parse_target(request));
  EXPECT_EQ(request.path, path);
  EXPECT_EQ(request.query, query);
  ASSERT_NE(request.query_value("plus"), nullptr);
  EXPECT_EQ(*request.query_value("plus"), "1+1 = 2 & more");
  EXPECT_EQ(request.query_value("absent"), nullptr);
}

TEST(Http, ParsesUnusualTargets) {
  const auto path_of = [](const std::string& target) {
    HttpRequest request;
    request.target = target;
    return parse_target(request) ? request.path : "refused";
  };
  EXPECT_EQ(path_of("https://host:6443/api?x"), "/api");
  EXPECT_EQ(path_of("http://host"), "/");
  EXPECT_EQ(path_of("http://host?x=1"), "/");
  EXPECT_EQ(path_of("*"), "*");
  EXPECT_EQ(path_of("/a?&&=&x"), "/a");
  EXPECT_EQ(path_of("/%ffa/\xfe"), "/\uFFFDa/\uFFFD") << "it goes into JSON";
  for (const char* broken : {"/%", "/%4", "/%4x", "/a?b=%", "/%00"}) EXPECT_EQ(path_of(broken), "refused") << broken;
}

}  // namespace
}  // namespace shiplog
