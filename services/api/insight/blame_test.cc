#include "services/api/insight/blame.h"

#include <gtest/gtest.h>

#include "events/base/json.h"
#include "services/api/insight/comparison.h"
#include "services/api/insight/history.h"
#include "tests/support/projected_fleet.h"

namespace shiplog::api {
namespace {

const ObjectKey kBlamedMap = config_map("default", "settings");

class InsightPastTest : public testing::Test {
 protected:
  Revision put(const std::string& user, const char* data) {
    Entry entry;
    entry.actor = {user, {}, "api", "", ""};
    entry.request = {exists_ ? "update" : "create", ""};
    Value object = object_value(kBlamedMap);
    object.set("data", parse_json(data).value());
    if (exists_) {
      entry.events = {ObjectUpdated{kBlamedMap, object}};
    } else {
      entry.events = {ObjectCreated{kBlamedMap, object}};
    }
    exists_ = true;
    EXPECT_FALSE(fleet.write(std::move(entry)).refusal);
    return fleet.revision();
  }
  Revision remove() {
    exists_ = false;
    fleet.remove(kBlamedMap);
    return fleet.revision();
  }
  /// "data.a=\"1\" alice@3" of each field below data.
  std::string blamed(std::optional<Revision> at = {}) {
    const Value blame = must(blame_of(must(fleet.reader().view()), {.object = kBlamedMap, .at = at, .field = "data"}));
    std::string text;
    for (const Value& item : blame["items"].items()) {
      const Value& origin = blame["origins"][static_cast<size_t>(item["origin"].as_int())];
      text += item["path"].str() + "=" + item["value"].str() + " " + origin["who"]["user"].str() + "@" +
              std::to_string(origin["revision"].as_int()) + "\n";
    }
    return text;
  }
  static std::string at(Revision revision) { return "@" + std::to_string(revision.value) + "\n"; }
  Value compared(ComparisonQuestion question) { return must(compare(must(fleet.reader().view()), question)); }

  TestFleet fleet;
  bool exists_ = false;
};

TEST_F(InsightPastTest, BlameExaminesABoundedNumberOfVersions) {
  put("alice", R"({"a": "1", "b": "0"})");
  Revision last;
  for (int version = 0; version < 200; ++version) {
    const std::string b = std::to_string(version / 100), c = std::to_string(version);
    last = put("bob", (R"({"a": "1", "b": ")" + b + R"(", "c": ")" + c + "\"}").c_str());
  }
  const auto ask = [&](size_t versions) {
    return must(blame_of(must(fleet.reader().view()), {.object = kBlamedMap, .field = "data", .versions = versions}));
  };
  const Value some = ask(120);
  EXPECT_TRUE(some["items"][0]["origin"].is_null()) << "what gave a its value is older";
  EXPECT_EQ(some["origins"][0]["revision"].as_int(), static_cast<int64_t>(last.value) - 99) << "b was found";
  EXPECT_EQ(some["origins"][1]["revision"].as_int(), static_cast<int64_t>(last.value)) << "c changes every time";
  EXPECT_EQ(some["examinedFrom"].as_int(), static_cast<int64_t>(last.value) - 120);
  const Value all = ask(1000);
  EXPECT_EQ(all["origins"][static_cast<size_t>(all["items"][0]["origin"].as_int())]["who"]["user"], Value{"alice"});
  EXPECT_TRUE(all["examinedFrom"].is_null());
}

TEST_F(InsightPastTest, AValueWhoseVersionRetentionHasDeletedIsNobodys) {
  put("alice", R"({"a": "1", "b": "1"})");
  const Revision two = put("bob", R"({"a": "1", "b": "2"})");
  const Revision three = put("carol", R"({"a": "1", "b": "2", "c": "3"})");
  must(fleet.projections().trim_history(two));
  const Value blame = must(blame_of(must(fleet.reader().view()), {.object = kBlamedMap, .field = "data"}));
  ASSERT_EQ(blame["items"].size(), 3U);
  EXPECT_TRUE(blame["items"][0]["origin"].is_null()) << "alice's version is deleted";
  EXPECT_TRUE(blame["items"][1]["origin"].is_null()) << "what b was before bob's version is not known";
  EXPECT_EQ(blame["items"][2]["path"], Value{"data.c"});
  EXPECT_EQ(blame["origins"][0]["revision"].as_int(), static_cast<int64_t>(three.value));
  EXPECT_EQ(blame["examinedFrom"].as_int(), static_cast<int64_t>(two.value));
  EXPECT_TRUE(blame["olderDeleted"].as_bool());
}

TEST_F(InsightPastTest, WhatAVersionChangedIsUnknownIfTheOneBeforeIsDeleted) {
  put("alice", R"({"a": "1"})");
  const Revision two = put("bob", R"({"a": "2"})");
  put("carol", R"({"a": "3"})");
  must(fleet.projections().trim_history(two));
  const Value versions = must(history_of(must(fleet.reader().view()), kBlamedMap, 0, false, {}));
  ASSERT_EQ(versions.size(), 2U);
  EXPECT_TRUE(versions[0]["previousDeleted"].as_bool());
  EXPECT_EQ(versions[0]["changes"].size(), 0U);
  EXPECT_TRUE(versions[1]["previousDeleted"].is_null());
  EXPECT_EQ(versions[1]["changes"].size(), 1U);
}

TEST_F(InsightPastTest, BlamesTheVersionThatGaveAFieldItsValue) {
  const Revision one = put("alice", R"({"a": "1", "b": "1", "c": {"d": [1, 2]}})");
  const Revision two = put("bob", R"({"a": "2", "b": "1", "c": {"d": [1, 2]}})");
  const Revision three = put("carol", R"({"a": "2", "b": "1", "c": {"d": [1, 3]}, "e": {}})");
  EXPECT_EQ(blamed(), "data.a=\"2\" bob" + at(two) + "data.b=\"1\" alice" + at(one) + "data.c.d[0]=1 alice" + at(one) +
                          "data.c.d[1]=3 carol" + at(three) + "data.e={} carol" + at(three));
  EXPECT_EQ(blamed(one), "data.a=\"1\" alice" + at(one) + "data.b=\"1\" alice" + at(one) + "data.c.d[0]=1 alice" +
                             at(one) + "data.c.d[1]=2 alice" + at(one));
}

TEST_F(InsightPastTest, AValueThatCameBackIsTheLastOnes) {
  put("alice", R"({"a": "1"})");
  put("bob", R"({"a": "2"})");
  const Revision back = put("carol", R"({"a": "1"})");
  const Revision last = put("dave", R"({"a": "1", "b": "1"})");
  EXPECT_EQ(blamed(), "data.a=\"1\" carol" + at(back) + "data.b=\"1\" dave" + at(last));
}

TEST_F(InsightPastTest, AnObjectThatWasMadeAgainHasNoOlderAuthors) {
  put("alice", R"({"a": "1"})");
  remove();
  const Revision again = put("bob", R"({"a": "1"})");
  EXPECT_EQ(blamed(), "data.a=\"1\" bob" + at(again));
}

TEST_F(InsightPastTest, ManyVersionsAreReadInPortions) {
  const Revision first = put("alice", R"({"a": "1", "n": 0})");
  Revision last;
  for (int n = 1; n <= 200; ++n) last = put("bob", (R"({"a": "1", "n": )" + std::to_string(n) + "}").c_str());
  EXPECT_EQ(blamed(), "data.a=\"1\" alice" + at(first) + "data.n=200 bob" + at(last));
}

TEST_F(InsightPastTest, ThereIsNothingToBlameInWhatDoesNotExist) {
  put("alice", R"({"a": "1"})");
  remove();
  EXPECT_TRUE(must(blame_of(must(fleet.reader().view()), {.object = kBlamedMap})).is_null());
}

TEST_F(InsightPastTest, TheDataOfSecretsIsNotShown) {
  const ObjectKey secret{type::kSecret, "default", "key"};
  fleet.create(secret, "hidden");
  const Value blame = must(blame_of(must(fleet.reader().view()), {.object = secret}));
  EXPECT_EQ(to_json(blame).find("hidden"), std::string::npos) << to_json(blame);
}

TEST_F(InsightPastTest, ComparesTwoMomentsObjectByObject) {
  const ObjectKey other = config_map("other", "made");
  const Revision one = put("alice", R"({"a": "1"})");
  put("bob", R"({"a": "2"})");
  put("bob", R"({"a": "3"})");
  fleet.create(other);
  const Revision end = fleet.revision();
  Value answer = compared({.from = one, .to = end, .type = "configmaps"});
  ASSERT_EQ(answer["items"].size(), 2U) << to_json(answer);
  const Value& updated = answer["items"][0];
  EXPECT_EQ(updated["operation"].str(), "updated");
  EXPECT_EQ(to_json(updated["changes"]), R"([{"after":"\"3\"","before":"\"1\"","change":"changed","path":"data.a"}])");
  EXPECT_EQ(updated["count"].as_int(), 2);
  EXPECT_EQ(updated["versions"][0]["who"]["user"].str(), "bob");
  EXPECT_EQ(answer["items"][1]["operation"].str(), "created");

  EXPECT_EQ(compared({.from = one, .to = end, .ns = "default"})["items"].size(), 1U);
  EXPECT_EQ(compared({.from = one, .to = end, .name = "made"})["items"].size(), 1U);
  EXPECT_EQ(compared({.from = one, .to = end, .type = "configmaps", .user = "bob"})["items"].size(), 1U);
  answer = compared({.from = one, .to = end, .type = "configmaps", .limit = 1});
  EXPECT_EQ(answer["items"].size(), 1U);
  EXPECT_TRUE(answer["more"].as_bool());
  EXPECT_EQ(compared({.from = end, .to = end})["items"].size(), 0U);
}

TEST_F(InsightPastTest, WhatWasUndoneInBetweenDoesNotDiffer) {
  const Revision one = put("alice", R"({"a": "1"})");
  put("bob", R"({"a": "2"})");
  put("bob", R"({"a": "1"})");
  fleet.create(config_map("other", "short-lived"));
  fleet.remove(config_map("other", "short-lived"));
  EXPECT_EQ(compared({.from = one, .to = fleet.revision()})["items"].size(), 0U);
  const Revision before = fleet.revision();
  remove();
  const Value answer = compared({.from = before, .to = fleet.revision(), .type = "configmaps"});
  ASSERT_EQ(answer["items"].size(), 1U);
  EXPECT_EQ(answer["items"][0]["operation"].str(), "removed");
}

TEST_F(InsightPastTest, AComparisonThatWouldReadTooMuchIsRefused) {
  const Revision one = put("alice", R"({"n": 0})");
  for (int n = 1; n <= 1000; ++n) put("bob", (R"({"n": )" + std::to_string(n) + "}").c_str());
  const auto refused =
      compare(must(fleet.reader().view()), {.from = one, .to = fleet.revision(), .most_versions = 999});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kBadRequest);
  EXPECT_NE(refused.error().message.find("more than 999 versions between revision"), std::string::npos);
  EXPECT_EQ(compared({.from = one, .to = fleet.revision(), .most_versions = 2000})["items"].size(), 1U);
}

}  // namespace
}  // namespace shiplog::api
