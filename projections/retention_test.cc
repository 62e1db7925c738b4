// What is deleted of a projection by its age, and how a file of another build is taken over.
#include <filesystem>

#include <gtest/gtest.h>

#include "events/base/random.h"
#include "events/sqlite/free_space.h"
#include "projections/audit/audit_query.h"
#include "projections/decisions/decision_query.h"
#include "projections/history/history_query.h"
#include "projections/scrub/repair.h"
#include "projections/store/checked_table.h"
#include "tests/support/projected_fleet.h"

namespace shiplog {
namespace {

int64_t count(const std::string& path, const std::string& what) {
  auto connection = must(store::open_reader(path));
  auto row = must(connection->prepare("SELECT count(*) FROM " + what));
  EXPECT_TRUE(must(row.next()));
  return row.integer(0);
}

/// Trims to the end.
Projections::Trimmed trim(TestFleet& fleet, const Projections::Expired& expired) {
  Projections::Trimmed all;
  while (true) {
    const auto step = must(fleet.projections().trim_some(expired));
    all.versions += step.versions;
    all.entries += step.entries;
    all.decisions += step.decisions;
    if (!step.more) return all;
  }
}

TEST(ProjectionRetention, TheAuditTrailKeepsEntriesThatAVersionRefersTo) {
  TestFleet fleet;
  fleet.create(config_map("default", "kept"), "from the beginning");
  for (int number = 0; number < 50; ++number) {
    fleet.write({RequestDenied{config_map("default", "no"), 403, "Forbidden", "not you"}});
  }
  const Offset cut = fleet.journal().back().first;
  fleet.update(config_map("default", "kept"), "later");
  const auto trimmed = trim(fleet, {Revision{}, {cut}, {}});
  EXPECT_EQ(trimmed.entries, 49U) << "the last one is at the cut";
  EXPECT_EQ(count(fleet.path(), "subject WHERE name = 'no'"), 1);
  Reader reader = fleet.reader();
  const View view = must(reader.view());
  EXPECT_EQ(must(HistoryQuery{view}.versions(config_map("default", "kept"))).size(), 2U)
      << "each version still names its entry";
  EXPECT_EQ(must(AuditQuery{view}.find({.type = "configmaps", .name = "no", .limit = 0})).size(), 1U);
}

TEST(ProjectionRetention, EntriesThatARestartMustRememberStayWhateverTheirAge) {
  TestFleet fleet;
  for (int number = 0; number < 10; ++number) fleet.create(config_map("default", "c" + std::to_string(number)));
  const UtcMillis late{fleet.now().value + 1'000'000};
  const auto expired = must(fleet.projections().expired({late, late, late}));
  EXPECT_EQ(expired.audit.rest, Offset{0}) << "fewer entries than State remembers";
  EXPECT_EQ(expired.history, fleet.revision());
  EXPECT_EQ(expired.decisions.rest.value, fleet.journal().back().first.value + 1);
}

TEST(ProjectionRetention, AVersionThatWasTrimmedIsNotRepaired) {
  TestFleet fleet;
  fleet.create(config_map("default", "a"), "first");
  const Revision first = fleet.revision();
  const auto [offset, entry] = fleet.journal().back();
  fleet.update(config_map("default", "a"), "second");
  // Found to be damaged, and trimmed before the repair came to its entry.
  ProjectionDamage damage;
  damage.rows.insert({&store::version_table(), {static_cast<int64_t>(first.value)}});
  ProjectionRepair repair = must(ProjectionRepair::open(fleet.path(), damage));
  trim(fleet, {fleet.revision(), {}, {}});
  State state;
  for (const auto& [at, written] : fleet.journal()) {
    const Folded folded = fold(state, written);
    must(repair.take(at, written, folded));
  }
  EXPECT_EQ(repair.repaired(), 0U);
  EXPECT_EQ(count(fleet.path(), "version WHERE revision = " + std::to_string(first.value)), 0);
}

TEST(ProjectionRetention, TrimmingInStepsIsTrimmingAtOnce) {
  TestFleet at_once, in_steps;
  for (TestFleet* fleet : {&at_once, &in_steps}) {
    for (int number = 0; number < 300; ++number) {
      const ObjectKey key = config_map("default", "c" + std::to_string(number % 7));
      if (number % 11 == 10) {
        fleet->remove(key);
      } else if (fleet->state().find(key) == nullptr) {
        fleet->create(key, std::to_string(number));
      } else {
        fleet->update(key, std::to_string(number));
      }
    }
  }
  const Revision oldest{at_once.revision().value - 20};
  trim(at_once, {oldest, {}, {}});
  for (uint64_t step = 10; step <= oldest.value; step += 10) trim(in_steps, {Revision{step}, {}, {}});
  trim(in_steps, {oldest, {}, {}});
  EXPECT_EQ(dump(in_steps.path()), dump(at_once.path()));
}

int64_t file_size(const std::string& path) { return static_cast<int64_t>(std::filesystem::file_size(path)); }

/// Writes versions of objects that resemble nothing, and trims all but the last ones.
void write_and_trim(TestFleet& fleet, int versions = 1500) {
  SeededRandom random{5};
  for (int number = 0; number < versions; ++number) {
    std::string text;
    for (int letter = 0; letter < 4000; ++letter) text.push_back(static_cast<char>('a' + random_below(random, 26)));
    const ObjectKey key = config_map("default", "c" + std::to_string(number % 5));
    number < 5 ? fleet.create(key, text) : fleet.update(key, text);
  }
  trim(fleet, {fleet.revision(), {}, {}});
}

/// Gives back what is free, as a process does.
int release(TestFleet& fleet) {
  sqlite::FileSpace space = must(fleet.projections().space());
  const int64_t keep = sqlite::pages_to_keep(space);
  int steps = 0;
  for (; space.free > keep; ++steps) space = must(fleet.projections().release_some(keep));
  must(fleet.projections().shrink_file());
  return steps;
}

TEST(ProjectionRetention, TheFileBecomesSmallerAndItsRowsStay) {
  TestFleet fleet;
  write_and_trim(fleet);
  const auto rows = dump(fleet.path());
  const sqlite::FileSpace full = must(fleet.projections().space());
  EXPECT_TRUE(sqlite::has_surplus(full));
  EXPECT_EQ(full.page_bytes, 8192);
  EXPECT_GE(release(fleet), 1);
  EXPECT_FALSE(sqlite::has_surplus(must(fleet.projections().space())));
  EXPECT_LT(file_size(fleet.path()), full.bytes() * 2 / 3);
  EXPECT_EQ(dump(fleet.path()), rows);
  EXPECT_TRUE(fleet.reopen().rebuilt.empty());
  fleet.update(config_map("default", "c1"), "later");
  const std::string copy = fleet.folder.file("copy.db");
  must(fleet.projections().snapshot(copy));
  EXPECT_EQ(must(Projections::verify_snapshot(copy)).hash, fleet.state().hash());
}

TEST(ProjectionRetention, ASnapshotOfAFileThatCannotBecomeSmallerCan) {
  TestFleet fleet;
  const std::string old = fleet.folder.file("old.db");
  must(fleet.projections().snapshot(old));
  {
    auto connection = must(store::open_writer(old));
    must(connection->execute("PRAGMA journal_mode = DELETE; PRAGMA auto_vacuum = NONE; VACUUM"));
    EXPECT_FALSE(must(sqlite::space_of(*connection)).shrinks);
  }
  auto opened = must(Projections::open(old));
  EXPECT_TRUE(opened.restored.rebuilt.empty()) << opened.restored.rebuilt;
  EXPECT_FALSE(must(opened.projections->space()).shrinks) << "it is taken as it is";
  const std::string copy = fleet.folder.file("copy.db");
  must(opened.projections->snapshot(copy));
  EXPECT_FALSE(must(opened.projections->space()).shrinks);
  EXPECT_TRUE(must(sqlite::space_of(*must(store::open_reader(copy)))).shrinks);
  EXPECT_EQ(must(Projections::verify_snapshot(copy)).hash, fleet.state().hash());
}

TEST(ProjectionMigration, AFileOfAnotherSchemaIsTakenOver) {
  TestFleet fleet;
  for (int number = 0; number < 40; ++number) fleet.create(config_map("default", "c" + std::to_string(number)), "text");
  const std::string old = fleet.folder.file("old.db");
  must(fleet.projections().snapshot(old));
  {
    auto connection = must(store::open_writer(old));
    must(
        connection->execute("ALTER TABLE entry ADD COLUMN obsolete TEXT; ALTER TABLE entry DROP COLUMN path; "
                            "DROP TABLE template_revision; UPDATE checkpoint SET fingerprint = 'older'"));
  }
  const std::string path = fleet.folder.file("p.db");
  const SnapshotInfo info = must(Projections::migrate(old, path));
  EXPECT_EQ(info.revision, fleet.revision());
  EXPECT_EQ(info.hash, fleet.state().hash());
  auto opened = must(Projections::open(path));
  EXPECT_TRUE(opened.restored.rebuilt.empty()) << opened.restored.rebuilt;
  State state;
  EXPECT_TRUE(State::restore(opened.restored.meta, opened.restored.objects, opened.restored.seen, state));
  EXPECT_TRUE(state.seen(fleet.journal().back().second.id));
}

TEST(ProjectionMigration, RolloutHistoriesWithNamesInTheirKeyAreTakenOver) {
  TestFleet fleet;
  const ObjectKey web{"deployments.apps", "default", "web"}, gone{"deployments.apps", "default", "gone"};
  const auto deployment = [](const ObjectKey& key, const std::string& image) {
    Value object = object_value(key);
    object.set("spec", Value::object({{"template", Value::object({{"image", image}})}}));
    return object;
  };
  fleet.write({ObjectCreated{gone, deployment(gone, "a")}});
  fleet.write({ObjectCreated{web, deployment(web, "a")}});
  for (const char* image : {"b", "c", "a"}) fleet.write({ObjectUpdated{web, deployment(web, image)}});
  fleet.remove(gone);
  const std::string old = fleet.folder.file("old.db"), path = fleet.folder.file("p.db");
  must(fleet.projections().snapshot(old));
  EXPECT_EQ(count(old, "template_revision"), 3);
  must(must(store::open_writer(old))
           ->execute("CREATE TABLE former (type INTEGER NOT NULL, ns TEXT NOT NULL, name TEXT NOT NULL, number INTEGER "
                     "NOT NULL, generation INTEGER NOT NULL, created TEXT NOT NULL, hash TEXT NOT NULL, template TEXT "
                     "NOT NULL, annotations TEXT NOT NULL, crc INTEGER NOT NULL, PRIMARY KEY (type, ns, name, number)) "
                     "WITHOUT ROWID; INSERT INTO former SELECT o.type, o.ns, o.name, number, generation, created, "
                     "hash, template, annotations, 0 FROM template_revision r JOIN object o ON o.id = r.object; "
                     "DROP TABLE template_revision; ALTER TABLE former RENAME TO template_revision; "
                     "UPDATE checkpoint SET fingerprint = 'older'"));
  must(Projections::migrate(old, path));
  EXPECT_EQ(dump(path), dump(fleet.path()));
}

TEST(ProjectionMigration, AFileWithOtherObjectsThanItRecordedIsRefused) {
  TestFleet fleet;
  fleet.create(config_map("default", "a"), "text");
  const std::string old = fleet.folder.file("old.db");
  must(fleet.projections().snapshot(old));
  {
    auto connection = must(store::open_writer(old));
    must(connection->execute("UPDATE version SET json = replace(" + store::version_json("version") +
                             ", 'text', 'test'); "
                             "UPDATE checkpoint SET fingerprint = 'older'"));
  }
  const std::string path = fleet.folder.file("p.db");
  EXPECT_EQ(Projections::migrate(old, path).error().code, ErrorCode::kCorrupt);
  EXPECT_FALSE(std::filesystem::exists(path));
}

}  // namespace
}  // namespace shiplog
