// Values under random edits, beside a model of maps and vectors; and the texts that take no memory.

#include <algorithm>
#include <array>
#include <map>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "events/base/json.h"
#include "events/base/value.h"
#include "events/base/well_known_texts.h"

namespace shiplog {
namespace {

using ValueModel = std::map<std::string, int64_t>;

void expect_same(const Value& value, const ValueModel& model) {
  ASSERT_EQ(value.size(), model.size());
  auto expected = model.begin();
  for (const auto& member : value.members()) {
    EXPECT_EQ(member.key(), expected->first);
    EXPECT_EQ(member.value.as_int(-1), expected->second);
    EXPECT_EQ(&value[member.key()], &member.value);
    ++expected;
  }
}

/// Short, long, well known, with zero bytes and bytes above 127, and such that begin alike.
std::vector<std::string> all_kinds_of_keys() {
  std::vector<std::string> keys;
  for (size_t length = 0; length < 24; ++length) {
    keys.push_back(std::string(length, 'k'));
    keys.push_back(std::string(length, 'k') + '\0');
    keys.push_back(std::string(length, 'k') + '\xC3');
    keys.push_back("key number " + std::to_string(length));
  }
  for (const std::string_view known : well_known_texts().first(24)) {
    keys.emplace_back(known);
    keys.push_back(std::string{known} + "x");
    keys.emplace_back(known.substr(0, known.size() - 1));
  }
  return keys;
}

TEST(ValueModel, EditedCopiesStayWhatTheyWouldBeAlone) {
  const std::vector<std::string> keys = all_kinds_of_keys();
  std::mt19937 random{7};
  const auto draw = [&](size_t below) { return std::uniform_int_distribution<size_t>{0, below - 1}(random); };
  std::vector<std::pair<Value, ValueModel>> all(6);
  for (auto& [value, model] : all) value = Value::object();
  for (size_t step = 0; step < 6'000; ++step) {
    auto& [value, model] = all[draw(all.size())];
    const std::string& key = keys[draw(step % 1'000 < 500 ? 12 : keys.size())];
    switch (draw(8)) {
      case 0:
      case 1:
      case 2:
        value.set(key, static_cast<int64_t>(step));
        model[key] = static_cast<int64_t>(step);
        break;
      case 3:
      case 4:
        ASSERT_EQ(value.erase(key), model.erase(key) > 0);
        break;
      case 5: {
        const auto& from = all[draw(all.size())];
        model = ValueModel{from.second};
        value = from.first;  // also of itself
        break;
      }
      case 6: {
        Value taken = std::move(value);
        ASSERT_TRUE(value.is_null());  // NOLINT(bugprone-use-after-move): promised
        value = std::move(taken);
        break;
      }
      default: {
        Value::Object shuffled(value.members().begin(), value.members().end());
        std::ranges::shuffle(shuffled, random);
        ASSERT_EQ(Value::object(std::move(shuffled)), value);
        ASSERT_EQ(parse_json(to_json(Value::object({{"key", "a"}}))).value()["key"].as_string(), "a");
      }
    }
    ASSERT_NO_FATAL_FAILURE(expect_same(value, model)) << "step " << step;
    const auto& other = all[draw(all.size())];
    ASSERT_EQ(value == other.first, model == other.second) << "step " << step;
  }
}

TEST(ValueModel, ObjectsWithoutMembersAreIndependentToo) {
  Value one = Value::object({{"a", 1}});
  one.erase("a");
  Value two = one;
  two.set("b", 2);
  one.set("c", Value::array({3}));
  EXPECT_EQ(to_json(one), R"({"c":[3]})");
  EXPECT_EQ(to_json(two), R"({"b":2})");
  EXPECT_EQ(Value::object(), parse_json("{}").value());
  EXPECT_NE(Value::object(), Value::array());
  EXPECT_EQ(Value::object().members().size() + Value::array().items().size(), 0U);
  two.erase("b");
  EXPECT_EQ(two, Value::object());
}

TEST(ValueModel, ArraysAreEqualHoweverTheyWereMade) {
  const Value read = parse_json("[1,[2],{\"a\":[]}]").value();
  Value edited = Value::array();
  edited.push_back(1);
  edited.push_back(Value::array({2}));
  edited.push_back(Value::object({{"a", Value::array()}}));
  EXPECT_EQ(read, edited);
  EXPECT_EQ(to_json(read), to_json(edited));
  const Value before = edited;
  edited.push_back(edited[1]);
  edited.edit_items().erase(edited.edit_items().begin());
  EXPECT_EQ(before, read);
  EXPECT_EQ(to_json(edited), "[[2],{\"a\":[]},[2]]");
  Value copy = read;
  copy.edit_items()[1].push_back(read);
  EXPECT_EQ(to_json(copy), "[1,[2,[1,[2],{\"a\":[]}]],{\"a\":[]}]");
  EXPECT_EQ(to_json(read), "[1,[2],{\"a\":[]}]");
}

TEST(ValueModel, HugeObjectsKeepTheLastOfEqualKeys) {
  std::string text = "{";
  ValueModel model;
  std::mt19937 random{3};
  for (int64_t number = 0; number < 50'000; ++number) {
    const std::string key = "label.example.com/" + std::to_string(random() % 30'000);
    text += (number == 0 ? "\"" : ",\"") + key + "\":" + std::to_string(number);
    model[key] = number;
  }
  text += "}";
  const auto requested = parse_json(text);
  ASSERT_TRUE(requested);
  expect_same(requested.value(), model);
  EXPECT_EQ(parse_stored_json(text).value(), requested.value());
}

TEST(ValueModel, NestsAsDeepAsWhatIsStored) {
  std::string text;
  for (int level = 0; level < kMaxStoredJsonDepth / 2; ++level) text += "[{\"a\":";
  text += "1";
  for (int level = 0; level < kMaxStoredJsonDepth / 2; ++level) text += "}]";
  const auto read = parse_stored_json(text);
  ASSERT_TRUE(read);
  const Value copy = read.value();
  EXPECT_EQ(to_json(copy), text);
  EXPECT_FALSE(parse_stored_json("[" + text + "]"));
}

TEST(ValueModel, LiteralsFindWhatViewsFind) {
  Value value = Value::object({{"", 0},
                               {"a", 1},
                               {"metadata", 2},
                               {"containers", 3},
                               {"fourteen bytes", 4},
                               {"fifteen bytes..", 5},
                               {"resourceVersion", 6}});
  const auto check = [&] {
    EXPECT_EQ(value[""].as_int(-1), 0);
    EXPECT_EQ(value["a"].as_int(), 1);
    EXPECT_EQ(value["metadata"].as_int(), 2);
    EXPECT_EQ(value["containers"].as_int(), 3);
    EXPECT_EQ(value["fourteen bytes"].as_int(), 4);
    EXPECT_EQ(value["fifteen bytes.."].as_int(), 5);
    EXPECT_EQ(value["resourceVersion"].as_int(), 6);
    EXPECT_FALSE(value.contains("fourteen byte"));
    EXPECT_FALSE(value.contains("fifteen bytes.,"));
    EXPECT_EQ(value.find("b"), nullptr);
    // As a view, and as an array that is longer than its text.
    const char padded[32] = "metadata";  // NOLINT(modernize-avoid-c-arrays)
    EXPECT_EQ(value[padded].as_int(), 2);
    for (const char* key :
         {"", "a", "metadata", "containers", "fourteen bytes", "fifteen bytes..", "resourceVersion"}) {
      EXPECT_EQ(&value[key], &value[std::string_view{key}]);
      EXPECT_FALSE(value[key].is_null());
    }
  };
  check();
  for (int more = 0; more < 60; ++more) value.set("more " + std::to_string(more), more);
  check();
}

/// Of few keys and texts, so that many parts of two are equal.
Value random_tree(std::mt19937& random, int depth) {
  static const std::vector<std::string> kTexts = {"a", "resourceVersion", "a text that is stored outside",
                                                  "another text that is stored outside"};
  const auto draw = [&](size_t below) { return std::uniform_int_distribution<size_t>{0, below - 1}(random); };
  switch (draw(depth == 0 ? 4 : 8)) {
    case 0:
      return nullptr;
    case 1:
      return draw(2) == 0 ? Value{0.0} : Value{-0.0};
    case 2:
      return static_cast<int64_t>(draw(2));
    case 3:
      return kTexts[draw(kTexts.size())];
    case 4:
    case 5: {
      Value array = Value::array();
      for (size_t left = draw(4); left > 0; --left) array.push_back(random_tree(random, depth - 1));
      return draw(2) == 0 ? array : Value::array(Value::Array{array.items().begin(), array.items().end()});
    }
    default: {
      Value object = Value::object();
      for (size_t left = draw(5); left > 0; --left) {
        object.set(kTexts[draw(kTexts.size())], random_tree(random, depth - 1));
      }
      return object;
    }
  }
}

/// Whether each part that is equal in both at the same place is in memory once.
bool shares_all(const Value& value, const Value& other) {
  if (to_json(value) == to_json(other)) {
    const auto same = [](auto mine, auto theirs) { return mine.empty() || mine.data() == theirs.data(); };
    return same(value.items(), other.items()) && same(value.members(), other.members()) &&
           (value.as_string().size() < 15 || same(value.as_string(), other.as_string()));
  }
  for (size_t at = 0; at < std::min(value.items().size(), other.items().size()); ++at) {
    if (!shares_all(value[at], other[at])) return false;
  }
  for (const auto& [key, part] : value.members()) {
    const Value* found = other.find(key.as_string());
    if (found != nullptr && !shares_all(part, *found)) return false;
  }
  return true;
}

/// Where the parts of a value are in memory, its strings of more than 14 bytes included.
void add_places(const Value& value, std::vector<const void*>& places) {
  if (value.as_string().size() > 14) places.push_back(value.as_string().data());
  places.push_back(value.items().data());
  places.push_back(value.members().data());
  for (const Value& item : value.items()) add_places(item, places);
  for (const auto& [key, part] : value.members()) {
    if (key.as_string().size() > 14) places.push_back(key.as_string().data());
    add_places(part, places);
  }
}
std::vector<const void*> places_of(const Value& value) {
  std::vector<const void*> places;
  add_places(value, places);
  return places;
}

TEST(ValueSharing, SharesWhatIsEqualAndChangesNothing) {
  std::mt19937 random{5};
  size_t shared_before = 0;
  for (int round = 0; round < 20'000; ++round) {
    const Value other = Value::array({random_tree(random, 4), random_tree(random, 4), random_tree(random, 4)});
    Value value = parse_json(to_json(other)).value();  // the same, and nothing is shared yet
    if (round % 4 > 0) value.edit_items()[1] = random_tree(random, 3);
    if (round % 4 > 1 && other[2].size() > 0) {
      Value& edited = value.edit_items()[2];
      Value& part = edited.is_object() ? edited.edit(edited.members()[0].key_text.str()) : edited.edit_items()[0];
      part = random_tree(random, 2);
    }
    const std::string of_value = to_json(value);
    const std::string of_other = to_json(other);
    shared_before += shares_all(value, other) ? 1U : 0U;
    const Value copy = round % 2 == 0 ? value : Value{};  // it must stay, too
    const Value part = round % 3 == 0 ? value[0U] : Value{};
    const std::string of_part = to_json(part);
    // Other threads may read what is shared, so not even equal parts of it may be exchanged.
    const auto places = std::array{places_of(copy), places_of(part), places_of(other)};
    value.share_with(other);
    ASSERT_EQ((std::array{places_of(copy), places_of(part), places_of(other)}), places) << of_value << of_other;
    ASSERT_EQ(to_json(value), of_value) << of_other;
    ASSERT_EQ(to_json(other), of_other) << of_value;
    ASSERT_EQ(to_json(part), of_part);
    if (round % 2 == 0) {
      ASSERT_EQ(to_json(copy), of_value);
    }
    // Where the whole is shared with one value and the part with another one, the part stays.
    const size_t from = round % 6 == 0 && of_value != of_other ? 1 : 0;
    for (size_t at = from; at < value.size(); ++at) {
      ASSERT_TRUE(shares_all(value[at], other[at])) << of_value << " and " << of_other;
    }
    if (from == 1 && !part.is_string()) {
      ASSERT_EQ(places_of(value[0U]), places_of(part)) << of_value << " and " << of_other;
    }
  }
  EXPECT_LT(shared_before, 10'000U) << "there was little to share";
}

// A manifest is rendered from a template: a copy of its spec, made to share a list of ports with another manifest,
// would take memory of its own, and the template would keep the list.
TEST(ValueSharing, APartThatAnotherObjectHasIsNotCopied) {
  const Value ports = parse_json(R"([{"containerPort":8080}])").value();
  const Value source = Value::object({{"spec", Value::object({{"image", "a"}, {"ports", ports}})}});
  const Value other =
      parse_json(R"({"labels":{"a":"b"},"spec":{"image":"b","ports":[{"containerPort":8080}]}})").value();
  Value value = Value::object({{"labels", parse_json(R"({"a":"b"})").value()}, {"spec", source["spec"]}});
  const Value event = value;
  value.share_with(other);
  EXPECT_EQ(value, event);
  EXPECT_EQ(value["spec"].members().data(), source["spec"].members().data());
  EXPECT_EQ(value["labels"].members().data(), other["labels"].members().data()) << "only the event has it, too";
}

TEST(ValueSharing, ThatOfAValueAloneIsInPlace) {
  const std::string text = R"({"one":{"text":"a text that is stored outside"},"other":{"list":[1,2,3]},"rest":1})";
  const Value other = parse_json(text).value();
  Value value = parse_json(text).value();
  value.set("rest", 2);
  const auto* const members = value.members().data();
  value.share_with(other);
  EXPECT_EQ(value.members().data(), members);
  EXPECT_EQ(value["one"].members().data(), other["one"].members().data());
  EXPECT_EQ(value["other"].members().data(), other["other"].members().data());
  EXPECT_EQ(value["rest"], Value{2});
  EXPECT_EQ(other["rest"], Value{1});
}

TEST(WellKnownTexts, TakeNoMemoryAsKeys) {
  std::set<std::string_view> all;
  for (const std::string_view text : well_known_texts()) {
    EXPECT_TRUE(all.insert(text).second) << text << " is there twice";
    const Value key = Value::interned(std::string{text});
    EXPECT_EQ(key.as_string().data(), text.data());
    EXPECT_EQ(key, Value{text});
    EXPECT_EQ(Value{text}, key);
    Value object;
    object.set(std::string{text}, 1);
    EXPECT_EQ(object.members()[0].key().data(), text.data());
    const Value read = parse_json(to_json(object)).value();
    EXPECT_EQ(read.members()[0].key().data(), text.data());
    EXPECT_EQ(read, object);
    EXPECT_EQ(read[text].as_int(), 1);
    // Another program part may have made the key without the table.
    const Value foreign = Value::object(Value::Object{{Value{text}, 1}});
    EXPECT_EQ(foreign, object);
    EXPECT_EQ(foreign[text].as_int(), 1);
  }
}

TEST(WellKnownTexts, NamesOfUsersAreNotAdded) {
  const size_t before = well_known_texts().size();
  std::string text = "{";
  for (size_t number = 0; number < 5'000; ++number) {
    text += (number == 0 ? "\"" : ",\"") + ("tenant.example.com/label-" + std::to_string(number)) + "\":\"\"";
  }
  text += "}";
  ASSERT_TRUE(parse_json(text));
  ASSERT_TRUE(parse_stored_json(text));
  EXPECT_EQ(well_known_texts().size(), before);
  EXPECT_EQ(well_known_text("tenant.example.com/label-17"), nullptr);
  EXPECT_EQ(well_known_text("resourceVersio"), nullptr) << "shorter than any";
  EXPECT_EQ(well_known_text(std::string(64, 'r')), nullptr) << "longer than any";
  EXPECT_NE(well_known_text("resourceVersion"), nullptr);
}

TEST(ValueThreads, CopiesAreReadAndReleasedOnOthers) {
  const Value shared =
      parse_json(R"({"list":[1,{"a text that is stored outside":"another such text"}],"none":{}})").value();
  std::vector<std::thread> threads;
  for (int number = 0; number < 4; ++number) {
    threads.emplace_back([copy = shared, number]() mutable {
      for (int round = 0; round < 2'000; ++round) {
        Value own = copy;
        own.edit("list").push_back(number);
        own.edit("none").set("round", round);
        ASSERT_EQ(own["list"].size(), 3U);
        ASSERT_EQ(copy["list"].size(), 2U);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(shared["list"].size(), 2U);
}

}  // namespace
}  // namespace shiplog
