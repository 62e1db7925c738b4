#include "projections/audit/audit_query.h"

#include <gtest/gtest.h>

#include "tests/support/projected_fleet.h"

namespace shiplog {
namespace {

// Eight entries over two namespaces, which the filters distinguish.
class AuditQueryTest : public testing::Test {
 protected:
  AuditQueryTest() {
    put("alice", "create", {ObjectCreated{config_map("default", "a"), object_value(config_map("default", "a"))}});
    put("bob", "create", {ObjectCreated{config_map("other", "a"), object_value(config_map("other", "a"))}});
    put("bob", "create", {ObjectCreated{config_map("other", "a"), object_value(config_map("other", "a"))}});  // refused
    put("eve", "delete", {RequestDenied{config_map("default", "a"), 403, "Forbidden", "eve may not"}});
    put("alice", "update",
        {ObjectUpdated{config_map("default", "a"), object_value(config_map("default", "a"), "2")},
         ObjectCreated{{"secrets", "default", "s"}, object_value({"secrets", "default", "s"})}});
    Entry taken;
    taken.actor = {"system:shiplog:scheduler", {}, "scheduler", "", ""};
    taken.events = {LeaseTaken{"scheduler", "host", 1}};
    fleet.write(taken);
    put("eve", "delete", {DeletionRequested{{"secrets", "default", "none"}}});  // refused
    first_offset_ = fleet.journal()[2].first;                                   // the namespaces come before
  }

  void put(const std::string& user, const std::string& verb, std::vector<Event> events) {
    Entry entry;
    entry.actor = {user, {"g1", "g \"2\""}, "api", "10.1.2.3", "kubectl/v1.31"};
    entry.request = {verb, "/somewhere"};
    entry.events = std::move(events);
    fleet.write(std::move(entry));
  }

  // The positions of the entries found, in the order in which they are returned.
  std::vector<int> find(AuditFilter filter) {
    Reader reader = fleet.reader();
    const View view = must(reader.view());
    std::vector<int> found;
    for (const AuditRow& row : must(AuditQuery{view}.find(filter))) {
      if (row.offset < first_offset_) continue;
      found.push_back(static_cast<int>((row.offset.value - first_offset_.value) / 3));
    }
    return found;
  }
  Offset offset(int position) const { return {first_offset_.value + 3 * position}; }
  UtcMillis time(int position) const { return fleet.journal()[static_cast<size_t>(position) + 2].second.time; }

  TestFleet fleet;
  Offset first_offset_;
};
using Found = std::vector<int>;

TEST_F(AuditQueryTest, FindsEveryEntryAcceptedOrNot) {
  EXPECT_EQ(find({}), (Found{6, 5, 4, 3, 2, 1, 0}));
  EXPECT_EQ(find({.newest_first = false}), (Found{0, 1, 2, 3, 4, 5, 6}));
}

TEST_F(AuditQueryTest, FiltersByActorAndVerb) {
  EXPECT_EQ(find({.user = "bob"}), (Found{2, 1}));
  EXPECT_EQ(find({.service = "scheduler"}), (Found{5}));
  EXPECT_EQ(find({.verb = "delete"}), (Found{6, 3}));
  EXPECT_EQ(find({.user = "nobody"}), (Found{}));
}

TEST_F(AuditQueryTest, FiltersByEvent) {
  EXPECT_EQ(find({.family = "control"}), (Found{5}));
  EXPECT_EQ(find({.event_kind = "ObjectCreated"}), (Found{4, 2, 1, 0}));
  EXPECT_EQ(find({.event_kind = "Object"}), (Found{}));
  EXPECT_EQ(find({.only_refused = true}), (Found{6, 3, 2})) << "refused by the fold, or denied by an API server";
  EXPECT_EQ(find({.verb = "create", .only_refused = true}), (Found{2}));
}

TEST_F(AuditQueryTest, FiltersByTraceSampledOrNot) {
  const std::string id = "4bf92f3577b34da6a3ce929d0e0e4736";
  for (const std::string& trace : {id, id + "-01", std::string(32, 'a')}) {
    Entry entry;
    entry.cause.trace_id = trace;
    entry.events = {StateHashed{}};
    fleet.write(entry);
  }
  EXPECT_EQ(find({.trace = id}), (Found{8, 7}));
  EXPECT_EQ(find({.trace = "4bf9"}), (Found{}));
  Reader reader = fleet.reader();
  const View view = must(reader.view());
  for (const AuditRow& row : must(AuditQuery{view}.find({.trace = id}))) EXPECT_EQ(row.cause.trace_id, id);
}

TEST_F(AuditQueryTest, FiltersByObject) {
  EXPECT_EQ(find({.type = "secrets"}), (Found{6, 4}));
  EXPECT_EQ(find({.ns = "other"}), (Found{2, 1}));
  EXPECT_EQ(find({.name = "a"}), (Found{4, 3, 2, 1, 0}));
  EXPECT_EQ(find({.type = "configmaps", .ns = "default", .name = "a"}), (Found{4, 3, 0}));
  EXPECT_EQ(find({.type = "secrets", .name = "a"}), (Found{}));
  EXPECT_EQ(find({.type = "configmaps", .ns = ""}), (Found{})) << "cluster-scoped";
}

TEST_F(AuditQueryTest, FiltersByTimeAndContinuesFromAnOffset) {
  EXPECT_EQ(find({.since = time(2), .until = time(5)}), (Found{4, 3, 2}));
  EXPECT_EQ(find({.after = offset(4), .limit = 2}), (Found{3, 2}));
  EXPECT_EQ(find({.newest_first = false, .after = offset(4)}), (Found{5, 6}));
  EXPECT_EQ(find({.name = "a", .limit = 1}), (Found{4}));
  EXPECT_EQ(find({.name = "a", .newest_first = false, .limit = 2}), (Found{0, 1}));
}

TEST_F(AuditQueryTest, UnknownFamilyIsAnError) {
  Reader reader = fleet.reader();
  const View view = must(reader.view());
  const auto found = AuditQuery{view}.find({.family = "apis"});
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, ErrorCode::kBadRequest);
}

TEST_F(AuditQueryTest, RowContainsTheEntryAndTheResultOfItsFold) {
  Entry entry;
  entry.actor = {"carol", {"g1"}, "binder", "10.9.8.7", "agent \xC3\xBC"};
  entry.request = {"patch", "/apis/x?y=\"z\""};
  entry.cause = {Revision{2}, fleet.journal()[1].second.id, "trace-1"};
  entry.as_of = Revision{3};
  const ObjectKey key = config_map("default", "new\"name");
  entry.events = {DeletionRequested{config_map("default", "a")}, ObjectCreated{key, object_value(key)}};
  const Folded folded = fleet.write(entry);
  ASSERT_FALSE(folded.refusal);
  const auto& [offset, stored] = fleet.journal().back();

  Reader reader = fleet.reader();
  const View view = must(reader.view());
  const AuditQuery audit{view};
  const AuditRow row = *must(audit.at(offset));
  EXPECT_EQ(row.offset, offset);
  EXPECT_EQ(row.id, stored.id);
  EXPECT_EQ(row.time, stored.time);
  EXPECT_EQ(row.actor, entry.actor);
  EXPECT_EQ(row.request, entry.request);
  EXPECT_EQ(row.cause, entry.cause);
  EXPECT_EQ(row.as_of, entry.as_of);
  EXPECT_EQ(row.revision, fleet.revision());
  EXPECT_FALSE(row.refusal);
  EXPECT_FALSE(row.duplicate);
  ASSERT_EQ(row.events.size(), 2U);
  EXPECT_EQ(row.events[0].kind, "DeletionRequested");
  EXPECT_EQ(row.events[0].family, "api");
  EXPECT_EQ(row.events[0].summary, summary_of(entry.events[0]));
  EXPECT_EQ(row.events[1].subject, key);
  EXPECT_TRUE(row.also_changed.empty());
  EXPECT_FALSE(must(audit.at(Offset{offset.value + 1})));
}

TEST_F(AuditQueryTest, DuplicateOfAnEntryIsMarkedAsSuch) {
  const Entry twin = fleet.journal()[2].second;
  fleet.write(twin);
  Reader reader = fleet.reader();
  const View view = must(reader.view());
  const AuditRow row = must(AuditQuery{view}.find({.limit = 1})).at(0);
  EXPECT_EQ(row.id, twin.id);
  EXPECT_TRUE(row.duplicate);
  ASSERT_TRUE(row.refusal);
  EXPECT_EQ(row.refusal->code, ErrorCode::kAlreadyExists);
  // A cause refers to the entry that was applied.
  const Cause cause{Revision{3}, twin.id, ""};
  EXPECT_EQ(must(AuditQuery{view}.cause(cause))->offset, fleet.journal()[2].first);
}

// What names an entry as its cause follows from it: also what was refused, and nothing that another entry of the same
// revision led to.
TEST_F(AuditQueryTest, FindsWhatAnEntryHasCaused) {
  Reader reader = fleet.reader();
  const auto caused = [&](size_t index, size_t limit = 100) {
    const View view = must(reader.view());
    const AuditQuery audit{view};
    std::vector<Offset> offsets;
    for (const AuditRow& row : must(audit.caused_by(*must(audit.at(fleet.journal()[index].first)), limit))) {
      offsets.push_back(row.offset);
    }
    return offsets;
  };
  const size_t changes = fleet.journal().size();
  fleet.update(config_map("default", "a"), "3");
  const Revision reached = fleet.revision();
  fleet.write({RequestDenied{config_map("default", "a"), 403, "Forbidden", ""}});  // the same revision, another entry
  const EntryId id = fleet.journal()[changes].second.id;
  std::vector<Offset> expected;
  for (int effect = 0; effect < 3; ++effect) {
    Entry entry;
    entry.cause = {reached, id, ""};
    entry.events = {ObjectCreated{config_map("default", "effect"), object_value(config_map("default", "effect"))}};
    EXPECT_EQ(fleet.write(std::move(entry)).refusal.has_value(), effect > 0);
    expected.push_back(fleet.journal().back().first);
  }
  EXPECT_EQ(caused(changes), expected);
  EXPECT_EQ(caused(changes, 2), (std::vector<Offset>{expected[0], expected[1]}));
  EXPECT_TRUE(caused(changes + 1).empty());
  EXPECT_TRUE(caused(0).empty());

  const View view = must(reader.view());
  const AuditQuery audit{view};
  EXPECT_EQ(must(audit.with_id(id, Offset{0}, view.next()))->offset, fleet.journal()[changes].first);
  EXPECT_FALSE(must(audit.with_id(id, Offset{0}, fleet.journal()[changes].first)));
  EXPECT_FALSE(must(audit.with_id(new_entry_id(fleet.random()), Offset{0}, view.next())));
}

TEST_F(AuditQueryTest, FindsTheEntryOfACauseByRevisionAndId) {
  Reader reader = fleet.reader();
  const View view = must(reader.view());
  const AuditQuery audit{view};
  for (const auto& [offset, entry] : fleet.journal()) {
    const Revision reached = must(audit.at(offset))->revision;
    const auto found = must(audit.cause({reached, entry.id, ""}));
    ASSERT_TRUE(found) << "offset " << offset.value;
    EXPECT_EQ(found->offset, offset);
  }
  // Entry 4 made two changes; a key that the first one enqueued has an earlier revision.
  const Revision last = must(audit.at(offset(4)))->revision;
  EXPECT_EQ(must(audit.cause({Revision{last.value - 1}, fleet.journal()[6].second.id, ""}))->offset, offset(4));
  EXPECT_FALSE(must(audit.cause({})));
  EXPECT_FALSE(must(audit.cause({Revision{2}, new_entry_id(fleet.random()), ""})));
  EXPECT_FALSE(must(audit.cause({Revision{9999}, fleet.journal()[1].second.id, ""})));
}

}  // namespace
}  // namespace shiplog
