#include "services/roles/cron_scaler/role.h"

#include <utility>

#include "services/runtime/follow.h"

namespace shiplog {
namespace {

using cron_scaler::kCronFederatedHpa;

class CronScalerRole final : public Role {
 public:
  explicit CronScalerRole(cron_scaler::FindTimeZone find_time_zone) : find_time_zone_{std::move(find_time_zone)} {}

  std::string_view name() const override { return "cron-scaler"; }

  void on_change(const State&, const Change& change, std::vector<ObjectKey>& wake) override {
    if (change.object.type == kCronFederatedHpa && !change.removed()) wake.push_back(change.object);
  }

  void on_start(const State& state, std::vector<ObjectKey>& wake) override {
    for (const auto& [name, object] : state.objects(kCronFederatedHpa)) {
      wake.push_back({kCronFederatedHpa, name.ns, name.name});
    }
  }

  void reconcile(TaskPtr task) override {
    const auto decide = [this](const State& state, const ObjectKey& key, UtcMillis now) {
      return cron_scaler::decide(state, key, now, find_time_zone_);
    };
    follow(decide, task, {.recomputable = false});
  }

 private:
  const cron_scaler::FindTimeZone find_time_zone_;
};

}  // namespace

std::unique_ptr<Role> make_cron_scaler_role(cron_scaler::FindTimeZone find_time_zone) {
  return std::make_unique<CronScalerRole>(std::move(find_time_zone));
}

}  // namespace shiplog
