#include "services/roles/application_failover/role.h"

#include "events/state/eviction.h"
#include "services/roles/application_failover/decide.h"
#include "services/runtime/follow.h"

namespace shiplog {
namespace {

class ApplicationFailoverRole final : public Role {
 public:
  std::string_view name() const override { return "application-failover"; }

  void on_change(const State& state, const Change& change, std::vector<ObjectKey>& wake) override {
    if (change.object.type == type::kCluster) {
      // Its timers do not run while it is unreachable.
      if (unreachable(change.before) != unreachable(change.after)) wake_placed(state, change.object.name, wake);
      return;
    }
    if (change.removed()) return;
    // The role may have been switched on or off, or state may have to be preserved.
    if (change.object.type == kFleetOptionsType || change.object.type == kFeatureGatesType) {
      return on_start(state, wake);
    }
    if (!is_binding(change.object.type) || !application_failover::concerns(state, change.object, change.after)) return;
    if (change.before["spec"] != change.after["spec"] || change.before["status"] != change.after["status"]) {
      wake.push_back(change.object);
    }
  }

  void on_start(const State& state, std::vector<ObjectKey>& wake) override {
    for (const char* type : {type::kResourceBinding, type::kClusterResourceBinding}) {
      for (const auto& [name, object] : state.objects(type)) {
        const ObjectKey key{type, name.ns, name.name};
        if (application_failover::concerns(state, key, object.value)) wake.push_back(key);
      }
    }
  }

  void reconcile(TaskPtr task) override { follow(application_failover::decide, task); }

 private:
  static void wake_placed(const State& state, std::string_view cluster, std::vector<ObjectKey>& wake) {
    for (const auto& [alike, group] : state.view<TargetIndex>().on(cluster)) {
      for (const ObjectKey& key : group.bindings) {
        if (application_failover::concerns(state, key, state.value_of(key))) wake.push_back(key);
      }
    }
  }
};

}  // namespace

std::unique_ptr<Role> make_application_failover_role() { return std::make_unique<ApplicationFailoverRole>(); }

}  // namespace shiplog
