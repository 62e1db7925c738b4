// Thousands of writers on several API servers: replicas of one journal, each with threads of its own. However their
// writes interleave, a quota is exceeded at no revision, and its status has the usage of that revision (4.3.8, 4.3.10).
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "events/base/json.h"
#include "events/base/random.h"
#include "events/base/system.h"
#include "events/journal/memory_journal.h"
#include "events/state/quota_check.h"
#include "services/runtime/replica.h"
#include "services/runtime/tail_thread.h"
#include "services/runtime/thread_loop.h"
#include "tests/support/given.h"
#include "tests/support/must.h"

namespace shiplog {
namespace {

using given::json;

const ObjectKey kSmall{type::kFederatedResourceQuota, "default", "small"};
const ObjectKey kLarge{type::kFederatedResourceQuota, "default", "large"};
constexpr int64_t kCores = 400;
constexpr int kServers = 4;
constexpr int kWritersOfAServer = 1000;
constexpr int kShared = 40;  // bindings that all servers write

/// Looks at every revision of one replica.
class UsageObserver final : public Observer {
 public:
  void on_folded(const State& state, const DecodedRecord& record, const Folded& folded) override {
    const Quota& small = state.quotas().empty() ? kNone : state.quotas().at({kSmall.ns, kSmall.name});
    const ResourceList& usage = state.quota_usage("default");
    const auto cores = usage.find("cpu");
    const Quantity used = cores == usage.end() ? Quantity{} : cores->second;
    EXPECT_LE(used, Quantity::from_units(kCores)) << "after offset " << record.offset.value;
    if (!state.quotas().empty()) {
      EXPECT_EQ(state.value_of(kSmall)["status"]["overallUsed"], overall_used(small, usage));
    }
    if (used >= Quantity::from_units(kCores - 1)) reached = true;
    if (folded.refusal && folded.refusal->about == kSmall) ++refused;
  }

  bool reached = false;
  int refused = 0;

 private:
  const Quota kNone;
};

/// One API server: what it appends, it appends from its own threads.
struct WriterServer {
  explicit WriterServer(Journal& journal) : replica{{"journal", &journal, &loop, &random, nullptr}} {
    replica.add_observer(judge);
    tail = std::make_unique<TailThread>("journal", journal, replica, loop, must(replica.open()),
                                        [](const Error& error) { ADD_FAILURE() << error.message; });
  }
  ~WriterServer() {
    tail.reset();
    loop.stop();
  }

  SystemRandom random;
  ThreadLoop loop;
  UsageObserver judge;
  Replica replica;
  std::unique_ptr<TailThread> tail;
};

ObjectKey binding(const std::string& name) { return {type::kResourceBinding, "default", name}; }

Event put_binding(const ObjectKey& key, int64_t milli) {
  Value value = Value::object({{"metadata", Value::object({{"name", key.name}, {"namespace", key.ns}})}});
  value.edit("spec").edit("replicaRequirements").edit("resourceRequest").set("cpu", std::to_string(milli) + "m");
  return BindingPut{key, std::move(value), {}};
}

/// Waits until so many writers have ended.
struct Finish {
  std::mutex mutex;
  std::condition_variable changed;
  int ended = 0;
  void end() {
    const std::lock_guard lock{mutex};
    ++ended;
    changed.notify_all();
  }
  bool wait(int all) {
    std::unique_lock lock{mutex};
    return changed.wait_for(lock, std::chrono::seconds{120}, [&] { return ended == all; });
  }
};

/// One writer: puts a binding, places it, changes its request or placement, and at times deletes it. Each step follows
/// the answer to the one before.
class Writer : public std::enable_shared_from_this<Writer> {
 public:
  Writer(WriterServer& server, ObjectKey key, uint64_t seed, Finish& finish)
      : server_{server}, key_{std::move(key)}, random_{seed}, finish_{finish} {}

  void step() {
    constexpr int kSteps = 5;
    if (at_ == kSteps) return finish_.end();
    Entry entry;
    entry.actor = {"writer", {}, "api", "10.0.0.1", "test"};
    entry.events = {next()};
    ++at_;
    server_.replica.append(std::move(entry), [self = shared_from_this()](Result<Outcome> outcome) {
      EXPECT_TRUE(outcome);
      self->step();
    });
  }

 private:
  Event next() {
    const auto drawn = [this](uint64_t below) { return static_cast<int64_t>(random_.next() % below); };
    if (at_ == 0) return put_binding(key_, 100 + drawn(900));
    const int64_t what = drawn(10);
    if (what < 7) {
      std::vector<Target> targets;
      for (const char* cluster : {"m1", "m2", "m3"}) {
        if (const int64_t replicas = drawn(4); replicas > 0) targets.push_back({cluster, replicas});
      }
      return PlacementDecided{key_, std::move(targets), 1, "{}", "", {}, {}};
    }
    if (what < 9) return put_binding(key_, 100 + drawn(900));
    return DeletionRequested{.object = key_};
  }

  WriterServer& server_;
  const ObjectKey key_;
  SeededRandom random_;
  Finish& finish_;
  int at_ = 0;
};

TEST(QuotaWriters, NeverExceedAQuotaTogether_4_3_8_4_3_10) {
  const auto journal = make_memory_journal();
  std::vector<std::unique_ptr<WriterServer>> servers;
  for (int index = 0; index < kServers; ++index) servers.push_back(std::make_unique<WriterServer>(*journal));
  Finish set_up;
  Entry first;
  const auto quota = [](const ObjectKey& key, const std::string& cores) {
    return ObjectCreated{key, given::History::named(key, json(R"({"spec":{"overall":{"cpu":")" + cores +
                                                              R"("}},"status":{"overallUsed":{}}})"))};
  };
  first.events = {ObjectCreated{{type::kNamespace, "", "default"}, json(R"({"metadata":{"name":"default"}})")},
                  FeatureGatesSet{{"FederatedQuotaEnforcement"}}, quota(kSmall, std::to_string(kCores)),
                  quota(kLarge, "100000"), FoldVersionActivated{7}};
  servers.front()->replica.append(std::move(first), [&](const Result<Outcome>& outcome) {
    EXPECT_TRUE(outcome && !outcome.value().refusal);
    set_up.end();
  });
  ASSERT_TRUE(set_up.wait(1));

  Finish finish;
  uint64_t seed = 100;
  for (int index = 0; index < kWritersOfAServer; ++index) {
    for (int at = 0; at < kServers; ++at) {
      const bool shared = index % 10 == 0;
      const std::string name = shared ? "shared-" + std::to_string(index / 10 % kShared)
                                      : "own-" + std::to_string(at) + "-" + std::to_string(index);
      std::make_shared<Writer>(*servers[static_cast<size_t>(at)], binding(name), ++seed, finish)->step();
    }
  }
  ASSERT_TRUE(finish.wait(kServers * kWritersOfAServer));

  const Offset end = must(journal->head());
  std::string hash;
  for (const auto& server : servers) {
    Finish folded;
    server->replica.when_folded(end, [&] { folded.end(); });
    ASSERT_TRUE(folded.wait(1));
    server->loop.call([&] {
      const std::string own = to_string(server->replica.state().hash());
      EXPECT_EQ(own, hash.empty() ? own : hash) << "the replicas differ";
      hash = own;
      EXPECT_TRUE(server->judge.reached) << "the quota was never used up: the test shows nothing";
      EXPECT_GT(server->judge.refused, kWritersOfAServer);
    });
  }
}

}  // namespace
}  // namespace shiplog
