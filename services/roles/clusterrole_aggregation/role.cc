#include "services/roles/clusterrole_aggregation/role.h"

#include "events/state/rbac.h"
#include "services/roles/clusterrole_aggregation/decide.h"
#include "services/runtime/follow.h"

namespace shiplog {
namespace {

class ClusterRoleAggregationRole final : public Role {
 public:
  std::string_view name() const override { return "clusterrole-aggregation"; }

  void on_change(const State& state, const Change& change, std::vector<ObjectKey>& wake) override {
    if (change.object.type == rbac::kClusterRole) on_start(state, wake);
  }

  void on_start(const State& state, std::vector<ObjectKey>& wake) override {
    for (const auto& [name, role] : state.objects(rbac::kClusterRole)) {
      if (!role.value["aggregationRule"].is_null()) wake.push_back({rbac::kClusterRole, name.ns, name.name});
    }
  }

  void reconcile(TaskPtr task) override { follow(clusterrole_aggregation::decide, task); }
};

}  // namespace

std::unique_ptr<Role> make_clusterrole_aggregation_role() { return std::make_unique<ClusterRoleAggregationRole>(); }

}  // namespace shiplog
