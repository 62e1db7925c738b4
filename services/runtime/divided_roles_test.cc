// Roles whose keys are divided by slots among processes.
#include "tests/support/roles_fixture.h"

namespace shiplog {
namespace {

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
    for (const TaskPtr& task : seen.tasks) names.insert(task->key().name.str());
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
