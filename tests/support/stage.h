#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "events/entry.h"
#include "events/fold/fold.h"
#include "events/state/state.h"
#include "services/runtime/manual_executor.h"
#include "services/runtime/role.h"
#include "services/runtime/role_loop.h"
#include "tests/support/fake_members.h"

namespace shiplog::testing {

/// Services on a real State and fold, with members in memory, in virtual time, all on one thread: what happens is
/// decided by the order of due times alone. RoleLoop runs them, as it does for rehearsals.
class Stage {
 public:
  Stage();
  ~Stage();

  UtcMillis now() const { return executor_.now(); }
  const State& state() const { return state_; }
  FakeMembers& members() { return *members_; }
  /// From an append to its fold, so that races happen.
  void set_append_latency(Millis latency) { loop_.set_append_latency(latency); }

  /// Starts a service at once.
  void add(std::unique_ptr<Role> service) { loop_.add(std::move(service)); }
  /// As if its process had ended: its steps have no effect. Then `add` another.
  void stop(std::string_view service) { loop_.stop(service); }

  /// An entry of a user or of another service; folded at once.
  Folded write(std::vector<Event> events, std::vector<Expect> expects = {});
  /// Creates or replaces an object as the API would.
  Folded put(const ObjectKey& key, Value value);

  void after(Millis delay, std::function<void()> run) { executor_.post_after(delay, std::move(run)); }
  /// Runs everything that is due within the time.
  void run(Millis time) { executor_.run(time); }

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
  ManualExecutor executor_;
  State state_;
  std::unique_ptr<FakeMembers> members_;
  std::vector<Folding> history_;
  RoleLoop loop_;  // the last: its roles use the members
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
