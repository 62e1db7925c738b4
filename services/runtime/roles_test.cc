#include "services/runtime/roles.h"

#include <algorithm>
#include <string>

#include "tests/support/roles_fixture.h"

namespace shiplog {
namespace {

/// The value of a series; -1: it is not exported.
double value_of(const std::string& series) {
  const std::string text = "\n" + metrics::text();
  const size_t found = text.find("\n" + series + " ");
  return found == std::string::npos ? -1 : std::strtod(text.c_str() + found + series.size() + 2, nullptr);
}

TEST_F(RolesTest, FollowsWithoutActingUntilElected) {
  RolesProcess one{journal, executor, random, "one"};
  processes = {&one};
  create("a");
  EXPECT_EQ(one.seen.changes, 1);
  EXPECT_TRUE(one.seen.tasks.empty());
  one.election.say(true);
  settle();
  EXPECT_TRUE(one.roles.acting("watcher"));
  EXPECT_EQ(one.replica.state().lease("watcher"), (Lease{"one", 1}));
  ASSERT_EQ(one.seen.tasks.size(), 1U);
  EXPECT_EQ(one.seen.tasks[0]->key().name, "a");
}

TEST_F(RolesTest, HandsOutAKeyThatAChangeTriggers) {
  RolesProcess one{journal, executor, random, "one"};
  lead(one);
  create("a");
  ASSERT_EQ(one.seen.tasks.size(), 1U);
  EXPECT_EQ(one.roles.due_or_busy(), 1U);
  one.seen.tasks[0]->done();
  EXPECT_EQ(one.roles.due_or_busy(), 0U);
}

/// What an older version refused, the newer one may place: nothing else would trigger it.
TEST_F(RolesTest, GoesThroughAllKeysWhenAFoldVersionIsActivated) {
  RolesProcess one{journal, executor, random, "one"};
  RolesProcess two{journal, executor, random, "two"};
  lead(one, two);
  create("a");
  create("b");
  ASSERT_EQ(one.seen.tasks.size(), 2U);
  for (const TaskPtr& task : std::vector<TaskPtr>{one.seen.tasks}) task->done();
  Entry entry;
  entry.id = new_entry_id(random);
  entry.events = {FoldVersionActivated{2}};
  journal.records.push_back(encode(entry));
  settle();
  ASSERT_EQ(one.seen.tasks.size(), 4U);
  EXPECT_EQ(one.seen.tasks[2]->key().name, "a");
  EXPECT_EQ(one.seen.tasks[3]->key().name, "b");
  EXPECT_TRUE(two.seen.tasks.empty()) << "it does not lead";
}

TEST_F(RolesTest, ReconcilesAgainAfterTheTimeGivenToDone) {
  RolesProcess one{journal, executor, random, "one"};
  lead(one);
  create("a");
  one.seen.tasks[0]->done(Millis{500});
  settle(Millis{499});
  EXPECT_EQ(one.seen.tasks.size(), 1U);
  settle(Millis{1});
  EXPECT_EQ(one.seen.tasks.size(), 2U);
}

TEST_F(RolesTest, AWakerTriggersItsKeyAfterItsDelayUntilTheLeaseIsLost) {
  RolesProcess one{journal, executor, random, "one"};
  lead(one);
  create("a");
  const std::function<void()> wake = one.seen.tasks[0]->waker(Millis{20});
  one.seen.tasks[0]->done();
  settle(Millis{1'000});
  EXPECT_EQ(one.seen.tasks.size(), 1U) << "it rests";
  for (const size_t tasks : {2U, 3U}) {
    wake();
    settle(Millis{19});
    EXPECT_EQ(one.seen.tasks.size(), tasks - 1);
    settle(Millis{1});
    ASSERT_EQ(one.seen.tasks.size(), tasks);
    EXPECT_EQ(one.seen.tasks.back()->key().name, "a");
    one.seen.tasks.back()->done();
  }
  wake();
  one.election.say(false);
  settle(Millis{1'000});
  wake();
  settle(Millis{1'000});
  EXPECT_EQ(one.seen.tasks.size(), 3U);
}

TEST_F(RolesTest, AWakerMayBeCalledWhenTheRolesAreDestroyed) {
  std::function<void()> wake;
  {
    RolesProcess one{journal, executor, random, "one"};
    lead(one);
    create("a");
    wake = one.seen.tasks[0]->waker(Millis{20});
    one.seen.tasks[0]->done();
    wake();
    processes.clear();
  }
  wake();
  executor.run(Millis{1'000});
}

TEST_F(RolesTest, ReconcilesAgainAlsoWhenTheClockFallsBackMeanwhile) {
  RolesProcess one{journal, executor, random, "one"};
  lead(one);
  create("a");
  one.seen.tasks[0]->done(Millis{500});
  executor.jump(Millis{-10'000});
  settle(Millis{11'000});
  EXPECT_EQ(one.seen.tasks.size(), 2U);
}

TEST_F(RolesTest, TheNewerLeaseEndsTheOlder) {
  RolesProcess one{journal, executor, random, "one"};
  RolesProcess two{journal, executor, random, "two"};
  lead(one, two);
  create("a");
  ASSERT_EQ(one.seen.tasks.size(), 1U);
  two.election.say(true);
  settle();
  EXPECT_TRUE(two.roles.acting("watcher"));
  EXPECT_FALSE(one.roles.acting("watcher"));
  EXPECT_EQ(one.seen.stops, 1);

  // The steps of the old leader have no effect.
  const size_t before = journal.records.size();
  bool answered = false;
  one.seen.tasks[0]->append_decision({{ObjectRemoved{{type::kNamespace, "", "a"}}}, {}},
                                     [&](const Result<Revision>&) { answered = true; });
  settle();
  EXPECT_EQ(journal.records.size(), before);
  EXPECT_FALSE(answered);
}

TEST_F(RolesTest, AProcessThatStillLeadsTakesTheLeaseAgain) {
  RolesProcess one{journal, executor, random, "one"};
  RolesProcess two{journal, executor, random, "two"};
  lead(one, two);
  two.election.say(true);
  settle();
  two.election.say(false);
  settle(Millis{500});
  settle();
  EXPECT_TRUE(one.roles.acting("watcher"));
  EXPECT_EQ(one.replica.state().lease("watcher").epoch, 3U);
}

TEST_F(RolesTest, AProcessReplacedWhileFrozenHasTimeToLearnIt) {
  RolesProcess one{journal, executor, random, "one"};
  RolesProcess two{journal, executor, random, "two"};
  lead(one, two);
  two.election.say(true);
  settle(Millis{200});
  one.election.say(false);  // reported by the election a moment after the journal
  settle(Millis{2000});
  EXPECT_TRUE(two.roles.acting("watcher"));
  EXPECT_EQ(two.replica.state().lease("watcher").epoch, 2U) << "the lease did not go back and forth";
}

TEST_F(RolesTest, OfTwoThatTakeTheLeaseAtOnceOneActs) {
  RolesProcess one{journal, executor, random, "one"};
  RolesProcess two{journal, executor, random, "two"};
  processes = {&one, &two};
  settle();
  one.election.say(true);
  two.election.say(true);
  settle();
  EXPECT_NE(one.roles.acting("watcher"), two.roles.acting("watcher"));
}

TEST_F(RolesTest, AnOldDecisionInTheJournalIsRefusedByItsFence) {
  RolesProcess one{journal, executor, random, "one"};
  RolesProcess two{journal, executor, random, "two"};
  lead(one, two);
  create("a");
  one.seen.tasks[0]->append_decision({{ObjectRemoved{{type::kNamespace, "", "a"}}}, {}},
                                     [](const Result<Revision>&) {});
  two.election.say(true);  // its LeaseTaken is computed before the decision is stored, and stored after it
  executor.run();
  // The journal's order decides: put the lease before the decision.
  std::swap(journal.records[journal.records.size() - 1], journal.records[journal.records.size() - 2]);
  settle();
  EXPECT_NE(two.replica.state().find({type::kNamespace, "", "a"}), nullptr);
}

TEST_F(RolesTest, AnEntryCarriesTheTimeAndTheRevisionItWasDecidedWith) {
  RolesProcess one{journal, executor, random, "one"};
  lead(one);
  create("a");
  const UtcMillis decided = one.seen.tasks[0]->now();
  executor.run(Millis{50});
  one.seen.tasks[0]->append_decision({{ObjectRemoved{{type::kNamespace, "", "a"}}}, {}},
                                     [](const Result<Revision>&) {});
  executor.run();
  const Entry entry = decode(journal.records.back()).value();
  EXPECT_EQ(entry.time, decided);
  EXPECT_EQ(entry.as_of, Revision{1});
  EXPECT_EQ(entry.request.verb, "decide");
  EXPECT_EQ(entry.request.path, "namespaces/a");
  EXPECT_EQ(entry.fence, (Fence{"watcher", 1}));
  EXPECT_EQ(entry.cause.revision, Revision{1});
}

TEST_F(RolesTest, DecisionBelongsToTheTraceOfTheEntryThatTriggeredIt) {
  RolesProcess leader{journal, executor, random, "one"};
  lead(leader);
  create("a", {{}, {}, "4bf92f3577b34da6a3ce929d0e0e4736-01"});
  leader.seen.tasks[0]->append_decision({{ObjectRemoved{{type::kNamespace, "", "a"}}}, {}},
                                        [](const Result<Revision>&) {});
  executor.run();
  const Cause cause = decode(journal.records.back()).value().cause;
  EXPECT_EQ(cause.trace_id, "4bf92f3577b34da6a3ce929d0e0e4736-01");
  EXPECT_EQ(leader.seen.tasks[0]->trace(), (TraceContext{"4bf92f3577b34da6a3ce929d0e0e4736", true}));
}

TEST_F(RolesTest, WhatFollowsFromAnEntryWithoutATraceBeginsOne) {  // entries of earlier builds have none
  RolesProcess leader{journal, executor, random, "one"};
  lead(leader);
  create("a");
  leader.seen.tasks[0]->append_decision({{ObjectRemoved{{type::kNamespace, "", "a"}}}, {}},
                                        [](const Result<Revision>&) {});
  executor.run();
  const Cause cause = decode(journal.records.back()).value().cause;
  EXPECT_EQ(cause.trace_id.size(), 32U);
  EXPECT_EQ(cause.trace_id, leader.seen.tasks[0]->trace().id) << "calls and entries of one step share it";
}

TEST_F(RolesTest, ObservationThatItsCauseDidNotBringAboutBeginsATrace) {
  RolesProcess leader{journal, executor, random, "one"};
  lead(leader);
  create("a", {{}, {}, "4bf92f3577b34da6a3ce929d0e0e4736-01"});
  leader.seen.tasks[0]->begin_trace();
  leader.seen.tasks[0]->append_observation({{ObjectRemoved{{type::kNamespace, "", "a"}}}, {}},
                                           [](const Result<Revision>&) {});
  executor.run();
  const Cause cause = decode(journal.records.back()).value().cause;
  EXPECT_EQ(cause.trace_id.size(), 32U) << "not sampled";
  EXPECT_TRUE(cause.entry_id.empty()) << "what queued the key, possibly days ago, did not lead to it";
  EXPECT_EQ(cause.revision, Revision{});
  EXPECT_FALSE(cause.trace_id.starts_with("4bf92f3577b34da6a3ce929d0e0e4736"));
}

// A key that waits for a time keeps the cause that made it wait when a cluster is merely measured again; a change of
// the cluster's taints is a cause of its own.
TEST_F(RolesTest, MeasuringAClusterIsNoCauseOfWhatWaitsForATime) {
  RolesProcess leader{journal, executor, random, "one"};
  lead(leader);
  const ObjectKey cluster{type::kCluster, "", "m1"};
  const auto change = [&](const char* field, const char* text) {
    Entry entry;
    entry.id = new_entry_id(random);
    entry.time = executor.now();
    Value object = leader.replica.state().value_of(cluster);
    if (object.is_null()) {
      object = named("m1");
      entry.events = {ObjectCreated{cluster, object}};
    } else {
      object.edit(field).set("text", text);
      entry.events = {field == std::string{"spec"} ? Event{ObjectUpdated{cluster, object}}
                                                   : Event{StatusUpdated{cluster, object}}};
    }
    journal.records.push_back(encode(entry));
    settle();
    return entry.id;
  };
  const auto cause_of_next = [&] {
    const TaskPtr task = leader.seen.tasks.back();
    task->append_observation({{StatusUpdated{cluster, leader.replica.state().value_of(cluster)}}, {}},
                             [](const Result<Revision>&) {});
    executor.run();
    const EntryId id = decode(journal.records.back()).value().cause.entry_id;
    journal.records.pop_back();
    return id;
  };
  const EntryId created = change("", "");
  leader.seen.tasks.back()->done(Millis{60'000});
  change("status", "measured");
  ASSERT_EQ(leader.seen.tasks.size(), 2U);
  EXPECT_EQ(cause_of_next(), created);
  change("status", "measured during its step");
  leader.seen.tasks.back()->done(Millis{60'000});
  settle();
  ASSERT_EQ(leader.seen.tasks.size(), 3U);
  EXPECT_EQ(cause_of_next(), created);
  leader.seen.tasks.back()->done(Millis{60'000});
  const EntryId tainted = change("spec", "tainted");
  ASSERT_EQ(leader.seen.tasks.size(), 4U);
  EXPECT_EQ(cause_of_next(), tainted);
}

// Leases, timers, start-up: whatever has no trace when it is appended begins one.
TEST_F(RolesTest, NoEntryIsWithoutATrace) {
  RolesProcess leader{journal, executor, random, "one"};
  lead(leader);
  Entry entry;
  entry.events = {ObjectCreated{{type::kNamespace, "", "a"}, named("a")}};
  leader.replica.append(std::move(entry), [](const Result<Outcome>&) {});
  ASSERT_EQ(journal.records.size(), 2U) << "the lease, and this one";
  std::set<std::string> traces;
  for (const std::string& record : journal.records) {
    const Entry stored = decode(record).value();
    const std::string header = "00-" + stored.cause.trace_id + "-00f067aa0ba902b7-00";
    EXPECT_TRUE(parse_traceparent(header).has_value()) << header;
    traces.insert(stored.cause.trace_id);
  }
  EXPECT_EQ(traces.size(), 2U);
}

TEST_F(RolesTest, FiguresAreThoseOfTheQueueWhileTheRoleActsHere) {
  RolesProcess leader{journal, executor, random, "one", 1};
  RolesProcess standby{journal, executor, random, "two"};
  lead(leader, standby);
  for (const char* name : {"a", "b", "c"}) create(name);
  executor.run(Millis{70});
  const RoleFigures acting = leader.roles.figures().at(0);
  EXPECT_TRUE(acting.acting);
  EXPECT_EQ(acting.epoch, 1U);
  EXPECT_EQ(acting.busy, 1U);
  EXPECT_EQ(acting.queued, 2U);
  EXPECT_EQ(acting.waiting, Millis{70});
  leader.seen.tasks[0]->retry(Error{ErrorCode::kUnavailable, "not now"});
  EXPECT_EQ(leader.roles.figures().at(0).retries, 1U);
  const RoleFigures following = standby.roles.figures().at(0);
  EXPECT_FALSE(following.acting);
  EXPECT_EQ(following.queued + following.busy, 0U);
}

TEST_F(RolesTest, KeepsToTheNumberOfStepsUnderWay) {
  RolesProcess one{journal, executor, random, "one", 2};
  lead(one);
  for (const char* name : {"a", "b", "c"}) create(name);
  EXPECT_EQ(one.seen.tasks.size(), 2U);
  one.seen.tasks[0]->done();
  settle();
  EXPECT_EQ(one.seen.tasks.size(), 3U);
}

TEST_F(RolesTest, AChangeAfterTheStartComesBeforeWhatWasQueuedThen_8_3_1) {
  RolesProcess one{journal, executor, random, "one", 1};
  processes = {&one};
  for (const char* name : {"a", "b", "c", "d"}) create(name);
  one.election.say(true);
  settle();
  ASSERT_EQ(one.seen.tasks.size(), 1U) << "one step at a time";
  EXPECT_EQ(value_of(R"(workqueue_depth{name="watcher",priority="-100"})"), 3);
  create("z", {{}, {}, "4bf92f3577b34da6a3ce929d0e0e4736-01"});
  Entry touched;
  touched.id = new_entry_id(random);
  touched.time = executor.now();
  touched.cause.trace_id = "00f067aa0ba902b74bf92f3577b34da6-01";
  touched.events = {ObjectUpdated{{type::kNamespace, "", "d"}, named("d")}};
  std::get<ObjectUpdated>(touched.events[0]).value.set("more", true);
  journal.records.push_back(encode(touched));
  settle();
  EXPECT_EQ(value_of(R"(workqueue_depth{name="watcher",priority="0"})"), 2) << "d was raised";
  EXPECT_EQ(value_of(R"(workqueue_depth{name="watcher",priority="-100"})"), 2);
  std::string order;
  for (size_t step = 0; step < one.seen.tasks.size() && step < 10; ++step) {
    order += one.seen.tasks[step]->key().name;
    if (order.back() == 'd') {
      EXPECT_EQ(one.seen.tasks[step]->trace().id, "00f067aa0ba902b74bf92f3577b34da6") << "of the change";
    }
    one.seen.tasks[step]->done();
    settle();
  }
  EXPECT_EQ(order, "adzbc");
}

TEST_F(RolesTest, StepsOfRoutineLeaveSomeForChanges_8_3_1) {
  RolesProcess one{journal, executor, random, "one", 4};
  processes = {&one};
  for (const char* name : {"a", "b", "c", "d", "e"}) create(name);
  one.election.say(true);
  settle();
  ASSERT_EQ(one.seen.tasks.size(), 3U) << "none of them ends, as with a member that does not answer";
  create("z");
  ASSERT_EQ(one.seen.tasks.size(), 4U);
  EXPECT_EQ(one.seen.tasks[3]->key().name, "z");
  one.seen.tasks[0]->done();
  settle();
  ASSERT_EQ(one.seen.tasks.size(), 5U) << "the next of the routine follows the end of one";
  EXPECT_EQ(one.seen.tasks[4]->key().name, "d");
  one.seen.tasks[3]->done();
  settle();
  EXPECT_EQ(one.seen.tasks.size(), 5U);
}

TEST_F(RolesTest, AMemberThatHangsTakesNoStepsOfOthers) {
  /// The namespace "m1-7" is for the member m1.
  class OfMembers final : public Role {
   public:
    explicit OfMembers(Seen& seen) : seen_{seen} {}
    std::string_view name() const override { return "of-members"; }
    void on_change(const State&, const Change& change, std::vector<ObjectKey>& wake) override {
      wake.push_back(change.object);
    }
    void on_start(const State& state, std::vector<ObjectKey>& wake) override {
      for (const auto& [name, object] : state.objects(type::kNamespace)) {
        wake.push_back({type::kNamespace, "", name.name});
      }
    }
    std::string lane_of_key(const ObjectKey& key) const override { return std::string{key.name.substr(0, 2)}; }
    void reconcile(TaskPtr task) override { seen_.tasks.push_back(std::move(task)); }

   private:
    Seen& seen_;
  };
  RolesProcess one{journal, executor, random, "one"};
  processes = {&one};
  settle();
  Seen seen;
  Roles roles{{&one.replica, &executor, &random, &one.election, "test", 16}};
  roles.add(std::make_unique<OfMembers>(seen));
  roles.start();
  settle();
  for (int number = 0; number < 40; ++number) create(("m1-" + std::to_string(100 + number)).c_str());
  create("m2-1");  // behind the others, as they are in the order of their names
  one.election.say("of-members", true);
  settle();
  EXPECT_EQ(seen.tasks.size(), 12U) << "three quarters of the steps are for what is due at the start";
  const auto began = [&](const char* name) {
    return std::ranges::any_of(seen.tasks, [&](const TaskPtr& task) { return task->key().name == name; });
  };
  for (int number = 0; number < 20; ++number) create(("m1-" + std::to_string(200 + number)).c_str());
  EXPECT_EQ(seen.tasks.size(), 16U);
  create("m3-1");
  EXPECT_FALSE(began("m3-1"));
  settle(ReconcileQueue::kSlow);
  EXPECT_TRUE(began("m2-1")) << "m1 has not answered for a second";
  EXPECT_TRUE(began("m3-1"));
  EXPECT_EQ(seen.tasks.size(), 18U) << "and none of m1 begins while so many wait for it";
  create("m4-1");
  EXPECT_TRUE(began("m4-1"));
}

TEST_F(RolesTest, WhatAPolicyConcernsWaitsBehindChanges_8_3_2) {
  /// Every policy concerns all namespaces.
  class Selecting final : public Role {
   public:
    explicit Selecting(Seen& seen) : seen_{seen} {}
    std::string_view name() const override { return "selecting"; }
    void on_change(const State& state, const Change& change, std::vector<ObjectKey>& wake) override {
      if (change.object.type == type::kNamespace) wake.push_back(change.object);
      if (change.object.type == type::kClusterPropagationPolicy) on_start(state, wake);
    }
    void on_start(const State& state, std::vector<ObjectKey>& wake) override {
      for (const auto& [name, object] : state.objects(type::kNamespace)) {
        wake.push_back({type::kNamespace, "", name.name});
      }
    }
    void reconcile(TaskPtr task) override { seen_.tasks.push_back(std::move(task)); }

   private:
    Seen& seen_;
  };
  RolesProcess one{journal, executor, random, "one"};
  processes = {&one};
  settle();
  Seen seen;
  Roles roles{{&one.replica, &executor, &random, &one.election, "test", 1}};
  roles.add(std::make_unique<Selecting>(seen));
  roles.start();
  settle();
  one.election.say("selecting", true);
  settle();
  for (const char* name : {"a", "b", "c"}) create(name);
  Entry entry;
  entry.id = new_entry_id(random);
  entry.time = executor.now();
  entry.events = {ObjectCreated{{type::kClusterPropagationPolicy, "", "p"}, named("p")}};
  journal.records.push_back(encode(entry));
  settle();
  create("z");
  std::string order;
  for (size_t step = 0; step < seen.tasks.size() && step < 10; ++step) {
    order += seen.tasks[step]->key().name;
    seen.tasks[step]->done();
    settle();
  }
  EXPECT_EQ(order, "abcza") << "a once more for the policy, which had been handed out before";
}

TEST_F(RolesTest, StopsCleanly) {
  RolesProcess one{journal, executor, random, "one"};
  lead(one);
  create("a");
  one.roles.stop();
  EXPECT_TRUE(one.election.resigned);
  EXPECT_EQ(one.seen.stops, 1);
  one.seen.tasks[0]->done();  // has no effect
  EXPECT_EQ(one.roles.due_or_busy(), 0U);
}

TEST_F(RolesTest, StepsMayEndWhenTheRolesAreDestroyed) {
  auto one = std::make_unique<RolesProcess>(journal, executor, random, "one");
  processes = {one.get()};
  settle();
  one->election.say(true);
  settle();
  create("a");
  const TaskPtr held = one->seen.tasks[0];
  processes.clear();
  one.reset();
  held->done();
  held->retry(Error{ErrorCode::kUnavailable, "too late"});
}

TEST_F(RolesTest, ExportsItsLeaseItsQueueAndItsSteps) {
  const double failed = value_of(R"(controller_runtime_reconcile_total{controller="watcher",result="error"})");
  const double later = value_of(R"(controller_runtime_reconcile_total{controller="watcher",result="requeue_after"})");
  RolesProcess one{journal, executor, random, "one", 1};
  EXPECT_EQ(value_of(R"(leader_election_master_status{name="watcher"})"), 0);
  lead(one);
  EXPECT_EQ(value_of(R"(leader_election_master_status{name="watcher"})"), 1);
  create("a");
  create("b");
  ASSERT_EQ(one.seen.tasks.size(), 1U);
  EXPECT_EQ(value_of(R"(workqueue_depth{name="watcher",priority="0"})"), 1) << "one step at a time";
  EXPECT_GT(value_of(R"(workqueue_longest_running_processor_seconds{name="watcher"})"), 0);
  one.seen.tasks[0]->done(Millis{60'000});
  settle();
  ASSERT_EQ(one.seen.tasks.size(), 2U);
  EXPECT_EQ(value_of(R"(workqueue_depth{name="watcher",priority="0"})"), 0);
  one.seen.tasks[1]->retry(Error{ErrorCode::kUnavailable, "not now"});
  EXPECT_EQ(value_of(R"(controller_runtime_reconcile_total{controller="watcher",result="error"})"),
            std::max(failed, 0.0) + 1);
  EXPECT_EQ(value_of(R"(controller_runtime_reconcile_total{controller="watcher",result="requeue_after"})"),
            std::max(later, 0.0) + 1);
  EXPECT_EQ(value_of(R"(workqueue_longest_running_processor_seconds{name="watcher"})"), 0);
  one.roles.stop();
  EXPECT_EQ(value_of(R"(leader_election_master_status{name="watcher"})"), 0);
}

}  // namespace
}  // namespace shiplog
