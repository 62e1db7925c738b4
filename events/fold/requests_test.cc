// Produced requests: what settles a record once does so for ever (fold version 5).
#include <algorithm>
#include <map>
#include <set>

#include <gtest/gtest.h>

#include "tests/support/fold_history.h"

namespace shiplog {
namespace {

using testing::FoldHistory;
using testing::kConfig;

constexpr const char* kTopic = "demo.requests";

Entry produced(FoldHistory& history, const std::string& id, int64_t offset, int64_t done_before = 0,
               std::vector<Event> events = {
                   ObjectUpdated{kConfig, test::json(R"({"metadata":{"name":"settings"}})")}}) {
  Entry entry = history.entry(std::move(events));
  entry.actor.user = "alice";
  entry.source = {.id = id, .topic = kTopic, .partition = 2, .offset = offset, .done_before = done_before};
  return entry;
}

FoldHistory at_version(uint32_t version) {
  FoldHistory history = FoldHistory::with_namespace();
  if (version > 1) history.put({FoldVersionActivated{version}});
  history.create_config();
  return history;
}

State restored(const State& state, const std::vector<EntryId>& requests) {
  std::vector<std::pair<ObjectKey, Object>> objects;
  for (const std::string& type : state.types()) {
    for (const auto& [name, object] : state.objects(type)) objects.push_back({{type, name.ns, name.name}, object});
  }
  State made;
  EXPECT_TRUE(State::restore(state.meta(), std::move(objects), {}, made, requests));
  return made;
}

TEST(ProducedRequests, ARecordIsSettledOnceByWhicheverEntryIsFirst) {
  FoldHistory history = at_version(5);
  EXPECT_FALSE(fold(history.state, produced(history, "a", 10)).refusal);
  const Folded again = fold(history.state, produced(history, "other id", 10));
  ASSERT_TRUE(again.refusal);
  EXPECT_TRUE(again.refusal->settled);
  EXPECT_FALSE(again.duplicate) << "the entry itself is new";
  EXPECT_TRUE(history.state.settled(kTopic, 2).contains(10));
  EXPECT_FALSE(history.state.settled(kTopic, 3).contains(10)) << "partitions are apart";
}

TEST(ProducedRequests, ARequestThatWasDeniedIsSettledButMayBeSentAgain) {
  FoldHistory history = at_version(5);
  EXPECT_FALSE(
      fold(history.state, produced(history, "a", 10, 0, {RequestDenied{kConfig, 403, "Forbidden", ""}})).refusal);
  EXPECT_TRUE(fold(history.state, produced(history, "a", 10)).refusal->settled) << "a zombie carries it out too late";
  EXPECT_FALSE(fold(history.state, produced(history, "a", 11)).refusal) << "sent again with the same id";
  EXPECT_TRUE(fold(history.state, produced(history, "a", 12)).refusal->settled);
}

TEST(ProducedRequests, AnIdIsOneUsersAndCountsOverHttpToo) {
  FoldHistory history = at_version(5);
  EXPECT_FALSE(fold(history.state, produced(history, "a", 10)).refusal);
  Entry of_bob = produced(history, "a", 11);
  of_bob.actor.user = "bob";
  EXPECT_FALSE(fold(history.state, of_bob).refusal);
  Entry over_http = produced(history, "a", 0);
  over_http.source.topic = "";
  EXPECT_TRUE(fold(history.state, over_http).refusal->settled);
}

TEST(ProducedRequests, AnEntryThatIsRefusedForAnotherReasonSettlesNothing) {
  FoldHistory history = at_version(5);
  Entry stale = produced(history, "a", 10);
  stale.expects = {{kConfig, Revision{999}}};
  const Folded refused = fold(history.state, stale);
  ASSERT_TRUE(refused.refusal);
  EXPECT_FALSE(refused.refusal->settled);
  EXPECT_FALSE(fold(history.state, produced(history, "a", 10)).refusal) << "computed again from the newer object";
}

TEST(ProducedRequests, WhatIsBehindTheMarkIsSettledWhateverItWas) {
  FoldHistory history = at_version(5);
  fold(history.state, produced(history, "a", 10, 8));
  EXPECT_TRUE(fold(history.state, produced(history, "b", 7)).refusal->settled);
  EXPECT_FALSE(fold(history.state, produced(history, "c", 8)).refusal);
  fold(history.state, produced(history, "d", 20, 3));
  EXPECT_EQ(history.state.settled(kTopic, 2).done_before(), 8) << "a mark never falls";
  EXPECT_EQ(history.state.settled(kTopic, 2).end(), 21);
}

TEST(ProducedRequests, MeanNothingBeforeFoldVersionFive) {
  FoldHistory history = at_version(4);
  EXPECT_FALSE(fold(history.state, produced(history, "a", 10)).refusal);
  EXPECT_FALSE(fold(history.state, produced(history, "a", 10)).refusal);
  EXPECT_TRUE(history.state.meta().settled.empty());
}

TEST(ProducedRequests, SoManyGapsAreRefusedAsARequestThatMayComeLater) {
  FoldHistory history = at_version(5);
  for (size_t gap = 0; gap < SettledOffsets::kMostRanges; ++gap) {
    const auto offset = static_cast<int64_t>(2 * gap);
    ASSERT_FALSE(fold(history.state, produced(history, std::to_string(gap), offset)).refusal);
  }
  const auto end = static_cast<int64_t>(2 * SettledOffsets::kMostRanges);
  const Folded beyond = fold(history.state, produced(history, "beyond", end));
  ASSERT_TRUE(beyond.refusal);
  EXPECT_EQ(beyond.refusal->code, ErrorCode::kTooManyRequests);
  EXPECT_FALSE(beyond.refusal->settled);
  EXPECT_FALSE(fold(history.state, produced(history, "fills a gap", 1)).refusal);
  EXPECT_FALSE(fold(history.state, produced(history, "now there is room", end)).refusal);
}

// Consumers come and go: each begins at the committed position and delivers on in its own order, also records that
// others have appended already, late entries of consumers that were replaced are mixed in, and the state is restored in
// between. Each record is carried out once.
TEST(ProducedRequests, AnyOrderOfRedeliveriesCarriesEachRecordOutOnce) {
  for (uint64_t seed = 1; seed <= 30; ++seed) {
    FoldHistory history = at_version(5);
    SeededRandom random{seed};
    constexpr int64_t kRecords = 200;
    constexpr int64_t kWindow = 16;
    int64_t committed = 0;
    std::map<int64_t, int> applied;
    std::vector<EntryId> requests;
    std::vector<Entry> late;
    const auto append = [&](const Entry& entry) {
      const Folded folded = fold(history.state, entry);
      if (folded.refusal) {
        EXPECT_TRUE(folded.refusal->settled) << folded.refusal->reason;
        return;
      }
      ++applied[entry.source.offset];
      requests.push_back(request_key("alice", entry.source.id));
    };
    while (committed < kRecords) {
      const int64_t end = std::min(committed + kWindow, kRecords);
      std::vector<int64_t> window;
      for (int64_t offset = committed; offset < end; ++offset) window.push_back(offset);
      for (size_t at = window.size(); at > 1; --at) std::swap(window[at - 1], window[random_below(random, at)]);
      const size_t crash_after = random_below(random, window.size() + 1);
      for (size_t at = 0; at < window.size(); ++at) {
        // The id is the record's own, as nothing but the record identifies what is delivered again.
        Entry entry = produced(history, "r" + std::to_string(window[at]), window[at], committed);
        at < crash_after ? append(entry) : late.push_back(entry);
      }
      if (!late.empty() && random_below(random, 2) == 0) {
        const size_t which = random_below(random, late.size());
        append(late[which]);
        late.erase(late.begin() + static_cast<std::ptrdiff_t>(which));
      }
      if (random_below(random, 4) == 0) history.state = restored(history.state, requests);
      // What is committed is a prefix of what was appended.
      while (committed < kRecords && applied.contains(committed)) ++committed;
      if (random_below(random, 3) == 0) committed = std::max<int64_t>(0, committed - 5);  // the commit was lost
      if (applied.size() == kRecords) committed = kRecords;
    }
    for (const Entry& entry : late) append(entry);
    EXPECT_EQ(applied.size(), static_cast<size_t>(kRecords)) << "seed " << seed;
    for (const auto& [offset, times] : applied) EXPECT_EQ(times, 1) << "offset " << offset << ", seed " << seed;
  }
}

// After the window of requests has passed, the record alone is what tells.
TEST(ProducedRequests, ARecordStaysSettledAfterTheWindowOfIds) {
  FoldHistory history = at_version(5);
  ASSERT_FALSE(fold(history.state, produced(history, "first", 0)).refusal);
  const auto last = static_cast<int64_t>(State::kRequestWindow) + 1;
  for (int64_t offset = 1; offset <= last; ++offset) {
    fold(history.state, produced(history, "r" + std::to_string(offset), offset, std::max<int64_t>(0, offset - 8), {}));
  }
  ASSERT_FALSE(history.state.carried_out(request_key("alice", "first")));
  EXPECT_TRUE(fold(history.state, produced(history, "first", 0)).refusal->settled);
}

TEST(SettledOffsets, AreASetWithAMark) {
  SeededRandom random{11};
  SettledOffsets settled;
  std::set<int64_t> model;
  int64_t mark = 0;
  for (int step = 0; step < 3000; ++step) {
    const auto offset = static_cast<int64_t>(random_below(random, 300));
    if (random_below(random, 20) == 0) {
      settled.raise(offset / 2);
      mark = std::max(mark, offset / 2);
    } else {
      settled.insert(offset);
      model.insert(offset);
    }
    const auto probe = static_cast<int64_t>(random_below(random, 300));
    ASSERT_EQ(settled.contains(probe), probe < mark || model.contains(probe)) << "step " << step;
    ASSERT_EQ(settled, (SettledOffsets{settled.done_before(), settled.ranges()})) << "step " << step;
    for (size_t at = 1; at < settled.ranges().size(); ++at) {
      ASSERT_GT(settled.ranges()[at].first, settled.ranges()[at - 1].second + 1) << "neither touches the other";
    }
  }
}

}  // namespace
}  // namespace shiplog
