// What the fold remembers of evictions: those that rate and budget count, and the steps of hand-overs.
#include <gtest/gtest.h>

#include "events/base/json.h"
#include "events/base/random.h"
#include "events/fold/fold.h"
#include "events/state/eviction_record.h"
#include "events/state/failover_record.h"

namespace shiplog {
namespace {

struct EvictionHistory {
  State state;
  SeededRandom random{7};
  UtcMillis now{1'767'355'200'000};  // 2026-01-02T12:00:00Z
  const ObjectKey web{type::kResourceBinding, "default", "web"};

  explicit EvictionHistory(uint32_t version) {
    put({FoldVersionActivated{version}});
    const Value ns = Value::object({{"metadata", Value::object({{"name", "default"}})}});
    put({ObjectCreated{{type::kNamespace, "", "default"}, ns}});
    put({BindingPut{web,
                    parse_json(R"({"metadata":{"name":"web","namespace":"default"},
                                   "spec":{"clusters":[{"name":"m1"},{"name":"m2"}]}})")
                        .value(),
                    {}}});
  }
  Folded put(std::vector<Event> events) {
    Entry entry;
    entry.id = new_entry_id(random);
    entry.time = now = now + Millis{1000};
    entry.events = std::move(events);
    return fold(state, entry);
  }
  Folded evict(const std::string& cluster, const std::string& producer) {
    EvictionStarted event;
    event.binding = web;
    event.cluster = cluster;
    event.reason = "TaintUntolerated";
    event.producer = producer;
    return put({event});
  }
  const Value& record() const { return state.value_of(eviction_record_key()); }
};

TEST(EvictionRecord, CountsEvictionsForTaintsFromVersion7On) {
  EvictionHistory old{6};
  EXPECT_FALSE(old.evict("m1", kTaintManager).refusal);
  EXPECT_TRUE(old.record().is_null());

  EvictionHistory history{7};
  EXPECT_FALSE(history.evict("m1", "resource-binding-application-failover-controller").refusal);
  EXPECT_TRUE(history.record().is_null()) << "those of another producer have no rate, and a budget only if one is set";
  EXPECT_FALSE(history.evict("m2", kTaintManager).refusal);
  EXPECT_EQ(history.record()["window"][0]["evictions"], Value{1});
  EXPECT_EQ(history.record()["clusters"]["m2"], Value{history.now.value});
  EXPECT_TRUE(history.evict("m2", kTaintManager).refusal) << "it is not placed there any more";
  EXPECT_EQ(history.record()["window"][0]["evictions"], Value{1}) << "what is refused is not counted";
}

TEST(EvictionRecord, CountsAllEvictionsWhileThereIsABudget) {
  EvictionHistory history{7};
  history.put({OptionsSet{{{"eviction-budget", {"evictions=5"}}}}});
  EXPECT_FALSE(history.evict("m1", "resource-binding-application-failover-controller").refusal);
  EXPECT_EQ(history.record()["window"][0]["evictions"], Value{1});
  history.put({OptionsSet{{{"eviction-budget", {}}}}});
  EXPECT_FALSE(history.evict("m2", "resource-binding-application-failover-controller").refusal);
  EXPECT_EQ(history.record()["window"][0]["evictions"], Value{1});
}

TEST(EvictionTask, AClusterHasOneAtMostAndTheOldOneStays_2_6_2) {
  EvictionHistory history{7};
  history.evict("m1", "first");
  const Value first = history.state.value_of(history.web)["spec"]["gracefulEvictionTasks"];
  Value back = history.state.value_of(history.web);
  back.edit("spec").edit("clusters").push_back(Value::object({{"name", "m1"}}));
  ASSERT_FALSE(history.put({ObjectUpdated{history.web, back}}).refusal);
  EXPECT_FALSE(history.evict("m1", "second").refusal);
  const Value& spec = history.state.value_of(history.web)["spec"];
  EXPECT_EQ(spec["gracefulEvictionTasks"], first);
  EXPECT_EQ(spec["clusters"].size(), 1U) << "it is no target any more";
}

// A process whose clock was ahead has decided it.
TEST(EvictionRecord, AnEvictionOfATimeFarAheadHoldsUpNoOthers) {
  EvictionHistory history{7};
  history.put({OptionsSet{
      {{"resource-eviction-rate", {"0.5"}}, {"eviction-budget", {"evictions=1", "window=30s", "fraction=0.1"}}}}});
  const UtcMillis right = history.now;
  history.now = right + Millis{26 * 3'600'000};
  ASSERT_FALSE(history.evict("m1", kTaintManager).refusal);
  const EvictionAllowance unaffected{history.state, right};
  EXPECT_FALSE(unaffected.paced_until());
  EXPECT_FALSE(unaffected.exhausted("m2", 0));
  history.now = right;
  ASSERT_FALSE(history.evict("m2", kTaintManager).refusal);
  const EvictionAllowance used_up{history.state, history.now};
  EXPECT_TRUE(used_up.paced_until()) << "what is evicted then counts as ever";
  EXPECT_TRUE(used_up.exhausted("m1", 0));
  const EvictionAllowance later{history.state, history.now + Millis{35'000}};
  EXPECT_FALSE(later.paced_until());
  EXPECT_FALSE(later.exhausted("m1", 0));
}

TEST(EvictionRecord, HandOverIsForgottenWithTheTaskUnlessTheOldCopyMayRun) {
  for (const char* step : {"Stop", "Confirm", "Start"}) {
    EvictionHistory history{7};
    history.evict("m1", kTaintManager);
    history.put({HandoverStepTaken{history.web, "m1", step, ""}});
    EXPECT_FALSE(history.put({EvictionFinished{history.web, "m1", "grace period is over"}}).refusal);
    const std::string left = handover_step(history.state, history.web, "m1");
    EXPECT_EQ(left, std::string_view{step} == "Stop" ? "Stop" : "") << step;
  }
}

}  // namespace
}  // namespace shiplog
