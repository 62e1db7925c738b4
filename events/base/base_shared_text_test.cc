#include <map>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "events/base/ids.h"
#include "events/base/shared_text.h"

namespace shiplog {
namespace {

// Inside a text, in a block of its own, and one of the program's.
constexpr const char* kShort = "web";
constexpr const char* kLong = "an-application-with-a-long-name";
constexpr const char* kKnown = "deployments.apps";

TEST(SharedText, IsTheTextThatItWasMadeOf) {
  for (const std::string& text : {std::string{}, std::string{kShort}, std::string{kLong}, std::string{kKnown}}) {
    const SharedText shared{text};
    EXPECT_EQ(shared.view(), text);
    EXPECT_EQ(shared.str(), text);
    EXPECT_EQ(shared.size(), text.size());
    EXPECT_EQ(shared.empty(), text.empty());
    EXPECT_EQ(SharedText{shared}.view(), text);
    EXPECT_EQ(Value{shared}.as_string("none"), text);
  }
}

TEST(SharedText, CopiesAreTheSameBytes) {
  const SharedText first{kLong};
  const SharedText copy{first};
  EXPECT_EQ(static_cast<const void*>(copy.view().data()), static_cast<const void*>(first.view().data()));
  const Value value{kLong};
  EXPECT_EQ(static_cast<const void*>(SharedText::of(value).view().data()),
            static_cast<const void*>(value.as_string().data()));
  EXPECT_EQ(static_cast<const void*>(Value{first}.as_string().data()), static_cast<const void*>(first.view().data()));
  EXPECT_EQ(SharedText{kKnown}.view().data(), SharedText{std::string{kKnown}}.view().data());
}

// As in an object of a client that gives a number where a name belongs.
TEST(SharedText, OfAValueThatIsNoStringIsEmpty) {
  Value edited = Value::array({1});
  edited.push_back("text");
  for (const Value& value :
       {Value{}, Value{""}, Value{7}, Value{true}, Value{0.5}, edited, Value::object({{"name", "web"}})}) {
    EXPECT_TRUE(SharedText::of(value).empty());
    EXPECT_EQ(SharedText::of(value), SharedText{});
    EXPECT_EQ(Value{SharedText::of(value)}, Value{""});
  }
}

TEST(SharedText, IsOrderedAsItsBytesAre) {
  // Also texts that begin alike, are as long as fits inside, or have bytes that sort wrongly as signed or as padding.
  const std::string texts[] = {"",
                               "a",
                               std::string{"a\0", 2},
                               std::string{"a\0b", 3},
                               "a\x7f",
                               "a\xc3\xa9",
                               "a-longer-text-that-is-elsewhere",
                               "a-longer-text-that-is-here",
                               "fourteen-bytes",
                               "fifteen-bytes-x",
                               "fourteen-bytes-x",
                               kKnown,
                               "deployments.apps2",
                               kShort};
  for (const std::string& a : texts) {
    for (const std::string& b : texts) {
      EXPECT_EQ(SharedText{a} == SharedText{b}, a == b) << a << ' ' << b;
      EXPECT_EQ(SharedText{a} <=> SharedText{b}, a <=> b) << a << ' ' << b;
      EXPECT_EQ(SharedText{a} < b, a < b) << a << ' ' << b;
      EXPECT_EQ(SharedText{a} == std::string_view{b}, a == b) << a << ' ' << b;
      EXPECT_EQ(SharedText{a} == b.c_str(), a == b.c_str()) << a << ' ' << b;
      EXPECT_EQ(SharedText{a} + b, a + b);
      EXPECT_EQ(a + SharedText{b}, a + b);
      EXPECT_EQ(SharedText{a} + SharedText{b}, a + b);
    }
  }
}

TEST(SharedText, IsFoundInASetByAView) {
  const std::set<SharedText, std::less<>> names{kShort, kLong, kKnown};
  EXPECT_TRUE(names.contains(std::string_view{kLong}));
  EXPECT_FALSE(names.contains(std::string_view{"an-application"}));
}

TEST(SharedText, OutlivesWhatItWasMadeOf) {
  SharedText kept;
  {
    const Value value{std::string{kLong}};
    kept = SharedText::of(value);
  }
  EXPECT_EQ(kept, kLong);
  const SharedText before = kept;
  kept = kShort;
  EXPECT_EQ(before, kLong);
}

TEST(ObjectKeys, HaveTheOrderOfTypeNamespaceAndName) {
  const ObjectKey keys[] = {{"configmaps", "", "a"},           {"configmaps", "", "a-name-of-more-than-14-bytes"},
                            {"configmaps", "default", "a"},    {"configmaps", "default", "b"},
                            {"deployments.apps", "", "nginx"}, {"secrets", "a-namespace-with-a-long-name", "s"}};
  for (const ObjectKey& a : keys) {
    for (const ObjectKey& b : keys) EXPECT_EQ(a <=> b, &a <=> &b) << to_string(a) << ' ' << to_string(b);
  }
}

}  // namespace
}  // namespace shiplog
