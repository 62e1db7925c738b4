#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "services/runtime/election.h"
#include "services/runtime/process_figures.h"
#include "services/runtime/queue.h"
#include "services/runtime/replica.h"
#include "services/runtime/role.h"

namespace shiplog {

/// Runs roles on one replica: takes their leases, hands them due keys, appends what they decide.
///
///   following ──leads──▶ taking ──LeaseTaken folded──▶ acting ──lost──▶ following
///                          ▲  └──refused: epoch moved───┘
///
/// While following, a service sees changes (so that it is warm) but reconciles nothing. No role acts before the replica
/// has caught up. Threads: the executor.
class Roles final : public Observer {
 public:
  struct Options {
    Replica* replica = nullptr;
    Executor* executor = nullptr;
    Random* random = nullptr;
    Election* election = nullptr;
    std::string user_agent;        ///< of entries: "shiplogd/0.1.0"
    size_t steps_under_way = 512;  ///< per service
    /// Called for every step that failed and will be retried, unless another writer was faster (kConflict).
    std::function<void(std::string_view service, const ObjectKey& key, const Error& error)> on_retry = {};
    /// Called when a step has ended, after `seconds`. `error`: why it failed and is retried; else nullptr.
    std::function<void(std::string_view role, const ObjectKey& key, double seconds, const Error* error)> on_step = {};
  };

  explicit Roles(Options options);
  ~Roles() override;

  void add(std::unique_ptr<Role> service);
  /// Campaigns for every service, once the replica has caught up.
  void start();
  /// Releases the leases; steps under way have no effect.
  void stop();

  /// This replica decides for the service now.
  bool acting(std::string_view service) const;
  /// Keys that are due or busy now; keys waiting for a later look do not count.
  size_t due_or_busy() const;
  /// The roles that have such keys: "binder, dispatcher".
  std::string with_due_or_busy_keys() const;

  /// Of every role of this process.
  std::vector<RoleFigures> figures() const;

  void on_folded(const State& state, const DecodedRecord& record, const Folded& folded) override;

 private:
  struct RunningRole;
  class Step;
  void lead(RunningRole& role, bool leading);
  void take_lease(RunningRole& role);
  void begin(RunningRole& role);
  void end(RunningRole& role);
  void pump(RunningRole& role);
  void arm(RunningRole& role);

  Options options_;
  std::vector<std::unique_ptr<RunningRole>> roles_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace shiplog
