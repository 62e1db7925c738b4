// What LegalHolds keep of a projection, and what goes by the family of its events.
#include "projections/holds/holds.h"

#include <gtest/gtest.h>

#include "events/base/json.h"
#include "projections/audit/audit_query.h"
#include "projections/decisions/decision_query.h"
#include "projections/history/history_query.h"
#include "tests/support/projected_fleet.h"

namespace shiplog {
namespace {

const ObjectKey kHeld = config_map("default", "held");
const ObjectKey kOther = config_map("default", "other");

class HoldsTest : public ::testing::Test {
 protected:
  static ObjectKey key(const std::string& name = "case-1") { return {kLegalHoldType, "", name}; }

  void hold(const std::string& spec, const std::string& name = "case-1") {
    Value object = object_value(key(name));
    object.erase("data");
    object.set("spec", must(parse_json(spec)));
    fleet_.write({ObjectCreated{key(name), object}});
  }

  /// Everything, as if it were old enough; to the end.
  Projections::Trimmed trim() {
    const Offset all{fleet_.journal().back().first.value + 1};
    return trim({fleet_.revision(), {all}, {all}});
  }
  Projections::Trimmed trim(const Projections::Expired& expired) {
    Projections::Trimmed all;
    while (true) {
      auto step = must(fleet_.projections().trim_some(expired));
      all.versions += step.versions;
      all.entries += step.entries;
      all.decisions += step.decisions;
      if (step.more) continue;
      all.held = step.held;
      return all;
    }
  }

  size_t versions(const ObjectKey& object) {
    Reader reader = fleet_.reader();
    const View view = must(reader.view());
    return must(HistoryQuery{view}.versions(object)).size();
  }
  size_t entries(const ObjectKey& object) {
    Reader reader = fleet_.reader();
    const View view = must(reader.view());
    return must(AuditQuery{view}.find({.type = object.type.str(), .name = object.name.str(), .limit = 0})).size();
  }
  size_t decisions(const ObjectKey& object) {
    Reader reader = fleet_.reader();
    const View view = must(reader.view());
    return must(DecisionQuery{view}.of(object)).size();
  }

  /// Two objects with five versions each.
  void make_objects() {
    for (int number = 0; number < 5; ++number) {
      for (const ObjectKey& object : {kHeld, kOther}) {
        number == 0 ? fleet_.create(object, "0") : fleet_.update(object, std::to_string(number));
      }
    }
  }

  TestFleet fleet_;
};

TEST_F(HoldsTest, VersionsAndEntriesOfItsSubjectsStayAndOthersGo) {
  make_objects();
  fleet_.write({RequestDenied{kHeld, 403, "Forbidden", "not you"}});
  fleet_.write({RequestDenied{kOther, 403, "Forbidden", "not you"}});
  hold(R"({"reason":"r","subjects":[{"resource":"configmaps","namespaces":["default"],"names":["held"]}]})");
  const auto trimmed = trim();
  EXPECT_EQ(versions(kHeld), 5U);
  EXPECT_EQ(versions(kOther), 1U);
  EXPECT_EQ(entries(kHeld), 6U);
  EXPECT_EQ(entries(kOther), 1U);
  ASSERT_EQ(trimmed.held.size(), 1U);
  EXPECT_EQ(trimmed.held.at("case-1").versions, 4U) << "the newest one stays anyway";
  EXPECT_EQ(trimmed.held.at("case-1").entries, 1U) << "those of versions stay with these";
  EXPECT_NE(trimmed.held.at("case-1").oldest, UtcMillis{});
  // The next pass counts the same.
  EXPECT_EQ(trim().held.at("case-1").versions, 4U);
}

TEST_F(HoldsTest, RemovedObjectsStayToo) {
  make_objects();
  fleet_.remove(kHeld);
  fleet_.remove(kOther);
  hold(R"({"reason":"r","subjects":[{"resource":"configmaps","names":["held"]}]})");
  trim();
  EXPECT_EQ(versions(kHeld), 6U);
  EXPECT_EQ(versions(kOther), 0U);
}

TEST_F(HoldsTest, WhatWasCurrentInThePeriodIsPartOfIt) {
  make_objects();  // at minutes 2 to 11: versions of the held object at 2, 4, 6, 8, 10
  const auto minute = [](int number) { return rfc3339(UtcMillis{1'700'000'000'000 + number * 60'000}); };
  hold(R"({"reason":"r","subjects":[{"resource":"configmaps","names":["held"]}],"from":")" + minute(5) + R"(","to":")" +
       minute(7) + "\"}");
  trim();
  // The version of minute 4 was current at minute 5; that of minute 6 was made in the period; the newest one stays.
  EXPECT_EQ(versions(kHeld), 3U);
}

TEST_F(HoldsTest, UsersAndFamiliesAreConditions) {
  const auto by = [&](const std::string& user, Event event) {
    Entry entry;
    entry.actor = {user, {}, "api", "", ""};
    entry.events.push_back(std::move(event));
    fleet_.write(std::move(entry));
  };
  for (const char* user : {"eve", "bob"}) by(user, RequestDenied{kHeld, 403, "Forbidden", "not you"});
  by("eve", ClusterLeft{{type::kCluster, "", "m1"}, ""});
  hold(R"({"reason":"r","users":["eve"],"families":["api"]})");
  const auto trimmed = trim();
  EXPECT_EQ(entries(kHeld), 1U);
  EXPECT_EQ(trimmed.held.at("case-1").entries, 1U);
}

TEST_F(HoldsTest, DecisionsOfItsSubjectsStay) {
  const auto decide = [&](const ObjectKey& binding) {
    PlacementDecided placed;
    placed.binding = binding;
    fleet_.write({placed});
  };
  const ObjectKey held{type::kResourceBinding, "default", "held"}, other{type::kResourceBinding, "default", "other"};
  decide(held);
  decide(other);
  hold(R"({"reason":"r","subjects":[{"group":"work.karmada.io","resource":"resourcebindings","names":["held"]}]})");
  const auto trimmed = trim();
  EXPECT_EQ(decisions(held), 1U);
  EXPECT_EQ(decisions(other), 0U);
  EXPECT_EQ(trimmed.held.at("case-1").decisions, 1U);
}

TEST_F(HoldsTest, ItsDeletionReleasesWhatItHeldAlsoAfterARestart) {
  for (const bool restart : {false, true}) {
    fleet_.create(config_map("default", restart ? "a" : "b"));
    const ObjectKey object = config_map("default", restart ? "a" : "b");
    for (int number = 0; number < 4; ++number) fleet_.update(object, std::to_string(number));
    const std::string name = restart ? "case-2" : "case-1";
    hold(R"({"reason":"r","everything":true})", name);
    trim();
    EXPECT_EQ(versions(object), 5U);
    fleet_.remove(key(name));
    if (restart) fleet_.reopen();
    trim();
    EXPECT_EQ(versions(object), 1U) << restart;
  }
}

TEST_F(HoldsTest, TwoHoldsKeepUntilTheLastOneIsDeleted) {
  make_objects();
  const std::string spec = R"({"reason":"r","subjects":[{"resource":"configmaps","names":["held"]}]})";
  hold(spec, "one");
  hold(spec, "two");
  trim();
  fleet_.remove(key("one"));
  trim();
  EXPECT_EQ(versions(kHeld), 5U);
  fleet_.remove(key("two"));
  trim();
  EXPECT_EQ(versions(kHeld), 1U);
}

// Whatever was applied before a step is held by it, in the middle of a pass too.
TEST_F(HoldsTest, AHoldThatIsMadeDuringAPassHoldsTheRest) {
  for (int number = 0; number < 2500; ++number) {
    number == 0 ? fleet_.create(kOther, "0") : fleet_.update(kOther, std::to_string(number));
  }
  fleet_.create(kHeld, "0");
  fleet_.update(kHeld, "1");
  const Projections::Expired expired{fleet_.revision(), {}, {}};
  ASSERT_TRUE(must(fleet_.projections().trim_some(expired)).more);
  hold(R"({"reason":"r","everything":true})");
  trim(expired);
  EXPECT_EQ(versions(kHeld), 2U);
}

TEST_F(HoldsTest, AHoldThatCannotBeReadStopsAllDeletion) {
  make_objects();
  hold(R"({"reason":"r","everything":true,"from":"not a time"})");
  const auto trimmed = fleet_.projections().trim_some({fleet_.revision(), {}, {}});
  ASSERT_FALSE(trimmed);
  EXPECT_EQ(trimmed.error().message,
            "LegalHold case-1 cannot be read: spec.from: must be a time like 2026-05-01T12:00:00Z");
  EXPECT_EQ(versions(kOther), 5U);
}

TEST_F(HoldsTest, FamiliesHaveAgesOfTheirOwn) {
  const ObjectKey cluster{type::kCluster, "", "m1"};
  for (int number = 0; number < 5; ++number) {
    fleet_.write({RequestDenied{kHeld, 403, "Forbidden", "not you"}});
    fleet_.write({ClusterLeft{cluster, ""}});
    // Of two families: it stays as long as either.
    fleet_.write({RequestDenied{kOther, 403, "Forbidden", "not you"}, ClusterLeft{cluster, ""}});
  }
  const Offset all{fleet_.journal().back().first.value + 1};
  trim({Revision{}, {Offset{}, {{Family::kCluster, all}}}, {}});
  EXPECT_EQ(entries(kHeld), 5U);
  EXPECT_EQ(entries(kOther), 5U);
  EXPECT_EQ(entries(cluster), 5U);
  // The other way round: everything goes but one family.
  trim({Revision{}, {all, {{Family::kCluster, Offset{}}}}, {}});
  EXPECT_EQ(entries(kHeld), 0U);
  EXPECT_EQ(entries(kOther), 5U);
  trim({Revision{}, {all, {{Family::kCluster, all}}}, {}});
  EXPECT_EQ(entries(kOther), 0U);
}

TEST_F(HoldsTest, DecisionsGoByTheFamilyOfTheirEntry) {
  PlacementDecided placed;
  placed.binding = {type::kResourceBinding, "default", "web"};
  fleet_.write({placed});
  fleet_.write({RequestDenied{kHeld, 403, "Forbidden", "not you"}});
  const Offset all{fleet_.journal().back().first.value + 1};
  EXPECT_EQ(trim({Revision{}, {}, {all, {{Family::kScheduling, Offset{}}}}}).decisions, 0U);
  EXPECT_EQ(trim({Revision{}, {}, {Offset{}, {{Family::kScheduling, all}}}}).decisions, 1U);
}

TEST(LegalHold, ASpecThatHoldsNothingOrContradictsItselfIsNamed) {
  const auto problem = [](const char* spec) {
    std::string field;
    const std::string wrong = legal_hold_problem(must(parse_json(spec)), field);
    return wrong.empty() ? "" : field + " " + wrong;
  };
  EXPECT_EQ(problem(R"({"reason":"r"})"),
            "spec.everything must be true if there are neither subjects nor users nor families");
  EXPECT_EQ(problem(R"({"everything":true,"users":["a"]})"),
            "spec.everything must not be true beside subjects, users or families");
  EXPECT_EQ(problem(R"({"users":["a"],"from":"2026-01-02T00:00:00Z","to":"2026-01-01T00:00:00Z"})"),
            "spec.to must be after spec.from");
  EXPECT_EQ(problem(R"({"subjects":[{"resource":"*","group":"apps"}]})"),
            "spec.subjects the resource * is every resource of every group: leave the group out");
  EXPECT_EQ(problem(R"({"subjects":[{"resource":"*"}],"to":"2026-01-01T00:00:00Z"})"), "");
}

}  // namespace
}  // namespace shiplog
