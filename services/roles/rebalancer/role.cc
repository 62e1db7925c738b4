#include "services/roles/rebalancer/role.h"

#include <algorithm>

#include "services/roles/rebalancer/decide.h"

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

  void reconcile(TaskPtr task) override {
    auto decided = rebalancer::decide(task->state(), task->key(), task->now());
    if (!decided) return task->retry(decided.error());
    if (!decided.value()) return task->done(until_next_look(*task));
    task->append_decision(std::move(*decided.value()), [task](Result<Revision> appended) {
      appended ? task->done(Millis{1}) : task->retry(appended.error());
    });
  }

 private:
  static Millis until_next_look(const Task& task) {
    const auto next = rebalancer::next_look(task.state(), task.key(), task.now());
    return next ? Millis{std::max<int64_t>(1, (*next - task.now()).value)} : Millis{0};
  }
};

}  // namespace

std::unique_ptr<Role> make_rebalancer_role() { return std::make_unique<RebalancerRole>(); }

}  // namespace shiplog
