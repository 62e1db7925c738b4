#include "projections/proof/tree_query.h"

#include <optional>

#include "events/codec/codec.h"
#include "events/journal/memory_journal.h"
#include "projections/proof/begin_tree.h"
#include "projections/scrub/repair.h"
#include "projections/scrub/scrub.h"
#include "tests/support/projected_fleet.h"

namespace shiplog {
namespace {

/// A journal whose records have leaves, folded and projected.
class TreeTest : public testing::Test {
 protected:
  TreeTest() { open(); }

  void open() {
    projections_.reset();
    projections_ = std::move(must(Projections::open(path())).projections);
  }
  std::string path() const { return folder_.file("projection.db"); }

  Entry entry_at(size_t index) {
    Entry entry;
    entry.id = new_entry_id(random_);
    entry.time = {1'700'000'000'000 + static_cast<int64_t>(index)};
    entry.actor = {"alice", {}, "api", "10.0.0.1", "kubectl"};
    const ObjectKey key{type::kNamespace, "", "ns-" + std::to_string(index)};
    entry.events = {ObjectCreated{key, object_value(key)}};
    return entry;
  }
  void write(size_t count, bool with_leaf = true) {
    for (size_t added = 0; added < count; ++added) {
      journal_.push_back(entry_at(journal_.size()));
      apply(*projections_, state_, journal_.size() - 1, with_leaf);
    }
  }
  // Offsets with gaps, as Kafka's are.
  Offset offset_of(size_t index) const { return Offset{static_cast<int64_t>(index) * 3 + first_}; }
  proof::Digest leaf(size_t index) const { return proof::leaf_hash(encode(journal_[index])); }
  void apply(Projections& projections, State& state, size_t index, bool with_leaf = true) {
    const Folded folded = fold(state, journal_[index]);
    FoldedEntry entry{offset_of(index), journal_[index], folded};
    if (with_leaf) entry.leaf = leaf(index);
    must(projections.apply({&entry, 1}, state.meta()));
  }
  proof::Digest root(size_t from, size_t to) const {
    proof::Frontier frontier;
    for (size_t index = from; index < to; ++index) frontier.add(leaf(index));
    return frontier.root();
  }
  ProjectionDamage damage() {
    Reader reader = must(projections_->reader());
    const View view = must(reader.view());
    ProjectionDamage found;
    for (const store::CheckedTable* table : store::checked_tables()) {
      std::optional<RowKey> after;
      do {
        after = must(scrub_rows(view, *table, after, 50, found)).last;
      } while (after);
    }
    return found;
  }
  void damage(const std::string& sql) { must(must(store::open_writer(path()))->execute(sql)); }

  TemporaryFolder folder_;
  SeededRandom random_{5};
  int64_t first_ = 0;
  std::vector<Entry> journal_;
  State state_;
  std::unique_ptr<Projections> projections_;
};

TEST_F(TreeTest, ProvesEveryRecordAtEverySize) {
  write(300);
  Reader reader = must(projections_->reader());
  const View view = must(reader.view());
  const TreeQuery tree{view};
  ASSERT_EQ(must(tree.size()), 300U);
  EXPECT_FALSE(must(tree.late_beginning()));
  for (const uint64_t size : {1U, 2U, 15U, 16U, 17U, 255U, 256U, 257U, 300U}) {
    const proof::Digest whole = must(proof::root_at(size, tree.nodes()));
    ASSERT_EQ(whole, root(0, size)) << size;
    for (uint64_t index = 0; index < size; index += 7) {
      const auto path = must(proof::inclusion_path(index, size, tree.nodes()));
      EXPECT_TRUE(proof::verify_inclusion(leaf(index), index, size, path, whole)) << index << " of " << size;
    }
    const auto path = must(proof::consistency_path(size, 300, tree.nodes()));
    EXPECT_TRUE(proof::verify_consistency(size, 300, path, whole, root(0, 300))) << size;
  }
}

TEST_F(TreeTest, FindsTheLeafOfAnOffset) {
  write(40);
  Reader reader = must(projections_->reader());
  const View view = must(reader.view());
  const TreeQuery tree{view};
  for (size_t index = 0; index < 40; ++index) {
    EXPECT_EQ(must(tree.from(offset_of(index)))->ordinal, index);
    if (index > 0) {
      EXPECT_EQ(must(tree.from(Offset{offset_of(index).value - 1}))->ordinal, index) << "a gap before it";
    }
  }
  EXPECT_FALSE(must(tree.from(Offset{offset_of(39).value + 1})));
  EXPECT_FALSE(must(tree.leaf(40)));
}

TEST_F(TreeTest, IsTheSameWhenItIsRebuiltOrContinued) {
  write(20);
  open();
  write(23);
  Projections& live = *projections_;
  const std::string copy = folder_.file("rebuilt.db");
  auto rebuilt = std::move(must(Projections::open(copy)).projections);
  State state;
  for (size_t index = 0; index < journal_.size(); ++index) apply(*rebuilt, state, index);
  EXPECT_EQ(dump(live.path()), dump(copy));
  // A snapshot continues as the original does.
  const std::string snapshot = folder_.file("snapshot.db"), restored = folder_.file("restored.db");
  must(live.snapshot(snapshot));
  must(Projections::restore_snapshot(snapshot, restored));
  auto continued = std::move(must(Projections::open(restored)).projections);
  State other = state_;
  write(30);
  for (size_t index = 43; index < journal_.size(); ++index) apply(*continued, other, index);
  EXPECT_EQ(dump(live.path()), dump(restored));
}

TEST_F(TreeTest, AFailedBatchLeavesNoLeaf) {
  write(17);
  journal_.push_back(entry_at(17));
  State after = state_;
  const Folded folded = fold(after, journal_[17]);
  const Folded twice = folded;
  FoldedEntry batch[] = {{offset_of(17), journal_[17], folded, leaf(17)},
                         {Offset{offset_of(17).value + 1}, journal_[17], twice, leaf(17)}};
  EXPECT_FALSE(projections_->apply(batch, after.meta())) << "there is a version of that revision";
  apply(*projections_, state_, 17);
  Reader reader = must(projections_->reader());
  const View view = must(reader.view());
  EXPECT_EQ(must(proof::root_at(18, TreeQuery{view}.nodes())), root(0, 18));
  EXPECT_EQ(must(TreeQuery{view}.size()), 18U);
}

TEST_F(TreeTest, BeginsLateInAFileThatHadNone) {
  write(5, false);
  write(12);
  Reader reader = must(projections_->reader());
  const View view = must(reader.view());
  const TreeQuery tree{view};
  EXPECT_EQ(must(tree.size()), 12U);
  ASSERT_TRUE(must(tree.late_beginning()));
  EXPECT_EQ(must(tree.late_beginning())->hash, leaf(5));
  EXPECT_EQ(must(proof::root_at(12, tree.nodes())), root(5, 17));
}

// As after the migration of a projection that a build without trees has made of a journal that is trimmed.
TEST_F(TreeTest, BeginsWithTheOldestRecordThatTheJournalHas) {
  for (size_t index = 0; index < 40; ++index) {
    journal_.push_back(entry_at(index));
    const Folded folded = fold(state_, journal_[index]);
    const FoldedEntry entry{Offset{static_cast<int64_t>(index)}, journal_[index], folded};
    must(projections_->apply({&entry, 1}, state_.meta()));
  }
  projections_.reset();
  const auto records = make_memory_journal();
  for (const Entry& entry : journal_) records->append(encode(entry), [](const Result<Offset>&) {});
  // The newest ones are not in the projection yet.
  for (int more = 0; more < 5; ++more) records->append("later", [](const Result<Offset>&) {});
  must(records->trim(Offset{12}));
  for (int times = 0; times < 2; ++times) {
    must(begin_tree(*records, path()));
    Reader reader = must(Reader::open(path()));
    const View view = must(reader.view());
    EXPECT_EQ(must(TreeQuery{view}.size()), 28U);
    EXPECT_EQ(must(TreeQuery{view}.late_beginning())->offset, Offset{12});
    EXPECT_EQ(must(proof::root_at(28, TreeQuery{view}.nodes())), root(12, 40));
  }
}

TEST_F(TreeTest, AnEntryWithoutLeafAfterOthersIsRefused) {
  write(3);
  journal_.push_back(entry_at(3));
  const Folded folded = fold(state_, journal_[3]);
  FoldedEntry entry{offset_of(3), journal_[3], folded};
  EXPECT_EQ(projections_->apply({&entry, 1}, state_.meta()).error().code, ErrorCode::kInternal);
}

TEST_F(TreeTest, DamagedRowsAreNoticedAndWrittenAgain) {
  write(300);
  const auto before = dump(path());
  damage("UPDATE tree_leaf SET hash = zeroblob(32) WHERE ordinal IN (0, 77)");
  damage("UPDATE tree_leaf SET offset = 1 WHERE ordinal = 78");
  damage("UPDATE tree_node SET hash = zeroblob(32) WHERE id IN ((4 << 56) | 3, (8 << 56))");
  {
    Reader reader = must(projections_->reader());
    const View view = must(reader.view());
    const auto path = proof::inclusion_path(76, 300, TreeQuery{view}.nodes());
    ASSERT_FALSE(path) << "a proof is never made of a damaged row";
    EXPECT_EQ(path.error().code, ErrorCode::kCorrupt);
  }
  const ProjectionDamage found = damage();
  EXPECT_EQ(found.rows.size(), 5U);
  ProjectionRepair repair = must(ProjectionRepair::open(path(), found));
  EXPECT_TRUE(repair.needs_journal());
  State state;
  for (size_t index = 0; index < journal_.size(); ++index) {
    const Folded folded = fold(state, journal_[index]);
    must(repair.take(offset_of(index), journal_[index], folded, leaf(index)));
  }
  EXPECT_FALSE(repair.needs_journal());
  must(repair.finish());
  EXPECT_EQ(repair.repaired(), 5U);
  EXPECT_EQ(dump(path()), before);
}

}  // namespace
}  // namespace shiplog
