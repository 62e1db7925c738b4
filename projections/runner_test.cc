#include "projections/runner.h"

#include <fstream>

#include <gtest/gtest.h>

#include "projections/audit/audit_query.h"
#include "projections/history/history_query.h"
#include "projections/objects/object_query.h"
#include "projections/store/checked_table.h"
#include "tests/support/projected_fleet.h"

namespace shiplog {
namespace {

// Creates, updates, removals, refusals and duplicates over a few names, so that each occurs in every state.
void live_a_while(TestFleet& fleet, int entries) {
  for (int i = 0; i < entries; ++i) {
    const ObjectKey key = config_map(random_below(fleet.random(), 2) == 0 ? "default" : "other",
                                     "c" + std::to_string(random_below(fleet.random(), 5)));
    const std::string text = "text " + std::to_string(i);
    switch (random_below(fleet.random(), 6)) {
      case 0:
        fleet.remove(key);
        break;
      case 1:
        fleet.write(fleet.journal()[random_below(fleet.random(), fleet.journal().size())].second);
        break;
      case 2:
        fleet.write({RequestDenied{key, 403, "Forbidden", "not you"}});
        break;
      case 3:
        fleet.create(key, text);
        break;
      default:
        fleet.update(key, text);
    }
  }
}

void damage(const std::string& path, std::streamoff from, std::streamoff to) {
  std::fstream file{path, std::ios::in | std::ios::out | std::ios::binary};
  file.seekp(from);
  for (std::streamoff position = from; position < to; ++position) file.put('\x5a');
}

// Moves everything to the main file and nothing remains in the WAL.
void settle(const std::string& path) {
  auto connection = must(store::open_writer(path));
  must(connection->execute("PRAGMA wal_checkpoint(TRUNCATE)"));
}

TEST(Projections, NewFileHoldsNothing) {
  const TemporaryFolder folder;
  const auto opened = must(Projections::open(folder.file("p.db")));
  EXPECT_EQ(opened.restored.next, Offset{});
  EXPECT_EQ(opened.restored.meta, StateMeta{});
  EXPECT_TRUE(opened.restored.objects.empty());
  EXPECT_EQ(opened.restored.rebuilt, "");
  auto reader = must(opened.projections->reader());
  EXPECT_EQ(must(reader.view()).revision(), Revision{});
}

TEST(Projections, UnwritableFolderIsAnErrorThatNamesTheFile) {
  const auto opened = Projections::open("/nonexistent-folder/p.db");
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, ErrorCode::kIo);
  EXPECT_NE(opened.error().message.find("/nonexistent-folder/p.db"), std::string::npos);
}

TEST(Projections, ReopenedFileRestoresTheState) {
  TestFleet fleet;
  live_a_while(fleet, 200);
  fleet.write({LeaseTaken{"scheduler", "host-1", 1}});
  live_a_while(fleet, 5);
  fleet.write({LeaseTaken{"binder", "host-2", 1}});
  fleet.write({LeaseTaken{"scheduler", "host-2", 2}});
  const Restored restored = fleet.reopen();
  EXPECT_EQ(restored.rebuilt, "");
  EXPECT_EQ(restored.next, Offset{fleet.journal().back().first.value + 1});
  EXPECT_EQ(restored.meta, fleet.state().meta());
  State state;
  EXPECT_TRUE(State::restore(restored.meta, restored.objects, restored.seen, state));
  EXPECT_EQ(state.hash(), fleet.state().hash());
  EXPECT_EQ(state.lease("scheduler"), (Lease{"host-2", 2}));
  for (const auto& [offset, entry] : fleet.journal()) EXPECT_TRUE(state.seen(entry.id));
}

TEST(Projections, ReopenedFileKnowsWhichRequestsAreSettledAndWhatWasAnswered) {
  TestFleet fleet;
  fleet.write({FoldVersionActivated{kFoldVersion}});
  const auto settle = [&](const std::string& id, int64_t offset, std::vector<Event> events) {
    Entry entry;
    entry.events = std::move(events);
    entry.source = {.id = id, .topic = "demo.requests", .partition = 1, .offset = offset, .done_before = 3};
    return fleet.write(std::move(entry));
  };
  const ObjectKey key = config_map("default", "made");
  EXPECT_FALSE(settle("done", 5, {ObjectCreated{key, object_value(key)}}).refusal);
  EXPECT_FALSE(settle("denied", 7, {RequestDenied{key, 403, "Forbidden", "you may not"}}).refusal);
  EXPECT_TRUE(settle("done", 8, {ObjectRemoved{key}}).refusal);
  const Restored restored = fleet.reopen();
  EXPECT_EQ(restored.meta, fleet.state().meta());
  EXPECT_EQ(restored.meta.settled.at({"demo.requests", 1}), (SettledOffsets{3, {{5, 5}, {7, 7}}}));
  ASSERT_EQ(restored.requests, (std::vector<EntryId>{request_key("alice", "done")}));
  State state;
  EXPECT_TRUE(State::restore(restored.meta, restored.objects, restored.seen, state, restored.requests));
  EXPECT_TRUE(state.carried_out(request_key("alice", "done")));

  auto reader = must(fleet.projections().reader());
  const auto view = must(reader.view());
  const AuditQuery audit{view};
  const auto denied = must(audit.settled("demo.requests/1/7"));
  ASSERT_TRUE(denied);
  EXPECT_EQ(denied->id, "denied");
  EXPECT_EQ(denied->status, 403);
  EXPECT_EQ(denied->reason, "Forbidden");
  EXPECT_EQ(denied->message, "you may not");
  const auto done = must(audit.carried_out("alice", "done"));
  ASSERT_TRUE(done);
  EXPECT_EQ(done->record, "demo.requests/1/5");
  EXPECT_EQ(done->entry.events.front().kind, "ObjectCreated");
  EXPECT_FALSE(must(audit.carried_out("bob", "done"))) << "ids are one user's";
  EXPECT_FALSE(must(audit.carried_out("alice", "denied"))) << "it may be sent again";
  EXPECT_FALSE(must(audit.settled("demo.requests/1/8")));
}

TEST(Projections, ReopenedFileWithManyObjectsRestoresTheState) {  // in several parts, read in parallel
  TestFleet fleet;
  std::vector<Entry> entries(5000);
  State state = fleet.state();
  std::vector<Folded> folded;
  std::vector<FoldedEntry> batch;
  folded.reserve(entries.size());
  for (size_t i = 0; i < entries.size(); ++i) {
    const ObjectKey key = config_map("default", "c" + std::to_string(i));
    entries[i].id = new_entry_id(fleet.random());
    entries[i].events = {ObjectCreated{key, object_value(key)}};
    folded.push_back(fold(state, entries[i]));
    batch.push_back(
        {Offset{static_cast<int64_t>(1000 + i)}, entries[i], folded.back(), TestFleet::leaf_of(entries[i])});
  }
  must(fleet.projections().apply(batch, state.meta()));
  const Restored restored = fleet.reopen();
  EXPECT_EQ(restored.objects.size(), 5002U);
  State again;
  EXPECT_TRUE(State::restore(restored.meta, restored.objects, restored.seen, again));
  EXPECT_EQ(again.hash(), state.hash());
}

TEST(Projections, HoldsExactlyTheWindowOfSeenEntries) {
  TestFleet fleet;
  std::vector<Entry> entries(State::kSeenWindow + 10);
  std::vector<FoldedEntry> batch;
  const Folded folded;
  batch.reserve(entries.size());
  for (size_t i = 0; i < entries.size(); ++i) {
    entries[i].id = new_entry_id(fleet.random());
    batch.push_back({Offset{static_cast<int64_t>(1000 + i)}, entries[i], folded, TestFleet::leaf_of(entries[i])});
  }
  must(fleet.projections().apply(batch, StateMeta{}));
  const Restored restored = fleet.reopen();
  ASSERT_EQ(restored.seen.size(), State::kSeenWindow);
  EXPECT_EQ(restored.seen.front(), entries[10].id);
  EXPECT_EQ(restored.seen.back(), entries.back().id);
}

TEST(Projections, RebuiltFileEqualsTheOneThatFollowedLive) {
  TestFleet fleet;
  live_a_while(fleet, 300);
  for (const size_t batch : {1U, 7U, 1000U}) {
    const std::string path = fleet.folder.file("rebuilt-" + std::to_string(batch));
    auto opened = must(Projections::open(path));
    const State state = fleet.follow(*opened.projections, opened.restored, batch);
    EXPECT_EQ(state.hash(), fleet.state().hash());
    EXPECT_EQ(dump(path), dump(fleet.path())) << "batches of " << batch;
  }
}

TEST(Projections, DecisionsOfARebuiltFileEqualThoseOfTheOneThatFollowedLive) {
  TestFleet fleet;
  for (int i = 0; i < 300; ++i) {
    const ObjectKey key = config_map("default", "c" + std::to_string(i % 90));
    // Refused, as there is no such binding; recorded all the same.
    PlacementDecided placement;
    placement.binding = {type::kResourceBinding, "default", "b" + std::to_string(i % 7)};
    placement.targets = {{"m1", i}};
    placement.why.summary = PlacementMade{};
    for (int cluster = 0; cluster < i % 40; ++cluster) {
      placement.why.clusters.push_back({"member-" + std::to_string(cluster), 0, i, cluster % 3 == 0 ? cluster : -1});
    }
    if (i % 3 == 0) {
      fleet.write({std::move(placement), DeletionRequested{key}});
    } else if (i % 5 == 0) {
      fleet.remove(key);
    } else if (i % 2 == 0) {
      fleet.update(key, std::string(static_cast<size_t>(i), 'u'));
    } else {
      fleet.create(key, std::string(static_cast<size_t>(10 * i), 'c'));
    }
  }
  // Many at a time are prepared on two threads.
  for (const size_t batch : {64U, 299U}) {
    const std::string path = fleet.folder.file("rebuilt-" + std::to_string(batch));
    auto opened = must(Projections::open(path));
    fleet.follow(*opened.projections, opened.restored, batch);
    EXPECT_EQ(dump(path), dump(fleet.path())) << "batches of " << batch;
  }
}

TEST(Projections, DeletedFileIsRebuiltWithTheSameContent) {
  TestFleet fleet;
  live_a_while(fleet, 200);
  const auto before = dump(fleet.path());
  // The WAL remains, as after an incomplete rm: it must not be replayed into the new file.
  std::filesystem::remove(fleet.path());
  auto opened = must(Projections::open(fleet.path()));
  EXPECT_EQ(opened.restored.next, Offset{});
  fleet.follow(*opened.projections, opened.restored);
  EXPECT_EQ(dump(fleet.path()), before);
}

TEST(Projections, FileThatIsBehindContinuesFromItsCheckpoint) {
  TestFleet fleet;
  live_a_while(fleet, 100);
  const std::string copy = fleet.folder.file("behind.db");
  must(fleet.projections().snapshot(copy));
  live_a_while(fleet, 100);
  auto opened = must(Projections::open(copy));
  EXPECT_GT(opened.restored.next, Offset{});
  fleet.follow(*opened.projections, opened.restored);
  opened.projections.reset();
  EXPECT_EQ(dump(copy), dump(fleet.path()));
}

TEST(ProjectionsDeathTest, ProcessThatCrashesWithinABatchLeavesThePreviousBatch) {
  testing::FLAGS_gtest_death_test_style = "fast";
  TestFleet fleet;
  live_a_while(fleet, 50);
  const auto before = dump(fleet.path());
  const Offset next{fleet.journal().back().first.value + 1};
  Entry entry;
  entry.id = new_entry_id(fleet.random());
  const ObjectKey key = config_map("default", "half");
  entry.events = {ObjectCreated{key, object_value(key)}};
  Folded good, bad;
  good.changes = {{key, Revision{9000}, {}, object_value(key), std::make_shared<const std::string>("{}")}};
  bad.changes = {{key, Revision{9001}, {}, object_value(key), nullptr}};  // breaks an invariant: the process ends
  const FoldedEntry batch[] = {{next, entry, good, TestFleet::leaf_of(entry)},
                               {Offset{next.value + 1}, entry, bad, TestFleet::leaf_of(entry)}};
  EXPECT_DEATH(static_cast<void>(fleet.projections().apply(batch, StateMeta{})), "a change carries its JSON");
  const Restored restored = fleet.reopen();
  EXPECT_EQ(restored.next, next);
  EXPECT_EQ(restored.meta, fleet.state().meta());
  EXPECT_EQ(dump(fleet.path()), before);
}

TEST(Projections, FailedBatchLeavesNothingAndCanBeRetried) {
  TestFleet fleet;
  const auto before = dump(fleet.path());
  const ObjectKey key{"widgets.example.org", "default", "w"};
  Entry entry;
  entry.id = new_entry_id(fleet.random());
  entry.actor.user = "a new user";
  entry.events = {ObjectCreated{key, object_value(key)}};
  const Offset next{1000};
  Folded folded;
  folded.changes = {{key, Revision{1}, {}, object_value(key), std::make_shared<const std::string>("{}")}};
  {
    const FoldedEntry batch[] = {
        {next, entry, folded, TestFleet::leaf_of(entry)}};  // there is a version at revision 1 already
    const auto applied = fleet.projections().apply(batch, StateMeta{});
    ASSERT_FALSE(applied);
    EXPECT_EQ(dump(fleet.path()), before);
  }
  // The numbers of the type and the actor were rolled back: they must be assigned again.
  folded.changes[0].revision = Revision{100};
  const FoldedEntry batch[] = {{next, entry, folded, TestFleet::leaf_of(entry)}};
  StateMeta meta;
  meta.revision = Revision{100};
  must(fleet.projections().apply(batch, meta));
  Reader reader = fleet.reader();
  const View view = must(reader.view());
  EXPECT_TRUE(must(ObjectQuery{view}.get(key)));
  EXPECT_EQ(must(HistoryQuery{view}.version(Revision{100}))->entry.actor.user, "a new user");
}

TEST(Projections, SecondWriterOfOneFileIsRefused) {
  TestFleet fleet;
  auto other = must(Projections::open(fleet.path()));
  fleet.create(config_map("default", "a"));
  const auto before = dump(fleet.path());
  const auto& [offset, entry] = fleet.journal().back();
  const Folded folded;
  const FoldedEntry batch[] = {{Offset{offset.value + 5}, entry, folded, TestFleet::leaf_of(entry)}};
  const auto applied = other.projections->apply(batch, StateMeta{});
  ASSERT_FALSE(applied);
  EXPECT_EQ(applied.error().code, ErrorCode::kConflict);
  EXPECT_EQ(dump(fleet.path()), before);
}

TEST(Projections, FileOfAnotherSchemaOrFoldVersionIsRebuilt) {
  TestFleet fleet;
  live_a_while(fleet, 50);
  const auto before = dump(fleet.path());
  {
    auto connection = must(store::open_writer(fleet.path()));
    must(connection->execute("UPDATE checkpoint SET fingerprint = 'old'; ALTER TABLE version RENAME TO versions"));
  }
  EXPECT_EQ(Reader::open(fleet.path()).error().code, ErrorCode::kUnavailable);
  auto opened = must(Projections::open(fleet.path()));
  EXPECT_NE(opened.restored.rebuilt.find("another schema or fold version"), std::string::npos);
  EXPECT_EQ(opened.restored.next, Offset{});
  EXPECT_TRUE(opened.restored.objects.empty());
  fleet.follow(*opened.projections, opened.restored);
  EXPECT_EQ(dump(fleet.path()), before);
}

TEST(Projections, FileThatIsNoDatabaseIsRebuilt) {
  const TemporaryFolder folder;
  std::ofstream{folder.file("p.db")}
      << "this was never a database, but it is long enough to look like a header of one, "
         "more than a hundred bytes of it";
  const auto opened = must(Projections::open(folder.file("p.db")));
  EXPECT_NE(opened.restored.rebuilt, "");
  EXPECT_EQ(opened.restored.next, Offset{});
}

TEST(Projections, DamagedOrTruncatedFileIsRebuilt) {
  for (const bool truncated : {false, true}) {
    TestFleet fleet;
    live_a_while(fleet, 200);
    const auto before = dump(fleet.path());
    fleet.reopen();
    settle(fleet.path());
    const auto size = static_cast<std::streamoff>(std::filesystem::file_size(fleet.path()));
    ASSERT_GT(size, 3 * 8192);
    if (truncated) {
      std::filesystem::resize_file(fleet.path(), 2 * 8192);
    } else {
      damage(fleet.path(), 8192, size);
    }
    auto opened = must(Projections::open(fleet.path()));
    EXPECT_NE(opened.restored.rebuilt.find("is rebuilt from the journal"), std::string::npos);
    EXPECT_EQ(opened.restored.next, Offset{});
    fleet.follow(*opened.projections, opened.restored);
    EXPECT_EQ(dump(fleet.path()), before);
  }
}

TEST(Projections, ModifiedObjectIsDetectedByTheStateHashAndTheFileCanBeReset) {
  TestFleet fleet;
  live_a_while(fleet, 50);
  const auto before = dump(fleet.path());
  {
    auto connection = must(store::open_writer(fleet.path()));
    must(connection->execute("UPDATE version SET json = replace(" + store::version_json("version") +
                             ", 'default', 'defunct') WHERE revision = 1"));
  }
  auto opened = must(Projections::open(fleet.path()));
  State state;
  ASSERT_FALSE(State::restore(opened.restored.meta, opened.restored.objects, opened.restored.seen, state));
  must(opened.projections->reset());
  EXPECT_EQ(opened.projections->next(), Offset{});
  fleet.follow(*opened.projections, Restored{});
  EXPECT_EQ(dump(fleet.path()), before);
}

TEST(ProjectionSnapshot, IsAConsistentCopyThatRestores) {
  TestFleet fleet;
  live_a_while(fleet, 100);
  const auto before = dump(fleet.path());
  const State then = fleet.state();
  const std::string target = fleet.folder.file("snapshot.db");
  const SnapshotInfo info = must(fleet.projections().snapshot(target));
  EXPECT_EQ(info.revision, then.revision());
  EXPECT_EQ(info.next, fleet.projections().next());
  EXPECT_FALSE(std::filesystem::exists(target + ".unfinished"));
  live_a_while(fleet, 100);

  const std::string restored_path = fleet.folder.file("restored.db");
  const SnapshotInfo installed = must(Projections::restore_snapshot(target, restored_path));
  EXPECT_EQ(installed.revision, info.revision);
  auto opened = must(Projections::open(restored_path));
  EXPECT_EQ(opened.restored.rebuilt, "");
  EXPECT_EQ(opened.restored.meta, then.meta());
  EXPECT_EQ(dump(restored_path), before);
  fleet.follow(*opened.projections, opened.restored);
  EXPECT_EQ(dump(restored_path), dump(fleet.path()));
}

TEST(ProjectionSnapshot, ReplacesAnEarlierOneAndAnEarlierProjection) {
  TestFleet fleet;
  const std::string target = fleet.folder.file("snapshot.db");
  must(fleet.projections().snapshot(target));
  fleet.create(config_map("default", "late"));
  const SnapshotInfo info = must(fleet.projections().snapshot(target));
  EXPECT_EQ(info.revision, fleet.revision());
  TestFleet old;
  live_a_while(old, 20);
  old.reopen();
  const std::string path = fleet.folder.file("p.db");
  std::filesystem::copy(old.path(), path);
  EXPECT_EQ(must(Projections::restore_snapshot(target, path)).revision, fleet.revision());
  EXPECT_EQ(dump(path), dump(fleet.path()));
}

TEST(ProjectionSnapshot, MissingDamagedOrForeignSnapshotIsRefusedAndLeavesTheProjection) {
  TestFleet fleet;
  live_a_while(fleet, 200);
  const std::string target = fleet.folder.file("snapshot.db");
  const std::string path = fleet.folder.file("p.db");
  must(fleet.projections().snapshot(target));
  must(Projections::restore_snapshot(target, path));
  const auto before = dump(path);

  EXPECT_EQ(Projections::restore_snapshot(fleet.folder.file("none"), path).error().code, ErrorCode::kNotFound);
  const std::string foreign = fleet.folder.file("foreign.db");
  std::filesystem::copy(target, foreign);
  {
    auto connection = must(store::open_writer(foreign));
    must(connection->execute("UPDATE checkpoint SET fingerprint = 'old'; PRAGMA wal_checkpoint(TRUNCATE)"));
  }
  EXPECT_EQ(Projections::restore_snapshot(foreign, path).error().code, ErrorCode::kUnavailable);
  damage(target, 3 * 8192, 4 * 8192);
  EXPECT_EQ(Projections::restore_snapshot(target, path).error().code, ErrorCode::kCorrupt);
  EXPECT_EQ(dump(path), before);
}

TEST(ProjectionSnapshot, ToAMissingFolderIsAnError) {
  TestFleet fleet;
  const auto taken = fleet.projections().snapshot("/nonexistent-folder/s.db");
  ASSERT_FALSE(taken);
  EXPECT_EQ(taken.error().code, ErrorCode::kIo);
}

}  // namespace
}  // namespace shiplog
