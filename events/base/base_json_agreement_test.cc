// Our reader against another one: whatever the text, both accept it or both refuse it, and they read the same value.
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "events/base/json.h"
#include "events/base/random.h"

namespace shiplog {
namespace {

// The other reader's document as a Value; nothing when it refuses.
class NlohmannBuilder final : public nlohmann::json_sax<nlohmann::json> {
 public:
  Value root;

  bool null() override { return add(Value{}); }
  bool boolean(bool value) override { return add(Value{value}); }
  bool number_integer(int64_t value) override { return add(Value{value}); }
  bool number_unsigned(uint64_t value) override {
    if (value > static_cast<uint64_t>(INT64_MAX)) return add(Value{static_cast<double>(value)});
    return add(Value{static_cast<int64_t>(value)});
  }
  bool number_float(double value, const std::string&) override { return add(Value{value}); }
  bool string(std::string& value) override { return add(Value{value}); }
  bool binary(nlohmann::json::binary_t&) override { return false; }
  bool start_object(size_t) override { return open(Value::object()); }
  bool start_array(size_t) override { return open(Value::array()); }
  bool key(std::string& name) override {
    keys_.back() = name;
    return true;
  }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool parse_error(size_t, const std::string&, const nlohmann::json::exception&) override { return false; }

 private:
  bool open(Value value) {
    if (open_.size() == static_cast<size_t>(kMaxJsonDepth)) return false;
    open_.push_back(std::move(value));
    keys_.emplace_back();
    return true;
  }
  bool close() {
    Value done = std::move(open_.back());
    open_.pop_back();
    keys_.pop_back();
    return add(std::move(done));
  }
  bool add(Value value) {
    if (open_.empty()) {
      root = std::move(value);
    } else if (open_.back().is_object()) {
      open_.back().set(keys_.back(), std::move(value));
    } else {
      open_.back().push_back(std::move(value));
    }
    return true;
  }

  std::vector<Value> open_;
  std::vector<std::string> keys_;
};

std::optional<Value> read_by_other(const std::string& text) {
  if (text.find('\0') != std::string::npos) return std::nullopt;  // where the other one would stop reading
  NlohmannBuilder builder;
  if (!nlohmann::json::sax_parse(text, &builder)) return std::nullopt;
  return builder.root;
}

void expect_agreement(const std::string& text) {
  const auto theirs = read_by_other(text);
  // Exactly as long as the text, so that a sanitizer sees a read past its end.
  const std::vector<char> exact(text.begin(), text.end());
  const auto ours = parse_json({exact.data(), exact.size()});
  ASSERT_EQ(ours.has_value(), theirs.has_value()) << text << "\n" << (ours ? "" : ours.error().message);
  if (!theirs) return;
  ASSERT_EQ(ours.value(), *theirs) << text;
  ASSERT_EQ(to_json(ours.value()), to_json(*theirs)) << text;  // tells -0.0 from 0.0
}

// Text that is JSON, or nearly: each choice may be the wrong one.
class NlohmannWriter {
 public:
  explicit NlohmannWriter(uint64_t seed) : random_{seed} {}

  std::string document() {
    text_.clear();
    space();
    value(5);
    space();
    return text_;
  }

  // Something at some place is lost, doubled, replaced or put in.
  std::string mutated(std::string text) {
    static const std::string kLikely = "{}[]:,\"\\u0123456789abcdefABCDEF.eE+-tfn \n\t";
    for (uint64_t left = 1 + below(3); left > 0 && !text.empty(); --left) {
      const size_t at = below(text.size());
      const char c = below(4) == 0 ? static_cast<char>(below(256)) : kLikely[below(kLikely.size())];
      switch (below(5)) {
        case 0:
          text.erase(at, 1 + below(3));
          break;
        case 1:
          text.insert(at, 1, c);
          break;
        case 2:
          text[at] = c;
          break;
        case 3:
          text.insert(at, text.substr(at, below(8)));
          break;
        default:
          text.resize(at);
          break;
      }
    }
    return text;
  }

 private:
  size_t below(uint64_t limit) { return static_cast<size_t>(random_below(random_, limit)); }

  const std::string& one_of(const std::vector<std::string>& choices) { return choices[below(choices.size())]; }

  void space() {
    while (below(4) == 0) text_ += " \n\r\t"[below(4)];
  }

  void string() {
    static const std::vector<std::string> kPieces = {"a",
                                                     "spec",
                                                     "name",
                                                     "é",
                                                     "\u20ac",
                                                     "😀",
                                                     "\\n",
                                                     "\\\"",
                                                     "\\\\",
                                                     "\\/",
                                                     "\\u0041",
                                                     "\\u00e9",
                                                     "\\u20AC",
                                                     "\\ud83d\\ude00",
                                                     "\\u0000",
                                                     "\\b\\f\\r\\t",
                                                     "01234567",
                                                     "-kubernetes.io/",
                                                     "\x7f",
                                                     "{[,:]}",
                                                     "\xef\xbf\xbf",
                                                     "a text that is longer than one block"};
    static const std::vector<std::string> kWrong = {
        "\xff",  "\xc0\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\x80", "\\ud83d",  "\\ude00",
        "\\u12", "\\x",      "\n",           "\\ud83d\\u0041",   "\x01", "\xe2\x82", "\\"};
    text_ += '"';
    for (uint64_t left = below(6); left > 0; --left) text_ += one_of(below(60) == 0 ? kWrong : kPieces);
    text_ += '"';
  }

  void digits(size_t most) {
    for (uint64_t left = 1 + below(most); left > 0; --left) text_ += static_cast<char>('0' + below(10));
  }

  void number() {
    static const std::vector<std::string> kEdges = {"0",
                                                    "-0",
                                                    "-0.0",
                                                    "0e5",
                                                    "9223372036854775807",
                                                    "9223372036854775808",
                                                    "-9223372036854775808",
                                                    "-9223372036854775809",
                                                    "18446744073709551615",
                                                    "18446744073709551616",
                                                    "1e308",
                                                    "1.7976931348623157e308",
                                                    "1.7976931348623159e308",
                                                    "1e309",
                                                    "-1e400",
                                                    "2.2250738585072014e-308",
                                                    "5e-324",
                                                    "3e-324",
                                                    "2e-324",
                                                    "1e-400",
                                                    "-1e-400",
                                                    "0.000001e-320",
                                                    "1000000e-330",
                                                    "0e999999999999999999999",
                                                    "1e-99999999999999999999",
                                                    "0.1",
                                                    "1E+2",
                                                    "1e-2",
                                                    "123456789012345678901234567890",
                                                    "1e99999999999999999999"};
    static const std::vector<std::string> kWrong = {"01",  "+1",  ".5",  "1.",  "1e",  "-",
                                                    "0x1", "NaN", "1e+", "--1", "1.e1"};
    if (below(40) == 0) {
      text_ += one_of(kWrong);
    } else if (below(4) == 0) {
      text_ += one_of(kEdges);
    } else {
      if (below(3) == 0) text_ += '-';
      text_ += static_cast<char>('1' + below(9));
      if (below(2) == 0) digits(20);
      if (below(3) == 0) (text_ += '.'), digits(20);
      if (below(4) == 0) (text_ += one_of({"e", "E", "e+", "e-", "E-"})), digits(3);
    }
  }

  void value(int depth) {
    switch (below(depth == 0 ? 5 : 9)) {
      case 0:
        text_ += one_of({"true", "false", "null"});
        break;
      case 1:
      case 2:
        number();
        break;
      case 3:
      case 4:
        string();
        break;
      case 5:
      case 6: {
        text_ += '[';
        space();
        for (uint64_t left = below(5); left > 0; --left) {
          value(depth - 1);
          space();
          if (left > 1) text_ += ',';
          space();
        }
        text_ += ']';
        break;
      }
      default: {
        text_ += '{';
        space();
        for (uint64_t left = below(5); left > 0; --left) {
          string();
          space();
          text_ += ':';
          space();
          value(depth - 1);
          space();
          if (left > 1) text_ += ',';
          space();
        }
        text_ += '}';
        break;
      }
    }
  }

  SeededRandom random_;
  std::string text_;
};

TEST(JsonAgreement, OnRandomDocuments) {
  NlohmannWriter writer{1};
  size_t accepted = 0;
  for (int i = 0; i < 20'000; ++i) {
    const std::string text = writer.document();
    expect_agreement(text);
    if (HasFatalFailure()) return;
    if (parse_json(text)) ++accepted;
  }
  EXPECT_GT(accepted, 10'000U);  // or nothing was compared
  EXPECT_LT(accepted, 19'900U);
}

TEST(JsonAgreement, OnMutatedDocuments) {
  NlohmannWriter writer{2};
  size_t accepted = 0;
  for (int i = 0; i < 60'000; ++i) {
    const std::string text = writer.mutated(writer.document());
    expect_agreement(text);
    if (HasFatalFailure()) return;
    if (parse_json(text)) ++accepted;
  }
  EXPECT_GT(accepted, 1000U);
}

TEST(JsonAgreement, OnEveryTextOfUpToFourCharactersThatMatter) {
  const std::string alphabet = "{}[]:,\"\\-01.etn \n\xc3\xa9";
  std::string text;
  const auto extend = [&](const auto& self, size_t length) -> void {
    expect_agreement(text);
    if (length == 4 || testing::Test::HasFatalFailure()) return;
    for (const char c : alphabet) {
      text += c;
      self(self, length + 1);
      text.pop_back();
    }
  };
  extend(extend, 0);
}

TEST(JsonAgreement, OnEveryByteAtEveryPlaceOfAString) {
  for (size_t place = 0; place < 18; ++place) {  // over the edges of blocks of eight
    for (int byte = 1; byte < 256; ++byte) {
      std::string text = "\"" + std::string(18, 'x') + "\"";
      text[1 + place] = static_cast<char>(byte);
      expect_agreement(text);
      if (HasFatalFailure()) return;
    }
  }
}

TEST(JsonAgreement, OnEveryCodePoint) {
  for (uint32_t point = 0; point < 0x10000; ++point) {
    char escaped[16];
    std::snprintf(escaped, sizeof escaped, "\"\\u%04x\"", point);
    expect_agreement(escaped);
    if (HasFatalFailure()) return;
  }
  for (uint32_t high = 0xD7FF; high <= 0xDC00; high += 0x11) {
    for (uint32_t low = 0xDBF0; low <= 0xE010; low += 0x10) {
      char escaped[24];
      std::snprintf(escaped, sizeof escaped, "\"\\u%04X\\u%04X\"", high, low);
      expect_agreement(escaped);
      if (HasFatalFailure()) return;
    }
  }
}

TEST(JsonAgreement, OnEveryPrefixOfADocument) {
  NlohmannWriter writer{3};
  for (int i = 0; i < 300; ++i) {
    const std::string text = writer.document();
    for (size_t length = 0; length <= text.size(); ++length) {
      expect_agreement(text.substr(0, length));
      if (HasFatalFailure()) return;
    }
  }
}

TEST(JsonAgreement, OnAByteOrderMark) {
  expect_agreement("\xEF\xBB\xBF{}");
  expect_agreement("\xEF\xBB{}");
  expect_agreement("{}\xEF\xBB\xBF");
}

}  // namespace
}  // namespace shiplog
