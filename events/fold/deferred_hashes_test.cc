// State hashes that are computed when they are needed are those that the fold computes.

#include <random>

#include <gtest/gtest.h>

#include "events/base/json.h"
#include "events/fold/fold.h"
#include "tests/support/fold_history.h"
#include "tests/support/literals.h"

namespace shiplog {
namespace {

using namespace testing;
using test::json;

ObjectKey numbered(size_t number) { return {"configmaps", "default", "c" + std::to_string(number)}; }

/// Creations, edits, removals and refusals of a few objects, so that each changes often.
std::vector<Entry> random_entries(size_t count) {
  FoldHistory history;
  std::mt19937 random{11};
  std::vector<Entry> entries{history.entry({ObjectCreated{kNamespaceKey, json(R"({"metadata":{"name":"default"}})")}})};
  for (size_t step = 0; step < count; ++step) {
    const ObjectKey key = numbered(random() % 9);
    Value value = Value::object({{"metadata", Value::object({{"name", key.name}})}});
    value.set("data", Value::object({{"step", step}}));
    switch (random() % 4) {
      case 0:
        entries.push_back(history.entry({ObjectRemoved{key}}));
        break;
      case 1:
        entries.push_back(history.entry({ObjectUpdated{key, std::move(value)}}));
        break;
      default:
        entries.push_back(history.entry({ObjectCreated{key, std::move(value)}}));
    }
  }
  return entries;
}

TEST(DeferredHashes, AreTheSame) {
  const std::vector<Entry> entries = random_entries(2'000);
  State plain;
  State deferred;
  deferred.defer_hashes();
  State never_settled = deferred;
  std::mt19937 random{5};
  size_t accepted = 0;
  for (const Entry& entry : entries) {
    const Folded expected = fold(plain, entry);
    const Folded folded = fold(deferred, entry);
    fold(never_settled, entry);
    accepted += expected.refusal ? 0 : 1;
    ASSERT_EQ(folded.refusal.has_value(), expected.refusal.has_value());
    ASSERT_EQ(folded.revision, expected.revision);
    ASSERT_EQ(folded.changes.size(), expected.changes.size());
    for (const Change& change : folded.changes) EXPECT_EQ(change.json, nullptr);
    if (random() % 50 == 0) {
      ASSERT_EQ(deferred.hash(), plain.hash()) << "computed for a look";
    }
    if (random() % 50 == 0) {
      deferred.settle_hashes();
      ASSERT_EQ(deferred.hash(), plain.hash());
      ASSERT_EQ(deferred.hash_at(deferred.revision()), plain.hash());
    }
  }
  EXPECT_GT(accepted, 500U);
  EXPECT_EQ(never_settled.hash(), plain.hash());
  State copy = deferred;
  for (State* state : {&deferred, &never_settled, &copy}) {
    state->end_deferred_hashes();
    EXPECT_EQ(state->meta().hash, plain.meta().hash);
    for (const auto& [name, object] : plain.objects("configmaps")) {
      const ObjectKey key{"configmaps", name.ns, name.name};
      ASSERT_NE(state->find(key), nullptr);
      EXPECT_EQ(state->find(key)->hash, object.hash) << name.name;
    }
  }
  // From then on the fold computes them again.
  const Entry next = FoldHistory{}.entry({ObjectRemoved{numbered(1)}});
  fold(plain, next);
  const Folded folded = fold(deferred, next);
  if (!folded.refusal) {
    EXPECT_NE(folded.changes.at(0).json, nullptr);
  }
  EXPECT_EQ(deferred.hash(), plain.hash());
}

TEST(DeferredHashes, ThoseThatDecisionsReadAreNotDeferred) {
  FoldHistory plain = FoldHistory::with_namespace();
  FoldHistory history = FoldHistory::with_namespace();
  history.state.defer_hashes();
  for (FoldHistory* each : {&plain, &history}) each->create_binding();
  ASSERT_NE(history.state.find(kBindingKey), nullptr);
  EXPECT_EQ(history.state.find(kBindingKey)->hash, Hash128{}) << "its own placement alone reads it";
  Value grouped = history.state.value_of(kBindingKey);
  grouped.edit("spec").set("workloadAffinityGroups", json(R"({"affinityGroup":"db"})"));
  for (FoldHistory* each : {&plain, &history}) each->put({ObjectUpdated{kBindingKey, grouped}});
  EXPECT_NE(history.state.find(kBindingKey)->hash, Hash128{}) << "each placement of the group reads it";
  EXPECT_EQ(history.state.hash(), plain.state.hash());
  history.state.settle_hashes();
  EXPECT_EQ(history.state.hash(), plain.state.hash());
}

TEST(DeferredHashes, ARecordedHashIsComparedWhereItWasSettled) {
  FoldHistory history = FoldHistory::with_namespace();
  history.state.defer_hashes();
  history.create_config();
  const Revision settled = history.state.revision();
  history.state.settle_hashes();
  const Hash128 right = history.state.hash();
  Hash128 wrong = right;
  wrong.hi ^= 1;
  history.put({ObjectUpdated{kConfig, json(R"({"metadata":{"name":"settings"},"data":{"a":"2"}})")}});
  EXPECT_FALSE(history.put({StateHashed{settled, right}}).stop);
  EXPECT_TRUE(history.put({StateHashed{settled, wrong}}).stop);
}

}  // namespace
}  // namespace shiplog
