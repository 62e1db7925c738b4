// What is read with shared parts is what is read without them.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "events/base/json.h"
#include "events/base/json_sharing.h"
#include "events/base/random.h"

namespace shiplog {
namespace {

Result<Value> read_alone(const std::string& text, bool deep) {
  if (!deep) return parse_json(text);
  const JsonSharing nothing_yet;
  return parse_stored_json(text);
}

/// What it is, which is the same without what was read before. `deep`: deeper than what users may send.
Result<Value> read_shared(const std::string& text, bool deep = false) {
  auto shared = parse_stored_json(text);
  const auto alone = read_alone(text, deep);
  EXPECT_EQ(shared.has_value(), alone.has_value()) << text;
  if (shared && alone) {
    EXPECT_EQ(shared.value(), alone.value()) << text;
  } else if (!shared && !alone) {
    EXPECT_EQ(shared.error().message, alone.error().message) << text;
  }
  return shared;
}

std::string nested(const std::string& inner, size_t levels) {
  return std::string(levels, '[') + inner + std::string(levels, ']');
}

TEST(JsonSharing, EqualPartsAreTheSameValue) {
  const std::string part = R"({"containers":[{"image":"web:1","name":"web"}],"restartPolicy":"Always"})";
  const std::string one = R"({"metadata":{"name":"one"},"template":)" + part + "}";
  const std::string two = R"({"metadata":{"name":"two"},"template":)" + part + "}";
  const JsonSharing sharing;
  EXPECT_TRUE(read_shared(R"({"metadata":{"name":"zero"},"template":)" + part + "}"))
      << "what is there once is not kept";
  const Value first = read_shared(one).value(), second = read_shared(two).value();
  EXPECT_EQ(first["template"].members().data(), second["template"].members().data());
  EXPECT_EQ(to_json(second), two);
  Value edited = second;
  edited.edit("template").set("restartPolicy", "Never");
  EXPECT_EQ(to_json(first), one);
  EXPECT_EQ(to_json(second), two);
  EXPECT_EQ(edited["template"]["restartPolicy"].as_string(), "Never");
}

TEST(JsonSharing, NothingIsSharedWithoutIt) {
  const std::string text = R"({"metadata":{"labels":{"team":"payments","tier":"backend"},"name":"one"}})";
  const auto labels = [&]() -> Value { return parse_stored_json(text).value()["metadata"]["labels"]; };
  const Value first = labels(), second = labels();
  EXPECT_NE(first.members().data(), second.members().data());
  {
    const JsonSharing outer;
    EXPECT_TRUE(labels().is_object());
    const Value in_outer = labels();
    {
      const JsonSharing inner;
      EXPECT_TRUE(labels().is_object());
      EXPECT_NE(labels().members().data(), in_outer.members().data());
    }
    EXPECT_EQ(labels().members().data(), in_outer.members().data());
    EXPECT_NE(parse_json(text).value()["metadata"]["labels"].members().data(), in_outer.members().data())
        << "what users send is not kept";
  }
  EXPECT_EQ(read_shared(text).value(), parse_json(text).value());
}

TEST(JsonSharing, APartIsNotDeeperThanAllowedWhereItStandsAgain) {
  const std::string part = nested("\"a text of some length\"", 60);
  const auto levels = static_cast<size_t>(kMaxStoredJsonDepth);
  const JsonSharing sharing;
  EXPECT_TRUE(read_shared(nested(part, 20)));
  EXPECT_TRUE(read_shared(nested(part, 20)));
  EXPECT_TRUE(read_shared(nested(part, levels - 60), true));
  const auto too_deep = read_shared(nested(part, levels - 59), true);
  ASSERT_FALSE(too_deep);
  EXPECT_NE(too_deep.error().message.find("nested deeper"), std::string::npos);
  EXPECT_TRUE(read_shared(R"({"first part":)" + part + R"(,"first part":)" + nested(part, levels - 61) + "}", true));
  EXPECT_FALSE(read_shared(R"({"first part":)" + part + R"(,"first part":)" + nested(part, levels - 60) + "}", true));
}

/// Documents of few parts, which are arranged in many ways.
class Documents {
 public:
  explicit Documents(uint64_t seed) : random_{seed} {}

  std::string next() { return object(0); }

 private:
  std::string text() {
    static const std::vector<std::string> kTexts = {R"("")",
                                                    R"("a")",
                                                    R"("a \"quoted\" text of some length")",
                                                    R"("h\u00fcbsch")",
                                                    R"("hübsch")",
                                                    R"("registry.example.com/web:1.27.3")",
                                                    "1",
                                                    "-0.5",
                                                    "12345678901234567890",
                                                    "true",
                                                    "null",
                                                    "{}",
                                                    "[ ]"};
    return kTexts[random_below(random_, kTexts.size())];
  }
  std::string value(int depth) {
    const auto kind = random_below(random_, depth > 4 ? 2 : 5);
    if (kind < 2) return text();
    return kind < 4 ? object(depth + 1) : array(depth + 1);
  }
  std::string space() { return random_below(random_, 10) == 0 ? " \n" : ""; }
  std::string object(int depth) {
    static const std::vector<std::string> kKeys = {"metadata", "spec", "a", "terminationGracePeriodSeconds", "a b", ""};
    std::string made = "{";
    const size_t size = random_below(random_, 4);
    for (size_t member = 0; member < size; ++member) {
      if (member > 0) made += ",";
      made += space() + '"' + kKeys[random_below(random_, kKeys.size())] + "\":" + space() + value(depth);
    }
    return made + space() + "}";
  }
  std::string array(int depth) {
    std::string made = "[";
    const size_t size = random_below(random_, 4);
    for (size_t item = 0; item < size; ++item) made += (item > 0 ? "," : "") + space() + value(depth);
    return made + "]";
  }

  SeededRandom random_;
};

TEST(JsonSharing, DocumentsAndBrokenOnesAreReadAsWithoutIt) {
  constexpr int kDocuments = 4000;
  Documents documents{7};
  SeededRandom random{8};
  const JsonSharing sharing;
  for (int document = 0; document < kDocuments; ++document) {
    std::string text = documents.next();
    for (int time = 0; time < 3; ++time) EXPECT_TRUE(read_shared(text));
    static_cast<void>(read_shared(text.substr(0, random_below(random, text.size()))));
    text[random_below(random, text.size())] = "{}[],:\"x1"[random_below(random, 9)];
    static_cast<void>(read_shared(text));
  }
}

}  // namespace
}  // namespace shiplog
