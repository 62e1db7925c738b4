#include "projections/history/version_packer.h"

#include <map>
#include <string>

#include <gtest/gtest.h>

#include "events/base/json.h"
#include "projections/history/history_query.h"
#include "projections/objects/object_query.h"
#include "projections/store/checked_table.h"
#include "tests/support/projected_fleet.h"

namespace shiplog {
namespace {

const ObjectKey kMap = config_map("default", "a");

/// A text that has little in common with that of another seed.
std::string text(uint64_t seed, size_t size) {
  SeededRandom random{seed};
  std::string letters;
  for (size_t i = 0; i < size; ++i) letters.push_back(static_cast<char>('a' + random_below(random, 26)));
  return letters;
}

int64_t number(const TestFleet& fleet, const std::string& sql) {
  auto connection = must(store::open_reader(fleet.path()));
  auto row = must(connection->prepare(sql));
  EXPECT_TRUE(must(row.next())) << sql;
  return row.integer(0);
}
int64_t bases(const TestFleet& fleet) { return number(fleet, "SELECT count(*) FROM version_base"); }
int64_t bases_in_use(const TestFleet& fleet) {
  return number(fleet, "SELECT count(DISTINCT base) FROM version WHERE base > 0");
}

TEST(VersionPacker, OfAnObjectThatChangesLittleTheDifferencesAreStored) {
  TestFleet fleet;
  const std::string constant = text(1, 3000);
  fleet.create(kMap, constant);
  for (int i = 0; i < 200; ++i) fleet.update(kMap, constant + std::to_string(i));
  const int64_t plain = number(fleet, "SELECT sum(length(" + store::version_json("v") + ")) FROM version v");
  const int64_t stored = number(fleet, "SELECT sum(length(v.json)) FROM version v") +
                         number(fleet, "SELECT sum(length(b.json)) FROM version_base b");
  EXPECT_GT(plain, 200 * 3000);
  EXPECT_LT(stored, plain / 20);
  EXPECT_LT(bases(fleet), 10);
}

TEST(VersionPacker, AVersionThatDiffersMuchBeginsTheNextBase) {
  TestFleet fleet;
  const int64_t before = bases(fleet);
  fleet.create(kMap, text(1, 2000));
  EXPECT_EQ(bases(fleet), before + 1);
  fleet.update(kMap, text(1, 2000) + "!");
  EXPECT_EQ(bases(fleet), before + 1);
  fleet.update(kMap, text(2, 2000));
  EXPECT_EQ(bases(fleet), before + 2);
  fleet.update(kMap, text(2, 2000) + "!");
  EXPECT_EQ(bases(fleet), before + 2);
  fleet.remove(kMap);
  EXPECT_EQ(bases(fleet), before + 2);
  fleet.create(kMap, text(2, 2000) + "?");
  EXPECT_EQ(bases(fleet), before + 2) << "it has the object's number, and its history";
}

// A third of the text is another one: more than half, and less than all of what the base takes.
TEST(VersionPacker, TheSecondLargeDifferenceInARowBeginsTheNextBase) {
  const auto changed = [](uint64_t seed) { return text(1, 600) + text(seed, 1400); };
  // What is in memory, and what a process that starts reads of the file.
  for (const bool restarted : {false, true}) {
    TestFleet fleet;
    const auto update = [&](const std::string& content) {
      if (restarted) fleet.reopen();
      fleet.update(kMap, content);
    };
    const int64_t before = bases(fleet);
    fleet.create(kMap, text(1, 2000));
    update(changed(2));
    EXPECT_EQ(bases(fleet), before + 1) << "the first one";
    update(text(1, 2000));
    update(changed(3));
    EXPECT_EQ(bases(fleet), before + 1) << "there was a small one in between";
    update(changed(3) + "!");
    EXPECT_EQ(bases(fleet), before + 2) << "the second one";
    update(changed(3) + "?");
    EXPECT_EQ(bases(fleet), before + 2) << "a small one again";
    update(changed(4));
    EXPECT_EQ(bases(fleet), before + 2) << "the first one since the base began";
  }
}

TEST(VersionPacker, BasesGoWithTheLastVersionThatRefersToThem) {
  TestFleet fleet;
  std::map<uint64_t, std::string> texts;
  fleet.create(kMap, text(0, 900));
  for (uint64_t i = 1; i <= 60; ++i) {
    fleet.update(kMap, text(i / 6, 900) + std::to_string(i));
    texts[fleet.revision().value] = text(i / 6, 900) + std::to_string(i);
  }
  fleet.create(config_map("default", "b"), text(100, 900));
  fleet.remove(config_map("default", "b"));
  const int64_t all = bases(fleet);
  EXPECT_GE(all, 10);
  for (const auto& [bound, unused] : texts) {
    must(fleet.projections().trim_history(Revision{bound}));
    ASSERT_EQ(bases(fleet), bases_in_use(fleet)) << "behind " << bound;
    Reader reader = fleet.reader();
    const View view = must(reader.view());
    for (auto at = texts.find(bound); at != texts.end(); ++at) {
      const auto row = must(ObjectQuery{view}.get(kMap, Revision{at->first}));
      ASSERT_TRUE(row);
      ASSERT_EQ(must(parse_json(row->json))["data"]["text"].str(), at->second);
    }
  }
  EXPECT_LT(bases(fleet), all);
  // What is written next does not refer to a base that is gone.
  must(fleet.projections().trim_history(fleet.revision()));
  fleet.create(config_map("default", "b"), text(100, 900));
  fleet.update(kMap, text(10, 900) + "last");
  EXPECT_EQ(bases(fleet), bases_in_use(fleet));
  Reader reader = fleet.reader();
  const View view = must(reader.view());
  EXPECT_TRUE(must(ObjectQuery{view}.get(config_map("default", "b"))));
  EXPECT_EQ(must(ObjectQuery{view}.list({.type = kMap.type.str()})).size(), 2U);
}

// More than the packer keeps in memory, objects that take turns, and those that come back after a removal.
TEST(VersionPacker, EveryVersionOfManyLargeObjectsIsReadAsItWasWritten) {
  TestFleet fleet;
  constexpr uint64_t kObjects = 130;
  SeededRandom random{11};
  std::map<uint64_t, std::pair<ObjectKey, std::string>> written;
  std::map<ObjectKey, std::string> present;
  for (int step = 0; step < 700; ++step) {
    const uint64_t number = random_below(random, kObjects);
    const ObjectKey key = config_map("default", "m" + std::to_string(number));
    const auto before = present.find(key);
    if (before != present.end() && random_below(random, 20) == 0) {
      fleet.remove(key);
      present.erase(before);
      continue;
    }
    // Mostly a small change of what it was, sometimes another text.
    const uint64_t which = random_below(random, 10) == 0 ? 1000 + random_below(random, 1000) : number;
    const std::string content = text(which, 90'000) + std::to_string(step);
    before == present.end() ? fleet.create(key, content) : fleet.update(key, content);
    present[key] = content;
    written[fleet.revision().value] = {key, content};
  }
  Reader reader = fleet.reader();
  const View view = must(reader.view());
  for (const auto& [revision, version] : written) {
    const auto row = must(ObjectQuery{view}.get(version.first, Revision{revision}));
    ASSERT_TRUE(row) << revision;
    ASSERT_EQ(must(parse_json(row->json))["data"]["text"].str(), version.second) << revision;
  }
}

// The batch that wrote the first version of an object, and with it its base, is rolled back.
TEST(VersionPacker, ABaseThatWasRolledBackIsNotReferredTo) {
  TestFleet fleet;
  const std::string other = fleet.folder.file("other.db");
  auto opened = must(Projections::open(other));
  Projections& projections = *opened.projections;
  const auto write = [&](const std::vector<Event>& events, State& state, int64_t offset) {
    Entry entry;
    entry.id = new_entry_id(fleet.random());
    entry.time = fleet.now();
    entry.events = events;
    const Folded folded = fold(state, entry);
    const FoldedEntry batch[] = {{Offset{offset}, entry, folded, TestFleet::leaf_of(entry)}};
    return projections.apply(batch, state.meta());
  };
  State state;
  must(write({ObjectCreated{{type::kNamespace, "", "default"}, object_value({type::kNamespace, "", "default"})}}, state,
             0));
  const std::string constant = text(1, 3000);
  {
    // The decision that follows in the same entry cannot be stored.
    auto connection = must(store::open_writer(other));
    must(
        connection->execute("CREATE TRIGGER refused BEFORE INSERT ON entry WHEN new.offset = 1 BEGIN SELECT "
                            "RAISE(ABORT, 'not now'); END"));
  }
  State attempt = state;
  EXPECT_FALSE(write({ObjectCreated{kMap, object_value(kMap, constant)}}, attempt, 1));
  must(must(store::open_writer(other))->execute("DROP TRIGGER refused"));
  must(write({ObjectCreated{kMap, object_value(kMap, constant)}}, state, 2));
  must(write({ObjectUpdated{kMap, object_value(kMap, constant + "!")}}, state, 3));
  Reader reader = must(projections.reader());
  const View view = must(reader.view());
  EXPECT_EQ(must(parse_json(must(ObjectQuery{view}.get(kMap))->json))["data"]["text"].str(), constant + "!");
}

TEST(VersionPacker, ABaseThatIsGoneOrDamagedIsAnErrorAndTheNextVersionBeginsAnother) {
  for (const char* damage :
       {"DELETE FROM version_base WHERE object = ", "UPDATE version_base SET json = json || 'x' WHERE object = ",
        "UPDATE version_base SET crc = crc + 1 WHERE object = "}) {
    TestFleet fleet;
    fleet.create(kMap, text(1, 900));
    fleet.update(kMap, text(1, 900) + ".");
    fleet.update(kMap, text(1, 900) + "!");
    const Revision damaged = fleet.revision();
    must(must(store::open_writer(fleet.path()))
             ->execute(damage + std::string{"(SELECT id FROM object WHERE name = 'a')"}));
    EXPECT_GT(must(fleet.projections().trim_history(damaged)), 0U) << "what was in memory is read again";
    fleet.update(kMap, text(1, 900) + "?");
    Reader reader = fleet.reader();
    const View view = must(reader.view());
    const auto before = ObjectQuery{view}.get(kMap, damaged);
    ASSERT_FALSE(before) << damage;
    EXPECT_EQ(before.error().code, ErrorCode::kCorrupt);
    const auto list = ObjectQuery{view}.list({.type = kMap.type.str(), .at = damaged});
    ASSERT_FALSE(list) << damage;
    EXPECT_EQ(list.error().code, ErrorCode::kCorrupt);
    EXPECT_EQ(must(ObjectQuery{view}.list({.type = kMap.type.str()})).size(), 1U);
    EXPECT_EQ(must(parse_json(must(ObjectQuery{view}.get(kMap))->json))["data"]["text"].str(), text(1, 900) + "?");
  }
}

}  // namespace
}  // namespace shiplog
