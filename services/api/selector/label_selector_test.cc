#include <gtest/gtest.h>

#include "events/base/base64.h"
#include "events/base/json.h"
#include "services/api/selector/selector.h"

namespace shiplog::api {
namespace {

const Value kLabels = Value::object({{"app", "web"}, {"tier", "front"}, {"size", "10"}, {"empty", ""}});

bool matches(std::string_view selector, const Value& labels = kLabels) {
  const auto parsed = parse_label_selector(selector);
  EXPECT_TRUE(parsed.has_value()) << selector << ": " << (parsed ? "" : parsed.error().message);
  return parsed && parsed.value().matches(labels);
}

TEST(LabelSelectorParameter, EveryOperatorOfTheGrammar) {  // LIST-4
  EXPECT_TRUE(matches(""));
  EXPECT_TRUE(matches("app"));
  EXPECT_FALSE(matches("other"));
  EXPECT_TRUE(matches("!other"));
  EXPECT_FALSE(matches("! app"));
  EXPECT_TRUE(matches("app=web"));
  EXPECT_TRUE(matches("app == web"));
  EXPECT_FALSE(matches("app!=web"));
  EXPECT_TRUE(matches("other!=web"));
  EXPECT_TRUE(matches("app in (db, web)"));
  EXPECT_FALSE(matches("app notin (web)"));
  EXPECT_TRUE(matches("other notin (web)"));
  EXPECT_TRUE(matches("size>9,size<11"));
  EXPECT_FALSE(matches("size>10"));
  EXPECT_FALSE(matches("app>1"));
  EXPECT_TRUE(matches("empty="));
  EXPECT_TRUE(matches("empty in ()"));
  EXPECT_TRUE(matches(" app = web , tier in (front,back) , !gone "));
  EXPECT_FALSE(matches("app=web,tier=back"));
}

TEST(LabelSelectorParameter, KeysMayHaveAPrefix) {
  const Value labels = Value::object({{"example.com/app", "x"}});
  EXPECT_TRUE(matches("example.com/app=x", labels));
  EXPECT_TRUE(matches("a=b", Value::object({{"a", "b"}})));
  EXPECT_FALSE(matches("a=b", Value{}));
}

TEST(LabelSelectorParameter, NonsenseIsABadRequest) {
  for (const char* text :
       {"=",   "a=b=c", "a in", "a in (", "a in (b", "a in b",  ",",     "a,",   "a,,b",        "a=(b)",  "!",
        "(a)", "a>x",   "a<",   "-bad",   "a=b c",   "a/b/c=d", "A/b=d", "a=-x", "a notin (b,", "a==b,=c"}) {
    const auto parsed = parse_label_selector(text);
    ASSERT_FALSE(parsed.has_value()) << text;
    EXPECT_EQ(parsed.error().code, ErrorCode::kBadRequest) << text;
  }
}

TEST(ContinueTokenTest, ComesBackAsItWas) {  // LIST-7
  const ContinueToken token{Revision{4711}, "default", "web-\xC3\xA4"};
  const std::string text = encode(token);
  EXPECT_EQ(text.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"),
            std::string::npos);
  const auto back = parse_continue_token(text);
  ASSERT_TRUE(back.has_value());
  EXPECT_EQ(back.value().revision, token.revision);
  EXPECT_EQ(back.value().ns, token.ns);
  EXPECT_EQ(back.value().name, token.name);
  const auto cluster_scoped = parse_continue_token(encode({Revision{1}, "", "n"}));
  ASSERT_TRUE(cluster_scoped.has_value());
  const auto newest = parse_continue_token(encode({Revision{}, "", "n"}));  // LIST-9
  ASSERT_TRUE(newest.has_value());
  EXPECT_EQ(newest.value().revision, Revision{});
}

TEST(ContinueTokenTest, AnythingElseIsABadRequest) {  // LIST-8
  for (const std::string& text :
       {std::string{"x"}, std::string{"%%%"}, std::string{"e30"}, std::string(5000, 'A'),
        base64url_encode(R"({"v":1,"rev":0,"ns":"","name":"n"})"),
        base64url_encode(R"({"v":1,"rev":-2,"ns":"","name":"n"})"), encode({Revision{1}, "ns", ""})}) {
    const auto parsed = parse_continue_token(text);
    ASSERT_FALSE(parsed.has_value()) << text;
    EXPECT_EQ(parsed.error().code, ErrorCode::kBadRequest);
  }
}

}  // namespace
}  // namespace shiplog::api
