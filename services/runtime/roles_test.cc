#include "services/runtime/roles.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>
#include <utility>

#include <gtest/gtest.h>

#include "events/codec/codec.h"
#include "services/runtime/log.h"
#include "services/runtime/manual_executor.h"
#include "services/runtime/metrics.h"
#include "services/runtime/trace.h"

namespace shiplog {
namespace {

/// Stores at once and hands the records to every replica on the next run().
class LoopJournal final : public Journal {
 public:
  std::vector<std::string> records;
  void append(std::string bytes, Appended done) override {
    records.push_back(std::move(bytes));
    done(Offset{static_cast<int64_t>(records.size()) - 1});
  }
  Result<std::unique_ptr<Tail>> tail(Offset) override {
    return Error{ErrorCode::kUnavailable, "not read in this test"};
  }
  Result<Offset> head() override { return Offset{static_cast<int64_t>(records.size())}; }
  Result<Offset> oldest() override { return Offset{0}; }
  Result<void> trim(Offset) override { return Error{ErrorCode::kUnavailable, "not trimmed in this test"}; }
  std::string describe() const override { return "loop"; }
};

class ManualElection final : public Election {
 public:
  explicit ManualElection(std::string identity) : identity_{std::move(identity)} {}
  const std::string& identity() const override { return identity_; }
  void campaign(const std::string& service, std::function<void(bool)> changed) override {
    changed_[service] = std::move(changed);
  }
  void withdraw(const std::string& service) override { changed_.erase(service); }
  void announce(const std::string&) override {}
  std::vector<std::string> candidates(const std::string&) override { return others; }
  void resign() override { resigned = true; }
  void say(bool leads) {
    for (const auto& [service, changed] : changed_) changed(leads);
  }
  void say(const std::string& service, bool leads) { changed_.at(service)(leads); }
  bool campaigns(const std::string& service) const { return changed_.contains(service); }
  bool resigned = false;
  std::vector<std::string> others;  ///< candidates for slots, with this one

 private:
  std::string identity_;
  std::map<std::string, std::function<void(bool)>> changed_;
};

/// What a test can see of a service: its tasks stay until the test ends them.
struct Seen {
  std::vector<TaskPtr> tasks;
  int starts = 0;
  int stops = 0;
  int changes = 0;
};

class Watcher final : public Role {
 public:
  explicit Watcher(Seen& seen) : seen_{seen} {}
  std::string_view name() const override { return "watcher"; }
  void on_change(const State&, const Change& change, std::vector<ObjectKey>& wake) override {
    ++seen_.changes;
    wake.push_back(change.object);
  }
  void on_start(const State& state, std::vector<ObjectKey>& wake) override {
    ++seen_.starts;
    for (const auto& [name, object] : state.objects(type::kNamespace)) {
      wake.push_back({type::kNamespace, name.ns, name.name});
    }
  }
  void on_stop() override { ++seen_.stops; }
  void reconcile(TaskPtr task) override { seen_.tasks.push_back(std::move(task)); }

 private:
  Seen& seen_;
};

Value named(const char* name) { return Value::object({{"metadata", Value::object({{"name", name}})}}); }

struct RolesProcess {
  RolesProcess(Journal& journal, Executor& executor, Random& random, const std::string& name, size_t steps = 512)
      : election{name},
        replica{{name, &journal, &executor, &random, nullptr}},
        roles{{&replica, &executor, &random, &election, "test", steps}} {
    EXPECT_TRUE(replica.open().has_value());
    roles.add(std::make_unique<Watcher>(seen));
    roles.start();
  }
  Seen seen;
  ManualElection election;
  Replica replica;
  Roles roles;
};

class RolesTest : public ::testing::Test {
 protected:
  RolesTest() { log::configure(log::Format::kText, log::Level::kError); }

  LoopJournal journal;
  ManualExecutor executor;
  SeededRandom random{1};
  std::vector<RolesProcess*> processes;

  /// Lets everything that is due happen, and everybody read what was stored.
  void settle(Millis time = Millis{0}) {
    executor.run(time);
    for (bool more = true; more;) {
      more = false;
      for (RolesProcess* process : processes) {
        const auto from = static_cast<size_t>(process->replica.next().value);
        std::vector<DecodedRecord> records;
        for (size_t at = from; at < journal.records.size(); ++at) {
          auto own = process->replica.take_own(journal.records[at]);
          records.push_back({Offset{static_cast<int64_t>(at)}, own ? *own : decode(journal.records[at]).value()});
        }
        more = more || !records.empty();
        process->replica.deliver(std::move(records), [](const Result<void>& taken) { EXPECT_TRUE(taken.has_value()); });
      }
      executor.run();
    }
  }
  /// The first of these, which are all there are, leads.
  template <class... Others>
  void lead(RolesProcess& leader, Others&... others) {
    processes = {&leader, &others...};
    settle();
    leader.election.say(true);
    settle();
  }
  void create(const char* name, const Cause& trace = {}) {
    Entry entry;
    entry.id = new_entry_id(random);
    entry.time = executor.now();
    entry.cause = trace;
    entry.events = {ObjectCreated{{type::kNamespace, "", name}, named(name)}};
    journal.records.push_back(encode(entry));
    settle();
  }
};

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
  EXPECT_FALSE(cause.trace_id.starts_with("4bf92f3577b34da6a3ce929d0e0e4736"));
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

/// The value of a series; -1: it is not exported.
double value_of(const std::string& series) {
  const std::string text = "\n" + metrics::text();
  const size_t found = text.find("\n" + series + " ");
  return found == std::string::npos ? -1 : std::strtod(text.c_str() + found + series.size() + 2, nullptr);
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
  EXPECT_EQ(value_of(R"(workqueue_depth{name="watcher"})"), 1) << "one step at a time";
  EXPECT_GT(value_of(R"(workqueue_longest_running_processor_seconds{name="watcher"})"), 0);
  one.seen.tasks[0]->done(Millis{60'000});
  settle();
  ASSERT_EQ(one.seen.tasks.size(), 2U);
  EXPECT_EQ(value_of(R"(workqueue_depth{name="watcher"})"), 0);
  one.seen.tasks[1]->retry(Error{ErrorCode::kUnavailable, "not now"});
  EXPECT_EQ(value_of(R"(controller_runtime_reconcile_total{controller="watcher",result="error"})"),
            std::max(failed, 0.0) + 1);
  EXPECT_EQ(value_of(R"(controller_runtime_reconcile_total{controller="watcher",result="requeue_after"})"),
            std::max(later, 0.0) + 1);
  EXPECT_EQ(value_of(R"(workqueue_longest_running_processor_seconds{name="watcher"})"), 0);
  one.roles.stop();
  EXPECT_EQ(value_of(R"(leader_election_master_status{name="watcher"})"), 0);
}

/// A divided role that keeps its tasks, and counts how it is started and which slots it loses.
class SlotWatcher final : public Role {
 public:
  explicit SlotWatcher(Seen& seen, std::vector<int>& lost) : seen_{seen}, lost_{lost} {}
  std::string_view name() const override { return "divided"; }
  void on_change(const State&, const Change& change, std::vector<ObjectKey>& wake) override {
    wake.push_back(change.object);
  }
  void on_start(const State& state, std::vector<ObjectKey>& wake) override {
    ++seen_.starts;
    for (const auto& [name, object] : state.objects(type::kNamespace)) {
      wake.push_back({type::kNamespace, name.ns, name.name});
    }
  }
  void on_stop() override { ++seen_.stops; }
  void on_slot_lost(int slot) override { lost_.push_back(slot); }
  void reconcile(TaskPtr task) override { seen_.tasks.push_back(std::move(task)); }

 private:
  Seen& seen_;
  std::vector<int>& lost_;
};

struct DividedProcess {
  DividedProcess(Journal& journal, Executor& executor, Random& random, const std::string& name)
      : election{name},
        replica{{name, &journal, &executor, &random, nullptr}},
        roles{{&replica, &executor, &random, &election, "test", 512}} {
    EXPECT_TRUE(replica.open().has_value());
    roles.add(std::make_unique<SlotWatcher>(seen, lost), true);
    roles.start();
  }
  std::vector<int> slots() const { return roles.figures().at(0).slots; }
  std::set<std::string> keys() const {
    std::set<std::string> names;
    for (const TaskPtr& task : seen.tasks) names.insert(task->key().name);
    return names;
  }
  Seen seen;
  std::vector<int> lost;
  ManualElection election;
  Replica replica;
  Roles roles;
};

class DividedRoles : public RolesTest {
 protected:
  void read_all() {
    for (bool more = true; more;) {
      more = false;
      for (DividedProcess* process : divided) {
        std::vector<DecodedRecord> records;
        for (auto at = static_cast<size_t>(process->replica.next().value); at < journal.records.size(); ++at) {
          auto own = process->replica.take_own(journal.records[at]);
          records.push_back({Offset{static_cast<int64_t>(at)}, own ? *own : decode(journal.records[at]).value()});
        }
        more = more || !records.empty();
        process->replica.deliver(std::move(records), [](const Result<void>& taken) { EXPECT_TRUE(taken.has_value()); });
      }
      executor.run();
    }
  }
  void write(std::vector<Event> events) {
    Entry entry;
    entry.id = new_entry_id(random);
    entry.time = executor.now();
    entry.events = std::move(events);
    journal.records.push_back(encode(entry));
    read_all();
  }
  void activate() { write({FoldVersionActivated{kSlotsFoldVersion}}); }
  void create_all(int count) {
    for (int number = 0; number < count; ++number) {
      const std::string name = "n" + std::to_string(number);
      write({ObjectCreated{{type::kNamespace, "", name}, named(name.c_str())}});
    }
  }
  /// These processes see each other, and what they campaign for they get, as soon as nobody else does.
  void share(const std::vector<DividedProcess*>& alive, int looks) {
    std::vector<std::string> names;
    for (DividedProcess* process : alive) names.push_back(process->election.identity());
    for (DividedProcess* process : alive) process->election.others = names;
    for (int look = 0; look < looks; ++look) {
      executor.run(Millis{100});
      for (int slot = 0; slot < kSlots; ++slot) {
        const std::string lease = slot_lease("divided", slot);
        const auto campaigns = [&](DividedProcess* process) { return process->election.campaigns(lease); };
        if (std::ranges::count_if(alive, campaigns) == 1) {
          DividedProcess* only = *std::ranges::find_if(alive, campaigns);
          if (!only->roles.acting(lease)) only->election.say(lease, true);
        }
      }
      read_all();
    }
  }

  std::vector<DividedProcess*> divided;
};

TEST_F(DividedRoles, AProcessThatIsAloneHasAllSlotsAndAllKeys) {
  DividedProcess one{journal, executor, random, "one"};
  divided = {&one};
  activate();
  create_all(20);
  EXPECT_TRUE(one.seen.tasks.empty());
  share({&one}, 2);
  EXPECT_EQ(one.slots().size(), static_cast<size_t>(kSlots));
  EXPECT_EQ(one.keys().size(), 20U);
  EXPECT_EQ(one.seen.starts, 1) << "slots that are gained at once are started at once";
  EXPECT_TRUE(one.roles.acting("divided"));
  EXPECT_FALSE(one.replica.state().lease("divided:0").holder.empty());
  EXPECT_EQ(one.replica.state().lease("divided").epoch, 0U);
}

TEST_F(DividedRoles, EachKeyHasOneOwnerAmongSeveralProcesses) {
  DividedProcess one{journal, executor, random, "one"};
  DividedProcess two{journal, executor, random, "two"};
  DividedProcess three{journal, executor, random, "three"};
  divided = {&one, &two, &three};
  activate();
  create_all(40);
  share(divided, 10);
  std::set<int> slots;
  std::set<std::string> keys;
  for (DividedProcess* process : divided) {
    const std::vector<int> has = process->slots();
    EXPECT_GE(has.size(), 5U);
    slots.insert(has.begin(), has.end());
    for (const std::string& key : process->keys()) EXPECT_TRUE(keys.insert(key).second) << key << " has two owners";
  }
  EXPECT_EQ(slots.size(), static_cast<size_t>(kSlots));
  EXPECT_EQ(keys.size(), 40U);
  // A change triggers its key in the process that has its slot, and only there.
  const ObjectKey key{type::kNamespace, "", "later"};
  write({ObjectCreated{key, named("later")}});
  size_t triggered = 0;
  for (DividedProcess* process : divided) {
    if (!process->keys().contains("later")) continue;
    ++triggered;
    EXPECT_TRUE(process->roles.acting(slot_lease("divided", slot_of(to_string(key)))));
  }
  EXPECT_EQ(triggered, 1U);
}

TEST_F(DividedRoles, AProcessThatJoinsGetsItsShareOnceTheStepsOfTheOthersHaveEnded) {
  DividedProcess one{journal, executor, random, "one"};
  DividedProcess two{journal, executor, random, "two"};
  divided = {&one, &two};
  activate();
  create_all(40);
  share({&one}, 3);
  ASSERT_EQ(one.seen.tasks.size(), 40U);
  share(divided, 6);
  const size_t idle = two.slots().size();
  EXPECT_LT(idle, 8U) << "slots with steps under way stay for a while";
  for (const TaskPtr& task : std::exchange(one.seen.tasks, {})) task->done();
  share(divided, 3);
  EXPECT_EQ(one.slots().size(), 8U);
  EXPECT_EQ(two.slots().size(), 8U);
  EXPECT_EQ(one.lost.size(), 8U) << "it forgets what it knew of these members, and of no others";
  EXPECT_EQ(one.seen.stops, 0);
}

TEST_F(DividedRoles, AStepThatDoesNotEndIsAbandonedWithItsSlot) {
  DividedProcess one{journal, executor, random, "one"};
  DividedProcess two{journal, executor, random, "two"};
  divided = {&one, &two};
  activate();
  create_all(40);
  share({&one}, 3);
  share(divided, 40);
  ASSERT_EQ(two.slots().size(), 8U);
  size_t answered = 0;
  const size_t before = journal.records.size();
  for (const TaskPtr& task : one.seen.tasks) {
    task->append_observation({{ObjectRemoved{task->key()}}, {}}, [&](const Result<Revision>&) { ++answered; });
  }
  read_all();
  const size_t kept = one.seen.tasks.size() - two.keys().size();
  EXPECT_EQ(journal.records.size() - before, kept) << "steps of slots that were given up append nothing";
  EXPECT_EQ(answered, kept);
}

TEST_F(DividedRoles, TheSlotsOfAProcessThatEndsGoToTheOthersAndItsLateEntriesAreRefused) {
  DividedProcess one{journal, executor, random, "one"};
  DividedProcess two{journal, executor, random, "two"};
  divided = {&one, &two};
  activate();
  create_all(40);
  share(divided, 10);
  ASSERT_EQ(two.slots().size(), 8U);
  const std::vector<TaskPtr> tasks = two.seen.tasks;
  ASSERT_FALSE(tasks.empty());
  divided = {&one};  // the other one is frozen: it reads nothing, and believes that it has its slots
  share({&one}, 3);
  EXPECT_EQ(one.slots().size(), static_cast<size_t>(kSlots));
  EXPECT_EQ(one.keys().size(), 40U);
  size_t refused = 0;
  for (const TaskPtr& task : tasks) {
    task->append_observation({{ObjectRemoved{task->key()}}, {}},
                             [&](const Result<Revision>& done) { refused += done ? 0 : 1; });
  }
  const Revision revision = one.replica.state().revision();
  read_all();
  EXPECT_EQ(one.replica.state().revision(), revision) << "not one of them changed anything";
  divided = {&one, &two};
  read_all();
  EXPECT_TRUE(two.slots().empty()) << "it has read of its successor";
}

TEST_F(DividedRoles, UntilSlotsAreKnownToAllOneProcessHasTheWholeRole) {
  DividedProcess one{journal, executor, random, "one"};
  DividedProcess two{journal, executor, random, "two"};
  divided = {&one, &two};
  create_all(20);
  executor.run(Millis{300});
  one.election.say("divided", true);
  read_all();
  EXPECT_TRUE(one.roles.acting("divided"));
  EXPECT_EQ(one.replica.state().lease("divided"), (Lease{"one", 1}));
  EXPECT_EQ(one.keys().size(), 20U);
  const TaskPtr before = one.seen.tasks.front();

  activate();
  EXPECT_FALSE(one.roles.acting("divided")) << "it ends at the entry that divides the role";
  EXPECT_FALSE(one.election.campaigns("divided"));
  EXPECT_EQ(one.seen.stops, 1);
  const size_t records = journal.records.size();
  before->append_observation({{ObjectRemoved{before->key()}}, {}}, [](const Result<Revision>&) {});
  EXPECT_EQ(journal.records.size(), records);
  share(divided, 10);
  EXPECT_EQ(one.slots().size(), 8U);
  EXPECT_EQ(two.slots().size(), 8U);
  EXPECT_EQ(one.replica.state().lease("divided").holder, "");
}

TEST_F(DividedRoles, ACandidateThatIsGoneTheNextMomentMovesNothing) {
  DividedProcess one{journal, executor, random, "one"};
  divided = {&one};
  activate();
  share({&one}, 3);
  ASSERT_EQ(one.slots().size(), static_cast<size_t>(kSlots));
  one.election.others = {"one", "two"};
  executor.run(Millis{200});
  one.election.others = {"one"};
  executor.run(Millis{1000});
  EXPECT_EQ(one.slots().size(), static_cast<size_t>(kSlots));
  EXPECT_TRUE(one.lost.empty());
}

}  // namespace
}  // namespace shiplog
