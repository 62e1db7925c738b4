#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "events/base/random.h"
#include "events/entry.h"
#include "events/fold/fold.h"
#include "events/state/state.h"
#include "services/runtime/executor.h"
#include "services/runtime/role.h"

namespace shiplog {

/// Runs roles on a state of their own, on one thread: in virtual time what happens is determined by the order of due
/// times alone. An entry is folded a moment after it was appended; it is neither encoded nor stored, and there are no
/// leases. Roles (services/runtime/roles.h) does the same on a journal. Rehearsals, the agent in a member, and the
/// tests of roles run on it. Threads: the executor.
class RoleLoop {
 public:
  struct Options {
    State* state = nullptr;
    Executor* executor = nullptr;
    uint64_t seed = 1;                  ///< of entry ids and of the jitter of retries
    size_t steps_under_way = SIZE_MAX;  ///< per role
    /// From an append to its fold, so that races happen.
    Millis append_latency{2};
    /// Keys that are to be decided again at a later time are so at the next multiple of this; 0: exactly then.
    Millis timer_step{0};
    /// Changes of Clusters are collected for so long, and those of one Cluster merged to one, before roles see them:
    /// when many fail at once, each change concerns as many bindings. 0: each is seen at once.
    Millis collect_clusters{0};
    /// False: the key is left out. `cause`: the change that has triggered it; nullptr: the role has just started.
    std::function<bool(const Role& role, const ObjectKey& key, const Change* cause)> admits = {};
    /// Before the roles see it.
    std::function<void(const Entry& entry, const Folded& folded)> on_folded = {};
    /// A step that failed and will be retried.
    std::function<void(const Role& role, const ObjectKey& key, const Error& error)> on_retry = {};
  };

  explicit RoleLoop(Options options);
  ~RoleLoop();
  RoleLoop(const RoleLoop&) = delete;
  RoleLoop& operator=(const RoleLoop&) = delete;

  /// The role starts at once.
  void add(std::unique_ptr<Role> role);
  /// As if its process had ended: its steps have no effect any more.
  void stop(std::string_view role);
  /// Of appends from now on.
  void set_append_latency(Millis latency) { options_.append_latency = latency; }
  /// Triggers a key of a running role.
  void wake(std::string_view role, const ObjectKey& key);
  /// Folds an entry of a user, or an observation, at once; its id and time are filled in.
  Folded write(Entry entry);

 private:
  struct Running;
  class Step;
  Folded fold_now(Entry& entry);
  void hand_on(const Change& change, const Cause& cause);
  void hand_on_clusters();
  void trigger(const std::shared_ptr<Running>& running, const std::vector<ObjectKey>& keys, const Change* change,
               const Cause& cause);
  void arm(const std::shared_ptr<Running>& running);
  void pump(const std::shared_ptr<Running>& running);

  Options options_;
  SeededRandom random_;
  std::vector<std::shared_ptr<Running>> roles_;
  struct Collected {
    Change change;
    Cause cause;
  };
  std::map<std::string, Collected> clusters_;  // changes of Clusters that the roles have not seen yet
};

}  // namespace shiplog
