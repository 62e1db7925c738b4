#pragma once

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
#include "services/runtime/roles.h"
#include "services/runtime/trace.h"

namespace shiplog {

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

inline Value named(const char* name) { return Value::object({{"metadata", Value::object({{"name", name}})}}); }

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

}  // namespace shiplog
