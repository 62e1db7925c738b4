#include "services/debugger/timeline.h"

#include <random>

#include <gtest/gtest.h>

#include "tests/support/golden_journal.h"

namespace shiplog::debugger {
namespace {

struct ExpectedState {
  Hash128 hash;
  StateMeta meta;
  size_t changes;
  bool refused;
};

/// What folding from the first entry on gives at every position.
std::vector<ExpectedState> folded_anew(const std::vector<std::string>& records) {
  State state;
  std::vector<ExpectedState> all{{state.hash(), state.meta(), 0, false}};
  for (const std::string& record : records) {
    const Folded folded = fold(state, decode(record).value());
    all.push_back({state.hash(), state.meta(), folded.changes.size(), folded.refusal.has_value()});
  }
  return all;
}

void expect_at(const JournalTimeline& timeline, const std::vector<ExpectedState>& expected) {
  const ExpectedState& here = expected[timeline.position()];
  EXPECT_EQ(timeline.state().hash(), here.hash) << "position " << timeline.position();
  EXPECT_EQ(timeline.state().meta(), here.meta) << "position " << timeline.position();
  EXPECT_EQ(timeline.folded().changes.size(), here.changes) << "position " << timeline.position();
  EXPECT_EQ(timeline.folded().refusal.has_value(), here.refused) << "position " << timeline.position();
  if (timeline.position() == 0) return;
  ASSERT_NE(timeline.record().entry, nullptr);
  EXPECT_EQ(timeline.record().offset, timeline.mark(timeline.position()).offset);
}

struct Setting {
  uint32_t fold_version;
  size_t keep_every;
  size_t most_kept_objects;
};

class TimelineOfGoldenJournal : public ::testing::TestWithParam<Setting> {};

TEST_P(TimelineOfGoldenJournal, IsEverywhereWhatFoldingAnewGives) {
  const auto records = golden_records(GetParam().fold_version);
  ASSERT_GT(records.size(), 100U);
  const auto expected = folded_anew(records);
  JournalTimeline timeline = timeline_of(journal_with(records), {GetParam().keep_every, GetParam().most_kept_objects});
  while (timeline.forward().value()) expect_at(timeline, expected);
  EXPECT_EQ(timeline.position(), records.size());
  // All the way back, one by one.
  while (timeline.position() > 0) {
    ASSERT_TRUE(timeline.go(timeline.position() - 1));
    expect_at(timeline, expected);
  }
  // And here and there; the seed is fixed, as the journal is.
  std::mt19937 random{GetParam().fold_version};
  for (int move = 0; move < 300; ++move) {
    const size_t target = random() % expected.size();
    if (move % 3 == 0) {
      const auto state = timeline.state_at(target);
      ASSERT_TRUE(state);
      EXPECT_EQ(state.value()->hash(), expected[target].hash);
      EXPECT_EQ(state.value()->meta(), expected[target].meta);
    } else {
      ASSERT_TRUE(timeline.go(target));
      EXPECT_EQ(timeline.position(), target);
    }
    expect_at(timeline, expected);
  }
}

INSTANTIATE_TEST_SUITE_P(KeptStates, TimelineOfGoldenJournal,
                         ::testing::Values(Setting{1, 1, 1'000'000}, Setting{2, 7, 1'000'000},
                                           Setting{3, 64, 1'000'000}, Setting{5, 3, 200}, Setting{6, 1, 1},
                                           Setting{7, SIZE_MAX, 1'000'000}, Setting{7, 16, 2'000}));

TEST(DebuggerTimeline, KeepsFewerStatesWhenTheyHoldTooManyObjects) {
  JournalTimeline timeline = timeline_of(journal_with(golden_records(7)), {1, 500});
  while (timeline.forward().value()) {
  }
  EXPECT_LT(timeline.kept_states(), 40U);
  EXPECT_GT(timeline.kept_states(), 2U);
}

TEST(DebuggerTimeline, StopsAtADamagedEntryAndNamesItsOffset) {
  auto records = golden_records(7);
  records[40][records[40].size() / 2] ^= 0x41;
  records[40].resize(records[40].size() - 7);
  JournalTimeline timeline = timeline_of(journal_with(records));
  const auto went = timeline.go(60);
  ASSERT_FALSE(went);
  EXPECT_EQ(went.error().code, ErrorCode::kCorrupt);
  EXPECT_NE(went.error().message.find("offset 40"), std::string::npos) << went.error().message;
  EXPECT_EQ(timeline.position(), 40U) << "what is before can be looked at";
  EXPECT_TRUE(timeline.go(3));
  EXPECT_EQ(timeline.state().hash(), folded_anew(golden_records(7))[3].hash);
}

TEST(DebuggerTimeline, ShowsAnEntryOfANewerBuildAndGoesNoFurther) {
  auto records = golden_records(7);
  records[30] = changed(records[30], [](Entry& entry) { entry.fold_version = kFoldVersion + 1; });
  JournalTimeline timeline = timeline_of(journal_with(records));
  ASSERT_TRUE(timeline.go(31));
  ASSERT_TRUE(timeline.folded().stop);
  const auto more = timeline.forward();
  ASSERT_FALSE(more);
  EXPECT_NE(more.error().message.find("offset 30"), std::string::npos) << more.error().message;
  EXPECT_NE(more.error().message.find("install a newer shiplogd"), std::string::npos) << more.error().message;
  EXPECT_TRUE(timeline.go(10));
  EXPECT_FALSE(timeline.go(40));
  EXPECT_EQ(timeline.position(), 31U);
}

TEST(DebuggerTimeline, StopsWhereTheRecordedHashDiffers) {
  auto records = golden_records(7);
  size_t at = 0;
  for (size_t index = 0; index < records.size() && at == 0; ++index) {
    records[index] = changed(records[index], [&](Entry& entry) {
      for (Event& event : entry.events) {
        auto* hashed = std::get_if<StateHashed>(&event);
        if (hashed == nullptr) continue;
        hashed->hash = Hash128{};
        at = index + 1;
      }
    });
  }
  ASSERT_GT(at, 0U) << "the journal records hashes";
  JournalTimeline timeline = timeline_of(journal_with(records));
  ASSERT_TRUE(timeline.go(at));
  EXPECT_TRUE(timeline.folded().stop);
  EXPECT_FALSE(timeline.forward());
}

TEST(DebuggerTimeline, SeesNewEntriesOnceItIsRefreshed) {
  const auto records = golden_records(7);
  const auto journal = journal_with({records.begin(), records.begin() + 20});
  JournalTimeline timeline = timeline_of(journal);
  EXPECT_EQ(timeline.go(30).error().code, ErrorCode::kGone);
  EXPECT_EQ(timeline.position(), 20U);
  EXPECT_FALSE(timeline.reader().refresh().value());
  for (size_t index = 20; index < 30; ++index) append(*journal, records[index]);
  EXPECT_FALSE(timeline.forward().value()) << "the end is that of the last look";
  EXPECT_TRUE(timeline.reader().refresh().value());
  EXPECT_TRUE(timeline.go(30));
  EXPECT_EQ(timeline.state().hash(), folded_anew(records)[30].hash);
}

TEST(DebuggerTimeline, ReadsJournalsOfManyBlocks) {
  // Refused duplicates: the state stays small, the journal has blocks that do not stay in memory.
  const auto golden = golden_records(7);
  std::vector<std::string> records;
  for (size_t index = 0; index < 20'000; ++index) records.push_back(golden[index % golden.size()]);
  const auto expected = folded_anew(records);
  JournalTimeline timeline = timeline_of(journal_with(records));
  ASSERT_TRUE(timeline.go(20'000));
  std::mt19937 random{1};
  for (int move = 0; move < 40; ++move) {
    ASSERT_TRUE(timeline.go(random() % expected.size()));
    expect_at(timeline, expected);
  }
}

}  // namespace
}  // namespace shiplog::debugger
