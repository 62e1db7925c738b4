#include "services/programs/verification/verification.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "events/journal/memory_journal.h"
#include "projections/store/checked_table.h"
#include "projections/store/snapshot.h"
#include "tests/support/proven_journal.h"

namespace shiplog {
namespace {

const ProvenJournal& history() {
  static const ProvenJournal kHistory{24};
  return kHistory;
}

class VerificationTest : public testing::Test {
 protected:
  VerificationTest() {
    ProvenJournal::store(journal(), records_);
    ProvenJournal::snapshot(snapshot(), records_, kCovered);
    ProvenJournal::project(projection(), records_, records_.size());
  }
  std::string journal() const { return folder_.file("journal.db"); }
  std::string snapshot() const { return folder_.file("snapshot.db"); }
  std::string projection() const { return folder_.file("projection.db"); }

  VerificationOutcome check(VerificationOptions options) const {
    return verify(journal(), std::move(options), folder_.path());
  }
  /// Of a journal with other records, which were written with all checksums right.
  VerificationOutcome check_rewritten(const std::vector<std::string>& records, VerificationOptions options) const {
    const std::string path = folder_.file("rewritten.db");
    ProvenJournal::store(path, records);
    const VerificationOutcome verified = verify(path, std::move(options), folder_.path());
    std::filesystem::remove(path);
    std::filesystem::remove(path + "-head");
    return verified;
  }
  /// Changes rows, and makes their checksums right.
  void forge(const std::string& file, const std::string& sql, const store::CheckedTable* table = nullptr) const {
    const auto connection = must(store::open_writer(file));
    must(connection->execute(sql));
    if (table != nullptr) {
      must(connection->execute("UPDATE " + table->name + " SET crc = " + table->checksum(table->name)));
    }
  }
  VerificationOptions everything() const {
    return {.checkpoints = {history().head(50), history().head()}, .files = {projection(), snapshot()}};
  }

  static constexpr size_t kCovered = 61;
  TemporaryFolder folder_;
  const std::vector<std::string> records_ = history().records();
};

TEST_F(VerificationTest, AnIntactFleetHasNoFindings) {
  VerificationOptions options = everything();
  options.proofs = {{history().proof_of(3), history().head()}, {history().proof_of(90), history().head()}};
  const VerificationOutcome verified = check(options);
  EXPECT_TRUE(verified.intact()) << verified.text();
  EXPECT_EQ(verified.report.records, records_.size());
  EXPECT_EQ(verified.report.covered, records_.size());
  EXPECT_EQ(verified.report.root, history().head().root);
  EXPECT_EQ(verified.report.files, 2U);
  EXPECT_EQ(verified.report.proven, 2U);
  EXPECT_GT(verified.report.rows, 4 * records_.size());
  EXPECT_TRUE(verified.notes.empty()) << verified.text();
}

TEST_F(VerificationTest, RecordsAfterTheCheckpointAreNotCovered) {
  const VerificationOutcome verified = check({.checkpoints = {history().head(50)}});
  EXPECT_TRUE(verified.intact()) << verified.text();
  EXPECT_EQ(verified.report.covered, 50U);
}

// Everything behind the altered entry was made anew: journal, checksums, projection. Only what was kept elsewhere
// tells.
TEST_F(VerificationTest, AWholeFleetThatWasForgedIsFound) {
  std::vector<std::string> forged = records_;
  Entry entry = must(decode(forged[17]));
  entry.actor.user = "someone else";
  forged[17] = encode(entry);
  const std::string made = folder_.file("forged.db");
  ProvenJournal::project(made, forged, forged.size());
  EXPECT_TRUE(check_rewritten(forged, {.files = {made}}).intact()) << "nothing vouches for it";
  const VerificationOutcome verified = check_rewritten(forged, {.checkpoints = {history().head()}, .files = {made}});
  EXPECT_FALSE(verified.intact());
  EXPECT_TRUE(verified.names("the journal", std::nullopt, "are not those of the checkpoint")) << verified.text();
  // With the projection of another process, the record is named.
  const VerificationOutcome named =
      check_rewritten(forged, {.checkpoints = {history().head()}, .files = {projection()}});
  EXPECT_TRUE(named.names("the journal", 17, "is not the one that")) << named.text();
}

TEST_F(VerificationTest, RemovedInsertedDuplicateAndSwappedRecordsAreFound) {
  const auto at = [](size_t index) { return static_cast<std::ptrdiff_t>(index); };
  std::vector<std::pair<std::string, std::vector<std::string>>> changed;
  for (const size_t index : {size_t{0}, size_t{40}, records_.size() - 1}) {
    std::vector<std::string> removed = records_;
    removed.erase(removed.begin() + at(index));
    changed.emplace_back("removed " + std::to_string(index), removed);
    if (index + 1 < records_.size()) {  // the last one, twice, is one that was appended
      std::vector<std::string> twice = records_;
      twice.insert(twice.begin() + at(index), records_[index]);
      changed.emplace_back("twice " + std::to_string(index), twice);
    }
    std::vector<std::string> inserted = records_;
    Entry entry = must(decode(records_[index]));
    entry.id = EntryId{};
    entry.id.bytes[3] = 9;
    inserted.insert(inserted.begin() + at(index), encode(entry));
    changed.emplace_back("inserted " + std::to_string(index), inserted);
    if (index == 0) continue;
    std::vector<std::string> swapped = records_;
    std::swap(swapped[index], swapped[index - 1]);
    changed.emplace_back("swapped " + std::to_string(index), swapped);
  }
  for (const auto& [how, records] : changed) {
    const VerificationOutcome alone = check_rewritten(records, {.checkpoints = {history().head()}});
    EXPECT_FALSE(alone.intact()) << how;
    EXPECT_FALSE(alone.error) << how << ": " << alone.error->message;
    const VerificationOutcome beside = check_rewritten(records, everything());
    EXPECT_TRUE(beside.names("the journal")) << how << "\n" << beside.text();
  }
  // Appended behind the checkpoint: it is new, and not what was vouched for.
  std::vector<std::string> longer = records_;
  longer.push_back(records_.back());
  const VerificationOutcome appended = check_rewritten(longer, {.checkpoints = {history().head()}});
  EXPECT_TRUE(appended.intact()) << appended.text();
  EXPECT_EQ(appended.report.size - appended.report.covered, 1U);
}

TEST_F(VerificationTest, ATruncatedOrOlderJournalIsFound) {
  const std::vector<std::string> shorter{records_.begin(), records_.begin() + 70};
  const VerificationOutcome alone = check_rewritten(shorter, {.checkpoints = {history().head()}});
  EXPECT_TRUE(alone.names("the journal", std::nullopt, "records were removed")) << alone.text();
  const VerificationOutcome beside = check_rewritten(shorter, {.files = {projection()}});
  EXPECT_TRUE(beside.names("the journal", 70, "is missing")) << beside.text();
  EXPECT_TRUE(beside.names(projection(), std::nullopt, "which the journal does not have")) << beside.text();
  // An older checkpoint fits an older journal; the newer one, which was kept too, does not.
  EXPECT_TRUE(check_rewritten(shorter, {.checkpoints = {history().head(50)}}).intact());
  EXPECT_FALSE(check_rewritten(shorter, {.checkpoints = {history().head(50), history().head()}}).intact());
}

TEST_F(VerificationTest, ADamagedRecordIsNamedAndWhatIsBehindItIsRead) {
  {
    const auto connection = must(sqlite::Connection::open(journal(), {}));
    must(connection->execute("UPDATE entry SET bytes = zeroblob(length(bytes)) WHERE offset IN (20, 55)"));
    must(connection->execute("DELETE FROM entry WHERE offset = 80"));
  }
  const VerificationOutcome verified = check(everything());
  for (const int64_t offset : {20, 55, 80}) {
    EXPECT_TRUE(verified.names("the journal", offset, "")) << offset << "\n" << verified.text();
  }
  EXPECT_EQ(std::ranges::count(verified.findings, "the journal", &FoundDifference::where), 3) << verified.text();
  EXPECT_EQ(verified.report.records, records_.size() - 3);
  EXPECT_TRUE(verified.names(projection(), std::nullopt, "was not compared")) << verified.text();
  EXPECT_EQ(verified.report.covered, records_.size()) << "the hashes of the damaged ones are known: the rest is right";
}

TEST_F(VerificationTest, ForgedRowsOfAProjectionAreNamed) {
  struct Forged {
    const store::CheckedTable* table;
    std::string sql, key;
  };
  const std::vector<Forged> all = {
      {&store::version_table(),
       "UPDATE version SET json = replace(" + store::version_json("version") + ", 'second', 'third') WHERE " +
           store::version_json("version") + " LIKE '%second%'",
       ""},
      {&store::entry_table(), "UPDATE entry SET refusal = NULL, reason = NULL WHERE refusal IS NOT NULL", ""},
      {&store::actor_table(), "UPDATE actor SET user = 'mallory' WHERE user = 'bob'", ""},
      {&store::decision_table(), "UPDATE decision SET summary = 'another' WHERE id = (SELECT min(id) FROM decision)",
       ""},
      {&store::object_table(), "UPDATE object SET live = 0 WHERE name = 'web'", "web"},
      {&store::template_revision_table(), "UPDATE template_revision SET template = '{}' WHERE number = 20", "20"},
      {&store::checkpoint_table(), "UPDATE checkpoint SET time = time + 1", ""},
      {&store::tree_leaf_table(), "UPDATE tree_leaf SET hash = zeroblob(32) WHERE ordinal = 33", "33"},
      {&store::tree_node_table(), "UPDATE tree_node SET hash = zeroblob(32) WHERE id = (4 << 56) | 2", ""},
      {&store::version_table(), "DELETE FROM version WHERE revision = 9", "9"},
      {&store::entry_table(), "DELETE FROM entry WHERE offset = 90", "90"},
      {&store::decision_table(), "DELETE FROM decision WHERE id = (SELECT max(id) FROM decision)", ""},
      {&store::type_table(), "UPDATE type SET name = 'things' WHERE name = 'configmaps'", ""},
      {&store::entry_table(),
       "INSERT INTO entry SELECT 7000, id, time, actor, verb, path, cause_revision, cause_id, trace_id, as_of, "
       "revision, "
       "families, events, also, refusal, reason, duplicate, request, record, answer, 0 FROM entry WHERE offset = 3",
       "7000"},
      {nullptr, "DELETE FROM subject WHERE offset = (SELECT max(offset) FROM subject)", ""},
      {nullptr, "DROP INDEX version_by_type", ""}};
  for (const Forged& forged : all) {
    SCOPED_TRACE(forged.sql);
    const std::string copy = folder_.file("copy.db");
    must(store::remove_database(copy));
    must(store::write_snapshot(projection(), copy));
    forge(copy, forged.sql, forged.table);
    const VerificationOutcome verified = check({.checkpoints = {history().head()}, .files = {copy}});
    ASSERT_FALSE(verified.error) << verified.error->message;
    EXPECT_TRUE(verified.names(copy, std::nullopt, forged.table == nullptr ? "" : "the table " + forged.table->name))
        << verified.text();
    EXPECT_TRUE(verified.names(copy, std::nullopt, forged.key)) << verified.text();
    EXPECT_FALSE(verified.names("the journal")) << "a checkpoint vouches for it\n" << verified.text();
  }
}

TEST_F(VerificationTest, WhatRetentionDeletedIsNoDifference) {
  {
    auto opened = must(Projections::open(projection()));
    const Projections::Expired expired{Revision{40}, {Offset{45}}, {Offset{45}}};
    while (must(opened.projections->trim_some(expired)).more) {
    }
  }
  // The audit trail keeps what versions refer to, and what a test of this size never reaches by its age.
  forge(projection(),
        "DELETE FROM entry WHERE offset < 20 AND offset NOT IN (SELECT offset FROM version) AND NOT EXISTS "
        "(SELECT 1 FROM decision WHERE id >> 20 = offset); DELETE FROM subject WHERE offset < 20 AND "
        "offset NOT IN (SELECT offset FROM entry)");
  const VerificationOutcome verified = check({.checkpoints = {history().head()}, .files = {projection()}});
  EXPECT_TRUE(verified.intact()) << verified.text();
  EXPECT_EQ(verified.notes.size(), 2U) << verified.text();
  forge(projection(), "DELETE FROM entry WHERE offset = 100");
  EXPECT_TRUE(
      check({.files = {projection()}}).names(projection(), std::nullopt, "row 100 of the table entry is missing"));
}

TEST_F(VerificationTest, ProofsHoldForACopyWithOtherOffsets) {
  const std::string copy = folder_.file("copied.db");
  ProvenJournal::store(copy, records_, 1);
  const VerificationOptions options{.checkpoints = {history().head(50), history().head()},
                                    .proofs = {{history().proof_of(3), history().head()}}};
  const VerificationOutcome verified = verify(copy, options, folder_.path());
  EXPECT_TRUE(verified.intact()) << verified.text();
  EXPECT_EQ(verified.report.covered, records_.size());
  EXPECT_EQ(verified.report.proven, 1U);
  const VerificationOutcome other = verify(copy, {.files = {projection()}}, folder_.path());
  ASSERT_TRUE(other.error);
  EXPECT_EQ(other.error->code, ErrorCode::kInvalid) << "the file is of the original";
}

TEST_F(VerificationTest, ProofsHoldForATrimmedJournal) {
  must(must(open_sqlite_journal(journal(), {.create = false}))->trim(Offset{45}));
  const VerificationOutcome none = check({.checkpoints = {history().head()}});
  ASSERT_TRUE(none.error);
  EXPECT_EQ(none.error->code, ErrorCode::kGone) << none.error->message;
  VerificationOptions options = everything();
  options.checkpoints = {history().head(50), history().head()};
  options.proofs = {{history().proof_of(90), history().head()}, {history().proof_of(20), history().head()}};
  const VerificationOutcome verified = check(options);
  EXPECT_TRUE(verified.intact()) << verified.text();
  EXPECT_EQ(verified.report.records, records_.size() - 45);
  EXPECT_EQ(verified.report.size, records_.size());
  EXPECT_EQ(verified.report.covered, records_.size());
  EXPECT_EQ(verified.report.files, 2U);
  EXPECT_EQ(verified.report.proven, 2U) << "of a record that was trimmed its hash is left";
  // A checkpoint from before: the tree continues it, or not.
  const VerificationOutcome older = check({.checkpoints = {history().head(30)}, .files = {snapshot()}});
  EXPECT_TRUE(older.intact()) << older.text();
  EXPECT_NE(older.text().find("nothing vouches for those"), std::string::npos) << older.text();
  proof::TreeHead other = history().head(30);
  other.root[0] ^= 1;
  EXPECT_TRUE(
      check({.checkpoints = {other}, .files = {snapshot()}}).names(snapshot(), std::nullopt, "is not the one of"));
  // What nothing can be compared with is checked by itself.
  const std::string copy = folder_.file("copy.db");
  must(store::write_snapshot(snapshot(), copy));
  forge(copy, "CREATE TRIGGER hidden AFTER INSERT ON entry BEGIN DELETE FROM entry WHERE offset = NEW.offset; END");
  EXPECT_TRUE(check({.checkpoints = {history().head()}, .files = {copy}}).names(copy, std::nullopt, "its tables"));
  // A snapshot with forged hashes of what was trimmed leads to another root.
  forge(snapshot(), "UPDATE tree_leaf SET hash = zeroblob(32) WHERE ordinal = 44", &store::tree_leaf_table());
  EXPECT_FALSE(check(options).intact());
}

TEST_F(VerificationTest, ATreeThatBeganLateIsVerified) {
  // As after an upgrade of a fleet whose journal was trimmed: the projection has leaves from record 30 on.
  const std::string late = folder_.file("late.db");
  {
    const auto projections = std::move(must(Projections::open(late)).projections);
    State state;
    for (size_t index = 0; index < records_.size(); ++index) {
      const Entry entry = must(decode(records_[index]));
      const Folded folded = fold(state, entry);
      FoldedEntry applied{Offset{static_cast<int64_t>(index)}, entry, folded};
      if (index >= 30) applied.leaf = proof::leaf_hash(records_[index]);
      must(projections->apply({&applied, 1}, state.meta()));
    }
  }
  const proof::Digest first = proof::leaf_hash(records_[30]);
  const proof::Frontier tree = ProvenJournal::tree_of({records_.begin() + 30, records_.end()});
  const proof::TreeHead head{proof::origin_of("shiplog/test", &first), tree.size(), tree.root()};
  for (const auto& files : {std::vector<std::string>{}, std::vector<std::string>{late}}) {
    const VerificationOutcome verified = check({.checkpoints = {head}, .files = files});
    EXPECT_TRUE(verified.intact()) << verified.text();
    EXPECT_EQ(verified.report.covered, records_.size() - 30);
  }
  // It does not pass for the tree of the whole journal.
  const VerificationOutcome other = check({.checkpoints = {history().head(), head}});
  ASSERT_TRUE(other.error);
  EXPECT_EQ(other.error->code, ErrorCode::kInvalid);
}

TEST_F(VerificationTest, ATreeOfAnotherFleetIsNotTaken) {
  const ProvenJournal other{10};
  EXPECT_FALSE(check({.checkpoints = {{"shiplog/test", records_.size(), other.head().root}}}).intact());
  const VerificationOutcome proof = check({.proofs = {{history().proof_of(3), history().head()}}});
  EXPECT_TRUE(proof.intact()) << proof.text();
  proof::InclusionProof wrong = history().proof_of(3);
  wrong.index = 4;
  EXPECT_FALSE(check({.proofs = {{wrong, history().head()}}}).intact());
}

}  // namespace
}  // namespace shiplog
