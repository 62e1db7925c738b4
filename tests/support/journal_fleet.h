#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "events/journal/memory_journal.h"
#include "services/runtime/tail_thread.h"
#include "services/runtime/thread_loop.h"
#include "tests/support/projected_fleet.h"

namespace shiplog {

/// A journal in memory with a running replica and its projection file, as a process has them.
class JournalFleet {
 public:
  JournalFleet() : projections_{std::move(must(Projections::open(projection())).projections)} {
    const Offset from = must(replica_.open());
    tail_ = std::make_unique<TailThread>("journal", *journal_, replica_, loop_, from,
                                         [](const Error& error) { ADD_FAILURE() << error.message; });
  }
  ~JournalFleet() {
    tail_.reset();
    loop_.stop();
  }
  JournalFleet(const JournalFleet&) = delete;
  JournalFleet& operator=(const JournalFleet&) = delete;

  std::string projection() const { return folder_.file("p.db"); }
  std::string state_hash() {
    std::string hash;
    loop_.call([&] { hash = to_string(replica_.state().hash()); });
    return hash;
  }

  void make_fleet() {
    for (const char* ns : {"kube-system", "default"}) {
      append({ObjectCreated{{type::kNamespace, "", ns}, object_value({type::kNamespace, "", ns})}});
    }
  }
  /// Returns when the entry is folded and visible, accepted or not.
  void append(std::vector<Event> events) {
    std::mutex mutex;
    std::condition_variable changed;
    bool done = false;
    Entry entry;
    entry.actor = {"alice", {}, "api", "10.0.0.1", "kubectl"};
    entry.events = std::move(events);
    replica_.append(std::move(entry), [&](Result<Outcome> outcome) {
      EXPECT_TRUE(outcome);
      const std::lock_guard lock{mutex};
      done = true;
      changed.notify_all();
    });
    std::unique_lock lock{mutex};
    EXPECT_TRUE(changed.wait_for(lock, std::chrono::seconds{20}, [&] { return done; }));
  }
  /// ConfigMaps map-0, map-1, ... of namespace default.
  void write_maps(int count, size_t bytes = 4) {
    for (int index = 0; index < count; ++index) {
      const ObjectKey key = config_map("default", "map-" + std::to_string(maps_++));
      append({ObjectCreated{key, object_value(key, std::string(bytes, 'x'))}});
    }
  }

  TemporaryFolder folder_;
  std::unique_ptr<Projections> projections_;
  std::shared_ptr<Journal> journal_ = make_memory_journal();
  SeededRandom random_{3};
  ThreadLoop loop_;
  Replica replica_{{.name = "journal",
                    .journal = journal_.get(),
                    .executor = &loop_,
                    .random = &random_,
                    .projections = projections_.get(),
                    .tree = true}};
  std::unique_ptr<TailThread> tail_;

 private:
  int maps_ = 0;
};

}  // namespace shiplog
