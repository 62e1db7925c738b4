#include "services/api/conversion/converted_objects.h"

#include <gtest/gtest.h>

namespace shiplog::api {
namespace {

using Moment = ConvertedObjects::Moment;

const Moment kNow{std::chrono::seconds{1000}};

Kind kind(const std::string& url) {
  Kind made;
  made.group = "example.com";
  made.version = "v2";
  made.kind = "Shirt";
  made.plural = "shirts";
  made.conversion = Value::object({{"clientConfig", Value::object({{"url", url}})}});
  return made;
}

Value stored_shirt(const std::string& uid, const std::string& version = "1", const std::string& text = "") {
  Value object = Value::object({{"apiVersion", "example.com/v1"}, {"kind", "Shirt"}, {"text", text}});
  object.edit("metadata").set("uid", uid);
  object.edit("metadata").set("resourceVersion", version);
  return object;
}

TEST(ConvertedObjects, AreKnownForSomeSeconds) {
  ConvertedObjects known;
  const Kind wanted = kind("https://a");
  known.add(wanted, stored_shirt("x"), Value{"converted"}, kNow);
  const Value* found = known.find(wanted, stored_shirt("x"), kNow + ConvertedObjects::kKept);
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->str(), "converted");
  EXPECT_EQ(known.find(wanted, stored_shirt("x", "2"), kNow), nullptr) << "it has changed";
  EXPECT_EQ(known.find(wanted, stored_shirt("y"), kNow), nullptr);
  EXPECT_EQ(known.find(wanted, stored_shirt("x"), kNow + ConvertedObjects::kKept + std::chrono::milliseconds{1}),
            nullptr);
  EXPECT_EQ(known.bytes(), 0U);
}

TEST(ConvertedObjects, AreForgottenWhateverKindIsAskedForNext) {
  ConvertedObjects known;
  known.add(kind("https://a"), stored_shirt("x"), Value{"converted"}, kNow);
  Kind other = kind("https://b");
  other.plural = "coats";
  EXPECT_EQ(known.find(other, stored_shirt("y"), kNow + std::chrono::hours{1}), nullptr);
  EXPECT_EQ(known.bytes(), 0U) << "also if the definition of the first is deleted";
}

TEST(ConvertedObjects, OfAnotherWebhookAreNotFound) {
  ConvertedObjects known;
  known.add(kind("https://a"), stored_shirt("x"), Value{"wrong"}, kNow);
  EXPECT_EQ(known.find(kind("https://b"), stored_shirt("x"), kNow), nullptr);
  known.add(kind("https://b"), stored_shirt("x"), Value{"right"}, kNow);
  EXPECT_EQ(known.find(kind("https://b"), stored_shirt("x"), kNow)->str(), "right");
}

TEST(ConvertedObjects, OfAllKindsAreBounded) {
  ConvertedObjects known;
  constexpr size_t kLarge = 1U << 20U;
  for (int i = 0; i < 100; ++i) {
    Kind wanted = kind("https://a");
    wanted.plural += std::to_string(i);
    known.add(wanted, stored_shirt(std::to_string(i)), Value{std::string(kLarge, 'x')}, kNow);
  }
  EXPECT_LE(known.bytes(), ConvertedObjects::kMostBytes);
  EXPECT_GT(known.bytes(), ConvertedObjects::kMostBytes / 2);
  EXPECT_NE(known.find(kind("https://a"), stored_shirt("99"), kNow), nullptr);
  EXPECT_EQ(known.find(kind("https://a"), stored_shirt("0"), kNow), nullptr);
}

}  // namespace
}  // namespace shiplog::api
