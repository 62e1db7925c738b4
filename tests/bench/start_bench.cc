// How long a user's change waits that comes right after a start, when all bindings of a large fleet are evaluated
// again: from its entry until the scheduler's decision about it is folded, with the real fold, queues and roles. The
// journal is in memory, so that no disk is measured. What a change behind the whole backlog would wait for is the
// baseline: as long as the roles need for the backlog.
//   start_bench [--bindings=100000] [--json=FILE]

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "events/codec/codec.h"
#include "services/roles/binder/role.h"
#include "services/roles/scheduler/role.h"
#include "services/roles/taint/role.h"
#include "services/runtime/executor.h"
#include "services/runtime/log.h"
#include "services/runtime/roles.h"
#include "tests/bench/figures.h"
#include "tests/support/stage.h"

namespace shiplog::bench {
namespace {

constexpr size_t kNamespaces = 50;
constexpr size_t kChanges = 21;
constexpr int64_t kReplicasAfter = 3;

[[noreturn]] void give_up(const std::string& why) {
  std::fprintf(stderr, "start_bench: %s\n", why.c_str());
  std::exit(1);
}

class BenchJournal final : public Journal {
 public:
  std::vector<std::string> records;
  void append(std::string bytes, Appended done) override {
    records.push_back(std::move(bytes));
    done(Offset{static_cast<int64_t>(records.size()) - 1});
  }
  Result<std::unique_ptr<Tail>> tail(Offset) override { return Error{ErrorCode::kUnavailable, "not read here"}; }
  Result<Offset> head() override { return Offset{static_cast<int64_t>(records.size())}; }
  Result<Offset> oldest() override { return Offset{0}; }
  Result<void> trim(Offset) override { return Error{ErrorCode::kUnavailable, "not trimmed here"}; }
  std::string describe() const override { return "memory"; }
};

/// First come, first served, as the fold thread does it; timers are in virtual time, which passes when all else is
/// done.
class BenchExecutor final : public Executor {
 public:
  UtcMillis now() const override { return now_; }
  void post(std::function<void()> run) override { ready_.push_back(std::move(run)); }
  void post_after(Millis delay, std::function<void()> run) override { later_.emplace(now_ + delay, std::move(run)); }

  /// False: nothing was left to run now.
  bool step() {
    if (ready_.empty()) return false;
    const auto run = std::move(ready_.front());
    ready_.pop_front();
    run();
    return true;
  }
  void pass(Millis time) {
    now_ = now_ + time;
    while (!later_.empty() && later_.begin()->first <= now_) {
      ready_.push_back(std::move(later_.extract(later_.begin()).mapped()));
    }
  }

 private:
  UtcMillis now_{1'767'225'600'000};
  std::deque<std::function<void()>> ready_;
  std::multimap<UtcMillis, std::function<void()>> later_;
};

/// The only process: it leads at once.
class SoleElection final : public Election {
 public:
  const std::string& identity() const override { return identity_; }
  void campaign(const std::string&, std::function<void(bool)> changed) override { changed(true); }
  void withdraw(const std::string&) override {}
  void announce(const std::string&) override {}
  std::vector<std::string> candidates(const std::string&) override { return {}; }
  void resign() override {}

 private:
  std::string identity_ = "sole";
};

std::string namespace_of(size_t number) { return "team-" + std::to_string(number % kNamespaces); }
ObjectKey template_of(size_t number) {
  return {"deployments.apps", namespace_of(number), "web-" + std::to_string(number)};
}

/// One process of a control plane on the journal.
class BenchProcess {
 public:
  BenchProcess(BenchJournal& journal, uint64_t seed)
      : journal_{journal},
        random_{seed},
        replica_{{"journal", &journal, &executor_, &random_, nullptr}},
        roles_{{&replica_, &executor_, &random_, &election_, "bench"}} {
    roles_.add(make_binder_role());
    roles_.add(make_scheduler_role(nullptr, Millis{0}));
    roles_.add(make_taint_role());
    or_exit(replica_.open());
  }

  /// Folds the journal; then its roles have a step for every template and binding waiting.
  void start() {
    while (undelivered() > 0) deliver();
    roles_.start();
    for (const char* role : {"binder", "scheduler", "taint"}) {
      while (!roles_.acting(role)) turn();
    }
  }
  const State& state() const { return replica_.state(); }
  size_t waiting() const { return roles_.due_or_busy() == 0 ? 0 : queued(); }

  void write(Event event) {
    Entry entry;
    entry.id = new_entry_id(random_);
    entry.time = executor_.now();
    entry.actor = {"kubernetes-admin", {"system:masters"}, "api", "10.0.0.1", "kubectl/v1.31"};
    entry.events.push_back(std::move(event));
    journal_.records.push_back(encode(entry));
  }
  void put(const ObjectKey& key, Value value) { write(ObjectCreated{key, std::move(value)}); }

  /// One thing that the fold thread does; records arrive between two of them. False: nothing is left to do.
  bool turn() {
    if (undelivered() > 0 && !arriving_) {
      arriving_ = true;
      executor_.post([this] {
        arriving_ = false;
        deliver();
      });
    }
    if (executor_.step()) return true;
    executor_.pass(Millis{1});
    return executor_.step();
  }
  void settle() {
    while (turn() || undelivered() > 0 || roles_.due_or_busy() > 0) {
    }
  }

 private:
  size_t undelivered() const { return journal_.records.size() - static_cast<size_t>(replica_.next().value); }
  size_t queued() const {
    size_t sum = 0;
    for (const RoleFigures& role : roles_.figures()) sum += role.queued;
    return sum;
  }
  void deliver() {
    constexpr size_t kMost = 512;
    const auto from = static_cast<size_t>(replica_.next().value);
    std::vector<DecodedRecord> records;
    for (size_t at = from; at < std::min(from + kMost, journal_.records.size()); ++at) {
      auto own = replica_.take_own(journal_.records[at]);
      records.push_back({Offset{static_cast<int64_t>(at)}, own ? *own : or_exit(decode(journal_.records[at]))});
    }
    replica_.deliver(std::move(records), [](const Result<void>& done) { or_exit(done); });
  }

  BenchJournal& journal_;
  BenchExecutor executor_;
  SeededRandom random_;
  SoleElection election_;
  bool arriving_ = false;
  Replica replica_;
  Roles roles_;
};

Value policy() {
  return or_exit(parse_json(
      R"({"apiVersion":"policy.karmada.io/v1alpha1","kind":"ClusterPropagationPolicy","metadata":{"name":"all",
      "generation":1},"spec":{"resourceSelectors":[{"apiVersion":"apps/v1","kind":"Deployment"}],"placement":{
      "clusterAffinity":{"clusterNames":["m1","m2"]},"replicaScheduling":{"replicaSchedulingType":"Divided",
      "replicaDivisionPreference":"Weighted"}}}})"));
}

/// A fleet in which everything has been placed.
void populate(BenchJournal& journal, size_t bindings) {
  BenchProcess process{journal, 1};
  for (const char* name : {"m1", "m2"}) {
    Value value = testing::cluster_object(name);
    value.edit("status").set("apiEnablements",
                             or_exit(parse_json(R"([{"groupVersion":"apps/v1","resources":[{"kind":"Deployment",
        "name":"deployments"}]}])")));
    process.put(testing::cluster_key(name), std::move(value));
    process.write(ClusterConditionChanged{testing::cluster_key(name), "Ready", "True", "ClusterReady", ""});
  }
  for (size_t i = 0; i < kNamespaces; ++i) {
    process.put({type::kNamespace, "", namespace_of(i)}, testing::namespace_object(namespace_of(i)));
  }
  process.put({type::kClusterPropagationPolicy, "", "all"}, policy());
  for (size_t i = 0; i < bindings; ++i) {
    const ObjectKey key = template_of(i);
    process.put(key, testing::deployment(key.ns.str(), key.name.str(), 2));
  }
  process.start();
  process.settle();
  size_t placed = 0;
  for (const auto& [name, binding] : process.state().objects(type::kResourceBinding)) {
    placed += binding.value["spec"]["clusters"].size() > 0 ? 1 : 0;
  }
  if (placed != bindings) give_up("only " + std::to_string(placed) + " bindings are placed");
}

bool is_placed_anew(const State& state, size_t number) {
  const ObjectKey key = template_of(number);
  const Value& spec = state.value_of({type::kResourceBinding, key.ns, key.name + "-deployment"})["spec"];
  int64_t sum = 0;
  for (const Value& target : spec["clusters"].items()) sum += target["replicas"].as_int();
  return sum == kReplicasAfter;
}

void measure(Figures& figures, size_t bindings) {
  BenchJournal journal;
  populate(journal, bindings);
  BenchProcess process{journal, 2};
  process.start();
  const size_t backlog = process.waiting();
  if (backlog < bindings) give_up("a start has queued only " + std::to_string(backlog) + " keys");
  const Time begin = Time::now();
  std::vector<double> waited;
  size_t left = 0;
  for (size_t change = 0; change < kChanges; ++change) {
    const size_t number = (change * 7919 + bindings - 1) % bindings;
    Value value = process.state().value_of(template_of(number));
    value.edit("spec").set("replicas", kReplicasAfter);
    const Time start = Time::now();
    process.write(ObjectUpdated{template_of(number), std::move(value)});
    while (!is_placed_anew(process.state(), number)) {
      if (!process.turn()) give_up("a change is not decided about");
    }
    waited.push_back(Time::now().since(start).cpu * 1e3);
    left = process.waiting();
  }
  process.settle();
  const double all = Time::now().since(begin).cpu * 1e3;
  std::sort(waited.begin(), waited.end());
  const std::string of = " after a start with " + std::to_string(bindings) + " bindings";
  figures.value("start", "keys queued" + of, static_cast<double>(backlog), "keys");
  figures.value("start", "of them left after " + std::to_string(kChanges) + " changes", static_cast<double>(left),
                "keys");
  figures.value("start", "a change until it is decided, median", waited[kChanges / 2], "ms of CPU");
  figures.value("start", "a change until it is decided, longest", waited.back(), "ms of CPU");
  figures.value("start", "the whole backlog", all, "ms of CPU");
  figures.value("start", "behind the backlog a change would wait", all / waited[kChanges / 2], "times as long");
}

}  // namespace
}  // namespace shiplog::bench

int main(int argc, char** argv) {
  using namespace shiplog::bench;
  const size_t bindings = std::strtoul(option(argc, argv, "bindings", "100000").c_str(), nullptr, 10);
  if (bindings < 1000) {
    std::fprintf(stderr, "usage: start_bench [--bindings=100000] [--json=FILE], with 1000 bindings or more\n");
    return 2;
  }
  shiplog::log::configure(shiplog::log::Format::kText, shiplog::log::Level::kError);
  Figures figures{option(argc, argv, "json")};
  Figures::heading("a user's change right after a start, from its entry to the scheduler's decision");
  measure(figures, bindings);
  return 0;
}
