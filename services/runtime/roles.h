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
/// A divided role has a lease for each of its slots (events/slots.h), and all of the above for each. The processes with
/// the role share its slots (owners_of_slots): one that should have a slot campaigns for it; one that should not have
/// it any more finishes its steps, for a moment, and releases it. The role itself is one object for all slots. Until
/// fold version 6 is active a divided role has one lease, as the others.
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

  /// `divided`: its keys are divided by slots among the processes that have the role.
  void add(std::unique_ptr<Role> service, bool divided = false);
  /// Campaigns for every service, once the replica has caught up.
  void start();
  /// Releases the leases; steps under way have no effect.
  void stop();

  /// This replica decides for the role now, or for some of its slots; or, given the lease of a slot, for that one.
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
  struct Part;
  class Step;
  void campaign(Part& part);
  void withdraw(Part& part);
  void lead(Part& part, bool leading);
  void take_lease(Part& part);
  void begin(Part& part);
  void start_keys(RunningRole& role);
  void look_anew(RunningRole& role);
  void end(Part& part);
  void pump(Part& part);
  void arm(Part& part);
  void arm_all(RunningRole& role);
  void note_crowded(RunningRole& role);
  void divide(RunningRole& role);
  void look_at_slots();
  void share_slots(RunningRole& role);
  void leave_slot(Part& part);
  void on_lease_taken(const LeaseTaken& taken);

  Options options_;
  std::vector<std::unique_ptr<RunningRole>> roles_;
  bool looking_at_slots_ = false;
  std::vector<ObjectKey> wake_;  // used again for each change
  std::vector<Part*> woken_;     // used again for each role
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace shiplog
