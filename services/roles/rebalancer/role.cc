#include "services/roles/rebalancer/role.h"

#include "services/roles/rebalancer/decide.h"
#include "services/runtime/follow.h"

namespace shiplog {
namespace {

using rebalancer::kWorkloadRebalancer;

class RebalancerRole final : public Role {
 public:
  std::string_view name() const override { return "rebalancer"; }

  void on_change(const State&, const Change& change, std::vector<ObjectKey>& wake) override {
    if (change.object.type == kWorkloadRebalancer && !change.removed()) wake.push_back(change.object);
  }

  void on_start(const State& state, std::vector<ObjectKey>& wake) override {
    for (const auto& [name, object] : state.objects(kWorkloadRebalancer)) {
      wake.push_back({kWorkloadRebalancer, name.ns, name.name});
    }
  }

  void reconcile(TaskPtr task) override { follow(rebalancer::decide, task); }
};

}  // namespace

std::unique_ptr<Role> make_rebalancer_role() { return std::make_unique<RebalancerRole>(); }

}  // namespace shiplog
