#include "services/roles/scaler/role.h"

#include "services/roles/scaler/decide.h"
#include "services/runtime/follow.h"

namespace shiplog {
namespace {

using scaler::kAutoscaler;
using scaler::kDeployment;

class ScalerRole final : public Role {
 public:
  std::string_view name() const override { return "scaler"; }

  void on_change(const State& state, const Change& change, std::vector<ObjectKey>& wake) override {
    if (change.object.type == kFleetOptionsType) return on_start(state, wake);
    const bool marks = state.options().controller_on(kHpaScaleTargetMarker);
    const bool follows = state.options().controller_on(kDeploymentReplicasSyncer);
    if (!marks && !follows) return;
    if (change.object.type == kAutoscaler) return wake_targets(state, change, wake);
    if (change.object.type == type::kResourceBinding) return wake_template(change, wake);
    if (change.removed()) return;
    const Value& before = change.before;
    const Value& after = change.after;
    const bool relabelled = change.created() || before["metadata"]["labels"] != after["metadata"]["labels"];
    // A template that is created after its autoscaler gets the label, and one whose label was removed gets it back.
    const bool may_be_named = marks && relabelled && !state.objects(kAutoscaler, change.object.ns).empty();
    const bool moved = follows && change.object.type == kDeployment && scaler::retains_replicas(after) &&
                       (relabelled || before["spec"]["replicas"] != after["spec"]["replicas"] ||
                        before["status"]["replicas"] != after["status"]["replicas"]);
    if (may_be_named || moved) wake.push_back(change.object);
  }

  void on_start(const State& state, std::vector<ObjectKey>& wake) override {
    for (const auto& [name, autoscaler] : state.objects(kAutoscaler)) {
      if (auto target = scaler::scale_target(state, autoscaler.value)) wake.push_back(std::move(*target));
    }
    // Those whose autoscaler was deleted meanwhile, and whose replicas have changed.
    for (const std::string& type : state.types()) {
      for (const auto& [name, object] : state.objects(type)) {
        if (scaler::retains_replicas(object.value)) wake.push_back({type, name.ns, name.name});
      }
    }
  }

  void reconcile(TaskPtr task) override { follow(scaler::decide, task); }

 private:
  /// What it names, and what it has named before.
  static void wake_targets(const State& state, const Change& change, std::vector<ObjectKey>& wake) {
    for (const Value* autoscaler : {&change.before, &change.after}) {
      if (auto target = scaler::scale_target(state, *autoscaler)) wake.push_back(std::move(*target));
    }
  }

  static void wake_template(const Change& change, std::vector<ObjectKey>& wake) {
    const Value& resource = change.latest()["spec"]["resource"];
    if (change.removed() || resource["kind"].as_string() != "Deployment") return;
    wake.push_back({kDeployment, change.object.ns, resource["name"].str()});
  }
};

}  // namespace

std::unique_ptr<Role> make_scaler_role() { return std::make_unique<ScalerRole>(); }

}  // namespace shiplog
