#include "projections/history/history_query.h"

#include <map>

#include <gtest/gtest.h>

#include "events/base/json.h"
#include "projections/objects/object_query.h"
#include "projections/store/checked_table.h"
#include "tests/support/projected_fleet.h"

namespace shiplog {
namespace {

std::string text_in(const std::string& json) { return must(parse_json(json))["data"]["text"].str(); }

TEST(HistoryQuery, ReturnsEveryVersionOfAnObjectWithActorAndTime) {
  TestFleet fleet;
  const ObjectKey key = config_map("default", "a");
  fleet.create(key, "one");
  const UtcMillis time_of_update = fleet.now();
  Entry entry;
  entry.actor.user = "bob";
  entry.request = {"update", "/api/v1/namespaces/default/configmaps/a"};
  entry.events = {RequestDenied{{}, 403, "", ""}, ObjectUpdated{key, object_value(key, "two")}};
  fleet.write(entry);
  fleet.remove(key);
  fleet.create(config_map("default", "b"));
  fleet.create(key, "three");

  Reader reader = fleet.reader();
  const View view = must(reader.view());
  const HistoryQuery history{view};
  const auto versions = must(history.versions(key, false));
  ASSERT_EQ(versions.size(), 4U);
  EXPECT_EQ(versions[0].operation, VersionOperation::kCreated);
  EXPECT_EQ(text_in(versions[0].json), "one");
  EXPECT_EQ(versions[1].operation, VersionOperation::kUpdated);
  EXPECT_EQ(text_in(versions[1].json), "two");
  EXPECT_EQ(versions[1].entry.actor.user, "bob");
  EXPECT_EQ(versions[1].entry.time, time_of_update);
  EXPECT_EQ(versions[1].entry.request.verb, "update");
  EXPECT_EQ(versions[1].event_index, 1);
  EXPECT_EQ(versions[1].entry.events[1].kind, "ObjectUpdated");
  EXPECT_EQ(versions[2].operation, VersionOperation::kRemoved);
  EXPECT_EQ(text_in(versions[2].json), "two") << "the last state";
  EXPECT_EQ(must(parse_json(versions[2].json))["metadata"]["resourceVersion"].str(),
            std::to_string(versions[2].revision.value));
  EXPECT_EQ(versions[3].operation, VersionOperation::kCreated);

  const auto newest = must(history.versions(key, true, 2));
  ASSERT_EQ(newest.size(), 2U);
  EXPECT_EQ(newest[0].revision, versions[3].revision);
  EXPECT_EQ(newest[1].revision, versions[2].revision);
  const auto older = must(history.versions(key, true, 0, versions[1].revision));
  ASSERT_EQ(older.size(), 2U);
  EXPECT_EQ(older[0].revision, versions[1].revision);
  EXPECT_EQ(must(history.versions(key, false, 0, versions[1].revision)).size(), 3U);
  EXPECT_TRUE(must(history.versions(config_map("default", "none"))).empty());

  const auto version = must(history.version(versions[1].revision));
  ASSERT_TRUE(version);
  EXPECT_EQ(version->object, key);
  EXPECT_EQ(version->json, versions[1].json);
  EXPECT_FALSE(must(history.version(Revision{9999})));
}

TEST(HistoryQuery, ChangesServeAWatchFromAnyRevisionWithoutGapsOrRepeats) {
  TestFleet fleet;
  for (int i = 0; i < 120; ++i) {
    const ObjectKey key{i % 2 == 0 ? "configmaps" : "secrets", i % 3 == 0 ? "other" : "default",
                        "n" + std::to_string(i * 5 % 7)};
    if (i % 7 == 6) {
      fleet.remove(key);
    } else if (fleet.state().find(key) == nullptr) {
      fleet.create(key, std::to_string(i));
    } else {
      fleet.update(key, std::to_string(i));
    }
  }
  Reader reader = fleet.reader();
  const View view = must(reader.view());
  const HistoryQuery history{view};
  const ObjectQuery objects{view};
  const auto everything = must(history.changes({}));
  ASSERT_EQ(everything.size(), fleet.revision().value);
  for (size_t i = 0; i < everything.size(); ++i) EXPECT_EQ(everything[i].revision.value, i + 1);

  for (const bool one_namespace : {false, true}) {
    for (const Revision start : {Revision{0}, Revision{1}, Revision{40}, fleet.revision()}) {
      const auto ns = one_namespace ? std::optional<std::string>{"default"} : std::nullopt;
      ChangeList which{.type = "configmaps", .ns = ns, .after = start, .limit = 3, .with_previous = true};
      // The state of a watcher: the list at the start, with every later change applied.
      std::map<ObjectKey, std::string> picture;
      for (const ObjectRow& row : must(objects.list({.type = "configmaps", .ns = which.ns, .at = start}))) {
        picture[row.key] = row.json;
      }
      Revision last = start;
      while (true) {
        const auto page = must(history.changes(which));
        for (const ChangeRow& change : page) {
          EXPECT_GT(change.revision, last);
          last = change.revision;
          EXPECT_EQ(change.previous, picture[change.object]) << "needed to detect transitions of a selector";
          EXPECT_EQ(change.previous.empty(), change.operation == VersionOperation::kCreated);
          if (change.operation == VersionOperation::kRemoved) {
            picture.erase(change.object);
          } else {
            picture[change.object] = change.json;
          }
        }
        if (page.size() < which.limit) break;
        which.after = page.back().revision;
      }
      std::map<ObjectKey, std::string> now;
      for (const ObjectRow& row : must(objects.list({.type = "configmaps", .ns = which.ns}))) now[row.key] = row.json;
      EXPECT_EQ(picture, now) << "from revision " << start.value;
    }
  }
  EXPECT_TRUE(must(history.changes({.type = "unheard.of"})).empty());
  EXPECT_TRUE(must(history.changes({.after = fleet.revision()})).empty());
  const auto other = must(history.changes({.ns = "other"}));
  EXPECT_FALSE(other.empty());
  for (const ChangeRow& change : other) EXPECT_EQ(change.object.ns, "other");
}

TEST(HistoryQuery, ReturnsTheRevisionAtATime) {
  TestFleet fleet;
  const UtcMillis start = fleet.now();
  fleet.create(config_map("default", "a"));
  const Revision after_a = fleet.revision();
  const UtcMillis between = fleet.now();
  fleet.create(config_map("default", "b"));
  Reader reader = fleet.reader();
  const View view = must(reader.view());
  const HistoryQuery history{view};
  EXPECT_EQ(must(history.revision_at(UtcMillis{0})), Revision{0});
  EXPECT_EQ(must(history.revision_at(start)), after_a);
  EXPECT_EQ(must(history.revision_at(UtcMillis{between.value - 1})), after_a);
  EXPECT_EQ(must(history.revision_at(between)), fleet.revision());
  EXPECT_EQ(must(history.revision_at(UtcMillis{between.value * 2})), fleet.revision());
}

TEST(HistoryQuery, TrimmingKeepsWhatListsAndWatchesFromTheOldestRevisionNeed) {
  TestFleet fleet;
  for (int i = 0; i < 90; ++i) {
    const ObjectKey key = config_map("default", "c" + std::to_string(i * 3 % 8));
    if (i % 4 == 3) {
      fleet.remove(key);
    } else if (fleet.state().find(key) == nullptr) {
      fleet.create(key, std::to_string(i));
    } else {
      fleet.update(key, std::to_string(i));
    }
  }
  const Revision oldest{50};
  const auto list_at = [&](Revision at) {
    Reader reader = fleet.reader();
    const View view = must(reader.view());
    std::map<std::string, std::string> found;
    for (const ObjectRow& row : must(ObjectQuery{view}.list({.type = "configmaps", .at = at}))) {
      found[row.key.name.str()] = row.json;
    }
    return found;
  };
  const auto changes_after = [&](Revision after) {
    Reader reader = fleet.reader();
    const View view = must(reader.view());
    std::vector<std::string> found;
    for (const ChangeRow& row : must(HistoryQuery{view}.changes({.after = after, .with_previous = true}))) {
      found.push_back(std::to_string(row.revision.value) + row.json + row.previous);
    }
    return found;
  };
  std::map<uint64_t, std::map<std::string, std::string>> lists;
  for (uint64_t at = oldest.value; at <= fleet.revision().value; ++at) lists[at] = list_at(Revision{at});
  const auto changes = changes_after(oldest);

  const uint64_t gone = must(fleet.projections().trim_history(oldest));
  EXPECT_GT(gone, 20U);
  EXPECT_EQ(must(fleet.projections().trim_history(oldest)), 0U);
  for (const auto& [at, list] : lists) EXPECT_EQ(list_at(Revision{at}), list) << "revision " << at;
  EXPECT_EQ(changes_after(oldest), changes);

  Reader reader = fleet.reader();
  const View view = must(reader.view());
  EXPECT_EQ(must(HistoryQuery{view}.oldest()), oldest);
  EXPECT_EQ(HistoryQuery{view}.changes({.after = Revision{49}}).error().code, ErrorCode::kGone);
  // The entry is kept although the version is deleted.
  size_t entries = 0;
  for (const auto& [offset, entry] : fleet.journal()) {
    if (subject_of(entry.events[0]) == config_map("default", "c1")) ++entries;
  }
  EXPECT_EQ(must(AuditQuery{view}.find({.type = "configmaps", .name = "c1", .limit = 0})).size(), entries);
  const Restored restored = fleet.reopen();
  State state;
  EXPECT_TRUE(State::restore(restored.meta, restored.objects, restored.seen, state));
}

// A disk may return other bytes than were written: no version is served that differs from the one that was stored.
TEST(HistoryQuery, AChangedColumnOfAVersionIsAnErrorInEveryReading) {
  const char* const changes[] = {
      "type = type + 1", "ns = 'defaulu'",  "name = 'b'",   "operation = 0",
      "offset = 0",      "event_index = 1", "previous = 2", "json = replace(json, 'two', 'twp')",
      "crc = crc + 1"};
  for (const char* change : changes) {
    TestFleet fleet;
    const ObjectKey key = config_map("default", "a");
    fleet.create(key, "one");
    const Revision updated = fleet.update(key, "two").changes.at(0).revision;
    const std::string sql = std::string{"UPDATE version SET "} + change;
    must(must(store::open_writer(fleet.path()))->execute(sql + " WHERE revision = " + std::to_string(updated.value)));

    Reader reader = fleet.reader();
    const View view = must(reader.view());
    const HistoryQuery history{view};
    const ObjectQuery objects{view};
    const auto expect_damage = [&](const auto& result, const char* reading) {
      ASSERT_FALSE(result.has_value()) << reading << " after " << change;
      EXPECT_EQ(result.error().code, ErrorCode::kCorrupt);
      EXPECT_NE(result.error().message.find("at revision " + std::to_string(updated.value)), std::string::npos)
          << result.error().message;
      EXPECT_NE(result.error().message.find(fleet.path()), std::string::npos);
    };
    expect_damage(history.versions(key), "versions");
    expect_damage(history.changes({}), "changes");
    expect_damage(objects.get(key), "get");
    expect_damage(objects.list({.type = key.type.str()}), "list");
    EXPECT_TRUE(objects.get(key, Revision{updated.value - 1}).has_value()) << "the version before is intact";
  }
}

TEST(HistoryQuery, ADamagedPreviousVersionIsAnErrorOfTheChangeThatShowsIt) {
  TestFleet fleet;
  const ObjectKey key = config_map("default", "a");
  const Revision created = fleet.create(key, "one").changes.at(0).revision;
  fleet.update(key, "two");
  must(must(store::open_writer(fleet.path()))
           ->execute("UPDATE version SET json = replace(" + store::version_json("version") +
                     ", 'one', 'eno') WHERE revision = " + std::to_string(created.value)));
  Reader reader = fleet.reader();
  const View view = must(reader.view());
  const HistoryQuery history{view};
  EXPECT_TRUE(history.changes({.after = created}).has_value());
  const auto with_previous = history.changes({.after = created, .with_previous = true});
  ASSERT_FALSE(with_previous.has_value());
  EXPECT_EQ(with_previous.error().code, ErrorCode::kCorrupt);
}

}  // namespace
}  // namespace shiplog
