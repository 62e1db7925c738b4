#include "services/runtime/scrub.h"

#include <chrono>
#include <memory>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "events/codec/codec.h"
#include "events/journal/embedded/sqlite_journal.h"
#include "events/sqlite/connection.h"
#include "projections/history/history_query.h"
#include "projections/runner.h"
#include "projections/store/open.h"
#include "services/runtime/log.h"
#include "tests/journal_contract/append_and_wait.h"
#include "tests/support/must.h"
#include "tests/support/test_directory.h"

namespace shiplog {
namespace {

/// A journal file with its projection, as a process leaves them.
class ScrubTest : public ::testing::Test {
 protected:
  ScrubTest() {
    log::configure(log::Format::kText, log::Level::kError);
    journal_ = must(open_sqlite_journal(journal_file_));
    projections_ = must(Projections::open(projection_)).projections;
    append({ObjectCreated{{type::kNamespace, "", "default"}, named("default", "")}});
    append({ObjectCreated{kKey, named("a", "first")}});
    for (int i = 0; i < 600; ++i) append({ObjectUpdated{kKey, named("a", "text " + std::to_string(i))}});
  }

  static Value named(const std::string& name, const std::string& text) {
    Value metadata = Value::object({{"name", name}});
    if (!text.empty()) metadata.set("namespace", "default");
    return Value::object({{"metadata", std::move(metadata)}, {"data", Value::object({{"text", text}})}});
  }
  void append(std::vector<Event> events) {
    Entry entry;
    entry.id.bytes[0] = static_cast<uint8_t>(++entries_ >> 8);
    entry.id.bytes[1] = static_cast<uint8_t>(entries_);
    entry.time = UtcMillis{1'700'000'000'000 + static_cast<int64_t>(entries_)};
    entry.events = std::move(events);
    const Offset offset = must(append_and_wait(*journal_, encode(entry)));
    const Folded folded = fold(state_, entry);
    ASSERT_FALSE(folded.refusal);
    const FoldedEntry batch[] = {{offset, entry, folded}};
    must(projections_->apply(batch, state_.meta()));
  }
  /// What a disk could have done to a version.
  void damage_version(uint64_t revision, const std::string& change = "json = replace(json, 'text', 'tixt')") const {
    must(must(store::open_writer(projection_))
             ->execute("UPDATE version SET " + change + " WHERE revision = " + std::to_string(revision)));
  }
  void damage_record(uint64_t offset) {
    journal_.reset();
    must(must(store::open_writer(journal_file_))
             ->execute("UPDATE entry SET bytes = CAST(bytes || x'23' AS BLOB) WHERE offset = " +
                       std::to_string(offset)));
    journal_ = must(open_sqlite_journal(journal_file_));
  }
  ScrubReport pass() {
    return scrub({"journal", journal_.get(), reads_journal_, projection_,
                  [this](const Error& error) { damage_ = error.message; }},
                 [this](size_t bytes) {
                   bytes_ += bytes;
                   return --steps_ > 0;
                 });
  }
  std::string json_at(uint64_t revision) const {
    Reader reader = must(Reader::open(projection_));
    const View view = must(reader.view());
    auto version = HistoryQuery{view}.version(Revision{revision});
    return version ? version.value()->json : version.error().message;
  }

  static inline const ObjectKey kKey{"configmaps", "default", "a"};
  TestDirectory directory_{"scrub"};
  const std::string journal_file_ = directory_.file("journal.db");
  const std::string projection_ = directory_.file("projection.db");
  std::shared_ptr<Journal> journal_;
  std::unique_ptr<Projections> projections_;
  State state_;
  uint64_t entries_ = 0;
  std::string damage_;
  bool reads_journal_ = true;
  size_t bytes_ = 0;
  int steps_ = 1'000'000;
};

TEST_F(ScrubTest, ReadsAllOfAnIntactJournalAndProjection) {
  const ScrubReport report = pass();
  EXPECT_EQ(report.records, 602U);
  EXPECT_EQ(report.rows, 1213U)
      << "versions and entries, two objects and types and bases, an actor, checkpoint and retention";
  EXPECT_EQ(report.damaged_records + report.damaged_rows + report.repaired_rows, 0U);
  EXPECT_GT(bytes_, 100'000U) << "what was read counts against the rate";
  EXPECT_EQ(damage_, "");
}

TEST_F(ScrubTest, DamagedVersionsAreRepairedFromTheJournal) {
  const std::string first = json_at(2);
  const std::string later = json_at(400);
  damage_version(2);
  damage_version(400, "json = '{}', previous = 7");
  damage_version(500, "crc = 1");
  EXPECT_NE(json_at(2), first);
  const ScrubReport report = pass();
  EXPECT_EQ(report.damaged_rows, 3U);
  EXPECT_EQ(report.repaired_rows, 3U);
  EXPECT_EQ(json_at(2), first);
  EXPECT_EQ(json_at(400), later);
  EXPECT_EQ(pass().damaged_rows, 0U);
}

TEST_F(ScrubTest, TheProjectionIsWrittenWhileItIsRepaired) {
  damage_version(300);
  EXPECT_EQ(pass().repaired_rows, 1U);
  append({ObjectUpdated{kKey, named("a", "after")}});
  EXPECT_EQ(pass().rows, 1215U);
}

TEST_F(ScrubTest, ADamagedRecordIsReportedWithItsOffsetAndTheRemedy) {
  damage_record(402);
  const ScrubReport report = pass();
  EXPECT_EQ(report.damaged_records, 1U);
  EXPECT_EQ(report.records, 402U) << "those before it";
  EXPECT_EQ(report.rows, 1213U) << "the projection is read all the same";
  EXPECT_NE(damage_.find(journal_file_), std::string::npos) << damage_;
  EXPECT_NE(damage_.find("402"), std::string::npos) << damage_;
  EXPECT_NE(damage_.find("restore the journal from a backup"), std::string::npos) << damage_;
}

TEST_F(ScrubTest, NothingIsRepairedFromADamagedJournal) {
  damage_record(102);
  damage_version(500);
  const ScrubReport report = pass();
  EXPECT_EQ(report.damaged_rows, 1U);
  EXPECT_EQ(report.repaired_rows, 0U);
}

TEST_F(ScrubTest, NothingIsRepairedFromAJournalWithoutItsFirstEntries) {
  must(journal_->trim(Offset{300}));
  damage_version(500);
  const ScrubReport report = pass();
  EXPECT_EQ(report.damaged_rows, 1U);
  EXPECT_EQ(report.repaired_rows, 0U);
}

TEST_F(ScrubTest, AProcessThatDoesNotReadTheJournalRepairsAllTheSame) {
  reads_journal_ = false;
  damage_version(500);
  const ScrubReport report = pass();
  EXPECT_EQ(report.records, 0U);
  EXPECT_EQ(report.repaired_rows, 1U);
}

TEST_F(ScrubTest, APassEndsWhenPaceReturnsFalse) {
  steps_ = 2;
  const ScrubReport report = pass();
  EXPECT_LT(report.records, 602U);
  EXPECT_EQ(report.rows, 0U);
}

TEST_F(ScrubTest, AThreadReadsAgainAndAgainAndEnds) {
  damage_version(300);
  const std::string damaged = json_at(300);
  {
    const ScrubThread thread{{"journal", journal_.get(), true, projection_, {}}, 1 << 30, Millis{1}};
    for (int i = 0; i < 1000 && json_at(300) == damaged; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds{10});
  }
  EXPECT_NE(json_at(300), damaged);
}

}  // namespace
}  // namespace shiplog
