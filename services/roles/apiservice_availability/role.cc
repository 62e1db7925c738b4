#include "services/roles/apiservice_availability/role.h"

#include <utility>

#include "services/runtime/follow.h"

namespace shiplog {
namespace {

using apiservice_availability::kApiServices;

class ApiServiceAvailabilityRole final : public Role {
 public:
  explicit ApiServiceAvailabilityRole(apiservice_availability::Observe observe) : observe_{std::move(observe)} {}

  std::string_view name() const override { return "apiservice-availability"; }

  void on_change(const State&, const Change& change, std::vector<ObjectKey>& wake) override {
    if (change.object.type == kApiServices && !change.removed() && !change.after["spec"]["service"].is_null()) {
      wake.push_back(change.object);
    }
  }

  void on_start(const State& state, std::vector<ObjectKey>& wake) override {
    for (const auto& [name, object] : state.objects(kApiServices)) {
      if (!object.value["spec"]["service"].is_null()) wake.push_back({kApiServices, name.ns, name.name});
    }
  }

  void reconcile(TaskPtr task) override {
    const auto decide = [this](const State& state, const ObjectKey& key, UtcMillis now) -> Result<Decided> {
      return apiservice_availability::decide(state, key, now, observe_);
    };
    follow(decide, task, {.recomputable = false});
  }

 private:
  const apiservice_availability::Observe observe_;
};

}  // namespace

std::unique_ptr<Role> make_apiservice_availability_role(apiservice_availability::Observe observe) {
  return std::make_unique<ApiServiceAvailabilityRole>(std::move(observe));
}

}  // namespace shiplog
