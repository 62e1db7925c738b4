#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "events/base/random.h"
#include "events/entry.h"
#include "events/fold/fold.h"
#include "events/state/state.h"
#include "services/runtime/queue.h"
#include "services/runtime/role.h"
#include "tests/support/fake_members.h"

namespace shiplog::testing {

/// Services on a real State and fold, with members in memory, in virtual time, all on one thread: what happens is
/// decided by the order of due times alone. An append is folded `append_latency` later, so that races happen.
class Stage {
 public:
  Stage();
  ~Stage();

  UtcMillis now() const { return now_; }
  const State& state() const { return state_; }
  FakeMembers& members() { return *members_; }
  Millis append_latency = {2};

  /// Starts a service at once.
  void add(std::unique_ptr<Role> service);
  /// As if its process had ended: its steps have no effect. Then `add` another.
  void stop(std::string_view service);

  /// An entry of a user or of another service; folded at once.
  Folded write(std::vector<Event> events, std::vector<Expect> expects = {});
  /// Creates or replaces an object as the API would.
  Folded put(const ObjectKey& key, Value value);

  void after(Millis delay, std::function<void()> run);
  /// Runs everything that is due within the time.
  void run(Millis time);

  struct Folding {
    Entry entry;
    Folded folded;
  };
  /// Everything folded so far, since `keeps_history`.
  bool keeps_history = true;
  const std::vector<Folding>& history() const { return history_; }
  /// How many accepted events of a type there are: count<WorkApplied>().
  template <class E>
  size_t count() const {
    size_t sum = 0;
    for (const Folding& one : history_) {
      if (one.folded.refusal) continue;
      for (const Event& event : one.entry.events) sum += std::holds_alternative<E>(event) ? 1U : 0U;
    }
    return sum;
  }

 private:
  struct RunningRole;
  class Step;
  void fold_one(Entry entry, std::function<void(const Folded&)> then);
  void pump(RunningRole& role);

  UtcMillis now_{1'767'225'600'000};  // 2026-01-01T00:00:00Z
  uint64_t sequence_ = 0;
  std::map<std::pair<UtcMillis, uint64_t>, std::function<void()>> due_;
  SeededRandom random_{1};
  State state_;
  std::unique_ptr<FakeMembers> members_;
  std::vector<std::shared_ptr<RunningRole>> roles_;
  std::vector<Folding> history_;
};

// Objects to begin with. All values are whole objects as the API stores them.
ObjectKey cluster_key(const std::string& name);
Value cluster_object(const std::string& name);
Value namespace_object(const std::string& name);
Value deployment(const std::string& ns, const std::string& name, int64_t replicas);
Value config_map(const std::string& ns, const std::string& name, const std::string& text);
/// A binding with its permanent id, as the binder makes it. `targets` become spec.clusters.
Value binding(const Value& object, const std::vector<Target>& targets);
ObjectKey binding_key(const Value& binding);
ObjectKey work_key(const std::string& cluster, const Value& object);

}  // namespace shiplog::testing
