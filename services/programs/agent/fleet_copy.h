#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "events/base/random.h"
#include "events/state/state.h"
#include "services/adapters/members/members.h"
#include "services/interpreter/quarantine.h"
#include "services/programs/agent/copies.h"
#include "services/programs/agent/uplink.h"
#include "services/roles/collector/role.h"
#include "services/roles/dispatcher/apply_work.h"
#include "services/runtime/executor.h"
#include "services/runtime/role_loop.h"

namespace shiplog::agent {

/// The part of the fleet that concerns one member, as a state of its own on which the roles dispatcher and collector
/// run unchanged: its Cluster, its Works, and what kinds are interpreted by. What the roles observe is folded here and
/// then carried to the control plane. Nothing of it is stored: after a start it is read again, and the conditions of
/// Works tell what was applied. Threads: the executor.
class FleetCopy {
 public:
  struct Options {
    std::string cluster;
    Executor* executor = nullptr;
    Random* random = nullptr;
    Members* member = nullptr;         ///< by the cluster's name
    Members* control_plane = nullptr;  ///< by `control_plane_name`
    std::string control_plane_name;
    QuestionResolver* resolver = nullptr;
    CollectorSettings collector;
    size_t works_at_once = 5;
    /// A step or a write that failed and is retried.
    std::function<void(const std::string& what, const ObjectKey& key, const Error& error)> failed = {};
    /// Whether the newest Works are to be read, as an object in the member seems to be of a newer one.
    std::function<void()> doubts_works = {};
  };
  explicit FleetCopy(Options options);
  ~FleetCopy();
  FleetCopy(const FleetCopy&) = delete;
  FleetCopy& operator=(const FleetCopy&) = delete;

  /// The Cluster, as the control plane has it. It comes before any Work. When it is gone there the copy stays: without
  /// a Cluster Works are given up, and their objects in the member must not be.
  void take_cluster(const Value& remote);
  void cluster_gone() { remote_cluster_ = {}; }

  void take_works(const std::vector<Value>& all);
  void take_work(const Value& remote);
  void work_gone(const std::string& name);

  /// A collection that customizes how kinds are interpreted.
  void take_customizations(const std::string& type, const std::vector<Value>& all);
  void take_customization(const std::string& type, std::string_view event, const Value& remote);

  /// A function of a customization, which `question.address` names, has exceeded a limit: it is not run again here
  /// until the customization's spec changes. The control plane does not learn of it, whose status of it is for all
  /// members.
  void quarantine(const Question& question, const interpreter::Overrun& overrun);

  const State& state() const { return state_; }
  bool has_cluster() const { return !remote_cluster_.is_null(); }
  /// The Cluster as the control plane has it.
  const Value& remote_cluster() const { return remote_cluster_; }
  /// As the member was observed last.
  bool ready() const;
  size_t works() const { return remote_works_.size(); }
  /// Writes to the control plane that are due or under way.
  size_t waiting() const { return uplink_->size(); }

 private:
  struct Remote {
    Value object;
    Revision revision;
    bool given_back = false;  ///< by the member; its finalizer is to be removed
    int conflicts = 0;        ///< of steps, since it changed
    Revision confirmed;       ///< it was the newest of all by then
  };
  /// What is not run of a customization, as long as this is its spec.
  struct Quarantined {
    Value uid, spec;
    std::vector<std::pair<interpreter::Overrun, UtcMillis>> overruns;
  };
  ObjectKey work_key(const std::string& name) const { return {type::kWork, space_, name}; }
  void write(std::vector<Event> events);
  void write(const Entries& entries);
  void on_folded(const Folded& folded);
  void copy_newest(const Value& remote);
  void copy_work(const std::string& name);
  void know_kinds(const Value& work);
  void know_kinds_again();
  bool define(const Value& definition);
  void on_retry(const Role& role, const ObjectKey& key, const Error& error);
  dispatcher::WorkRevision revision_of(const ObjectKey& work) const;
  std::optional<MemberRequest> plan(const ObjectKey& key) const;
  void accepted(const ObjectKey& key, const Value& object);

  const Options options_;
  const std::string space_;
  const ObjectKey cluster_key_;
  State state_;
  Value remote_cluster_;
  std::map<std::string, Remote> remote_works_;
  std::map<std::string, Quarantined> quarantined_;  // by customization
  std::set<std::string> kinds_unknown_;             // Works with a kind that nothing describes
  bool mirroring_ = false;                          // what is folded now comes from the control plane
  std::unique_ptr<Uplink> uplink_;
  std::unique_ptr<RoleLoop> roles_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace shiplog::agent
