#include <cmath>
#include <cstring>
#include <limits>

#include <gtest/gtest.h>

#include "events/base/json.h"
#include "events/base/json_match.h"
#include "events/base/random.h"

namespace shiplog {
namespace {

std::string error_of(std::string_view text) {
  const auto parsed = parse_json(text);
  if (parsed) return "no error";
  EXPECT_EQ(parsed.error().code, ErrorCode::kBadRequest);
  return parsed.error().message;
}

Value parsed(std::string_view text) {
  auto result = parse_json(text);
  EXPECT_TRUE(result) << text;
  return result ? std::move(result).value() : Value{};
}

std::string random_text(Random& random) {
  static const std::vector<std::string> kPieces = {
      "a", "spec", "\"", "\\", "\n", "\x01", "\x7f", "é", "😀", "/", std::string(1, '\0'), "a longer piece of text"};
  std::string text;
  for (uint64_t left = random_below(random, 5); left > 0; --left) text += kPieces[random_below(random, kPieces.size())];
  return text;
}

double random_double(Random& random) {
  while (true) {
    const uint64_t bits = random.next();
    double number = 0;
    std::memcpy(&number, &bits, sizeof number);
    if (std::isfinite(number)) return random_below(random, 2) == 0 ? number : std::trunc(std::fmod(number, 1e6));
  }
}

Value random_value(Random& random, int depth) {
  switch (random_below(random, depth == 0 ? 5 : 7)) {
    case 0:
      return nullptr;
    case 1:
      return random_below(random, 2) == 0;
    case 2:
      return static_cast<int64_t>(random.next() >> random_below(random, 64));
    case 3:
      return random_double(random);
    case 4:
      return random_text(random);
    case 5: {
      Value array = Value::array();
      for (uint64_t left = random_below(random, 5); left > 0; --left) array.push_back(random_value(random, depth - 1));
      return array;
    }
    default: {
      Value object = Value::object();
      for (uint64_t left = random_below(random, 5); left > 0; --left) {
        object.set(random_text(random), random_value(random, depth - 1));
      }
      return object;
    }
  }
}

TEST(Json, AnyValueIsEqualAndInTheSameBytesAfterReading) {
  SeededRandom random{1};
  for (int i = 0; i < 5000; ++i) {
    const Value value = random_value(random, 4);
    const std::string text = to_json(value);
    const auto back = parse_json(text);
    ASSERT_TRUE(back) << text << "\n" << back.error().message;
    ASSERT_EQ(back.value(), value) << text;
    ASSERT_EQ(to_json(back.value()), text);
    const auto pretty = parse_json(to_pretty_json(value));
    ASSERT_TRUE(pretty) << to_pretty_json(value);
    ASSERT_EQ(pretty.value(), value) << text;
  }
}

TEST(Json, CanonicalFormSortsKeysAndDropsWhiteSpace) {
  EXPECT_EQ(to_json(parsed(R"( { "b" : [ 1 , 2.50 , true ] , "a" : { } , "c" : null } )")),
            R"({"a":{},"b":[1,2.5,true],"c":null})");
}

TEST(Json, WholeDoublesStayApartFromIntegers) {
  EXPECT_EQ(to_json(parsed("[1,1.0,1e0,-0.0,1e22,-0]")), "[1,1.0,1.0,-0.0,1e+22,0]");
}

TEST(Json, IntegersKeepAll64Bits) {
  EXPECT_EQ(parsed("9223372036854775807"), Value{std::numeric_limits<int64_t>::max()});
  EXPECT_EQ(parsed("-9223372036854775808"), Value{std::numeric_limits<int64_t>::min()});
  // Beyond: a double, as in Kubernetes.
  EXPECT_EQ(parsed("9223372036854775808"), Value{9223372036854775808.0});
  EXPECT_EQ(parsed("-9223372036854775809"), Value{-9223372036854775808.0});
  EXPECT_EQ(parsed("123456789012345678901234567890"), Value{123456789012345678901234567890.0});
}

TEST(Json, ReadsEscapes) {
  EXPECT_EQ(parsed(R"("\u00e9\ud83d\ude00\/\b\f\n\r\t\"\\")").as_string(), "é😀/\b\f\n\r\t\"\\");
  EXPECT_EQ(parsed(R"("a\u0000b")").as_string(), (std::string_view{"a\0b", 3}));
}

TEST(Json, WritesOnlyTheEscapesItMust) {
  EXPECT_EQ(to_json(Value{std::string_view{"é😀/<>&\b\f\n\r\t\"\\\0\x1f\x7f", 20}}),
            "\"é😀/<>&\\b\\f\\n\\r\\t\\\"\\\\\\u0000\\u001f\x7f\"");
}

TEST(Json, WritesAndMatchesEveryByteTheSameAtEveryPlaceOfAString) {
  for (const size_t size :
       {size_t{3}, size_t{7}, size_t{18}, size_t{39}}) {  // over the edges of blocks of four, eight and sixteen
    for (size_t place = 0; place < size; ++place) {
      for (int byte = 0; byte < 0x80; ++byte) {
        std::string text(size, 'x');
        text[place] = static_cast<char>(byte);
        const std::string written = to_json(Value{text});
        EXPECT_EQ(parsed(written).as_string(), text);
        const bool plain = byte >= 0x20 && byte != '"' && byte != '\\';
        EXPECT_EQ(written == '"' + text + '"', plain) << written;
        EXPECT_TRUE(is_json_of(written, Value{text})) << written;
        EXPECT_EQ(is_json_of('"' + text + '"', Value{text}), plain) << written;
        text[place] = 'y';
        EXPECT_EQ(is_json_of(written, Value{text}), byte == 'y') << written;
      }
    }
  }
}

TEST(Json, MatchesItsOwnTextAndNoOther) {
  const Value value = parsed(
      R"({"a":[],"b":{},"c":null,"d":[true,false,0,-7,9223372036854775807],"e":1.5,"f":1.0,"g":"",)"
      R"("h":"more than fourteen bytes","i":"\"quoted\" \\ \u0001 \n","j":{"k":{"l":[{"m":"n"},{"m":"o"}]}},"\"":1})");
  const std::string text = to_json(value);
  EXPECT_TRUE(is_json_of(text, value));
  for (size_t at = 0; at < text.size(); ++at) {
    EXPECT_FALSE(is_json_of(text.substr(0, at), value)) << at;
    for (const char other : {'"', ',', '0', ']', '}', '\\', 'x'}) {
      std::string changed = text;
      if (changed[at] == other) continue;
      changed[at] = other;
      EXPECT_FALSE(is_json_of(changed, value)) << changed;
    }
  }
  EXPECT_FALSE(is_json_of(text + " ", value));
  EXPECT_FALSE(is_json_of("", Value{}));
  EXPECT_TRUE(is_json_of("null", Value{}));
}

TEST(Json, AStringThatLooksLikeMoreMembersMatchesItselfAlone) {
  const Value one = Value::object({{"a", "x\",\"b\":\"y"}});
  const Value two = Value::object({{"a", "x"}, {"b", "y"}});
  EXPECT_FALSE(is_json_of(to_json(two), one));
  EXPECT_FALSE(is_json_of(to_json(one), two));
  EXPECT_TRUE(is_json_of(to_json(one), one));
  const Value key = Value::object({{"a\":1,\"b", 2}});
  EXPECT_FALSE(is_json_of(to_json(Value::object({{"a", 1}, {"b", 2}})), key));
}

TEST(Json, AppendsToWhatIsThere) {
  std::string out;
  for (int i = 0; i < 300; ++i) {  // beyond any room kept in advance
    append_json(Value::object({{"n", i}, {"text", std::string(static_cast<size_t>(i), 'y')}}), out);
    append_json_string("\n", out);
  }
  std::string expected;
  for (int i = 0; i < 300; ++i) {
    expected +=
        "{\"n\":" + std::to_string(i) + ",\"text\":\"" + std::string(static_cast<size_t>(i), 'y') + "\"}\"\\n\"";
  }
  EXPECT_EQ(out, expected);
}

TEST(Json, ErrorsContainPositionAndCause) {
  EXPECT_EQ(error_of("{\"a\": 1,\n  \"b\": }"), "invalid JSON at line 2, column 8: expected a value, found '}'");
  const std::vector<std::pair<std::string_view, std::string_view>> cases = {
      {"", "line 1, column 1: expected a value, found the end"},
      {"\n\n  [1,]", "line 3, column 6: expected a value, found ']'"},
      {"{} x", "line 1, column 4: expected the end of the text, found 'x'"},
      {"{1", "line 1, column 2: expected a key in double quotes, or '}', found '1'"},
      {"{\"a\":1,}", "line 1, column 8: expected a key in double quotes, found '}'"},
      {"{\"a\" 1}", "line 1, column 6: expected ':', found '1'"},
      {"{\"a\":1 \"b\"", "line 1, column 8: expected ',' or '}', found '\"'"},
      {"[1 2]", "line 1, column 4: expected ',' or ']', found '2'"},
      {"[é]", "line 1, column 2: expected a value, found 'é'"},
      {"[\xff]", "line 1, column 2: expected a value, found '?'"},
      {"[nul]", "line 1, column 5: expected \"null\" without quotes, found ']'"},
      {"tru", "line 1, column 4: expected \"true\" without quotes, found the end"},
      {"01", "line 1, column 2: expected the end of the text, found '1'"},
      {"-x", "line 1, column 2: expected a digit, found 'x'"},
      {"1.", "line 1, column 3: expected a digit, found the end"},
      {"1e+", "line 1, column 4: expected a digit, found the end"},
      {" 1e400", "line 1, column 2: a number too large for a double"},
      {"[\"abc", "line 1, column 2: this string has no end"},
      {"\"a\nb\"",
       "line 1, column 3: a string with a control character: it is written as \\n, \\t or \\u and its number"},
      {"\"a\xff\"", "line 1, column 3: a string with bytes that are not UTF-8"},
      {"\"a\\x\"", "line 1, column 3: a backslash must be followed by one of \" \\ / b f n r t u"},
      {"\"\\u12g4\"", "line 1, column 2: \\u must be followed by four hexadecimal digits"},
      {"\"\\ud83dx\"", "line 1, column 2: the first half of a surrogate pair must be followed by the second"},
      {"\"\\ude00\"", "line 1, column 2: the second half of a surrogate pair without the first"},
  };
  for (const auto& [text, message] : cases) EXPECT_EQ(error_of(text), "invalid JSON at " + std::string{message});
}

TEST(Json, RefusesWhatIsAlmostJson) {
  for (const std::string_view text :
       {"{",     "[",     "{\"a\"}", "{\"a\":1,}", "[1 2]",     "{'a':1}",       "{a:1}",
        "01",    "+1",    ".5",      "1.",         "0x10",      "NaN",           "Infinity",
        "tru",   "\"a",   "\"\n\"",  "\"\\x\"",    "\"\\u12\"", "// comment\n1", "1 /* comment */",
        "1e400", "-1e400"}) {
    EXPECT_NE(error_of(text), "no error") << text;
  }
}

TEST(Json, RefusesTextAfterANulByte) {
  EXPECT_EQ(error_of(std::string_view{"{}\0{}", 5}), "invalid JSON at line 1, column 3: a NUL byte");
}

TEST(Json, RefusesWhatIsNotUtf8) {
  for (const std::string_view bytes : {"\xff", "\xc0\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xe9", "\x80"}) {
    EXPECT_NE(error_of('"' + std::string{bytes} + '"'), "no error");
    EXPECT_NE(error_of("{\"" + std::string{bytes} + "\":1}"), "no error");
  }
  EXPECT_NE(error_of(R"("\ud83d")"), "no error");
}

TEST(Json, ErrorsArePrintableAndShortWhateverTheInput) {
  const std::string message = error_of("\"" + std::string(100'000, 'x') + "\xff\"");
  EXPECT_LT(message.size(), 400U);
  for (const char c : message) EXPECT_TRUE(c >= 0x20 && c < 0x7f) << message;
}

TEST(Json, BoundsTheDepth) {
  const auto nested = [](size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  EXPECT_TRUE(parse_json(nested(kMaxJsonDepth)));
  EXPECT_EQ(error_of(nested(kMaxJsonDepth + 1)),
            "invalid JSON at line 1, column 257: nested deeper than 256 objects and arrays");
  // The place is right although brackets in strings come first, and a million of them cost no stack.
  EXPECT_TRUE(
      error_of("[\"[[[\\\"[\",\n" + std::string(1'000'000, '[')).starts_with("invalid JSON at line 2, column 256:"));
  std::string objects;
  for (int i = 0; i < 1000; ++i) objects += "{\"a\":";
  EXPECT_NE(error_of(objects), "no error");
}

TEST(Json, OfKeysThatStandTwiceTheLastWinsAndEachIsNamed) {
  std::vector<std::string> duplicates;
  const auto value =
      parse_json(R"({"spec":{"containers":[{"name":"a"},{"name":"b","name":"c","name":"d"}],"replicas":1},"spec":2})",
                 &duplicates);
  ASSERT_TRUE(value);
  EXPECT_EQ(to_json(value.value()), R"({"spec":2})");
  EXPECT_EQ(duplicates, (std::vector<std::string>{"spec.containers[1].name", "spec"}));
}

TEST(Json, KeysThatStandOnceAreNoDuplicates) {
  std::vector<std::string> duplicates;
  ASSERT_TRUE(parse_json(R"({"a":{"a":[{"a":1},{"a":1}]},"b":{"a":1}})", &duplicates));
  EXPECT_TRUE(duplicates.empty());
}

TEST(Json, PrettyFormIsForPeople) {
  EXPECT_EQ(to_pretty_json(parsed(R"({"a":{"b":[1,{}],"c":[]}})")),
            "{\n  \"a\": {\n    \"b\": [\n      1,\n      {}\n    ],\n    \"c\": []\n  }\n}");
}

TEST(JsonDeathTest, InfinityIsNeverWritten) {
  EXPECT_DEATH(to_json(Value{std::numeric_limits<double>::infinity()}), "JSON has no infinity");
}

TEST(Json, WhatWasAcceptedStaysReadableInsideAWork) {
  std::string deepest;
  for (int depth = 1; depth < kMaxJsonDepth; ++depth) deepest += "[";
  deepest += "{}";
  for (int depth = 1; depth < kMaxJsonDepth; ++depth) deepest += "]";
  ASSERT_TRUE(parse_json(deepest));
  const std::string wrapped = R"({"spec":{"workload":{"manifests":[)" + deepest + "]}}}";
  EXPECT_FALSE(parse_json(wrapped));
  EXPECT_TRUE(parse_stored_json(wrapped));
}

/// As RFC 8259, section 7 says, one character at a time.
std::string as_json(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    constexpr std::string_view kShortEscapes = "\"\"\\\\\bb\tt\nn\ff\rr";
    const size_t found = kShortEscapes.find(c);
    const bool letter = found != std::string_view::npos && found % 2 == 1 && c >= 'a';
    if (found != std::string_view::npos && !letter) {
      out += {'\\', kShortEscapes[found + 1]};
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char code[7];
      std::snprintf(code, sizeof code, "\\u%04x", static_cast<unsigned>(c));
      out += code;
    } else {
      out += c;
    }
  }
  return out + "\"";
}

TEST(Json, WritesEachCharacterAtEachPlaceOfTextsAndKeys) {
  for (size_t size = 1; size <= 40; ++size) {
    for (size_t place = 0; place < size; ++place) {
      for (const char c : {'"', '\\', '\0', '\n', '\x1f', ' ', '!', '#', '[', ']', '\x7f', 'z'}) {
        std::string text(size, 'x');
        text[place] = c;
        const Value value = Value::object({{"a", text}, {text, 1}});
        const std::string expected = text < "a" ? "{" + as_json(text) + ":1,\"a\":" + as_json(text) + "}"
                                                : "{\"a\":" + as_json(text) + "," + as_json(text) + ":1}";
        ASSERT_EQ(to_json(value), expected) << size << " characters, number " << place;
      }
    }
  }
  EXPECT_EQ(to_json(Value::object({{"", ""}})), R"({"":""})");
  EXPECT_EQ(to_json(Value{"h\xc3\xa9llo w\xc3\xb6rld, \xe4\xb8\x96\xe7\x95\x8c"}),
            "\"h\xc3\xa9llo w\xc3\xb6rld, \xe4\xb8\x96\xe7\x95\x8c\"");
}

}  // namespace
}  // namespace shiplog
